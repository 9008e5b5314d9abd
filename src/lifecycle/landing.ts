// Landings: a status and what changes with it in the same commit. Targets, failure answers and recoveries are made of them.
import type { Test, When } from './condition.ts'
import type { Duration } from './duration.ts'
import type { Named, TargetOf, ViewOf } from './relation.ts'
import type { PropertiesOf, Settled, StatusOf, TransitionalOf } from './resource-type.ts'

/** The settled status in which the resource stood when the run was accepted. */
export interface Previous {
  readonly previous: true
}
export const previous: Previous = { previous: true }

export type SetProperties<P, V> = { readonly [K in keyof P]?: P[K] | ((view: V) => P[K]) }

/** Every related resource that stands in one of `from` (default: any but terminal) and passes `only`. */
export interface Move<R, V> {
  readonly from?: readonly StatusOf<TargetOf<R>>[]
  readonly only?: Test<V & { readonly item: ViewOf<TargetOf<R>> }>
  /** Left out: only `set`. */
  readonly to?: StatusOf<TargetOf<R>>
  readonly set?: SetProperties<PropertiesOf<TargetOf<R>>, V & { readonly item: ViewOf<TargetOf<R>> }>
}

export interface Add<R, V> {
  readonly status: StatusOf<TargetOf<R>>
  /** The properties of each resource to add. */
  readonly each: (view: V) => readonly PropertiesOf<TargetOf<R>>[]
}

export interface Changes<T, R, V> {
  /** Properties that change with the status. */
  readonly set?: SetProperties<PropertiesOf<T>, V>
  /** Related resources that change their status in the same commit. */
  readonly move?: Named<{ readonly [K in keyof R]?: StatusOf<TargetOf<R[K]>> | Move<R[K], V> }>
  /** Related resources that come to be in the same commit. */
  readonly add?: Named<{ readonly [K in keyof R]?: Add<R[K], V> }>
  /** Links that change: the id linked to, or null. */
  readonly link?: Named<{
    readonly [K in keyof R as R[K] extends { readonly link: any } ? K : never]?: null | ((view: V) => string | null)
  }>
  /** Status description; {reasons} is filled in. */
  readonly say?: string
}

export interface Landing<T, R, V> extends Changes<T, R, V> {
  readonly status: Settled<T> | Previous
}
export interface Case<T, R, V> extends Landing<T, R, V> {
  readonly when?: When<T, R, V>
}
/** A status; or a status with changes; or the first case that holds (the last one has no `when`). */
export type Target<T, R, V> = Settled<T> | Previous | Landing<T, R, V> | readonly Case<T, R, V>[]

interface Undoing<T> {
  /** Undo what this run did, last first, before landing. */
  readonly undo?: true
  /** The status shown while undoing (default: the failed step's). */
  readonly during?: TransitionalOf<T>
  /** Where to land when undoing fails too (default: the only failed status). */
  readonly ifUndoFails?: Settled<T>
}
export interface FailureLanding<T, R, V> extends Landing<T, R, V>, Undoing<T> {}
export interface FailureCase<T, R, V> extends Case<T, R, V>, Undoing<T> {
  /** Only for these error codes. */
  readonly code?: readonly string[]
}

/** Stay where it is and try again later, for ever, the delay growing from `again` to `atMost`. */
export interface TryAgain {
  readonly again: Duration
  readonly atMost?: Duration
}

/** What follows when a step has failed for good. */
export type Failure<T, R, V> =
  | Settled<T>
  | Previous
  | FailureLanding<T, R, V>
  | readonly FailureCase<T, R, V>[]
  | TryAgain
