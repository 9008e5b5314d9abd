// A clock for tests of parts: time moves when told. Between two moments the real event loop gets its turn, so that promises settle.
import { systemClock, type Clock, type Millis } from '../base/clock.ts'

export class ManualClock implements Clock {
  #now: Millis
  #slept = 0
  #order = 0
  #timers: { readonly at: Millis; readonly order: number; readonly fire: () => void }[] = []

  constructor(now: Millis = 1_000_000) {
    this.#now = now
  }

  now(): Millis {
    return this.#now
  }

  monotonic(): number {
    return this.#now - this.#slept
  }

  after(ms: number, then: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), order: ++this.#order, fire: then }
    this.#timers.push(timer)
    return () => void (this.#timers = this.#timers.filter((one) => one.order !== timer.order))
  }

  soon(then: () => void): void {
    systemClock.soon(then)
  }

  /** Timers that are armed. */
  get armed(): number {
    return this.#timers.length
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => systemClock.soon(resolve))
  }

  /** The process stands still: what was due meanwhile is late, all of it at once. */
  async freeze(ms: number): Promise<void> {
    this.#now += ms
    await this.advance(0)
  }

  /** The machine sleeps: its other clock and its timers stand still, too. */
  async sleep(ms: number): Promise<void> {
    this.#now += ms
    this.#slept += ms
    this.#timers = this.#timers.map((one) => ({ ...one, at: one.at + ms }))
    await this.settle()
  }

  /** Moves on by `ms`, from timer to timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await this.settle()
    for (;;) {
      const next = this.#timers
        .filter((one) => one.at <= end)
        .sort((a, b) => a.at - b.at || a.order - b.order)
        .at(0)
      if (next === undefined) break
      this.#now = Math.max(this.#now, next.at)
      this.#timers = this.#timers.filter((one) => one !== next)
      next.fire()
      await this.settle()
    }
    this.#now = end
    await this.settle()
  }
}
