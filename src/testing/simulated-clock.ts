// Time that moves when told, and decides who runs next. One line of events for all simulated processes, the store between them
// and the world outside. One event is run to its very end, microtasks included, before the next one is taken.
import type { Clock, Millis } from '../base/clock.ts'
import { drainMicrotasks } from './microtasks.ts'

/** Whose events they are: those of a dead process never happen, those of a paused one wait until it goes on. */
export interface Owner {
  readonly rank: number
  state: 'running' | 'paused' | 'dead'
}

export interface Due {
  readonly at: Millis
  readonly owner: Owner | null
  run: (() => void) | null
}

class Planned implements Due {
  at: Millis
  tie: number
  order: number
  owner: Owner | null
  run: (() => void) | null

  constructor(at: Millis, tie: number, order: number, owner: Owner | null, run: () => void) {
    this.at = at
    this.tie = tie
    this.order = order
    this.owner = owner
    this.run = run
  }
}

/** Before everything else of its moment. */
const first = -1

/** An arbitrary moment: wall time in the simulation begins here. */
export const beginning: Millis = Date.UTC(2031, 0, 1)

export class Timeline {
  now: Millis = beginning
  /** How far the wall clock of the machine has been put forward (or back): real time does not notice. */
  jumpedMs = 0
  /** Events run so far. */
  count = 0
  /** Whose event is being run. */
  current: Owner | null = null
  readonly #heap: Planned[] = []
  readonly #waiting = new Map<Owner, Planned[]>()
  #order = 0
  /** Not 0: who goes first when several processes have something at the same moment changes from moment to moment. */
  readonly #shuffle: number

  constructor(shuffle = 0) {
    this.#shuffle = shuffle
  }

  /** What the clock on the wall says. */
  get wall(): Millis {
    return this.now + this.jumpedMs
  }

  /** Plans `run` for an owner (null: the outside, which never dies). The answer can be given to `cancel`. */
  at(at: Millis, owner: Owner | null, run: () => void): Due {
    const due = Math.max(at, this.now)
    const planned = new Planned(due, this.#tie(due, owner), ++this.#order, owner, run)
    this.#push(planned)
    return planned
  }

  after(ms: number, owner: Owner | null, run: () => void): Due {
    return this.at(this.now + Math.max(0, ms), owner, run)
  }

  /** The very next thing that the owner does: it stands still in the middle of something that must be finished first. */
  next(owner: Owner, run: () => void): Due {
    const planned = new Planned(this.now, first, ++this.#order, owner, run)
    this.#push(planned)
    return planned
  }

  cancel(due: Due): void {
    due.run = null
  }

  /** Runs the next event. False when there is none until `until`: time is then `until`. */
  step(until: Millis): boolean {
    for (;;) {
      const next = this.#heap[0]
      if (next === undefined || next.at > until) {
        this.now = until
        return false
      }
      this.#pop()
      const { run, owner } = next
      if (run === null || owner?.state === 'dead') continue
      if (owner?.state === 'paused') {
        this.#wait(owner, next)
        continue
      }
      this.now = next.at
      this.count++
      this.current = owner
      next.run = null
      run()
      drainMicrotasks()
      return true
    }
  }

  /** What waited for a paused owner comes now, in its order. */
  goOn(owner: Owner): void {
    const waiting = this.#waiting.get(owner) ?? []
    this.#waiting.delete(owner)
    for (const planned of waiting) {
      if (planned.run === null) continue
      planned.at = this.now
      if (planned.tie !== first) planned.tie = this.#tie(this.now, owner)
      planned.order = ++this.#order
      this.#push(planned)
    }
  }

  #wait(owner: Owner, planned: Planned): void {
    const waiting = this.#waiting.get(owner)
    if (waiting === undefined) this.#waiting.set(owner, [planned])
    else waiting.push(planned)
  }

  /** Events of one owner at one moment keep their order; which owner is first may change. */
  #tie(at: Millis, owner: Owner | null): number {
    if (this.#shuffle === 0) return 0
    return Math.imul((at ^ this.#shuffle) >>> 0, (owner?.rank ?? 0) * 2 + 0x9e3779b1) >>> 8
  }

  #push(planned: Planned): void {
    const heap = this.#heap
    let place = heap.length
    heap.push(planned)
    while (place > 0) {
      const above = (place - 1) >>> 1
      if (!isBefore(planned, heap[above]!)) break
      heap[place] = heap[above]!
      place = above
    }
    heap[place] = planned
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()!
    const size = heap.length
    if (size === 0) return
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      if (below >= size) break
      if (below + 1 < size && isBefore(heap[below + 1]!, heap[below]!)) below++
      if (!isBefore(heap[below]!, last)) break
      heap[place] = heap[below]!
      place = below
    }
    heap[place] = last
  }
}

function isBefore(a: Planned, b: Planned): boolean {
  if (a.at !== b.at) return a.at < b.at
  return a.tie === b.tie ? a.order < b.order : a.tie < b.tie
}

/** The clock of one simulated process: its wall clock may be wrong; its monotonic one goes on while it is paused. */
export class SimulatedClock implements Clock {
  readonly #timeline: Timeline
  readonly #owner: Owner
  readonly #skewMs: number

  constructor(timeline: Timeline, owner: Owner, skewMs = 0) {
    this.#timeline = timeline
    this.#owner = owner
    this.#skewMs = skewMs
  }

  now(): Millis {
    return this.#timeline.wall + this.#skewMs
  }

  monotonic(): number {
    return this.#timeline.now - beginning
  }

  after(ms: number, then: () => void): () => void {
    const due = this.#timeline.after(Math.ceil(ms), this.#owner, then)
    return () => this.#timeline.cancel(due)
  }

  soon(then: () => void): void {
    this.#timeline.after(0, this.#owner, then)
  }
}
