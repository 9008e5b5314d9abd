// Rules: statements about the statuses of related resources that hold in every committed state.
import type { Condition } from './condition.ts'
import type { StatusOf } from './resource-type.ts'

/** For each status: what must hold (any of the list). A status not named is free. */
export interface Rule<T, R> {
  readonly says: string
  readonly holds: { readonly [S in StatusOf<T>]?: Condition<T, R> | readonly Condition<T, R>[] }
}
