// Everything that can happen to a resource. Each kind has its file beside this one and one case in decide.ts.
import type { Incarnation, Lane, No, Phase, RunRef } from './state.ts'

export type Command =
  | RequestOperation
  | CallEnded
  | DeadlinePassed
  | ProgressReported
  | Claim
  | HandOver
  | Heal
  | TimerFired
  | RelatedRunEnded
  | CancelRun
  | RetryRun
  | SkipStep
  | CompleteStep
  | SetStatus
  | ImportResource
  | Observed
  | SweepOrphan
  | OrphanEnded

/** Names a resource from outside (type and id) or from inside (number). */
export type Target = { readonly no: No } | { readonly type: string; readonly id: string }

/** Somebody asks for an operation; one that starts from nothing creates the resource. */
export interface RequestOperation {
  readonly kind: 'requestOperation'
  readonly type: string
  /** Left out when creating: the id is generated. */
  readonly id?: string | undefined
  readonly no?: No | undefined
  readonly operation: string
  readonly input?: unknown
  readonly by: string
  /** Only when creating. */
  readonly create?:
    | {
        readonly tenant?: string | undefined
        readonly name?: string | undefined
        readonly parent?: Target | undefined
        readonly properties?: unknown
        /** Ids of the linked resources by relation. */
        readonly links?: Readonly<Record<string, string>> | undefined
      }
    | undefined
  /** Each step is tried once and briefly; what is not confirmed becomes an orphan. Needs a reason. */
  readonly force?: boolean | undefined
  readonly reason?: string | undefined
  /** Idempotency key. */
  readonly key?: string | undefined
  /** Refused when the resource is not at this revision. */
  readonly ifRevision?: number | undefined
  /** Refused (as not found) when the resource, or one that is named as its parent or link, is of another tenant. */
  readonly tenant?: string | undefined
  readonly lane?: Lane | undefined
  readonly askedBy?: RunRef | undefined
  /** The trace context that it belongs to, as `traceparent`. */
  readonly trace?: string | undefined
}

/** How a driver call ended. */
export type Outcome =
  | { readonly kind: 'done'; readonly result: unknown }
  /** Not finished; look again. */
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string; readonly terminal: boolean }
  /** The call was cut: nobody knows whether it happened. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** Of a probe. */
  | { readonly kind: 'answered'; readonly answer: string; readonly observed: unknown }

export type FailedOutcome = Extract<Outcome, { kind: 'failed' }>

/** The outcome of a call that the run owed. Accepted only at the epoch at which it was made. */
export interface CallEnded {
  readonly kind: 'callEnded'
  readonly no: No
  readonly epoch: number
  readonly call: CallName
  readonly outcome: Outcome
  readonly by: string
}

/** Which call of a run: compared with what the run owes now, so that an outcome told twice changes nothing. */
export interface CallName {
  readonly phase: Phase
  readonly step: number
  /** Number of the related resource in a forEach step, else 0. */
  readonly item: No
  readonly attempt: number
}

/** The owner saw that the step's deadline or progress deadline passed. */
export interface DeadlinePassed {
  readonly kind: 'deadlinePassed'
  readonly no: No
  readonly epoch: number
  readonly by: string
}

export interface ProgressReported {
  readonly kind: 'progressReported'
  readonly no: No
  readonly epoch: number
  readonly text: string
  readonly by: string
}

/** A worker takes a run that waits for one. Raises the epoch. */
export interface Claim {
  readonly kind: 'claim'
  readonly no: No
  readonly owner: Incarnation
  readonly by: string
}

/** A worker that stops gives a run back. */
export interface HandOver {
  readonly kind: 'handOver'
  readonly no: No
  readonly epoch: number
  readonly by: string
}

export type Found = 'ownerLost' | 'overdue' | 'unowned' | 'drifted'

/** A stuck resource is brought back by its declared recovery. */
export interface Heal {
  readonly kind: 'heal'
  readonly no: No
  readonly found: Found
  /** The resource as the healer saw it: healing something that moved on meanwhile is refused. */
  readonly revision: number
  readonly owner: Incarnation
  readonly by: string
  /** A person asked: modes, budget and breaker do not apply. */
  readonly override?: boolean | undefined
  /** Why it may not be healed by itself: it is refused with this, and what no crash explains is reported. */
  readonly held?: string | undefined
}

/** A timer of the resource is due. */
export interface TimerFired {
  readonly kind: 'timerFired'
  readonly no: No
  readonly timer: string
  readonly by: string
}

/** A run that this run asked for has ended. */
export interface RelatedRunEnded {
  readonly kind: 'relatedRunEnded'
  readonly no: No
  readonly begun: number
  readonly item: RunRef
  readonly outcome: 'succeeded' | 'failed' | 'refused'
  readonly reason: string
}

export interface CancelRun {
  readonly kind: 'cancelRun'
  readonly no: No
  readonly begun?: number | undefined
  /** Only if this run asked for it: how an asker takes its requests back. */
  readonly askedBy?: RunRef | undefined
  readonly by: string
  readonly reason: string
}

/** Goes on at once with a run that is parked or waits, with new call keys when it was parked. */
export interface RetryRun {
  readonly kind: 'retryRun'
  readonly no: No
  readonly begun?: number | undefined
  readonly by: string
}

/** A person vouches for the step: the run goes on as if it were done. */
export interface SkipStep {
  readonly kind: 'skipStep'
  readonly no: No
  readonly begun?: number | undefined
  readonly by: string
  readonly reason: string
  readonly result?: unknown
}

/** A step that waits for a callback is told how it ended, by whoever was given its key. */
export interface CompleteStep {
  readonly kind: 'completeStep'
  readonly no: No
  readonly key: string
  readonly outcome: Outcome
  readonly by: string
}

/** Guarded repair by a person. Raises the epoch first. */
export interface SetStatus {
  readonly kind: 'setStatus'
  readonly no: No
  readonly status: string
  readonly reason: string
  readonly by: string
  readonly ifRevision?: number | undefined
}

/** An object that exists already comes in with its present status, also a transitional one: then it is healed. */
export interface ImportResource {
  readonly kind: 'importResource'
  readonly type: string
  readonly id?: string | undefined
  readonly tenant?: string | undefined
  /** Parent and links of another tenant than this are refused as not there. */
  readonly within?: string | undefined
  readonly name?: string | undefined
  readonly parent?: Target | undefined
  readonly links?: Readonly<Record<string, string>> | undefined
  readonly status: string
  readonly properties: unknown
  readonly ledger?: readonly { readonly kind: string; readonly ref: unknown }[] | undefined
  readonly by: string
  readonly key?: string | undefined
}

/** The real state of a stable resource was asked and answered outside of a run (a push from the backend). */
export interface Observed {
  readonly kind: 'observed'
  readonly no: No
  readonly probe: string
  readonly answer: string
  readonly observed: unknown
  readonly by: string
}

/** A sweeper takes an orphan; only one can. */
export interface SweepOrphan {
  readonly kind: 'sweepOrphan'
  readonly no: No
  readonly name: string
  readonly sweeper: Incarnation
  /** A sweeper that is known to be gone: it is at nothing any more. */
  readonly gone?: Incarnation | undefined
  readonly by: string
}

/** What became of an orphan: destroyed by its sweeper, given back to its resource, or written off by a person. */
export interface OrphanEnded {
  readonly kind: 'orphanEnded'
  readonly no: No
  readonly name: string
  readonly how: 'swept' | 'sweepFailed' | 'adopted' | 'writtenOff'
  readonly sweeper: Incarnation
  readonly reason: string
  readonly by: string
}
