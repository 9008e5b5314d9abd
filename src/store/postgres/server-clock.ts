// The server's wall clock, as this process follows it: what it was when it was last asked, and how long ago that is by a clock that
// never goes back. A machine whose own clock is wrong then writes no wrong times, which others would wait for.
import { systemClock, type Clock, type Millis } from '../../base/clock.ts'

/** A difference within this is not worth a jump. */
const slackMs = 5

export class ServerClock implements Clock {
  /** The server's time less ours that never goes back; null: it was not asked yet. */
  private offset: number | null = null
  private readonly own: Clock

  constructor(own: Clock = systemClock) {
    this.own = own
  }

  now(): Millis {
    return this.offset === null ? this.own.now() : Math.floor(this.own.monotonic() + this.offset)
  }

  monotonic(): number {
    return this.own.monotonic()
  }

  after(ms: number, then: () => void): () => void {
    return this.own.after(ms, then)
  }

  hold(): () => void {
    return this.own.hold?.() ?? (() => {})
  }

  soon(then: () => void): void {
    this.own.soon(then)
  }

  atOnce(then: () => void): void {
    if (this.own.atOnce === undefined) this.own.soon(then)
    else this.own.atOnce(then)
  }

  /** The server said `time` between these two moments of `monotonic`. What that leaves open changes nothing. */
  heard(time: Millis, asked: number, answered: number): void {
    const half = (answered - asked) / 2
    const offset = time - (asked + half)
    if (this.offset === null || Math.abs(offset - this.offset) > half + slackMs) this.offset = offset
  }
}
