// So many at a time; the others wait in the order in which they came. Who no longer wants his turn leaves the line.
export class Slots {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Resolves when it is one's turn; true: it is, and must be given back. False: the signal came first. */
  async take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#free > 0) {
      this.#free--
      return true
    }
    return new Promise((resolve) => {
      const leave = () => {
        this.#waiting.delete(turn)
        resolve(false)
      }
      const turn = () => {
        signal.removeEventListener('abort', leave)
        resolve(true)
      }
      this.#waiting.add(turn)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  give(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free++
    else {
      this.#waiting.delete(next)
      next()
    }
  }
}
