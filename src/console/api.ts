// The console's one way to the server: the typed client, and whether the server answers.
import {
  QueryClient,
  useInfiniteQuery,
  useQuery,
  type UseInfiniteQueryResult,
  type UseQueryResult,
} from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { HttpClient, type Given } from '../client/http-client.ts'
import { codes, HomeostatError } from '../base/errors.ts'
import type { Answer } from '../protocol/route.ts'
import type { RouteName, Routes } from '../protocol/routes.ts'
import { after, deviceTime, hearClock, now } from './time.ts'

export type AnswerOf<Name extends RouteName> = Answer<Routes[Name]>
export type Resource = AnswerOf<'getResource'>
export type Run = AnswerOf<'getRun'>
export type Event = AnswerOf<'getHistory'>['items'][number]
export type Session = AnswerOf<'getSession'>
export type Diagram = AnswerOf<'placeLifecycle'>

/** Since when nothing answers; null: it answers. */
let downSince: number | null = null
const listeners = new Set<() => void>()

function heard(answers: boolean): void {
  if (answers === (downSince === null)) return
  downSince = answers ? null : now()
  for (const listener of listeners) listener()
  // What was missed meanwhile is read anew.
  if (answers) void queries.invalidateQueries()
}

/** An answer that takes longer than this may never come: whether anybody is there is asked beside it. */
const patienceMs = 4_000

/** Whether anybody answers. */
export const isThere = (): Promise<Response> => fetch('/livez', { signal: AbortSignal.timeout(patienceMs) })

async function watchedFetch(...given: Parameters<typeof fetch>): Promise<Response> {
  const stop = after(patienceMs, () => {
    isThere().then(
      () => heard(true),
      () => heard(false),
    )
  })
  const askedAt = deviceTime()
  try {
    const response = await fetch(...given)
    heard(true)
    hearClock(response.headers.get('date'), askedAt, deviceTime())
    // The session ended under an open page: ask who we are, and sign in again.
    if (response.status === 401 && !response.url.endsWith('/v1/session'))
      void queries.invalidateQueries({ queryKey: ['getSession'] }, { cancelRefetch: false })
    return response
  } catch (error) {
    if (!(given[1]?.signal?.aborted ?? false)) heard(false)
    throw error
  } finally {
    stop()
  }
}

/** Whether somebody answers again. */
export const askAgain = (): void =>
  void isThere().then(
    () => heard(true),
    () => {},
  )

export const api = new HttpClient({ url: '', fetch: watchedFetch, retries: 2, retryMs: 300 })

export const queries = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 2_000, refetchOnWindowFocus: false, networkMode: 'always' } },
})

export const useDownSince = (): number | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => downSince,
  )

export interface Reading {
  readonly enabled?: boolean
  /** For what changes without an event. */
  readonly everyMs?: number
  /** What was shown before stays until the new answer is there. */
  readonly keep?: boolean
}

/** A row of the contract that reads, kept fresh by the events. */
export function useCall<Name extends RouteName>(
  name: Name,
  given: Given<Name>,
  { enabled = true, everyMs, keep = false }: Reading = {},
): UseQueryResult<AnswerOf<Name>, HomeostatError> {
  return useQuery<AnswerOf<Name>, HomeostatError>({
    queryKey: [name, given],
    queryFn: async ({ signal }) => (await api.call(name, given, { signal })) as never,
    enabled,
    // What is not there is not asked for again and again.
    refetchInterval: ({ state }) => (everyMs === undefined || isMissing(state.error) ? false : everyMs),
    ...(keep ? { placeholderData: (before: unknown) => before as never } : {}),
  })
}

/** Rows of the contract that list page by page. */
type Paged = {
  readonly [Name in RouteName]: AnswerOf<Name> extends { readonly nextPageToken: string | null } ? Name : never
}[RouteName]

/** The same for a list: its first page, and more of it when it is asked for. */
export function usePages<Name extends Paged>(name: Name, given: Given<Name>, { everyMs, keep = false }: Reading = {}) {
  return useInfiniteQuery({
    queryKey: [name, given, 'pages'],
    initialPageParam: '',
    queryFn: async ({ pageParam, signal }) => {
      const { query = {} } = given as { readonly query?: object }
      const page = pageParam === '' ? given : { ...given, query: { ...query, pageToken: pageParam } }
      return (await api.call(name, page as Given<Name>, { signal })) as AnswerOf<Name>
    },
    getNextPageParam: (answer) => (answer as { readonly nextPageToken: string | null }).nextPageToken,
    refetchInterval: ({ state }) => (everyMs === undefined || isMissing(state.error) ? false : everyMs),
    ...(keep ? { placeholderData: (before: unknown) => before as never } : {}),
  })
}

/** An answer may have looked at so much without finding anything: then it goes on where that one stopped. True while it does. */
export function useLooksFurther(
  list: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetching' | 'fetchNextPage'>,
  found: number,
): boolean {
  const looksFurther = found === 0 && list.hasNextPage
  useEffect(() => {
    if (looksFurther && !list.isFetching) void list.fetchNextPage()
  }, [looksFurther, list.isFetching])
  return looksFurther
}

/** The server says that there is no such thing, or no longer. */
export const isMissing = (error: unknown): error is HomeostatError =>
  error instanceof HomeostatError && codes[error.code].http === 404

/** A problem in words; codes are for programs. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
