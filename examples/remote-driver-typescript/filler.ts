// filler.ts: fills disks block by block in the background, and completes the step at the API when one is full.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallRecords, GivenCall } from './call-records.ts'
import type { Disks } from './disks.ts'

interface Work {
  readonly stop: AbortController
  readonly ended: Promise<void>
}

export class Filler {
  readonly #records: CallRecords
  readonly #disks: Disks
  readonly #blockMs: number
  readonly #works = new Map<string, Work>()

  constructor({ records, disks, blockMs }: { records: CallRecords; disks: Disks; blockMs: number }) {
    this.#records = records
    this.#disks = disks
    this.#blockMs = blockMs
  }

  /** After a start: tells what was not told, finishes what was not finished. */
  goOn(): void {
    for (const { key, state, call } of this.#records.left()) {
      if (state === 'done') void this.#tell(key)
      else if (state === 'working') {
        if ((JSON.parse(call) as GivenCall).function === 'fillDisk') this.begin(key)
        // Cut in the middle, never answered: it comes again, and doing it twice does no harm.
        else this.#records.forget(key)
      }
    }
  }

  begin(key: string): void {
    const before = this.#works.get(key)
    if (before !== undefined && !before.stop.signal.aborted) return
    const stop = new AbortController()
    const ended = (before?.ended ?? Promise.resolve()).then(() => this.#fill(key, stop.signal))
    const work = { stop, ended }
    this.#works.set(key, work)
    void ended.finally(() => {
      if (this.#works.get(key) === work) this.#works.delete(key)
    })
  }

  /** Resolves when it has stopped. */
  async stop(key: string): Promise<void> {
    const work = this.#works.get(key)
    work?.stop.abort()
    await work?.ended
  }

  async #fill(key: string, signal: AbortSignal): Promise<void> {
    const call = JSON.parse(this.#records.row(key)!.call) as GivenCall
    const { name } = call.ledger[0]!
    const blocks = call.resource.properties.sizeMb
    for (;;) {
      await sleep(this.#blockMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      if (!this.#disks.isThere(name)) {
        this.#records.end(
          key,
          { kind: 'failed', code: 'disk_lost', reason: `${name} is not there`, terminal: true },
          false,
        )
        break
      }
      if (this.#disks.size(name) < blocks) this.#disks.addBlock(name)
      else {
        this.#records.end(key, { kind: 'done', result: { blocks } }, false)
        this.#disks.note(`filled ${name}`)
        break
      }
    }
    void this.#tell(key)
  }

  /** Completes the step, until somebody has taken it. Whoever does not need it any more refuses it. */
  async #tell(key: string): Promise<void> {
    const { call, answer } = this.#records.row(key)!
    const { complete } = JSON.parse(call) as GivenCall
    const outcome = JSON.parse(answer!) as object
    for (let waitMs = 200; complete !== null; waitMs = Math.min(2 * waitMs, 10_000)) {
      const status = await fetch(complete.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${complete.token}`,
          'idempotency-key': key,
        },
        body: JSON.stringify({ key, outcome }),
        signal: AbortSignal.timeout(10_000),
      }).then(
        (response) => response.status,
        () => 0,
      )
      // Refused for good: the run has moved on, or it will ask again by itself.
      if (status >= 200 && status < 500 && status !== 408 && status !== 429) break
      await sleep(waitMs)
    }
    this.#records.markTold(key)
  }
}
