// Many future moments, one timer: tells which resources have something due.
import type { Clock, Millis } from '../base/clock.ts'
import type { No } from '../decision/state.ts'

export class Alarm {
  readonly #clock: Clock
  readonly #ring: (nos: readonly No[]) => void
  /** A binary heap, earliest first. */
  readonly #heap: { readonly at: Millis; readonly no: No }[] = []
  #timer: { readonly at: Millis; readonly cancel: () => void } | null = null

  constructor(clock: Clock, ring: (nos: readonly No[]) => void) {
    this.#clock = clock
    this.#ring = ring
  }

  set(at: Millis, no: No): void {
    const heap = this.#heap
    let place = heap.length
    heap.push({ at, no })
    while (place > 0) {
      const above = (place - 1) >>> 1
      if (heap[above]!.at <= at) break
      this.#swap(place, above)
      place = above
    }
    this.#arm()
  }

  clear(): void {
    this.#heap.length = 0
    this.#timer?.cancel()
    this.#timer = null
  }

  #arm(): void {
    const first = this.#heap[0]
    if (first === undefined || (this.#timer !== null && this.#timer.at <= first.at)) return
    this.#timer?.cancel()
    const cancel = this.#clock.after(Math.max(0, first.at - this.#clock.now()), () => this.#fire())
    this.#timer = { at: first.at, cancel }
  }

  #fire(): void {
    this.#timer = null
    const now = this.#clock.now()
    const due: No[] = []
    while (this.#heap.length > 0 && this.#heap[0]!.at <= now) due.push(this.#pop())
    this.#arm()
    if (due.length > 0) this.#ring(due)
  }

  #pop(): No {
    const heap = this.#heap
    const { no } = heap[0]!
    const last = heap.pop()!
    if (heap.length > 0) {
      heap[0] = last
      let place = 0
      for (;;) {
        let least = place
        for (const below of [2 * place + 1, 2 * place + 2]) {
          if (below < heap.length && heap[below]!.at < heap[least]!.at) least = below
        }
        if (least === place) break
        this.#swap(place, least)
        place = least
      }
    }
    return no
  }

  #swap(a: number, b: number): void {
    const held = this.#heap[a]!
    this.#heap[a] = this.#heap[b]!
    this.#heap[b] = held
  }
}
