// The contract as OpenAPI 3.1, made from the table: nothing is written here that the table does not say.
import { z } from 'zod'
import { codes } from '../base/errors.ts'
import { errorsOf, parameterNames, parameterSchemas, type AnswerForm, type Route } from './route.ts'
import { routeNames, routeOf, type RouteName } from './routes.ts'
import { problem } from './shapes.ts'

type JsonSchema = Record<string, unknown>

const mediaTypes: Readonly<Record<AnswerForm, string>> = {
  json: 'application/json',
  svg: 'image/svg+xml',
  text: 'text/plain',
  html: 'text/html',
  events: 'text/event-stream',
}

export interface OpenApiOptions {
  readonly version: string
  /** With the rows of the development mode. */
  readonly dev?: boolean
}

export function openApi({ version, dev = false }: OpenApiOptions): Record<string, unknown> {
  const schemas: Record<string, JsonSchema> = {}
  const toSchema = (schema: z.ZodType, io: 'input' | 'output') => collect(schemas, schema, io)
  toSchema(problem, 'output')
  const paths: Record<string, Record<string, unknown>> = {}
  for (const name of routeNames) {
    const route = routeOf(name)
    if (route.dev && !dev) continue
    const path = (paths[route.path] ??= {})
    path[route.method.toLowerCase()] = operation(name, route, toSchema)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Homeostat',
      version,
      summary: 'Durable lifecycles for the resources of a control plane.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set(routeNames.map((name) => routeOf(name).group))].map((tag) => ({ name: tag })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'homeostat' },
      },
    },
  }
}

type ToSchema = (schema: z.ZodType, io: 'input' | 'output') => JsonSchema

function operation(name: RouteName, route: Route, toSchema: ToSchema): Record<string, unknown> {
  return {
    operationId: name,
    tags: [route.group],
    summary: route.words,
    ...(route.permission === null ? { security: [{}] } : { 'x-permission': route.permission, 'x-reach': route.reach }),
    parameters: parametersOf(route, toSchema),
    ...(route.body === null ? {} : { requestBody: bodyOf(route, route.body, toSchema) }),
    responses: responsesOf(route, toSchema),
  }
}

function parametersOf(route: Route, toSchema: ToSchema): unknown[] {
  const inPath = parameterNames(route.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: toSchema(parameterSchemas[name]!, 'input'),
  }))
  const query = toSchema(route.query, 'input')
  const required = new Set((query['required'] as string[] | undefined) ?? [])
  const inQuery = Object.entries((query['properties'] as Record<string, JsonSchema> | undefined) ?? {}).map(
    ([name, schema]) => ({ name, in: 'query', required: required.has(name), schema }),
  )
  const header = (name: string, description: string, isRequired = false) => ({
    name,
    in: 'header',
    required: isRequired,
    description,
    schema: { type: 'string', maxLength: 200 },
  })
  return [
    ...inPath,
    ...inQuery,
    ...(route.idempotent ? [header('Idempotency-Key', 'Asked again with the same key, nothing more is done.')] : []),
    ...(route.condition === 'ifNoneMatch' ? [header('If-None-Match', '304 when it is still at this etag.')] : []),
    ...(route.condition === 'ifMatch' || route.condition === 'ifMatchDemanded'
      ? [header('If-Match', '412 when it is no longer at this etag.', route.condition === 'ifMatchDemanded')]
      : []),
    ...(route.form === 'events' ? [header('Last-Event-ID', 'The number of the last event that was seen.')] : []),
  ]
}

function bodyOf(route: Route, body: z.ZodType, toSchema: ToSchema): unknown {
  const type = route.lines ? 'application/x-ndjson' : 'application/json'
  return { required: !body.safeParse(undefined).success, content: { [type]: { schema: toSchema(body, 'input') } } }
}

function responsesOf(route: Route, toSchema: ToSchema): Record<string, unknown> {
  const schema = route.answer === null ? { type: 'string' } : toSchema(route.answer, 'output')
  const content =
    route.form === 'events'
      ? { 'text/event-stream': { schema: { type: 'string' } }, 'application/json': { schema } }
      : { [mediaTypes[route.form]]: { schema } }
  const headers = headersOf(route)
  const good = { ...headers, ...(route.status === 204 ? {} : { content }) }
  const responses: Record<string, Record<string, unknown>> = {
    [route.status]: { description: route.words, ...good },
  }
  if (route.condition === 'ifNoneMatch') responses['304'] = { description: 'It is still at this etag.', ...headers }
  const byStatus = Map.groupBy(errorsOf(route), (code) => codes[code].http)
  for (const [status, found] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      description: found.map((code) => `\`${code}\`: ${codes[code].summary}`).join(' '),
      'x-codes': found,
      ...(errorHeaders[status] === undefined ? {} : { headers: named(errorHeaders[status]) }),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    }
  }
  const { alsoStatus } = route
  if (alsoStatus !== undefined) {
    const problem = responses[alsoStatus]
    responses[alsoStatus] = {
      description: route.words,
      ...problem,
      content: { ...content, ...(problem?.['content'] as object | undefined) },
    }
  }
  return responses
}

const headerWords = {
  Location: 'Where what was begun or made is found.',
  ETag: 'The etag of the resource, for If-Match and If-None-Match.',
  'Idempotent-Replayed': '`true`: it was done before, with the same Idempotency-Key, and nothing more is done.',
  'Retry-After': 'Seconds after which it may be asked again.',
  'WWW-Authenticate': 'How to say who asks.',
} as const
type HeaderName = keyof typeof headerWords

/** By the status of the problem. */
const errorHeaders: Readonly<Record<number, HeaderName>> = {
  401: 'WWW-Authenticate',
  412: 'ETag',
  429: 'Retry-After',
  503: 'Retry-After',
}

const named = (...names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { description: headerWords[name], schema: { type: 'string' } }]))

function headersOf({ headers = [], condition, idempotent }: Route): { readonly headers?: object } {
  const names: HeaderName[] = [...headers]
  if (condition === 'ifNoneMatch') names.push('ETag')
  if (idempotent) names.push('Idempotent-Replayed')
  return names.length === 0 ? {} : { headers: named(...names) }
}

/** The JSON Schema of a shape; shapes with a name go to the components and are referred to. */
function collect(schemas: Record<string, JsonSchema>, schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const made = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: openAnswer }) as JsonSchema
  const { $defs, $schema: _, ...rest } = made
  for (const [key, value] of Object.entries(($defs as Record<string, JsonSchema> | undefined) ?? {}))
    if (!isAnyJson(key)) schemas[key] ??= rewritten(value) as JsonSchema
  const own = z.globalRegistry.get(schema)?.id
  if (own === undefined) return rewritten(rest) as JsonSchema
  schemas[own] ??= rewritten(rest) as JsonSchema
  return { $ref: `#/components/schemas/${own}` }
}

/** Answers may have more fields one day: only what refuses unknown names says so. */
function openAnswer({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
  const { def } = zodSchema._zod
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema['additionalProperties']
}

/** The schema of any JSON value refers to itself, by a made-up name: generators of types fail at that, and `{}` says the same. */
const isAnyJson = (name: string) => name.startsWith('__')

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      if ((key === 'id' && typeof inner === 'string') || key === 'propertyNames') return []
      if (key !== '$ref' || typeof inner !== 'string') return [[key, rewritten(inner)]]
      const name = inner.replace('#/$defs/', '')
      return isAnyJson(name) ? [] : [[key, `#/components/schemas/${name}`]]
    }),
  )
}
