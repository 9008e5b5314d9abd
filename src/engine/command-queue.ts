// Commands that wait at the door, in the order in which they came.
import type { Command } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import type { BesideOf } from './beside.ts'

export interface Item {
  readonly command: Command
  readonly done: ((decision: Decision) => void) | null
  /** What is written with it when it is accepted. */
  readonly beside?: BesideOf | undefined
  decision: Decision | null
}

export class CommandQueue {
  #items: Item[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  add(item: Item): void {
    this.#items.push(item)
  }

  take(count: number): Item[] {
    const taken = this.#items.slice(this.#head, this.#head + count)
    this.#head += taken.length
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    } else if (this.#head > 10_000) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return taken
  }

  /** These were here before all that wait now. */
  putBack(items: readonly Item[]): void {
    if (items.length === 0) return
    this.#items = [...items, ...this.#items.slice(this.#head)]
    this.#head = 0
  }
}
