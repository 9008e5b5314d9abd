// Conditions: data over properties and relations first; a pure function with its words beside it where data cannot say it.
import type { IsMany, RelatedViews, Scalar, TargetOf, ViewOf } from './relation.ts'
import type { PropertiesOf, StatusOf } from './resource-type.ts'

/** What a pure function of the declaration may look at. */
export interface View<T, R, Input = unknown, Results = unknown> {
  readonly resource: ViewOf<T>
  readonly related: RelatedViews<R>
  readonly input: Input
  /** Of the steps that are done; a skipped one has none. */
  readonly results: { readonly [Step in keyof Results]?: Results[Step] }
  /** The settled status that the run under way came from; empty when there is no run, or nobody knows. */
  readonly previous: StatusOf<T> | ''
  readonly now: number
}

/** To-many relations see only resources that are not terminal. */
type RelatedIs<R> =
  | { readonly exists: boolean }
  | (IsMany<R> extends true
      ?
          | { readonly every: readonly StatusOf<TargetOf<R>>[] }
          | { readonly some: readonly StatusOf<TargetOf<R>>[] }
          | { readonly none: readonly StatusOf<TargetOf<R>>[] }
      : readonly StatusOf<TargetOf<R>>[])

/** Scalar properties. `string extends K` drops the index signature of z.object({}), which would swallow every name. */
type PropertyIs<P> = {
  readonly [K in keyof P as string extends K ? never : Exclude<P[K], undefined> extends Scalar ? K : never]?:
    | Exclude<P[K], undefined>
    | readonly Exclude<P[K], undefined>[]
}

/** All named things hold: a property has this value (or one of these), a relation stands in one of these statuses. */
export type Condition<T, R> = PropertyIs<PropertiesOf<T>> & { readonly [K in keyof R]?: RelatedIs<R[K]> }

/** What data cannot say (arithmetic, dates): a pure function with its words beside it. */
export interface Test<V> {
  readonly says: string
  readonly test: (view: V) => boolean
}

/** One object for both: a union of the two would lose the compiler's "Did you mean". */
export type When<T, R, V> = Condition<T, R> & { readonly says?: string; readonly test?: (view: V) => boolean }
