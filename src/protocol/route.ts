// What a row of the contract says, and how the rows are read: by handlers, OpenAPI, client and command line alike.
import { z } from 'zod'
import type { ErrorCode } from '../base/errors.ts'
import type { Permission } from './permissions.ts'
import { name, resourceId, typeName } from './shapes.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What an answer is made of, besides JSON. */
export type AnswerForm = 'json' | 'svg' | 'text' | 'html' | 'events'

export interface Route {
  readonly method: Method
  /** With `{parameters}`; `{id}:{operation}` is split at the last colon. */
  readonly path: string
  /** Null: open to everybody. */
  readonly permission: Permission | null
  /** installation: only for principals of all tenants; tenant: everybody sees what is of his tenant. */
  readonly reach: 'tenant' | 'installation'
  readonly group: string
  /** What it does, in a sentence. */
  readonly words: string
  readonly query: z.ZodObject
  /** Null: there is none. */
  readonly body: z.ZodType | null
  /** Lines of JSON instead of one value, each of the shape `body`. */
  readonly lines?: true
  readonly status: number
  /** Another status that comes with the same shape. */
  readonly alsoStatus?: number
  readonly answer: z.ZodType | null
  readonly form: AnswerForm
  /** Codes besides those that every row can answer with. */
  readonly errors: readonly ErrorCode[]
  /** Takes an Idempotency-Key: asked again with the same one it does nothing more and answers the same. */
  readonly idempotent: boolean
  /** Takes If-Match (and demands it where it says `demanded`), or If-None-Match. */
  readonly condition?: 'ifMatch' | 'ifMatchDemanded' | 'ifNoneMatch'
  /** What comes with the answer, besides what `idempotent` and `condition` bring with them. */
  readonly headers?: readonly ('Location' | 'ETag')[]
  /** Only in development mode. */
  readonly dev?: true
}

type Given = Partial<Route> & Pick<Route, 'method' | 'path' | 'permission' | 'group' | 'words'>

type With<G, Key extends keyof Route, Default> = G extends { readonly [K in Key]: infer Value } ? Value : Default

/** A row with its defaults filled in, keeping the exact types of its schemas. */
export type Row<G extends Given> = Omit<Route, 'path' | 'query' | 'body' | 'answer'> & {
  readonly path: G['path']
  readonly query: With<G, 'query', typeof noQuery>
  readonly body: With<G, 'body', null>
  readonly answer: With<G, 'answer', null>
}

const noQuery = z.strictObject({})

export function row<const G extends Given>(given: G): Row<G> {
  const changes = given.method === 'POST' || given.method === 'DELETE'
  return {
    reach: 'tenant',
    query: noQuery,
    body: null,
    answer: null,
    form: 'json',
    status: given.answer === undefined && (given.form ?? 'json') === 'json' ? 204 : 200,
    errors: [],
    idempotent: changes,
    ...given,
  } as unknown as Row<G>
}

/** Codes that any row may answer with. */
const commonErrors: readonly ErrorCode[] = [
  'unauthenticated',
  'forbidden',
  'request_invalid',
  'request_timeout',
  'rate_limited',
  'limit_exceeded',
  'store_unavailable',
  'store_corrupt',
  'connections_exhausted',
  'outcome_unknown',
  'lease_lost',
  'engine_stopped',
  'internal',
]

/** All codes that a row may answer with. */
export const errorsOf = ({ errors, method, idempotent }: Route): ReadonlySet<ErrorCode> =>
  new Set([
    ...errors,
    ...(method === 'GET' ? [] : (['media_type_unsupported', 'record_conflict'] as const)),
    ...(idempotent ? (['key_reused'] as const) : []),
    ...commonErrors,
  ])

export type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never

export type Parameters<R extends { readonly path: string }> = { readonly [K in ParameterNames<R['path']>]: string }
export type Query<R extends { readonly query: z.ZodType }> = z.output<R['query']>
export type QueryGiven<R extends { readonly query: z.ZodType }> = z.input<R['query']>
export type Body<R extends { readonly body: z.ZodType | null }> = R['body'] extends z.ZodType
  ? z.output<R['body']>
  : null
export type BodyGiven<R extends { readonly body: z.ZodType | null }> = R['body'] extends z.ZodType
  ? z.input<R['body']>
  : undefined
export type Answer<R extends { readonly answer: z.ZodType | null }> = R['answer'] extends z.ZodType
  ? z.output<R['answer']>
  : undefined

/** What a parameter of a path may be. */
export const parameterSchemas: Readonly<Record<string, z.ZodType<string>>> = {
  type: typeName,
  id: resourceId,
  operation: name.min(1),
  step: name.min(1),
  status: name.min(1),
  account: name.min(1),
  webhook: name.min(1),
  token: name.min(1),
  orphan: z.string().min(1).max(1_000),
  incident: name.min(1),
  bulk: name.min(1),
  run: name.min(1),
  fault: name.min(1),
  view: name.min(1),
  worker: z.string().regex(/^\d{1,15}$/, 'it must be a number'),
}

export const parameterNames = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, found]) => found!)

/** The path with its parameters filled in. */
export const pathOf = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, found: string) => encodeURIComponent(values[found] ?? ''))

/** Names of a query, with commas between them. */
export const several = (words: string) =>
  z
    .string()
    .max(2_000)
    .transform((text) => text.split(',').filter((one) => one !== ''))
    .pipe(z.array(z.string()).min(1).max(100))
    .optional()
    .describe(words)

/** `pageSize` and `pageToken` of every list. */
export const paging = {
  pageSize: z.coerce.number().int().min(1).max(500).default(100),
  pageToken: z.string().max(500).optional().describe('From `nextPageToken` of the page before.'),
}

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextPageToken: z.string().nullable(), total: z.number().int().optional() })

/** A switch in a query. */
export const flag = z.enum(['true', 'false']).default('false')
