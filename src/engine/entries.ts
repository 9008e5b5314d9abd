// The entries of the working set, found by number; and the line in which they wait to be dropped, the longest there first.
import { NumberMap } from '../base/number-map.ts'
import type { No } from '../decision/state.ts'
import { Entry } from './entry.ts'

/** So many that have left are cleared from the line together. */
const clearedTogether = 4_096

export class Entries {
  readonly #byNo = new NumberMap<Entry>()
  /** Also some that are gone: they are passed over when their turn comes. */
  #line: Entry[] = []
  #head = 0

  get size(): number {
    return this.#byNo.size
  }

  get(no: No): Entry | undefined {
    return this.#byNo.get(no)
  }

  add(no: No): Entry {
    const entry = new Entry(no)
    this.#byNo.set(no, entry)
    this.#line.push(entry)
    return entry
  }

  /** False: it is gone already, and another may stand in its place. */
  drop(entry: Entry): boolean {
    if (entry.isGone) return false
    entry.isGone = true
    return this.#byNo.delete(entry.no)
  }

  /**
   * So many at most that may go leave the line, the longest here first. Owned ones stay, and what is read again and again (the parent of many)
   * for one round more each time.
   */
  takeIdle(most: number, looks: number): readonly Entry[] {
    const idle: Entry[] = []
    for (let left = looks; idle.length < most && left > 0; left--) {
      const entry = this.#takeLongest()
      if (entry === null) break
      if (entry.isOwned || entry.isFlying || entry.isInUse) {
        entry.isInUse = false
        this.#line.push(entry)
      } else idle.push(entry)
    }
    return idle
  }

  clear(): void {
    this.#byNo.clear()
    this.#line = []
    this.#head = 0
  }

  /** The one that is longest here leaves the line; null: it is empty. */
  #takeLongest(): Entry | null {
    while (this.#head < this.#line.length) {
      const entry = this.#line[this.#head++]!
      if (this.#head === clearedTogether) {
        this.#line = this.#line.slice(this.#head)
        this.#head = 0
      }
      if (!entry.isGone) return entry
    }
    return null
  }
}
