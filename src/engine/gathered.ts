// What the decisions of one batch add to the store besides the states of resources; and the small facts they looked up.
import type { Changes } from '../decision/decision.ts'
import type { EndedRun, Event, Incident, KeyRecord, LateResult, No } from '../decision/state.ts'

export class Gathered {
  readonly events: Event[] = []
  readonly ended: EndedRun[] = []
  readonly keys: KeyRecord[] = []
  readonly late: LateResult[] = []
  readonly incidents: Incident[] = []
  /** Looked up or written in this batch. */
  readonly knownKeys = new Map<string, KeyRecord | null>()
  readonly knownRuns = new Map<string, EndedRun | null>()

  add(changes: Changes): void {
    for (const event of changes.events) this.events.push(event)
    for (const run of changes.ended) {
      this.ended.push(run)
      this.knownRuns.set(nameOfRun(run.no, run.begun), run)
    }
    if (changes.key !== null) {
      this.keys.push(changes.key)
      this.knownKeys.set(changes.key.key, changes.key)
    }
    for (const late of changes.late) this.late.push(late)
    for (const incident of changes.incidents) this.incidents.push(incident)
  }

  get facts() {
    const { events, ended, keys, late, incidents } = this
    return { events, ended, keys, late, incidents }
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

export const nameOfRun = (no: No, begun: number): string => `${no}-${begun}`
