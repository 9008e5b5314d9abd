// Fires declared timers when they are due: lowest rank first, then the earliest, then by id. Looks a while ahead, so that what
// is armed anywhere is fired in time, and sleeps until the next moment it knows of.
import type { Clock, Millis } from '../base/clock.ts'
import type { No, Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store, Write } from '../store/store.ts'
import type { Door } from './door.ts'
import type { Log } from './log.ts'
import { Rhythm } from './rhythm.ts'

export interface TimekeeperOptions {
  readonly store: Store
  readonly plans: Plans
  readonly door: Door
  readonly clock: Clock
  readonly log: Log
  /** How far is looked ahead, and how often at the least. */
  readonly pollMs: number
}

interface DueTimer {
  readonly resource: Resource
  readonly timer: string
  readonly due: Millis
  readonly rank: number
}

const pageSize = 500
/** A timer that could not be fired is left alone for so long. */
const afterRefusalMs = 60_000
const gapMs = 10

export class Timekeeper {
  readonly #options: TimekeeperOptions
  readonly #rhythm: Rhythm
  /** When the next pass comes at the latest. */
  #nextAt: Millis = 0
  /** Timers that were refused without being moved on, and until when they are left alone. */
  readonly #refused = new Map<string, Millis>()

  constructor(options: TimekeeperOptions) {
    this.#options = options
    const { clock, log } = options
    this.#rhythm = new Rhythm({
      clock,
      log,
      name: 'timekeeper',
      pass: () => this.#pass(),
      gapMs,
      afterFailureMs: 1_000,
    })
  }

  start(): void {
    this.#rhythm.start()
  }

  stop(): Promise<void> {
    return this.#rhythm.stop()
  }

  /** A change made here may have armed a timer that is due before the next pass. */
  committed(writes: readonly Write[]): void {
    for (const { before, after } of writes) {
      if (before !== null && before.timers === after.timers) continue
      for (const timer in after.timers) {
        if (after.timers[timer]! >= this.#nextAt) continue
        this.#nextAt = after.timers[timer]!
        this.#rhythm.wakeIn(Math.max(0, this.#nextAt - this.#options.clock.now()))
      }
    }
  }

  async #pass(): Promise<number> {
    const { store, clock, pollMs } = this.#options
    const now = clock.now()
    // Until this pass knows better, every timer that is armed meanwhile counts as earlier.
    this.#nextAt = Infinity
    this.#forgive(now)
    const limit = pageSize + this.#refused.size
    const found = await store.work({ work: 'timers' }, now + pollMs, limit)
    const due: DueTimer[] = []
    let next = now + pollMs
    for (const resource of found) {
      for (const [timer, at] of Object.entries(resource.timers)) {
        if (this.#refused.has(nameOf(resource.no, timer))) continue
        if (at > now) next = Math.min(next, at)
        else due.push({ resource, timer, due: at, rank: this.#rankOf(resource.type, timer) })
      }
    }
    await this.#fire(due)
    this.#nextAt = Math.min(this.#nextAt, next)
    return found.length >= limit && due.length > 0 ? 0 : Math.max(0, this.#nextAt - clock.now())
  }

  async #fire(due: DueTimer[]): Promise<void> {
    due.sort((a, b) => a.rank - b.rank || a.due - b.due || (a.resource.id < b.resource.id ? -1 : 1))
    // One rank after the other: what the first ones do may change what the next ones find.
    for (let from = 0; from < due.length;) {
      let to = from
      while (to < due.length && due[to]!.rank === due[from]!.rank) to++
      await Promise.all(due.slice(from, to).map((one) => this.#fireOne(one)))
      from = to
    }
  }

  async #fireOne({ resource, timer }: DueTimer): Promise<void> {
    const { door, clock } = this.#options
    const decision = await door.ask({ kind: 'timerFired', no: resource.no, timer, by: `timer ${timer}` })
    if (decision.accepted || decision.rejection.code === 'timer_not_due') return
    this.#refused.set(nameOf(resource.no, timer), clock.now() + afterRefusalMs)
  }

  #forgive(now: Millis): void {
    for (const [name, until] of this.#refused) if (until <= now) this.#refused.delete(name)
  }

  /** Timers without a rank, and drift probes, go last. */
  #rankOf(type: string, timer: string): number {
    return this.#options.plans.get(type)?.timers.find((one) => one.name === timer)?.rank ?? Number.MAX_SAFE_INTEGER
  }
}

const nameOf = (no: No, timer: string): string => `${no} ${timer}`
