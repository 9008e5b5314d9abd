// Follows the events of the server while the page is seen: what they touch is read anew, a few times a second at most. Hidden, the
// stream is closed; seen again, it goes on after the last event that was heard, so that nothing is missed.
import { useSyncExternalStore } from 'react'
import { HomeostatError } from '../base/errors.ts'
import { watchEvents, type CloudEvent } from '../client/event-source.ts'
import { api, queries } from './api.ts'
import { after, every } from './time.ts'
import { touchedBy } from './touched.ts'

const keptMost = 400
/** Between two rounds of reading anew. */
const roundMs = 350

/** Between two of them while no events come. */
const withoutEventsMs = 5_000

type State = 'connecting' | 'live' | 'paused'

let events: readonly CloudEvent[] = []
let state: State = 'connecting'
let last: number | null = null
const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}

let waiting: CloudEvent[] = []
let isRoundDue = false

function take(event: CloudEvent): void {
  waiting.push(event)
  last = Math.max(last ?? 0, event.data.n)
  if (isRoundDue) return
  isRoundDue = true
  after(roundMs, round)
}

function round(): void {
  const fresh = waiting
  waiting = []
  isRoundDue = false
  events = [...fresh.toReversed(), ...events].slice(0, keptMost)
  tell()
  void queries.invalidateQueries({ predicate: touchedBy(fresh) }, { cancelRefetch: false })
}

async function follow(signal: AbortSignal): Promise<void> {
  if (last === null) {
    const { last: newest } = await api.call('streamEvents', { query: { pageSize: 1 } }, { signal })
    const { items } = await api.call(
      'streamEvents',
      { query: { after: Math.max(0, newest - 200), pageSize: 200 } },
      { signal },
    )
    last = Math.max(newest, items.at(-1)?.data.n ?? 0)
    events = items.toReversed()
  }
  tell()
  let times = 0
  const onState = (told: 'live' | 'lost') => {
    state = told === 'live' ? 'live' : 'connecting'
    tell()
    // After a pause it may be a server of another version that answers: also what no event tells of is read anew.
    if (told === 'live' && ++times > 1) void queries.invalidateQueries()
  }
  for await (const event of watchEvents(api, { after: last, signal, onState })) take(event)
}

/** Begins to follow; the answer ends it. */
export function startLive(): () => void {
  let stop = new AbortController()
  const begin = () => {
    stop = new AbortController()
    const { signal } = stop
    follow(signal).catch((error: unknown) => {
      if (signal.aborted) return
      if (error instanceof HomeostatError && error.code === 'event_unknown') {
        // A back-up was restored: what was heard is not so any more.
        last = null
        void queries.invalidateQueries()
      }
      state = 'connecting'
      tell()
      after(1_000, () => !signal.aborted && begin())
    })
  }
  const change = () => {
    if (document.visibilityState === 'hidden') {
      stop.abort()
      state = 'paused'
      tell()
    } else if (state === 'paused') {
      state = 'connecting'
      begin()
      void queries.invalidateQueries()
    }
  }
  document.addEventListener('visibilitychange', change)
  begin()
  // Where events do not come through, because somebody between holds the stream back, what is shown is read anew without them.
  const stopReading = every(withoutEventsMs, () => state === 'connecting' && void queries.invalidateQueries())
  return () => {
    stop.abort()
    stopReading()
    document.removeEventListener('visibilitychange', change)
  }
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The newest first, without gaps while the page was seen. */
export const useEvents = (): readonly CloudEvent[] => useSyncExternalStore(subscribe, () => events)
export const useLiveState = (): State => useSyncExternalStore(subscribe, () => state)
