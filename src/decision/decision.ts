// What follows from a command: accepted with changes, or rejected with a code and a reason. Never thrown.
import type { ErrorCode } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Command } from './command.ts'
import type { EndedRun, Event, Incident, KeyRecord, LateResult, Resource } from './state.ts'

export interface Changes {
  /** New states of every touched resource, in the order in which they were first touched. */
  readonly writes: readonly Resource[]
  readonly events: readonly Event[]
  readonly ended: readonly EndedRun[]
  readonly key: KeyRecord | null
  readonly late: readonly LateResult[]
  readonly incidents: readonly Incident[]
  /** For other resources; sent after the commit, found again from the state when lost. */
  readonly followUps: readonly Command[]
}

export interface Accepted {
  readonly accepted: true
  readonly changes: Changes
  /** The resource the command was about, as it is after the change. */
  readonly resource: Resource
  /** The run that was begun, joined or found again by its key: its `begun`; 0 if none. */
  readonly begun: number
}

export interface Rejection {
  readonly code: ErrorCode
  /** Names the thing, the reason and the way out. */
  readonly message: string
  readonly details?: Json | undefined
}

export interface Rejected {
  readonly accepted: false
  readonly rejection: Rejection
  /** Kept although the command is rejected (a late result, an incident); null when nothing is to be written. */
  readonly changes: Changes | null
}

export type Decision = Accepted | Rejected
