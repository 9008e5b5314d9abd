// How many runs a worker may own at a time. A run that only waits for runs of others takes no room: they might wait for it. Nor need
// one that waits for a time keep its room while others wait for a worker.
import type { Millis } from '../base/clock.ts'
import type { NumberMap } from '../base/number-map.ts'
import type { OwnedRun } from './owned-run.ts'

/** So many times as many with those that wait for others: memory has an end. */
const withAsking = 10
/** What is due so soon is not given back. */
const soonMs = 1_000

export class Room {
  readonly #runs: number
  readonly #owned: NumberMap<OwnedRun>
  #asking = 0
  #isClosed = false

  constructor(runs: number, owned: NumberMap<OwnedRun>) {
    this.#runs = runs
    this.#owned = owned
  }

  /** Runs that could be taken; none once it is closed. */
  get left(): number {
    if (this.#isClosed) return 0
    const { size } = this.#owned
    return Math.max(0, Math.min(this.#runs - size + this.#asking, withAsking * this.#runs - size))
  }

  /** Deletes get in even when it is full: they are how load goes away. */
  get isOpenToDeletes(): boolean {
    return !this.#isClosed && this.#owned.size - this.#asking < 2 * this.#runs
  }

  close(): void {
    this.#isClosed = true
  }

  /** Told with every look at a run, and with its end. */
  asks(owned: OwnedRun, isAsking: boolean): void {
    if (owned.isAsking === isAsking) return
    owned.isAsking = isAsking
    this.#asking += isAsking ? 1 : -1
  }

  /** Runs with nothing to do for a while: whoever has room takes them when they are due. */
  resting(now: Millis): OwnedRun[] {
    const found: OwnedRun[] = []
    if (this.#isClosed) return found
    for (const owned of this.#owned.values()) {
      const isIdle = owned.calls.length === 0 && owned.detached === 0 && !owned.isGivenBack
      if (isIdle && owned.resource.run!.dueAt > now + soonMs) found.push(owned)
    }
    return found
  }
}
