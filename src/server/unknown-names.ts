// Names in what somebody sent that a lifecycle's own schema does not know. An object of zod drops them without a word: whoever has
// mistyped a name would be told 'accepted', and what he gave be lost. Schemas that are made otherwise judge for themselves.
// So with the names that a fault switch is set for: one that no declaration has would never break anything.
import { HomeostatError, type ErrorCode } from '../base/errors.ts'
import { functionsOf } from '../engine/start-checks.ts'
import { didYouMeanOf } from '../base/did-you-mean.ts'
import { notLoaded } from '../lifecycle/not-loaded.ts'
import type { Plan, Plans } from '../lifecycle/plan.ts'

/** What is read of a schema of zod; anything may be missing. */
interface Inside {
  readonly type?: string
  readonly shape?: Readonly<Record<string, unknown>>
  /** Takes, or refuses, all other names. */
  readonly catchall?: unknown
  readonly innerType?: unknown
  readonly element?: unknown
  readonly valueType?: unknown
  readonly in?: unknown
}

const insideOf = (schema: unknown): Inside =>
  (schema as { readonly _zod?: { readonly def?: Inside } } | null | undefined)?._zod?.def ?? {}

/** Throws for the first of them, with what may have been meant. `what` is the beginning of a sentence that goes on with 'fit'. */
export function refuseUnknown(code: ErrorCode, what: string, schema: unknown, given: unknown): void {
  const [odd] = unknownIn(schema, given, '')
  if (odd === undefined) return
  const { path, known } = odd
  const message = `${what} fit: ${path}: there is no such name. ${didYouMeanOf(odd.name, known)}`
  throw new HomeostatError(code, message, { details: [`${path}: there is no such name`] })
}

/** The names that an object of the schema has, at a path in what was given; none where it cannot be told. */
export function namesAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  const { type, shape, innerType, element, valueType, in: first } = insideOf(schema)
  if (innerType !== undefined) return namesAt(innerType, path)
  if (type === 'pipe') return namesAt(first, path)
  const [next, ...rest] = path
  if (next === undefined) return Object.keys(shape ?? {})
  return namesAt(shape?.[String(next)] ?? element ?? valueType, rest)
}

interface Odd {
  readonly path: string
  readonly name: string
  readonly known: readonly string[]
}

function unknownIn(schema: unknown, given: unknown, path: string): Odd[] {
  const { type, shape, catchall, innerType, element, valueType, in: first } = insideOf(schema)
  if (innerType !== undefined) return unknownIn(innerType, given, path)
  if (type === 'pipe') return unknownIn(first, given, path)
  if (typeof given !== 'object' || given === null) return []
  if (type === 'array')
    return Array.isArray(given) ? given.flatMap((one, index) => unknownIn(element, one, `${path}${index}.`)) : []
  if (Array.isArray(given)) return []
  if (type === 'record')
    return Object.entries(given).flatMap(([name, one]) => unknownIn(valueType, one, `${path}${name}.`))
  if (type !== 'object' || shape === undefined || catchall !== undefined) return []
  const known = Object.keys(shape)
  return Object.entries(given).flatMap(([name, one]) =>
    Object.hasOwn(shape, name)
      ? unknownIn(shape[name], one, `${path}${name}.`)
      : [{ path: `${path}${name}`.slice(0, 200), name: name.slice(0, 100), known }],
  )
}

/** Throws where a fault is set for a type or a step that no loaded lifecycle has. Undos and probes are called too, and count as steps. */
export function refuseUnknownTarget(
  plans: Plans,
  { type, step }: { readonly type?: string | undefined; readonly step?: string | undefined },
): void {
  const plan = type === undefined ? undefined : plans.get(type)
  if (type !== undefined && plan === undefined) throw new HomeostatError('type_unknown', notLoaded(plans, type))
  if (step === undefined) return
  const called = new Set((plan === undefined ? plans.all : [plan]).flatMap((one) => [...functionsOf(one)]))
  if (called.has(step)) return
  throw new HomeostatError(
    'request_invalid',
    `There is no step '${step}' in ${plan === undefined ? 'any lifecycle' : plan.type}. ${didYouMeanOf(step, called)}`,
    { details: ['body.on.step: there is no such step'] },
  )
}

/** A status that none of these lifecycles has. */
export function refuseUnknownStatus(plans: readonly Plan[], given: readonly string[]): void {
  const odd = given.find((status) => !plans.some(({ kinds }) => kinds.has(status)))
  if (odd === undefined) return
  const [only] = plans
  throw new HomeostatError(
    'status_unknown',
    plans.length === 1
      ? `'${odd}' is no status of ${only!.type}. It has ${[...only!.kinds.keys()].join(', ')}.`
      : `No type has a status '${odd}'. GET /v1/lifecycles tells which there are.`,
  )
}
