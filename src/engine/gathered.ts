// What the decisions of one batch add to the store besides the states of resources; and the small facts they looked up.
import type { Changes } from '../decision/decision.ts'
import type { EndedRun, Event, Incident, KeyRecord, LateResult, No } from '../decision/state.ts'

export class Gathered {
  readonly events: Event[] = []
  readonly ended: EndedRun[] = []
  readonly keys: KeyRecord[] = []
  readonly late: LateResult[] = []
  readonly incidents: Incident[] = []
  /** Looked up or written in this batch; null: none. Most batches have none. */
  #knownKeys: Map<string, KeyRecord | null> | null = null
  #knownRuns: Map<string, EndedRun | null> | null = null

  add(changes: Changes): void {
    const { events, ended, late, incidents } = changes
    for (let i = 0; i < events.length; i++) this.events.push(events[i]!)
    for (let i = 0; i < ended.length; i++) this.ended.push(ended[i]!)
    if (changes.key !== null) {
      this.keys.push(changes.key)
      this.learnKey(changes.key.key, changes.key)
    }
    if (late.length > 0) this.late.push(...late)
    if (incidents.length > 0) this.incidents.push(...incidents)
  }

  get facts() {
    const { events, ended, keys, late, incidents } = this
    return { events, ended, keys, late, incidents }
  }

  /** Undefined: not known. */
  key(key: string): KeyRecord | null | undefined {
    return this.#knownKeys?.get(key)
  }

  learnKey(key: string, record: KeyRecord | null): void {
    this.#knownKeys ??= new Map()
    this.#knownKeys.set(key, record)
  }

  /** Ended in this batch or looked up for it; undefined: not known. Seldom asked, so that nothing is kept ready for it. */
  endedRun(no: No, begun: number): EndedRun | null | undefined {
    return this.ended.find((run) => run.no === no && run.begun === begun) ?? this.#knownRuns?.get(nameOfRun(no, begun))
  }

  learnRun(no: No, begun: number, run: EndedRun | null): void {
    this.#knownRuns ??= new Map()
    this.#knownRuns.set(nameOfRun(no, begun), run)
  }

  get isEmpty(): boolean {
    return (
      this.events.length === 0 &&
      this.ended.length === 0 &&
      this.keys.length === 0 &&
      this.late.length === 0 &&
      this.incidents.length === 0
    )
  }
}

const nameOfRun = (no: No, begun: number): string => `${no}-${begun}`
