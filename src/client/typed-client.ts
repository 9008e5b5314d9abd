// The client that knows the lifecycles of its user: `client.box.grow('b-1', { size: 2 })`, checked at compile time, over HTTP.
import { HomeostatError } from '../base/errors.ts'
import { z } from 'zod'
import type { Client, NewResource } from '../lifecycle/client.ts'
import type { AnyLifecycle, Lifecycle } from '../lifecycle/lifecycle.ts'
import type { ViewOf } from '../lifecycle/relation.ts'
import type { QueryGiven } from '../protocol/route.ts'
import type { Routes } from '../protocol/routes.ts'
import type * as shape from '../protocol/shapes.ts'
import { watchEvents, type CloudEvent, type WatchOptions } from './event-source.ts'
import { HttpClient, type ConnectOptions, type RequestOptions } from './http-client.ts'

type Resource = z.infer<typeof shape.resource>
type Run = z.infer<typeof shape.run>
type Given = NewResource<unknown, unknown>
type LifecycleSet = Readonly<Record<string, AnyLifecycle>>

/** A resource as the server tells it, with the statuses and properties of its type. */
export type Told<T> = Omit<Resource, 'status' | 'properties'> & Pick<ViewOf<T>, 'status' | 'properties'>
export interface Accepted<T> {
  readonly resource: Told<T>
  /** Null: nothing was begun. `outcome` tells why. */
  readonly run: Run | null
  readonly outcome: 'begun' | 'queued' | 'over'
}

/** Operations as the in-process client has them, answered by the server. */
type Operations<Set, K extends keyof Set> =
  Set[K] extends Lifecycle<infer T, any, any, any, any>
    ? {
        readonly [Op in keyof Client<Set>[K] as Op extends 'get' ? never : Op]: Client<Set>[K][Op] extends (
          ...given: infer Given
        ) => unknown
          ? (...given: Given) => Promise<Accepted<T>>
          : never
      }
    : never

export type TypeClient<Set, K extends keyof Set> = Operations<Set, K> &
  (Set[K] extends Lifecycle<infer T, any, any, any, any>
    ? {
        /** Null when there is none. */
        readonly get: (id: string) => Promise<Told<T> | null>
        readonly list: (query?: QueryGiven<Routes['listResources']>) => Promise<{
          readonly items: readonly Told<T>[]
          readonly nextPageToken: string | null
          readonly total?: number
        }>
        /** The lifecycle's delete, whatever it is called. */
        readonly remove: (
          id: string,
          forced?: { readonly force: true; readonly reason: string },
        ) => Promise<Accepted<T>>
        readonly explain: (id: string) => Promise<z.infer<typeof shape.explanation>>
        /** Every event of one resource, or of the type. */
        readonly watch: (id?: string, options?: Omit<WatchOptions, 'type' | 'id'>) => AsyncGenerator<CloudEvent>
        /** The same with an idempotency key, an etag or a signal. */
        readonly with: (options: RequestOptions) => TypeClient<Set, K>
      }
    : never)

type TypeNames<Set> = {
  readonly [K in keyof Set]: Set[K] extends { readonly resource: { readonly type: infer Type } } ? Type : string
}

export type HomeostatClient<Set extends LifecycleSet> = { readonly [K in keyof Set]: TypeClient<Set, K> } & {
  /** Every row of the contract by its name. */
  readonly api: HttpClient
  /** Until the run has ended; throws when it takes longer. */
  readonly wait: (run: { readonly id: string } | string, options?: WaitOptions) => Promise<Run>
  readonly watch: (options?: WatchOptions) => AsyncGenerator<CloudEvent>
}

export interface WaitOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Called with the run as it goes on. */
  readonly onProgress?: (run: Run) => void
}

/** The lifecycles themselves, or only the names of their types: a browser need not load the declarations. */
export type ClientOptions<Set extends LifecycleSet> = ConnectOptions &
  ({ readonly lifecycles: Set } | { readonly types: TypeNames<Set> })

export function createClient<const Set extends LifecycleSet>(options: ClientOptions<Set>): HomeostatClient<Set> {
  const api = new HttpClient(options)
  const types: Record<string, string> =
    'types' in options
      ? (options.types as Record<string, string>)
      : Object.fromEntries(
          Object.entries(options.lifecycles).map(([name, { resource }]) => [name, (resource as { type: string }).type]),
        )
  const byName = Object.entries(types).map(([name, type]) => [name, typeClient(api, type, {})])
  return {
    ...Object.fromEntries(byName),
    api,
    wait: (run: { readonly id: string } | string, given: WaitOptions = {}) =>
      waitForRun(api, typeof run === 'string' ? run : run.id, given),
    watch: (given: WatchOptions = {}) => watchEvents(api, given),
  } as unknown as HomeostatClient<Set>
}

/** Every name that is no method of ours is an operation of the lifecycle: the types say which there are. */
function typeClient(api: HttpClient, type: string, options: RequestOptions): object {
  const create = (given: Given, input: unknown, operation?: string) =>
    api.call('createResource', { path: { type }, body: { ...given, input, operation } as never }, options)
  const methods: Record<string, unknown> = {
    get: (id: string) =>
      api.call('getResource', { path: { type, id } }, options).catch((error: unknown) => {
        if (error instanceof HomeostatError && error.code === 'resource_not_found') return null
        throw error
      }),
    list: (query: QueryGiven<Routes['listResources']> = {}) =>
      api.call('listResources', { path: { type }, query }, options),
    remove: (id: string, forced?: { readonly force: true; readonly reason: string }) =>
      api.call(
        'deleteResource',
        { path: { type, id }, query: forced === undefined ? {} : { force: 'true', reason: forced.reason } },
        options,
      ),
    explain: (id: string) => api.call('explainResource', { path: { type, id } }, options),
    watch: (id?: string, given: Omit<WatchOptions, 'type' | 'id'> = {}) => watchEvents(api, { ...given, type, id }),
    with: (more: RequestOptions) => typeClient(api, type, { ...options, ...more }),
    create: (given: Given, input?: unknown) => create(given, input),
  }
  return new Proxy(methods, {
    get(own, name) {
      // Whoever awaits the object itself must not be given an operation called 'then'.
      if (typeof name !== 'string' || name === 'then') return undefined
      // What makes a resource is given one, all others an id: the names alone do not tell.
      return (own[name] ??= (of: string | Given, input?: unknown) =>
        typeof of === 'string'
          ? api.call('operate', { path: { type, id: of, operation: name }, body: input as never }, options)
          : create(of, input, name))
    },
  })
}

/** The server waits for the run as long as it may; one that says nothing is not waited for any longer. */
async function waitForRun(api: HttpClient, run: string, options: WaitOptions): Promise<Run> {
  const { timeoutMs = 3_600_000, signal, onProgress } = options
  const tooLong = () => new HomeostatError('request_timeout', `Run ${run} has not ended within ${timeoutMs} ms.`)
  const late = AbortSignal.timeout(Math.min(timeoutMs + spareMs, longestMs))
  const both = signal === undefined ? late : AbortSignal.any([late, signal])
  for (let waitedMs = 0; ;) {
    const seconds = Math.min(20, Math.max(0, Math.ceil((timeoutMs - waitedMs) / 1_000)))
    const found = await api
      .call('getRun', { path: { run }, query: { wait: seconds } }, { signal: both })
      .catch((error: unknown) => Promise.reject(late.aborted && !signal?.aborted ? tooLong() : error))
    onProgress?.(found)
    if (found.isOver || signal?.aborted) return found
    waitedMs += seconds * 1_000
    if (waitedMs >= timeoutMs) throw tooLong()
  }
}

/** The server waits in whole seconds, and its answer takes a moment. */
const spareMs = 5_000
/** Of a timer. */
const longestMs = 2 ** 31 - 1
