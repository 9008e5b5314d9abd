// Removes what is of no use any more: sessions, tickets and tokens that have expired, idempotency records that are old. Seals anew what is
// sealed with a key that is on its way out.
import type { Clock } from '../base/clock.ts'
import type { Log } from '../engine/log.ts'
import { Rhythm } from '../engine/rhythm.ts'
import type { RecordChange } from '../store/store.ts'
import { sessionIdleMs } from './gate.ts'
import { aboutWebhook, type Objects } from './objects.ts'
import type { Sealer } from './sealer.ts'

const everyMs = 600_000
/** How long an idempotency key is remembered. */
const onceMs = 48 * 3_600_000
const atOnce = 500

export interface HousekeeperOptions {
  readonly objects: Objects
  readonly clock: Clock
  readonly log: Log
  readonly sealer: Sealer
}

export class Housekeeper {
  readonly #objects: Objects
  readonly #clock: Clock
  readonly #rhythm: Rhythm
  readonly #sealer: Sealer

  constructor({ objects, clock, log, sealer }: HousekeeperOptions) {
    this.#objects = objects
    this.#clock = clock
    this.#sealer = sealer
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
      if (value.expiresAt <= now || value.seenAt + sessionIdleMs <= now)
        old.push(objects.change('session', key, version, null))
    for (const kind of ['ticket', 'token'] as const)
      for (const { key, value, version } of await objects.all(kind))
        if (value.expiresAt <= now) old.push(objects.change(kind, key, version, null))
    for (let from = 0; from < old.length; from += atOnce) {
      // What another process has removed, or a session that was used meanwhile, is left for the next pass.
      await objects.write(old.slice(from, from + atOnce)).catch(() => {})
    }
    await this.#sealAnew()
    return everyMs
  }

  async #sealAnew(): Promise<void> {
    for (const { key, value, version } of await this.#objects.all('webhook')) {
      if (value.secrets.every((secret) => this.#sealer.isCurrent(secret))) continue
      const about = aboutWebhook(value)
      const opened = value.secrets.map((secret) => this.#sealer.open(secret, about))
      // One that cannot be opened stays as it is: its key may come back.
      if (opened.includes(null)) continue
      const secrets = opened.map((secret) => this.#sealer.seal(secret!, about))
      await this.#objects.write([this.#objects.change('webhook', key, version, { ...value, secrets })]).catch(() => {})
    }
  }
}
