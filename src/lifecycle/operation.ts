// Operations: what may be asked of a resource, and the steps that carry it out.
import type { Test, View, When } from './condition.ts'
import type { Duration } from './duration.ts'
import type { Changes, Failure, Target } from './landing.ts'
import type { Named, TargetOf, ViewOf } from './relation.ts'
import type { Living, StatusOf, TransitionalOf } from './resource-type.ts'
import type { Schema } from './schema.ts'

/** One driver call per related resource; the others go on when one fails. */
export interface ForEach<R, V> {
  /** Default: any but terminal. */
  readonly in?: readonly StatusOf<TargetOf<R>>[]
  readonly only?: Test<V & { readonly item: ViewOf<TargetOf<R>> }>
  /** The item's status after its own call; left as it is when not given. */
  readonly done?: StatusOf<TargetOf<R>>
  readonly failed?: StatusOf<TargetOf<R>>
  /** Begin no further call once one has failed. */
  readonly stopAtFirst?: true
}

/** An operation of a related resource that a step asks for and waits for. */
export interface Ask<R, V> {
  readonly operation: string
  readonly in?: readonly StatusOf<TargetOf<R>>[]
  readonly input?: (view: V) => unknown
  /** Refused or failed runs do not fail the step. */
  readonly failed?: 'goOn'
}

export interface Retry {
  /** Attempts after the first. */
  readonly times: number
  readonly first?: Duration
  readonly atMost?: Duration
}

export interface Step<T, R, V, Result, Probe> {
  readonly meaning?: string
  /** The transitional status while this step is under way, and what changes when it begins. */
  readonly during: TransitionalOf<T> | (Changes<T, R, V> & { readonly status: TransitionalOf<T> })
  /** Skipped, with its status, unless this holds when its turn comes. */
  readonly when?: When<T, R, V>
  readonly forEach?: Named<{ readonly [K in keyof R]?: ForEach<R[K], V> }>
  /** No driver call: ask these operations of related resources and wait for their runs. */
  readonly ask?: Named<{ readonly [K in keyof R]?: string | Ask<R[K], V> }>
  /** What the driver answers when the step is done. */
  readonly result?: Schema<Result>
  /** The driver function that takes this step back. */
  readonly undo?: string
  /** The probe that tells whether a cut call happened: its first answer means yes, any other no. */
  readonly probe?: Probe
  /** The kind of thing it makes in the real world: written to the ledger before the call. */
  readonly creates?: string
  /** The kind of thing it removes: closes the open ledger entries of that kind. */
  readonly destroys?: string
  readonly retry?: Retry
  readonly deadline?: Duration
  /** The run hangs when nothing is heard for this long. */
  readonly progress?: Duration
  readonly onFailure?: Failure<T, R, V>
  /** Left out when the operation is forced. */
  readonly ifForced?: 'skip'
}

export interface Operation<T, R, Input, Results, Probe> {
  readonly meaning?: string
  /** Statuses it may be asked in. Empty: it creates the resource. '*': every status that is not terminal. */
  readonly from: readonly (Living<T> | '*')[]
  readonly input?: Schema<Input>
  /** Judged when it is asked for; all that fail are reported in words. */
  readonly requires?: readonly When<T, R, View<T, R, Input>>[]
  /** When another run is under way (default: refuse). */
  readonly ifBusy?: 'refuse' | 'queue' | 'preempt'
  /** So many requests, also such as would be refused, may wait for the end of a run of it (default: none). */
  readonly queueBehind?: number
  /** Asked of what is terminal (default: refuse). Succeed: nothing is left to do, and nothing changes. */
  readonly ifTerminal?: 'refuse' | 'succeed'
  /** Pre-empting: how long to wait for the interrupted step to stop. */
  readonly grace?: Duration
  /** May be forced: every step is tried once, this long; what is not confirmed becomes an orphan. */
  readonly force?: Duration
  /** The status shown while it is forced (default: that of the step). */
  readonly whileForced?: TransitionalOf<T>
  readonly steps: { readonly [Name in keyof Results]: Step<T, R, View<T, R, Input, Results>, Results[Name], Probe> }
  readonly to: Target<T, R, View<T, R, Input, Results>>
  readonly onFailure: Failure<T, R, View<T, R, Input, Results>>
  /** Status description after a failure; {reasons} is filled in. */
  readonly failureText?: string
}
