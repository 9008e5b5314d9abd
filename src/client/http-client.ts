// Calls the rows of the contract over HTTP, in Node and in browsers. What may be asked again is asked again when the connection breaks
// or the server is busy; a change keeps its idempotency key over all tries, so that it happens once.
import { sleep } from '../base/clock.ts'
import { codes, HomeostatError, type ErrorCode } from '../base/errors.ts'
import { pathOf, type Answer, type BodyGiven, type ParameterNames, type QueryGiven } from '../protocol/route.ts'
import { routeOf, type RouteName, type Routes } from '../protocol/routes.ts'
import { defaultPatienceMs, headOf, longTimes, textOf } from './answer.ts'

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
  /** How long a server may say nothing before a try is given up; what it was asked to wait for comes on top. Default 30 s. */
  readonly patienceMs?: number | undefined
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
  readonly patienceMs: number

  constructor(options: ConnectOptions) {
    this.#options = options
    this.url = options.url.replace(/\/+$/, '')
    this.patienceMs = options.patienceMs ?? defaultPatienceMs
  }

  /** One row of the contract by its name. A problem is thrown as a HomeostatError with its code. */
  async call<Name extends RouteName>(
    name: Name,
    given: Given<Name>,
    options: RequestOptions = {},
  ): Promise<Answer<Routes[Name]>> {
    const { form } = routeOf(name)
    return this.#send(name, given, options, async (response, patienceMs) => {
      if (response.status === 204 || response.status === 304) return undefined as Answer<Routes[Name]>
      const type = response.headers.get('content-type') ?? ''
      const isJson = type.includes('json')
      const isExpected =
        form === 'json' || form === 'events' ? isJson : form === 'html' || !type.startsWith('text/html')
      if (!isExpected) throw this.#unrecognised(`it answered with ${type || 'something without a type'}`)
      const text = await textOf(response, patienceMs)
      try {
        return (isJson ? JSON.parse(text) : text) as Answer<Routes[Name]>
      } catch {
        throw this.#unrecognised('what it calls JSON is none')
      }
    })
  }

  /** The same, with the response as it is: its body is for the caller to read, and to be patient with. */
  async send<Name extends RouteName>(name: Name, given: Given<Name>, options: RequestOptions = {}): Promise<Response> {
    return this.#send(name, given, options, async (response) => response)
  }

  async #send<Name extends RouteName, T>(
    name: Name,
    given: Given<Name>,
    options: RequestOptions,
    read: Asking<T>['read'],
  ): Promise<T> {
    const route = routeOf(name)
    const { path = {}, query = {}, body } = given as { path?: object; query?: { wait?: number }; body?: unknown }
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
    const patienceMs = this.patienceMs * (route.lines ? longTimes : 1) + (Number(query.wait) || 0) * 1_000
    return this.#ask({ url, request, mayRepeat, patienceMs, signal: options.signal, read })
  }

  /** A stream of events; the caller reads it, and comes back when it ends. Tries that fail are told. */
  async stream(
    query: object,
    last: number | null,
    signal?: AbortSignal,
    failed?: (error: HomeostatError) => void,
  ): Promise<Response> {
    const headers = {
      accept: 'text/event-stream',
      ...this.#identity(),
      ...(last === null ? {} : { 'last-event-id': String(last) }),
    }
    const read = async (response: Response) => {
      const type = response.headers.get('content-type') ?? ''
      if (type.startsWith('text/event-stream')) return response
      await response.body?.cancel()
      throw this.#unrecognised(`it answered with ${type || 'something without a type'}`)
    }
    const url = `${this.url}/v1/events${queryText(query)}`
    const { patienceMs } = this
    return this.#ask({ url, request: { method: 'GET', headers }, mayRepeat: true, patienceMs, signal, failed, read })
  }

  #identity(): Record<string, string> {
    const { token } = this.#options
    // Browsers send the header of our own only for pages that we served.
    return { 'x-homeostat': '1', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
  }

  /** Until an answer was read: one that breaks off, or does not come, is asked for again. */
  async #ask<T>({ url, request, mayRepeat, patienceMs, signal, failed, read }: Asking<T>): Promise<T> {
    const { retries = 5, retryMs = 200, fetch = globalThis.fetch } = this.#options
    let mayBeDone = false
    for (let tries = 0; ; tries++) {
      const isLast = !mayRepeat || tries >= retries
      // What is given up before it begins is not sent.
      const isSent = request.method !== 'GET' && !signal?.aborted
      let after = 0
      try {
        const answer = await headOf(fetch, url, { ...request, ...(signal === undefined ? {} : { signal }) }, patienceMs)
        if (answer.ok || answer.status === 304) return await read(answer, patienceMs)
        const problem = problemOf(answer.status, await textOf(answer, patienceMs), this.url)
        if (isLast || !busy.has(answer.status)) throw problem
        after = (Number(answer.headers.get('retry-after')) || 0) * 1_000
        failed?.(problem)
      } catch (error) {
        if (error instanceof HomeostatError) throw error
        mayBeDone ||= isSent && !isUnsent(error)
        const unreached = this.#unreached(url, error, mayBeDone)
        if (isLast || signal?.aborted) throw unreached
        failed?.(unreached)
      }
      await sleep(Math.min(waitMostMs, Math.max(after, retryMs * 2 ** tries)), signal)
    }
  }

  #unreached(url: string, cause: unknown, mayBeDone: boolean): HomeostatError {
    const details = { unreached: this.url, mayBeDone }
    return new HomeostatError('store_unavailable', `${url} does not answer: ${wordsOf(cause)}.`, { cause, details })
  }

  #unrecognised(why: string): HomeostatError {
    return new HomeostatError('server_unrecognised', `${this.url} is no Homeostat server: ${why}.`)
  }
}

interface Asking<T> {
  readonly url: string
  readonly request: RequestInit
  readonly mayRepeat: boolean
  readonly patienceMs: number
  readonly signal?: AbortSignal | undefined
  /** Told of each try that failed and is followed by another. */
  readonly failed?: ((error: HomeostatError) => void) | undefined
  readonly read: (response: Response, patienceMs: number) => Promise<T>
}

/** Nothing of it was sent: there was no connection. */
const isUnsent = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes((error as { cause?: { code?: string } }).cause?.code ?? '')

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

function problemOf(status: number, text: string, address: string): HomeostatError {
  const problem = given(text)
  const { code, detail } = problem
  const details = { status, ...problem }
  if (code !== undefined)
    return new HomeostatError(
      code in codes ? (code as ErrorCode) : 'internal',
      detail ?? `The server answered ${status}.`,
      {
        details,
      },
    )
  // A proxy in between answers as it likes.
  if (busy.has(status)) return new HomeostatError('store_unavailable', `${address} answered ${status}.`, { details })
  if (status >= 500) return new HomeostatError('internal', `The server answered ${status}.`, { details })
  const message = `${address} is no Homeostat server: it answered ${status} without saying why.`
  return new HomeostatError('server_unrecognised', message, { details })
}

function given(problem: string): { readonly code?: string; readonly detail?: string } {
  try {
    return (JSON.parse(problem) as object | null) ?? {}
  } catch {
    return {}
  }
}

/** 128 bits that nobody else has. */
function newKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
