// A declaration as the console reads it: the JSON of the API with names for the parts that are shown.
import { useCall } from './api.ts'

export interface Schema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  /** `password`: not to be read over the shoulder; `moment`: milliseconds since 1970. */
  readonly format?: string
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly enum?: readonly (string | number)[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  /** Its text is the id of a resource of this type. */
  readonly resource?: string
  /** For the form that creates: the statuses that its operations require of that resource, by operation, and the tenant that it is of. */
  readonly standsIn?: Readonly<Record<string, readonly string[]>>
  readonly tenant?: string
}

export type Kind = 'stable' | 'transitional' | 'failed' | 'terminal'

export interface Operation {
  readonly meaning: string
  readonly words: readonly string[]
  readonly input: Schema | null
  readonly declared: {
    readonly from?: readonly string[] | string
    readonly force?: unknown
    readonly to?: unknown
    readonly requires?: readonly Readonly<Record<string, unknown>>[]
  }
}

export interface Lifecycle {
  readonly type: string
  readonly properties: Schema | null
  readonly statuses: readonly { readonly name: string; readonly kind: Kind; readonly meaning: string }[]
  readonly relations: Readonly<Record<string, { readonly kind: string | null; readonly type: string | null }>>
  readonly operations: Readonly<Record<string, Operation>>
  readonly heal: Readonly<Record<string, { readonly words: string }>>
  readonly drift: Readonly<Record<string, { readonly words: string | readonly string[] }>>
  readonly rules: Readonly<Record<string, { readonly words: string }>>
  readonly timers: Readonly<Record<string, { readonly words: string }>>
}

/** Declarations do not change while a server runs. */
export function useLifecycle(type: string): Lifecycle | undefined {
  const { data } = useCall('getLifecycle', { path: { type } }, { enabled: type !== '' })
  return data as unknown as Lifecycle | undefined
}

export const kindOf = (lifecycle: Lifecycle | undefined, status: string): Kind =>
  lifecycle?.statuses.find(({ name }) => name === status)?.kind ?? 'stable'

export const creates = ({ declared: { from } }: Operation): boolean => Array.isArray(from) && from.length === 0

/** The statuses that an operation requires of one related resource; undefined: none is told. */
export const requiredOf = ({ declared: { requires } }: Operation, relation: string): readonly string[] | undefined =>
  requires?.map((one) => one[relation]).find((one): one is string[] => Array.isArray(one))

const starts = ({ declared: { from } }: Operation, status: string): boolean =>
  from === undefined ||
  from === '*' ||
  from === status ||
  (Array.isArray(from) && (from.includes('*') || from.includes(status)))

/** An operation that was refused only because the question had no input can be asked for with one. */
export const onlyLacksInput = (
  operation: Operation | undefined,
  refusal: { readonly code: string },
  status: string,
): boolean => refusal.code === 'input_invalid' && operation !== undefined && starts(operation, status)

const named = /delete|destroy|terminate|remove/i

/** The statuses that a landing, or a list of cases, names. */
function landingsOf(to: unknown): readonly string[] {
  if (typeof to === 'string') return [to]
  if (Array.isArray(to)) return to.flatMap(landingsOf)
  return typeof to === 'object' && to !== null ? landingsOf((to as { readonly status?: unknown }).status) : []
}

/** Whether it takes something away: by its name, or because nothing leads out of where it ends. */
export const removes = (lifecycle: Lifecycle, name: string): boolean =>
  named.test(name) ||
  landingsOf(lifecycle.operations[name]?.declared.to).some((status) => kindOf(lifecycle, status) === 'terminal')
