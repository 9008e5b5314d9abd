// Tokens in buckets: each principal (or address, before it is known who asks) may ask so often per second, with a burst.
import type { Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'

export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** Beyond so many names the ones that were quiet longest are forgotten: a flood of names costs no memory. */
const namesMax = 10_000

export class RateLimiter {
  readonly #clock: Clock
  readonly #rate: Rate
  readonly #buckets = new Map<string, { tokens: number; at: number }>()

  constructor(clock: Clock, rate: Rate) {
    this.#clock = clock
    this.#rate = rate
  }

  /** 0: go on. Else the seconds after which to come back. */
  take(name: string, cost = 1): number {
    const { perSecond, burst } = this.#rate
    const now = this.#clock.monotonic()
    const bucket = this.#buckets.get(name) ?? { tokens: burst, at: now }
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    if (this.#buckets.size > namesMax) this.#buckets.delete(this.#buckets.keys().next().value!)
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond)
    bucket.at = now
    if (bucket.tokens < cost) return Math.max(1, Math.ceil((cost - bucket.tokens) / perSecond))
    bucket.tokens -= cost
    return 0
  }

  /** Throws `rate_limited`. */
  demand(name: string, { cost = 1, what = 'requests' } = {}): void {
    const retryAfter = this.take(name, cost)
    if (retryAfter === 0) return
    throw new HomeostatError('rate_limited', `Too many ${what}. Come back in ${retryAfter} s.`, {
      details: { retryAfter },
    })
  }
}
