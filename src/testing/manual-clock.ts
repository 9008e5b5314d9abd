// A clock for tests of parts: time moves when told. Between two moments the real event loop gets its turn, so that promises settle.
import { systemClock, type Clock, type Millis } from '../base/clock.ts'

export class ManualClock implements Clock {
  #now: Millis
  #order = 0
  #timers: { readonly at: Millis; readonly order: number; readonly fire: () => void }[] = []

  constructor(now: Millis = 1_000_000) {
    this.#now = now
  }

  now(): Millis {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  after(ms: number, then: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), order: ++this.#order, fire: then }
    this.#timers.push(timer)
    return () => void (this.#timers = this.#timers.filter((one) => one !== timer))
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
