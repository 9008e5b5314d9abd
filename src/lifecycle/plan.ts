// A declaration made ready to be decided on: names resolved, short forms written out, durations in milliseconds.
// What `decide` reads on every step is a field here, so that the usual step looks nothing up.
import type { RelationKind } from './relation.ts'
import type { StatusKind } from './resource-type.ts'
import type { Schema } from './schema.ts'

/** What a pure function of the declaration is called with. */
export interface PlanView {
  readonly resource: unknown
  readonly related: unknown
  readonly input: unknown
  readonly results: unknown
  readonly previous: string
  readonly now: number
  readonly item?: unknown
}
export type Compute = (view: PlanView) => unknown

export interface Plan {
  readonly type: string
  readonly properties: Schema
  readonly kinds: ReadonlyMap<string, StatusKind>
  readonly meanings: ReadonlyMap<string, string>
  readonly relations: ReadonlyMap<string, RelationPlan>
  readonly parentType: string | null
  readonly operations: ReadonlyMap<string, OperationPlan>
  readonly heal: ReadonlyMap<string, HealPlan>
  readonly drift: ReadonlyMap<string, DriftPlan>
  readonly probes: ReadonlyMap<string, readonly string[]>
  readonly timers: readonly TimerPlan[]
  readonly rules: readonly RulePlan[]
  readonly begins: ReadonlySet<string>
  readonly moves: readonly MoveRowPlan[]
  readonly pair: PairPlan | null
  /** Whose rules look at this type, and by which of their relations. */
  readonly judges: readonly JudgePlan[]
  /** The only failed status, where undoing fails and nothing else is said. */
  readonly onlyFailed: string | null
}

export interface RelationPlan {
  readonly name: string
  readonly kind: RelationKind
  readonly type: string
  readonly many: boolean
  /** Properties that a child must have. */
  readonly where: readonly (readonly [string, unknown])[]
  /** For linkedBy: the other's link. */
  readonly as: string
}

export interface PairPlan {
  readonly relation: string
  readonly type: string
  /** The side that has the operations. */
  readonly leads: boolean
}

export interface JudgePlan {
  readonly type: string
  readonly relation: RelationPlan
}

export type Term =
  | { readonly term: 'property'; readonly name: string; readonly values: readonly unknown[] }
  | {
      readonly term: 'one' | 'every' | 'some' | 'none'
      readonly relation: RelationPlan
      readonly statuses: ReadonlySet<string>
    }
  | { readonly term: 'exists'; readonly relation: RelationPlan; readonly exists: boolean }

export interface ConditionPlan {
  readonly terms: readonly Term[]
  readonly test: ((view: PlanView) => boolean) | null
  /** In words, for refusals and previews. */
  readonly words: string
}

export interface MovePlan {
  readonly relation: RelationPlan
  readonly from: ReadonlySet<string> | null
  readonly only: { readonly says: string; readonly test: (view: PlanView) => boolean } | null
  readonly to: string | null
  readonly set: readonly (readonly [string, unknown])[]
}

export interface AddPlan {
  readonly relation: RelationPlan
  readonly status: string
  readonly each: (view: PlanView) => readonly unknown[]
}

export interface ChangesPlan {
  readonly set: readonly (readonly [string, unknown])[]
  readonly move: readonly MovePlan[]
  readonly add: readonly AddPlan[]
  readonly link: readonly (readonly [string, null | Compute])[]
  readonly say: string | null
}

/** `status` null: where it came from. */
export interface LandingPlan {
  readonly when: ConditionPlan | null
  readonly status: string | null
  /** Null when nothing but the status changes. */
  readonly changes: ChangesPlan | null
}

export interface FailureCasePlan extends LandingPlan {
  readonly codes: ReadonlySet<string> | null
  readonly undo: boolean
  readonly during: string | null
  readonly ifUndoFails: string | null
}

export interface TryAgainPlan {
  readonly againMs: number
  readonly atMostMs: number
}

/** Either tried again for ever, or the first case that holds. */
export interface FailurePlan {
  readonly tryAgain: TryAgainPlan | null
  readonly cases: readonly FailureCasePlan[]
}

export interface ForEachPlan {
  readonly relation: RelationPlan
  readonly in: ReadonlySet<string> | null
  readonly only: { readonly says: string; readonly test: (view: PlanView) => boolean } | null
  readonly done: string | null
  readonly failed: string | null
  readonly stopAtFirst: boolean
}

export interface AskPlan {
  readonly relation: string
  readonly operation: string
  readonly in: ReadonlySet<string> | null
  readonly input: Compute | null
  readonly goOn: boolean
}

export interface RetryPlan {
  readonly times: number
  readonly firstMs: number
  readonly atMostMs: number
}

export interface StepPlan {
  readonly name: string
  readonly index: number
  readonly status: string
  readonly changes: ChangesPlan | null
  readonly when: ConditionPlan | null
  readonly forEach: ForEachPlan | null
  readonly asks: readonly AskPlan[]
  readonly result: Schema | null
  readonly undo: string | null
  readonly probe: string | null
  readonly creates: string | null
  readonly destroys: string | null
  readonly retry: RetryPlan
  readonly deadlineMs: number
  readonly progressMs: number
  readonly onFailure: FailurePlan | null
  readonly skippedIfForced: boolean
}

export interface OperationPlan {
  readonly name: string
  readonly meaning: string
  readonly creates: boolean
  readonly from: ReadonlySet<string>
  readonly input: Schema | null
  readonly requires: readonly ConditionPlan[]
  readonly ifBusy: 'refuse' | 'queue' | 'preempt'
  readonly queueBehind: number
  readonly ifTerminal: 'refuse' | 'succeed'
  readonly graceMs: number
  /** 0: may not be forced. */
  readonly forceMs: number
  /** Shown instead of the steps' own statuses while it is forced. */
  readonly forcedStatus: string | null
  readonly steps: readonly StepPlan[]
  readonly to: readonly LandingPlan[]
  readonly onFailure: FailurePlan
  readonly failureText: string | null
  /** It removes the resource: its runs go first. */
  readonly removes: boolean
}

/** A landing of healing: `status` undefined leaves the status to the attempt. */
export interface RecoveryPlan {
  readonly when: ConditionPlan | null
  readonly status: string | null | undefined
  readonly changes: ChangesPlan | null
  readonly attempt: string | null
  /** Its place in the row's flat list of landings. */
  readonly index: number
}

export interface ProbePlan {
  readonly name: string
  readonly answers: ReadonlyMap<string, RecoveryPlan>
  /** When the answer is unknown: ask again after this long (0: land as `answers` says for 'unknown'). */
  readonly againMs: number
}

export interface HealPlan {
  readonly status: string
  readonly resume: boolean
  readonly withOwner: readonly { readonly relation: RelationPlan; readonly statuses: ReadonlySet<string> }[]
  readonly unowned: readonly RecoveryPlan[]
  readonly probe: ProbePlan | null
  readonly cases: readonly RecoveryPlan[]
  /** Every landing of the row, by its index. */
  readonly landings: readonly RecoveryPlan[]
  /** The whole row in words. */
  readonly words: string
}

export interface DriftPlan {
  readonly status: string
  readonly everyMs: number
  readonly probe: ProbePlan
  readonly landings: readonly RecoveryPlan[]
}

export interface TimerPlan {
  readonly name: string
  readonly in: ReadonlySet<string>
  readonly when: ConditionPlan | null
  readonly at: string | null
  readonly afterMs: number
  /** An operation of the resource itself (relation null) or of related ones. */
  readonly asks: readonly { readonly relation: RelationPlan | null; readonly operation: string }[]
  readonly againMs: number
  readonly rank: number
}

export interface RulePlan {
  readonly name: string
  readonly says: string
  readonly holds: ReadonlyMap<string, readonly ConditionPlan[]>
}

export interface MoveRowPlan {
  readonly from: ReadonlySet<string>
  readonly to: string
  readonly byType: string
}

/** All loaded lifecycles. */
export interface Plans {
  readonly all: readonly Plan[]
  get(type: string): Plan | undefined
  readonly kindOf: (type: string, status: string) => StatusKind
}
