// Whether other processes have written. The store tells it once ("since the last time you asked"), several parts of the engine
// must know: so one object asks, and each part compares the count with the one it saw last.
import type { Store } from '../store/store.ts'

export class ForeignWrites {
  readonly #store: Store
  #count = 1
  #unheard = 0
  #quietSince = 1

  constructor(store: Store) {
    this.#store = store
  }

  /** Asks the store; the answer is higher than before when somebody else may have written. */
  look(): number {
    if (this.#store.othersWrote()) {
      this.#count++
      this.#quietSince = this.strictCount
    }
    return this.#count
  }

  /** The same for what is cached: higher than before also when somebody else may have written without the store knowing yet. */
  lookStrictly(): number {
    this.look()
    if (this.#store.learnsLater) this.#unheard++
    return this.strictCount
  }

  /** The counts of the last look. */
  get count(): number {
    return this.#count
  }

  get strictCount(): number {
    return this.#count + this.#unheard
  }

  /** The strict count since which nobody else was heard to write. */
  get quietSince(): number {
    return this.#quietSince
  }
}
