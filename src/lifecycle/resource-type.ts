// Stage one of a declaration as types: what there is. A type of resource has properties and statuses of four kinds.
import type { Schema } from './schema.ts'

export const statusKinds = ['stable', 'transitional', 'failed', 'terminal'] as const
export type StatusKind = (typeof statusKinds)[number]

/** Every status under its kind, each with one sentence on what it means. */
export type StatusTable = { readonly [Kind in StatusKind]?: Readonly<Record<string, string>> }

/** One type of resource. `Given` is what its creator writes: properties with a default may be left out. */
export interface ResourceType<
  Name extends string = string,
  Properties = any,
  Stable extends string = any,
  Transitional extends string = any,
  Failed extends string = any,
  Terminal extends string = any,
  Given = any,
> {
  readonly type: Name
  readonly properties: Schema<Properties, Given>
  readonly statuses: StatusTable
  /** Only for the compiler. */
  readonly names?: {
    readonly stable: Stable
    readonly transitional: Transitional
    readonly failed: Failed
    readonly terminal: Terminal
  }
}

export type PropertiesOf<T> = T extends ResourceType<any, infer P> ? P : never
export type GivenOf<T> = T extends ResourceType<any, any, any, any, any, any, infer G> ? G : never
export type TransitionalOf<T> = T extends ResourceType<any, any, any, infer S> ? S : never
export type TerminalOf<T> = T extends ResourceType<any, any, any, any, any, infer S> ? S : never
export type StatusOf<T> = T extends ResourceType<any, any, infer A, infer B, infer C, infer D> ? A | B | C | D : never
/** A status in which a resource may rest: stable, failed or terminal. */
export type Settled<T> = Exclude<StatusOf<T>, TransitionalOf<T>>
/** A status from which something may still be asked: all but terminal. */
export type Living<T> = Exclude<StatusOf<T>, TerminalOf<T>>

/** Names of the statuses of one kind. */
export type NamesOf<Statuses, Kind extends StatusKind> = Kind extends keyof Statuses
  ? Extract<keyof Statuses[Kind], string>
  : never

/** The kind of each status; of a name that stands under two kinds, the first (check reports it). */
export function kindsOf(type: ResourceType): ReadonlyMap<string, StatusKind> {
  const kinds = new Map<string, StatusKind>()
  for (const kind of statusKinds) {
    for (const status of Object.keys(type.statuses[kind] ?? {})) if (!kinds.has(status)) kinds.set(status, kind)
  }
  return kinds
}

/** Statuses that are not terminal. */
export const livingOf = (type: ResourceType): readonly string[] =>
  [...kindsOf(type)].filter(([, kind]) => kind !== 'terminal').map(([status]) => status)
