// The tail of events for subscribers: every one, in order, without gaps; woken by the store, with a slow look as the net under it.
// A subscriber that is slow is waited for: its next events are read when it has taken the last ones.
import type { Clock } from '../base/clock.ts'
import type { StoredEvent } from '../decision/state.ts'
import type { Store } from '../store/store.ts'
import type { Log } from './log.ts'
import { Rhythm } from './rhythm.ts'

export type EventListener = (events: readonly StoredEvent[]) => void | Promise<void>

export interface FeedOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly pollMs: number
}

const pageSize = 500

export class EventFeed {
  readonly #options: FeedOptions
  readonly #rhythms = new Set<Rhythm>()

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /**
   * Calls `listener` with all events after the given number, now and in future; the answer ends it. A listener that is in no hurry
   * says how long it can wait between two readings, so that many events are read at once.
   */
  subscribe(after: number, listener: EventListener, gapMs = 5): () => Promise<void> {
    const { store, clock, log, pollMs } = this.#options
    let read = after
    let isOver = false
    const pass = async (): Promise<number> => {
      for (;;) {
        const events = await store.events(read, pageSize)
        if (isOver || events.length === 0) return pollMs
        await listener(events)
        // Only what the listener has taken counts as told: if it throws, it gets the same ones again.
        read = events.at(-1)!.n
        if (isOver || events.length < pageSize) return pollMs
      }
    }
    const rhythm = new Rhythm({ clock, log, name: 'event feed', pass, gapMs, afterFailureMs: 1_000 })
    this.#rhythms.add(rhythm)
    rhythm.start()
    return () => {
      isOver = true
      this.#rhythms.delete(rhythm)
      return rhythm.stop()
    }
  }

  /** The store says that something may have been written. */
  wake(): void {
    for (const rhythm of this.#rhythms) rhythm.wake()
  }

  async stop(): Promise<void> {
    const rhythms = [...this.#rhythms]
    this.#rhythms.clear()
    await Promise.all(rhythms.map((rhythm) => rhythm.stop()))
  }

  /** The number of the latest event: found by halving, since numbers have no gaps. */
  async latest(): Promise<number> {
    const { store } = this.#options
    const [oldest] = await store.events(0, 1)
    if (oldest === undefined) return 0
    let low = oldest.n
    let high = low + 1_000
    while ((await store.events(high, 1)).length > 0) {
      low = high
      high *= 2
    }
    // There is an event numbered `low` at least, and none above `high`.
    while (low < high) {
      const middle = low + Math.ceil((high - low) / 2)
      if ((await store.events(middle - 1, 1)).length > 0) low = middle
      else high = middle - 1
    }
    return low
  }
}
