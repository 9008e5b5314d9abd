// Judges answers by the OpenAPI document, as somebody would who has nothing else: is the status told for this operation, with this code, of
// this type, with these headers; and has the body the shape that is told, and no field more?
import { z } from 'zod'

export interface Told {
  readonly status: number
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Response {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
  readonly 'x-codes'?: readonly string[]
}

interface Operation {
  readonly id: string
  readonly method: string
  readonly expression: RegExp
  readonly literals: number
  readonly responses: Readonly<Record<string, Response>>
}

type JsonSchema = Readonly<Record<string, unknown>>

/** Headers that somebody may act upon. */
const telling = ['location', 'etag', 'idempotent-replayed', 'retry-after', 'www-authenticate']

export class Judge {
  readonly #operations: readonly Operation[]
  readonly #schemas: JsonSchema
  readonly #made = new Map<JsonSchema, z.ZodType>()
  /** Operations and statuses that were judged. */
  readonly seen = new Set<string>()

  constructor(document: unknown) {
    const { paths, components } = document as {
      readonly paths: Record<string, Record<string, { readonly operationId: string; readonly responses: never }>>
      readonly components: { readonly schemas: JsonSchema }
    }
    this.#schemas = closed(components.schemas) as JsonSchema
    this.#operations = Object.entries(paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { operationId: id, responses }]) => ({
          id,
          method: method.toUpperCase(),
          ...patternOf(path),
          responses,
        })),
      )
      .sort((a, b) => b.literals - a.literals)
  }

  /** What is wrong with the answer; null: nothing. */
  faultOf(asked: { readonly method: string; readonly path: string }, told: Told): string | null {
    const path = asked.path.split('?', 1)[0]!
    const method = asked.method === 'HEAD' ? 'GET' : asked.method
    const operation = this.#operations.find((one) => one.method === method && one.expression.test(path))
    if (operation === undefined) return null
    const where = `${operation.id} ${told.status}`
    this.seen.add(where)
    const fault = this.#fault(operation.responses[told.status], told, asked.method === 'HEAD')
    return fault === null ? null : `${where}: ${fault}`
  }

  #fault(response: Response | undefined, { status, headers, text }: Told, isHead: boolean): string | null {
    const type = [headers['content-type'] ?? ''].join().split(';', 1)[0]!
    const isJson = /^application\/(problem\+)?json$/.test(type)
    const value: unknown = isJson && text !== '' ? JSON.parse(text) : undefined
    const { code } = (value ?? {}) as { readonly code?: string }
    if (response === undefined) return `the document does not tell of this status (${code ?? 'no code'})`
    const told = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase())
    const odd = telling.filter((name) => headers[name] !== undefined && !told.includes(name))
    if (odd.length > 0) return `the document does not tell of ${odd.join(', ')}`
    if (isHead || (text === '' && response.content === undefined)) return null
    const content = response.content?.[type]
    if (content === undefined) return `the document does not tell of '${type}'`
    if (status >= 400 && code !== undefined && !(response['x-codes'] ?? []).includes(code))
      return `the document does not tell of ${code}`
    if (!isJson) return null
    const checked = this.#schemaOf(content.schema).safeParse(value)
    return checked.success ? null : z.prettifyError(checked.error)
  }

  #schemaOf(schema: JsonSchema): z.ZodType {
    const made = this.#made.get(schema)
    if (made !== undefined) return made
    const whole = { ...(closed(schema) as JsonSchema), $defs: this.#schemas } as z.core.JSONSchema.JSONSchema
    const fresh = z.fromJSONSchema(whole)
    this.#made.set(schema, fresh)
    return fresh
  }
}

/** A colon in what ends a path begins a verb; only ids are made by strangers, and may hold one. */
function patternOf(path: string): { readonly expression: RegExp; readonly literals: number } {
  const source = path
    .replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replace(/\{(?!id\})\w+\}$/, '[^/:]+')
    .replace(/\{\w+\}/g, '[^/]+')
  return { expression: new RegExp(`^${source}$`), literals: path.replace(/\{\w+\}/g, '').length }
}

/** Answers may have more fields one day; those of today are all told. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (value === null || typeof value !== 'object') return value
  const made = Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' ? [key, String(inner).replace('#/components/schemas/', '#/$defs/')] : [key, closed(inner)],
    ),
  )
  const isOpen = made['type'] === 'object' && made['properties'] !== undefined && !('additionalProperties' in made)
  return isOpen ? { ...made, additionalProperties: false } : made
}
