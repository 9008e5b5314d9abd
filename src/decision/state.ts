// The facts we keep: resource, run, ledger entry, event. Plain data that a store writes and reads back unchanged.
import { fromBase36, toBase36 } from '../base/base36.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Millis } from '../base/clock.ts'

/** The store's own number of a resource: unique for ever, also over types. */
export type No = number
/** The number of one start of one worker. 0 means nobody. */
export type Incarnation = number
export const nobody: Incarnation = 0

/** In the order in which they are served. */
export const lanes = ['delete', 'heal', 'user', 'background'] as const
export type Lane = (typeof lanes)[number]

/** One thing that has a lifecycle. */
export interface Resource {
  readonly no: No
  readonly id: string
  readonly type: string
  readonly tenant: string
  readonly name: string | null
  readonly parent: No | null
  readonly links: Readonly<Record<string, No>>
  readonly status: string
  /** Why it stands there: set on every failure and healing, cleared when an operation starts. */
  readonly description: string
  readonly properties: JsonObject
  /** Goes up with every change. */
  readonly revision: number
  /** Goes up whenever ownership moves; every write of a run names it. */
  readonly epoch: number
  /** When the present status was entered. */
  readonly since: Millis
  readonly createdAt: Millis
  /** The run under way, if any. */
  readonly run: Run | null
  /** The run of another resource that moved this one into a transitional status and will move it out. */
  readonly holder: RunRef | null
  /** Operations that wait for the present run to end (`ifBusy: 'queue'`). */
  readonly queue: readonly QueuedRequest[]
  /** What exists, or may exist, in the real world for this resource. Removed things leave the list. */
  readonly ledger: readonly LedgerEntry[]
  /** When each armed timer is due. */
  readonly timers: Readonly<Record<string, Millis>>
  /** Healings since the last landing that an operation earned: the budget. */
  readonly heals: number
  /** Number of its latest event: written by the store, read by nobody else. */
  last: number
  /** Only where its stored state could not be read whole: what is missing stands at its emptiest. */
  readonly damaged?: Damage
}

/** A row that something or somebody has damaged, as far as a store could tell. */
export interface Damage {
  /** All but the record of its run is whole. */
  readonly isRunOnly: boolean
  readonly why: string
  /** What could not be read, by part. */
  readonly texts: Readonly<Record<string, string>>
}

/** Names a run: the resource, and the epoch at which it was accepted. */
export interface RunRef {
  readonly no: No
  readonly begun: number
}

export const isSameRef = (one: RunRef | null | undefined, other: RunRef): boolean =>
  one?.no === other.no && one.begun === other.begun

/**
 * What a run is doing:
 * - `step`: the step at the cursor is under way (driver calls, or asked runs of others).
 * - `probe`: the outcome of a call is unknown; the step's probe is asked before anything is repeated.
 * - `undo`: begun steps are taken back, last first.
 * - `healProbe`: a stuck or drifted resource; the driver is asked what is really there.
 * - `cascade`: a healing or forced landing too large for one commit moves its related resources in chunks; the landing is last.
 */
export type Phase = 'step' | 'probe' | 'undo' | 'healProbe' | 'cascade'

export interface Run {
  /** The epoch at which it was accepted: with the resource's number the name of the run. */
  readonly begun: number
  readonly kind: 'operation' | 'heal' | 'drift'
  /** The operation's name; for a heal or drift run the operation it found interrupted, or ''. */
  readonly operation: string
  readonly input: Json
  /** Who asked: a principal, `timer <name>`, `healing` or `run <id>`. */
  readonly by: string
  readonly lane: Lane
  readonly forced: boolean
  /** The settled status stood in when it was accepted; '' when there was none (a creation, or found in a transitional one). */
  readonly previous: string
  /** The run of another resource that asked for this one and waits for its end. */
  readonly askedBy: RunRef | null
  readonly acceptedAt: Millis
  /** The W3C trace context (`traceparent`) of the request, where it came with one: calls are told where they belong. */
  readonly trace?: string

  readonly phase: Phase
  /** Index of the step at the cursor. */
  readonly step: number
  /** Indices of begun steps, in order; skipped ones are not in it. */
  readonly steps: readonly number[]
  readonly results: JsonObject
  /** What is still to do in a forEach or ask step, one for each related resource; null in other steps. */
  readonly items: readonly Item[] | null
  /** Indices of steps still to undo, last first. */
  readonly undoing: readonly number[]
  /** The landing that was chosen and waits: for the undoing to end, or for its cascade. */
  readonly landing: LandingRef | null
  /** Reasons of what failed, first to last, and the code of the first; of a forced run, before them, why it was forced. */
  readonly reasons: readonly string[]
  readonly code: string
  /** Probe asked in phase `healProbe`. */
  readonly probe: string
  /** Of a heal or drift run: in which way the resource was found stuck. */
  readonly found: string

  /** Attempts of the present step or undo. */
  readonly attempt: number
  /** Attempts of the present probe. */
  readonly probes: number
  /** How often a failure was answered with "try again later": the delay doubles with it. */
  readonly rounds: number
  /** Raised when a person retries: calls get a new key. */
  readonly family: number
  /** The next call is not made before this time (0: at once). */
  readonly dueAt: Millis
  /** The step fails when not done by then (0: no deadline). */
  readonly deadlineAt: Millis
  /** The run is hanging when nothing was heard by then (0: not watched). */
  readonly progressAt: Millis
  /** What the driver last said of its progress. */
  readonly progress: string
  /** Stopped until somebody acts. */
  readonly parked: Parked | null
  /** A call may have been made whose outcome nobody knows. */
  readonly uncertain: boolean
  /** Who carries it out; 0: waits to be claimed. */
  readonly owner: Incarnation
  /** How often healing has resumed what it is at: begins anew with every step. */
  readonly resumed: number
}

/** When a run is overdue: its deadline or progress deadline, whichever is first; 0 when neither is set. */
export const overdueAt = (run: Run): Millis =>
  run.deadlineAt === 0 || (run.progressAt !== 0 && run.progressAt < run.deadlineAt) ? run.progressAt : run.deadlineAt

export const isLate = (run: Run, now: Millis): boolean => {
  const at = overdueAt(run)
  return at !== 0 && at <= now
}

/** What failed so far, first to last. The first reason of a forced run is why it was forced. */
export const whatFailed = ({ forced, reasons }: Run): readonly string[] => (forced ? reasons.slice(1) : reasons)

/** Only a run that has one carries a trace: the others stay as they are. */
export const traced = (run: Run, trace: string | undefined): Run => (trace === undefined ? run : { ...run, trace })

export interface Item {
  readonly no: No
  /** The relation it was reached by. */
  readonly relation: string
  readonly attempt: number
  /** Not before this time. */
  readonly dueAt: Millis
}

export interface Parked {
  readonly code: 'unknown_outcome' | 'budget_spent' | 'rule_breached' | 'driver_missing' | 'declaration_defect'
  readonly reason: string
  readonly at: Millis
}

/** A landing of the declaration: the operation's `to`, a failure answer (of a step, or of the operation: step -1), or a heal row. */
export interface LandingRef {
  readonly of: 'to' | 'failure' | 'heal' | 'drift'
  readonly step: number
  /** Which of its cases. For heal and drift: an index into the row's flat list of landings. */
  readonly case: number
  /** Undoing failed: the status of `ifUndoFails` holds instead. */
  readonly undoFailed: boolean
}

export interface QueuedRequest {
  readonly operation: string
  readonly input: Json
  readonly by: string
  readonly at: Millis
  readonly key: string | null
  /** The run of another resource that asked for it and waits for its end. */
  readonly askedBy?: RunRef
  readonly trace?: string
}

export interface LedgerEntry {
  /** `type/id/kind/n`: handed to the driver, so that what it makes can be found again. */
  readonly name: string
  readonly kind: string
  /**
   * meant: the call that creates it is owed or under way. there: confirmed. unknown: the call ended without saying.
   * orphaned: nobody owns it any more. sweeping: a sweeper is destroying it.
   */
  readonly state: 'meant' | 'there' | 'unknown' | 'orphaned' | 'sweeping'
  /** What the driver answered when it made it. */
  readonly ref: Json
  readonly begun: number
  readonly step: string
  readonly since: Millis
  /** Who sweeps it, while sweeping. */
  readonly sweeper: Incarnation
}

/** Something that happened to a resource; append-only. */
export interface Event {
  readonly no: No
  readonly at: Millis
  readonly kind: EventKind
  /** Status before and after; equal when it stayed. '' before creation. */
  readonly from: string
  readonly to: string
  readonly revision: number
  readonly epoch: number
  /** The run it belongs to, by its acceptance epoch; 0: none. */
  readonly begun: number
  /** Who or what caused it. */
  readonly by: string
  readonly detail: JsonObject | null
}

export const eventKinds = [
  'accepted',
  'queued',
  'dropped',
  'stepDone',
  'stepAgain',
  'attemptFailed',
  'outcomeUnknown',
  'probed',
  'itemDone',
  'itemFailed',
  'itemAsked',
  'failed',
  'undone',
  'undoFailed',
  'landed',
  'parked',
  'retried',
  'skipped',
  'progressed',
  'preempted',
  'claimed',
  'handedOver',
  'resumed',
  'healed',
  'moved',
  'added',
  'timerFired',
  'timerRefused',
  'statusSet',
  'imported',
  'observed',
  'orphaned',
  'sweeping',
  'swept',
  'adopted',
  'writtenOff',
] as const
export type EventKind = (typeof eventKinds)[number]

/** An event as a store gives it back: `n` has no gaps for readers, `prev` is the resource's event before it. */
export interface StoredEvent extends Event {
  readonly n: number
  readonly prev: number
}

/** The record of a finished run, written once. */
export interface EndedRun {
  readonly no: No
  readonly begun: number
  readonly operation: string
  readonly kind: Run['kind']
  readonly outcome: RunOutcome
  readonly status: string
  readonly acceptedAt: Millis
  readonly endedAt: Millis
  readonly by: string
}
export type RunOutcome = 'succeeded' | 'failed' | 'cancelled' | 'preempted' | 'healed' | 'forced'

/** What a finished call reported after ownership had moved on: evidence, never a change. */
export interface LateResult {
  readonly no: No
  readonly epoch: number
  readonly call: string
  readonly at: Millis
  readonly outcome: JsonObject
}

/** A stuck resource that no crash explains: a bug to report, with its evidence. One open row per resource and kind. */
export interface Incident {
  readonly no: No
  readonly kind: 'overdue' | 'unowned' | 'drifted' | 'rule_breached' | 'declaration_defect' | 'undo_failed' | 'damaged'
  readonly at: Millis
  readonly status: string
  readonly text: string
  readonly evidence: JsonObject
}

/** An accepted request with a key: asked again it gets the same answer. */
export interface KeyRecord {
  readonly key: string
  /** Of what was asked: the same key with another request is refused. */
  readonly hash: string
  readonly no: No
  readonly begun: number
  readonly at: Millis
}

/** The public name of a run: `<no in base 36>-<begun>`. */
export const runId = (ref: RunRef): string => `${toBase36(ref.no)}-${ref.begun}`

export function parseRunId(id: string): RunRef | null {
  const match = /^([0-9a-z]{1,11})-(\d{1,9})$/.exec(id)
  return match ? { no: Number.parseInt(match[1]!, 36), begun: Number(match[2]) } : null
}

/** Ids that users do not give are made from the number and need no index. Users' own ids may not look like this. */
export const generatedId = (no: No): string => '~' + toBase36(no)

export function numberOfGeneratedId(id: string): No | null {
  return id.startsWith('~') ? fromBase36(id, 1) : null
}
