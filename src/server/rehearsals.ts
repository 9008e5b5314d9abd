// Rehearsals as the server gives them: whoever puts it together brings the invented world; here they are kept within bounds. The
// same question has the same answer, so that answers are remembered; only one is worked out at a time, and few a second.
import type { Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Answer } from '../protocol/route.ts'
import type { Routes } from '../protocol/routes.ts'
import { RateLimiter } from './rate-limiter.ts'

export interface RehearsalQuestion {
  readonly type: string
  readonly operation: string | null
  readonly from: string | null
  readonly properties?: JsonObject | undefined
  readonly input?: Json | undefined
}

export interface Strike {
  readonly at: 'commit' | 'call'
  readonly n: number
  readonly fault: string
}

/** An invented world with the real engine in it. */
export interface Rehearser {
  play(question: RehearsalQuestion, strikes: readonly Strike[]): Promise<Played>
  /** For at most so long; more than one turn of the event loop. */
  search(question: RehearsalQuestion, budgetMs: number): Promise<Searched>
}

export type OpenRehearser = (lifecycles: readonly AnyLifecycle[]) => Promise<Rehearser>

export type Played = Answer<Routes['rehearse']>
export type Searched = Answer<Routes['rehearseAll']>

const rememberedMost = 100
const searchBudgetMs = 2_000

export class Rehearsals {
  readonly #open: OpenRehearser | null
  readonly #lifecycles: readonly AnyLifecycle[]
  readonly #limiter: RateLimiter
  readonly #known = new Map<string, Promise<unknown>>()
  #rehearser: Promise<Rehearser> | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(open: OpenRehearser | null, lifecycles: readonly AnyLifecycle[], clock: Clock) {
    this.#open = open
    this.#lifecycles = lifecycles
    // Each takes some milliseconds in which nothing else is done.
    this.#limiter = new RateLimiter(clock, { perSecond: 10, burst: 60 })
  }

  play(question: RehearsalQuestion, strikes: readonly Strike[]): Promise<Played> {
    return this.#once(JSON.stringify(['play', question, strikes]), 1, (rehearser) => rehearser.play(question, strikes))
  }

  search(question: RehearsalQuestion): Promise<Searched> {
    return this.#once(JSON.stringify(['search', question]), 20, (rehearser) =>
      rehearser.search(question, searchBudgetMs),
    )
  }

  #once<T>(name: string, cost: number, work: (rehearser: Rehearser) => Promise<T>): Promise<T> {
    const open = this.#open
    if (open === null)
      throw new HomeostatError(
        'rehearsal_absent',
        'This server was put together without an invented world: ask one that createServer of homeostat/server made.',
      )
    const known = this.#known.get(name)
    if (known !== undefined) return known as Promise<T>
    this.#limiter.demand('all', { cost, what: 'rehearsals' })
    this.#rehearser ??= open(this.#lifecycles)
    const rehearser = this.#rehearser
    const made = this.#last.then(async () => work(await rehearser))
    this.#last = made.catch(() => {})
    if (this.#known.size >= rememberedMost) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(name, made)
    made.catch(() => this.#known.delete(name))
    return made
  }
}
