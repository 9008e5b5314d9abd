// Calls the rows of the contract over HTTP, in Node and in browsers. What may be asked again is asked again when the connection breaks
// or the server is busy; a change keeps its idempotency key over all tries, so that it happens once.
import { sleep } from '../base/clock.ts'
import { codes, HomeostatError, type ErrorCode } from '../base/errors.ts'
import { pathOf, type Answer, type BodyGiven, type ParameterNames, type QueryGiven } from '../protocol/route.ts'
import { routeOf, type RouteName, type Routes } from '../protocol/routes.ts'

export interface ConnectOptions {
  /** Where the server is; in a browser '' means where the page came from. */
  readonly url: string
  /** Left out in a browser that is signed in. */
  readonly token?: string | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Tries after the first. */
  readonly retries?: number | undefined
  /** Wait after the first try that failed; it doubles. */
  readonly retryMs?: number | undefined
}

export interface RequestOptions {
  /** Asked again with the same key, nothing more is done. Made up when left out. */
  readonly key?: string | undefined
  /** Refused when the resource is no longer at this etag. */
  readonly ifMatch?: string | undefined
  readonly signal?: AbortSignal | undefined
}

type Path<Name extends RouteName> = [ParameterNames<Routes[Name]['path']>] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: { readonly [K in ParameterNames<Routes[Name]['path']>]: string } }
type QueryOf<Name extends RouteName> =
  {} extends QueryGiven<Routes[Name]>
    ? { readonly query?: QueryGiven<Routes[Name]> }
    : { readonly query: QueryGiven<Routes[Name]> }
/** Of a row that takes lines: all of them. */
type WholeBody<Name extends RouteName> = Name extends 'importResources'
  ? readonly BodyGiven<Routes[Name]>[]
  : BodyGiven<Routes[Name]>
type BodyOf<Name extends RouteName> =
  undefined extends WholeBody<Name> ? { readonly body?: WholeBody<Name> } : { readonly body: WholeBody<Name> }
export type Given<Name extends RouteName> = Path<Name> & QueryOf<Name> & BodyOf<Name>

/** Answers that say: not now. */
const busy: ReadonlySet<number> = new Set([429, 502, 503, 504])
const waitMostMs = 10_000

export class HttpClient {
  readonly #options: ConnectOptions
  readonly url: string

  constructor(options: ConnectOptions) {
    this.#options = options
    this.url = options.url.replace(/\/+$/, '')
  }

  /** One row of the contract by its name. A problem is thrown as a HomeostatError with its code. */
  async call<Name extends RouteName>(
    name: Name,
    given: Given<Name>,
    options: RequestOptions = {},
  ): Promise<Answer<Routes[Name]>> {
    const response = await this.send(name, given, options)
    if (response.status === 204 || response.status === 304) return undefined as Answer<Routes[Name]>
    const isJson = (response.headers.get('content-type') ?? '').includes('json')
    return (isJson ? await response.json() : await response.text()) as Answer<Routes[Name]>
  }

  /** The same, with the response as it is. */
  async send<Name extends RouteName>(name: Name, given: Given<Name>, options: RequestOptions = {}): Promise<Response> {
    const route = routeOf(name)
    const { path = {}, query = {}, body } = given as { path?: object; query?: object; body?: unknown }
    const url = `${this.url}${pathOf(route.path, path as Record<string, string>)}${queryText(query)}`
    const key = route.idempotent ? (options.key ?? newKey()) : undefined
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...this.#identity(),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(options.ifMatch === undefined ? {} : { 'if-match': options.ifMatch }),
      ...(body === undefined ? {} : { 'content-type': route.lines ? 'application/x-ndjson' : 'application/json' }),
    }
    const content =
      body === undefined ? undefined : route.lines ? linesOf(body as readonly unknown[]) : JSON.stringify(body)
    const mayRepeat = route.method === 'GET' || route.method === 'PUT' || key !== undefined
    const request = { method: route.method, headers, ...(content === undefined ? {} : { body: content }) }
    return this.#ask(url, request, mayRepeat, options.signal)
  }

  /** A stream of events; the caller reads it, and comes back when it ends. */
  async stream(query: object, last: number | null, signal?: AbortSignal): Promise<Response> {
    const headers = {
      accept: 'text/event-stream',
      ...this.#identity(),
      ...(last === null ? {} : { 'last-event-id': String(last) }),
    }
    return this.#ask(`${this.url}/v1/events${queryText(query)}`, { method: 'GET', headers }, true, signal)
  }

  #identity(): Record<string, string> {
    const { token } = this.#options
    // Browsers send the header of our own only for pages that we served.
    return { 'x-homeostat': '1', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
  }

  async #ask(url: string, request: RequestInit, mayRepeat: boolean, signal?: AbortSignal): Promise<Response> {
    const { retries = 5, retryMs = 200, fetch = globalThis.fetch } = this.#options
    for (let tries = 0; ; tries++) {
      const isLast = !mayRepeat || tries >= retries
      const answer = await fetch(url, { ...request, ...(signal === undefined ? {} : { signal }) }).catch(
        (error: unknown) => {
          if (isLast || signal?.aborted)
            throw new HomeostatError('store_unavailable', `${url} does not answer: ${wordsOf(error)}.`, {
              cause: error,
            })
          return null
        },
      )
      if (answer !== null && (answer.ok || answer.status === 304)) return answer
      if (answer !== null && (isLast || !busy.has(answer.status))) throw await problemOf(answer)
      const after = Number(answer?.headers.get('retry-after') ?? 0) * 1_000
      await answer?.body?.cancel()
      await sleep(Math.min(waitMostMs, Math.max(after, retryMs * 2 ** tries)), signal)
    }
  }
}

const wordsOf = (error: unknown): string => {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } }
  return cause?.code ?? cause?.message ?? message ?? 'unknown'
}

const linesOf = (lines: readonly unknown[]): string => lines.map((line) => JSON.stringify(line)).join('\n')

function queryText(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ''
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}

async function problemOf(response: Response): Promise<HomeostatError> {
  const text = await response.text()
  let problem: { code?: string; detail?: string } = {}
  try {
    problem = JSON.parse(text) as typeof problem
  } catch {
    // A proxy in between answers as it likes.
  }
  const code = problem.code !== undefined && problem.code in codes ? (problem.code as ErrorCode) : 'internal'
  const message = problem.detail ?? `The server answered ${response.status}.`
  return new HomeostatError(code, message, { details: { status: response.status, ...problem } })
}

/** 128 bits that nobody else has. */
function newKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
