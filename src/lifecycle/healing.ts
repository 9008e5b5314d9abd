// Healing: what to do with a resource found stuck in a transitional status, or settled somewhere that the real world contradicts.
import type { View, When } from './condition.ts'
import type { Duration } from './duration.ts'
import type { Changes, Previous, TryAgain } from './landing.ts'
import type { Named, TargetOf } from './relation.ts'
import type { Settled, StatusOf, TransitionalOf } from './resource-type.ts'

/** One row of a healing table: set this, land there, then attempt the operation again with its original input. */
export interface Recovery<T, R, Op> extends Changes<T, R, View<T, R>> {
  readonly status?: Settled<T> | Previous
  readonly attempt?: Op
}
export interface RecoveryCase<T, R, Op> extends Recovery<T, R, Op> {
  readonly when?: When<T, R, View<T, R>>
}
export type Recoveries<T, R, Op> = Recovery<T, R, Op> | readonly RecoveryCase<T, R, Op>[]

export type Answers<P> = P extends readonly (infer A extends string)[] ? A : never

/** Asks the driver what is really there, and lands by its answer. Every answer has its landing. */
export type ByProbe<T, R, Op, Probes> = Named<{
  readonly [K in keyof Probes]?: {
    readonly [A in Answers<Probes[K]> | 'unknown']:
      | Settled<T>
      | Recovery<T, R, Op>
      | (A extends 'unknown' ? TryAgain : never)
  }
}>

export interface Heal<T, R, Op, Probes> extends Recovery<T, R, Op> {
  /** Go on at the recorded step. */
  readonly resume?: true
  /** What to do when no run is recorded (default: the same). */
  readonly unowned?: Recoveries<T, R, Op>
  readonly probe?: ByProbe<T, R, Op, Probes>
  /** Healed together with this relation while it stands in one of these statuses. */
  readonly withOwner?: Named<{ readonly [K in keyof R]?: readonly StatusOf<TargetOf<R[K]>>[] }>
  readonly otherwise?: Recoveries<T, R, Op>
  /** The same as for that status. */
  readonly like?: TransitionalOf<T>
}

/** Looks at a settled resource on a rhythm. Landing in the same status without changes means: as recorded. */
export interface Drift<T, R, Op, Probes> {
  readonly every: Duration
  readonly probe: ByProbe<T, R, Op, Probes>
}
