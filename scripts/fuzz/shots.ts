// Requests by chance, made from an OpenAPI document: of every operation its path, query, headers and body as their schemas say, mostly
// right, then broken in every way that came to mind. The same seed makes the same requests.
import type { Random } from '../../src/base/random.ts'

export interface Shot {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

type Schema = Readonly<Record<string, unknown>>

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: { readonly type: string; readonly schema: Schema } | null
}

/** What texts of a name usually are, so that requests reach what is there. */
export type Vocabulary = Readonly<Record<string, readonly string[]>>

const oddTexts = [
  '',
  ' ',
  '~1',
  '~zzzzzzzzzzz',
  '..',
  '.',
  '%',
  '%00',
  '%2e%2e%2f',
  '\u0000',
  'a'.repeat(300),
  '😀',
  '\ud800',
  "' or 1=1 --",
  '"',
  '\\',
  '<script>',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e999',
  '0',
  '9'.repeat(30),
  'true',
  '[]',
  '{}',
  ':',
  '::seal',
  '1-1',
  '2-1',
  'r1',
  '"r1"',
  '*',
  '\r\nx: y',
  'http://127.0.0.1:9/',
  'https://[::1]/',
  'W/"r1"',
  ',,,',
  'null,null',
  '\ufeff',
]
const oddNumbers = [0, -1, 1, 2, 0.5, 1e308, -1e308, 2 ** 31, 2 ** 53, Number.MAX_SAFE_INTEGER]
const brokenBodies = [
  '{',
  '[',
  '"',
  '{"a":1,"a":2}',
  '{"__proto__":1}',
  '\u0000',
  '1'.repeat(400),
  '['.repeat(500),
  '{"a":'.repeat(50),
  '\ufeff{}',
  '{} {}',
  'nul',
  '{"a":01}',
  '{"a":1e999}',
  '{"\\u0000":1}',
]
const oddPaths = ['v1', '', '..', '%ff', '%2F%2F', 'v1/../../etc/passwd', '*', 'v1//runs', 'v1/runs/%2e%2e']
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']

export class Shots {
  readonly #operations: readonly Operation[]
  readonly #schemas: Readonly<Record<string, Schema>>
  readonly #names: readonly string[]
  readonly #random: Random
  readonly #vocabulary: Vocabulary
  /** Ids and the like from answers: what leads further than made-up ones. */
  readonly #found: string[] = []
  readonly #seldom: ReadonlySet<string>
  readonly #often: readonly string[]

  constructor(parts: {
    readonly document: unknown
    readonly random: Random
    readonly vocabulary: Vocabulary
    /** Operations that cost much, by id: one in fifty of what chance would have. */
    readonly seldom: readonly string[]
    /** Operations that lead to most of the states: a quarter of all. */
    readonly often: readonly string[]
  }) {
    const { operations, schemas } = read(parts.document)
    this.#operations = operations
    this.#schemas = schemas
    this.#random = parts.random
    this.#vocabulary = parts.vocabulary
    this.#seldom = new Set(parts.seldom)
    this.#often = parts.often
    const names = new Set(operations.flatMap(({ parameters }) => parameters.map(({ name }) => name)))
    for (const { body } of operations) collectNames(body?.schema ?? {}, names)
    this.#names = [...names]
  }

  get operations(): readonly string[] {
    return this.#operations.map(({ id }) => id)
  }

  /** Something from an answer that may be asked for. */
  learn(text: string): void {
    if (this.#found.length < 500) this.#found.push(text)
    else this.#found[this.#random.below(500)] = text
  }

  next(): Shot {
    const operation = this.#choose()
    const shot = { method: operation.method, path: this.#pathOf(operation) }
    if (this.#one(40)) shot.path = `/${this.#pick(oddPaths)}`
    if (this.#one(20)) shot.method = this.#pick(methods)
    const hasBody = shot.method !== 'GET' && shot.method !== 'HEAD'
    const body = hasBody ? this.#bodyOf(operation) : undefined
    return { operation: operation.id, ...shot, body, headers: this.#headersOf(operation, body !== undefined) }
  }

  #choose(): Operation {
    const name = this.#one(4) ? this.#pick(this.#often) : null
    const chosen = this.#operations.find(({ id }) => id === name) ?? this.#pick(this.#operations)
    return this.#seldom.has(chosen.id) && !this.#one(50) ? this.#choose() : chosen
  }

  #pathOf({ path, parameters }: Operation): string {
    let made = path
    const query: string[] = []
    for (const { name, in: place, schema, required } of parameters) {
      if (place === 'path') made = made.replace(`{${name}}`, encoded(this.#textFor(name, schema)))
      if (place === 'query' && (required || this.#one(4))) {
        // Whoever waits for what never comes only waits.
        const value = name === 'wait' ? '0' : this.#textFor(name, schema)
        query.push(`${encoded(name)}=${encoded(value)}`)
      }
    }
    if (this.#one(15)) query.push(`${encoded(this.#pick(this.#names))}=${encoded(this.#pick(oddTexts))}`)
    return query.length === 0 ? made : `${made}?${query.join('&').replace(/(^|&)wait=\d+/g, '$1wait=0')}`
  }

  #textFor(name: string, schema: Schema): string {
    const how = this.#random.below(12)
    if (how === 0) return this.#pick(oddTexts)
    if (how === 1 && this.#found.length > 0) return this.#pick(this.#found)
    const value = this.#likely(name) ?? this.#value(schema, name, 0)
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  }

  #headersOf({ parameters, body }: Operation, isSent: boolean): Record<string, string> {
    const headers: Record<string, string> = { accept: this.#one(60) ? 'text/event-stream' : 'application/json' }
    for (const { name, in: place, required } of parameters) {
      if (place !== 'header' || !(required || this.#one(5))) continue
      headers[name.toLowerCase()] = visible(this.#one(3) ? this.#pick(oddTexts) : `"r${this.#random.below(9)}"`)
    }
    if (isSent)
      headers['content-type'] = this.#one(20)
        ? this.#pick(['text/plain', 'application/x-ndjson', '', 'x', 'application/json; charset=utf-16'])
        : (body?.type ?? 'application/json')
    return headers
  }

  #bodyOf({ body }: Operation): string | undefined {
    const how = this.#random.below(12)
    if (how === 0) return undefined
    if (how === 1) return this.#pick(brokenBodies)
    if (how === 2 || body === null) return this.#one(3) ? JSON.stringify(this.#odd(0)) : undefined
    const made = this.#value(body.schema, '', 0)
    const value = how < 6 ? this.#broken(made) : made
    return JSON.stringify(value)
  }

  /** A value as the schema says. */
  #value(given: Schema, name: string, depth: number): unknown {
    const schema = this.#resolved(given)
    const variants = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined
    if (variants !== undefined) return this.#value(this.#pick(variants), name, depth)
    if ('const' in schema) return schema['const']
    if (Array.isArray(schema['enum'])) return this.#pick(schema['enum'] as unknown[])
    const type = Array.isArray(schema['type']) ? this.#pick(schema['type'] as string[]) : schema['type']
    if (type === 'string') return this.#likely(name) ?? this.#text(schema)
    if (type === 'integer' || type === 'number') return this.#number(schema, type === 'integer')
    if (type === 'boolean') return this.#one(2)
    if (type === 'null') return null
    if (depth > 5) return {}
    if (type === 'array') {
      const items = (schema['items'] ?? {}) as Schema
      return Array.from({ length: this.#random.below(3) }, () => this.#value(items, name, depth + 1))
    }
    if (type === 'object' || schema['properties'] !== undefined) return this.#object(schema, name, depth)
    return this.#one(3) ? this.#odd(depth + 1) : this.#sample(name)
  }

  #object(schema: Schema, name: string, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {}
    const required = new Set((schema['required'] as string[] | undefined) ?? [])
    for (const [key, inner] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>))
      if (required.has(key) || this.#one(6)) made[key] = this.#value(inner, key, depth + 1)
    if (schema['properties'] === undefined) return this.#sample(name)
    return made
  }

  /** Objects that the document leaves open: properties and inputs. */
  #sample(name: string): Record<string, unknown> {
    if (this.#one(6)) return { [this.#pick(this.#names)]: this.#odd(2) }
    return name === 'links' ? {} : { size: 1 + this.#random.below(9) }
  }

  #text(schema: Schema): string {
    const most = Math.min(40, Number(schema['maxLength'] ?? 40))
    const least = Number(schema['minLength'] ?? 0)
    const letters = 'abcdefghijklmnopqrstuvwxyz-0123456789'
    const length = Math.max(least, this.#random.below(most + 1))
    return Array.from({ length }, () => letters[this.#random.below(letters.length)]).join('')
  }

  #number(schema: Schema, isWhole: boolean): number {
    const least = Number(schema['minimum'] ?? schema['exclusiveMinimum'] ?? 0)
    const most = Math.min(Number(schema['maximum'] ?? least + 100), least + 1_000)
    const value = least + this.#random.below(Math.max(1, Math.floor(most - least)))
    return isWhole ? value : value + 0.5
  }

  /** One thing of it is changed, added or left out. */
  #broken(value: unknown): unknown {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return this.#odd(0)
    const broken: Record<string, unknown> = { ...value }
    const keys = Object.keys(broken)
    const how = this.#random.below(4)
    if (how === 0) broken[this.#pick([...oddTexts, ...this.#names])] = this.#odd(1)
    else if (keys.length === 0) return this.#odd(0)
    else if (how === 1) delete broken[this.#pick(keys)]
    else {
      const key = this.#pick(keys)
      broken[key] = how === 2 ? this.#odd(1) : this.#broken(broken[key])
    }
    return broken
  }

  #odd(depth: number): unknown {
    const kind = this.#random.below(depth > 4 ? 4 : 7)
    if (kind === 0) return this.#pick(oddTexts)
    if (kind === 1) return this.#pick(oddNumbers)
    if (kind === 2) return null
    if (kind === 3) return this.#one(2)
    if (kind === 4) return Array.from({ length: this.#random.below(4) }, () => this.#odd(depth + 1))
    const entries = Array.from({ length: this.#random.below(4) }, () => [
      this.#pick([...oddTexts, ...this.#names]),
      this.#odd(depth + 1),
    ])
    return Object.fromEntries(entries) as unknown
  }

  #likely(name: string): string | undefined {
    const known = this.#vocabulary[name]
    return known === undefined || this.#one(10) ? undefined : this.#pick(known)
  }

  #resolved(schema: Schema): Schema {
    const ref = schema['$ref']
    return typeof ref === 'string' ? this.#resolved(this.#schemas[ref.split('/').at(-1)!] ?? {}) : schema
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random.below(from.length)]!
  }

  #one(outOf: number): boolean {
    return this.#random.below(outOf) === 0
  }
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed())
const visible = (text: string) => text.replace(/[^\x20-\x7e]/g, '')

function read(document: unknown): { readonly operations: Operation[]; readonly schemas: Record<string, Schema> } {
  const { paths, components } = document as {
    readonly paths: Record<string, Record<string, OperationObject>>
    readonly components: { readonly schemas: Record<string, Schema> }
  }
  const operations: Operation[] = []
  for (const [path, byMethod] of Object.entries(paths))
    for (const [method, { operationId, parameters, requestBody }] of Object.entries(byMethod)) {
      const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? []
      const body = type === undefined ? null : { type, schema: content!.schema }
      operations.push({ id: operationId, method: method.toUpperCase(), path, parameters, body })
    }
  return { operations, schemas: components.schemas }
}

interface OperationObject {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> }
}

function collectNames(schema: Schema, names: Set<string>): void {
  for (const [name, inner] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
    names.add(name)
    collectNames(inner, names)
  }
}
