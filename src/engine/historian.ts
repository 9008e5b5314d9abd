// Lets history go that is older than wanted: events, ended runs, late results and keys of requests. What a live run has written stays, and so does
// what resources are.
import type { Clock } from '../base/clock.ts'
import type { Store } from '../store/store.ts'
import type { Log } from './log.ts'
import { Rhythm } from './rhythm.ts'

const everyMs = 3_600_000
/** Whoever has just begun has other things to do. */
const firstAfterMs = 60_000

export interface HistorianOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  /** 0: for ever. */
  readonly keepHistoryMs: number
}

export class Historian {
  readonly #options: HistorianOptions
  readonly #rhythm: Rhythm
  readonly #abort = new AbortController()
  #isNew = true

  constructor(options: HistorianOptions) {
    this.#options = options
    const { clock, log } = options
    this.#rhythm = new Rhythm({
      clock,
      log,
      name: 'historian',
      pass: () => this.#pass(),
      gapMs: 1_000,
      afterFailureMs: everyMs,
    })
  }

  start(): void {
    if (this.#options.keepHistoryMs > 0) this.#rhythm.start()
  }

  /** A long removal is not waited for: what is left goes another time. */
  stop(): Promise<void> {
    this.#abort.abort()
    return this.#rhythm.stop()
  }

  async #pass(): Promise<number | undefined> {
    const { store, clock, log, keepHistoryMs } = this.#options
    if (store.removeHistory === undefined) return undefined
    if (this.#isNew) {
      this.#isNew = false
      return firstAfterMs
    }
    const before = clock.now() - keepHistoryMs
    const removed = await store.removeHistory({ before, keysBefore: before, signal: this.#abort.signal })
    if (Object.values(removed).some((count) => count > 0)) log('info', 'old history was removed', { ...removed })
    return everyMs
  }
}
