// Timers: an operation asked for at a time taken from a property, or after a delay in a status.
import type { Condition } from './condition.ts'
import type { Duration } from './duration.ts'
import type { Named } from './relation.ts'
import type { PropertiesOf, StatusOf } from './resource-type.ts'

/** Properties that may hold a number. */
type TimeNames<P> = keyof { readonly [K in keyof P as Extract<P[K], number> extends never ? never : K]: K }

export interface Timer<T, R, Op> {
  /** Armed when one of these is entered, disarmed on leaving. */
  readonly in: readonly StatusOf<T>[]
  /** Judged when it fires. */
  readonly when?: Condition<T, R>
  /** Property that holds the time, in milliseconds since 1970; while it holds none, nothing happens. */
  readonly at?: TimeNames<PropertiesOf<T>>
  /** Delay since the status was entered. */
  readonly after?: Duration
  /** An operation of its own, or of a relation. */
  readonly ask: Op | Named<{ readonly [K in keyof R]?: string }>
  /** Asked again after this long when refused. */
  readonly again?: Duration
  /** Among timers due at one moment the lowest goes first. */
  readonly rank?: number
}
