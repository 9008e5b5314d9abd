// A wait that can be cut short.
import type { Clock } from '../base/clock.ts'

export class Pause {
  readonly #clock: Clock
  #end: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#end = null
        cancel()
        resolve()
      }
      const cancel = this.#clock.after(ms, end)
      this.#end = end
    })
  }

  /** The wait under way is over, if there is one. */
  cut(): void {
    this.#end?.()
  }
}
