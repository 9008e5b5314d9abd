// Removes what is of no use any more: sessions, tickets and tokens that have expired, idempotency records that are old.
import type { Clock } from '../base/clock.ts'
import type { Log } from '../engine/log.ts'
import { Rhythm } from '../engine/rhythm.ts'
import type { RecordChange } from '../store/store.ts'
import type { Objects } from './objects.ts'

const everyMs = 600_000
/** How long an idempotency key is remembered. */
const onceMs = 48 * 3_600_000
const idleMs = 30 * 60_000
const atOnce = 500

export class Housekeeper {
  readonly #objects: Objects
  readonly #clock: Clock
  readonly #rhythm: Rhythm

  constructor({ objects, clock, log }: { readonly objects: Objects; readonly clock: Clock; readonly log: Log }) {
    this.#objects = objects
    this.#clock = clock
    const pass = () => this.pass()
    this.#rhythm = new Rhythm({ clock, log, name: 'housekeeper', pass, gapMs: 1_000, afterFailureMs: 60_000 })
  }

  start(): void {
    this.#rhythm.start()
  }

  stop(): Promise<void> {
    return this.#rhythm.stop()
  }

  async pass(): Promise<number> {
    const objects = this.#objects
    const now = this.#clock.now()
    const old: RecordChange[] = []
    for (const { key, value, version } of await objects.all('once'))
      if (value.at + onceMs <= now) old.push(objects.change('once', key, version, null))
    for (const { key, value, version } of await objects.all('session'))
      if (value.expiresAt <= now || value.seenAt + idleMs <= now)
        old.push(objects.change('session', key, version, null))
    for (const kind of ['ticket', 'token'] as const)
      for (const { key, value, version } of await objects.all(kind))
        if (value.expiresAt <= now) old.push(objects.change(kind, key, version, null))
    for (let from = 0; from < old.length; from += atOnce) {
      // What another process has removed, or a session that was used meanwhile, is left for the next pass.
      await objects.write(old.slice(from, from + atOnce)).catch(() => {})
    }
    return everyMs
  }
}
