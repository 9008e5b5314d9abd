// What `serve` and `work` say while they run: a line each, in words on a terminal, as JSON for whoever gathers logs. What is said again and
// again, as when a store is away, is said once a minute with how often.
import { inspect } from 'node:util'
import { isoTime, type Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Log } from '../engine/log.ts'

export interface LogOptions {
  readonly clock: Clock
  readonly isJson: boolean
  readonly note: (line: string) => void
  /** Lines wait for a reader that does not come: no more are added. */
  readonly isReaderBehind?: () => boolean
}

const againAfterMs = 60_000
/** Beyond so many different lines the oldest is forgotten. */
const linesMax = 1_000
/** An error of a driver may be endless. */
const charactersMost = 20_000

export function logTo({ clock, isJson, note, isReaderBehind = () => false }: LogOptions): Log {
  const said = new Map<string, { readonly at: number; more: number }>()

  /** How often it was left out since it was last said; null: it is left out now. */
  const leftOut = (line: string): number | null => {
    const now = clock.monotonic()
    const before = said.get(line)
    if (before !== undefined && now - before.at < againAfterMs) {
      before.more++
      return null
    }
    said.delete(line)
    said.set(line, { at: now, more: 0 })
    if (said.size > linesMax) said.delete(said.keys().next().value!)
    return before?.more ?? 0
  }

  const tell: Log = (level, message, fields = {}) => {
    if (isJson) return note(JSON.stringify({ at: isoTime(clock.now()), level, message, ...fields }))
    const rest = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    note([level === 'error' ? 'error:' : 'warning:', message, ...rest].join(' '))
  }
  let unread = 0

  return (level, message, fields = {}) => {
    // What the check of the declarations doubts is told by `homeostat check`, not at each start.
    if (level === 'debug' || 'suggestion' in fields) return
    // People see the rest where they ask for it.
    if (level === 'info' && !isJson) return
    const given = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]))
    const times = leftOut(JSON.stringify([level, message, { ...given, request: null }]))
    if (times === null) return
    if (isReaderBehind()) return void unread++
    if (unread > 0) tell('warn', 'nobody read the log for a while; lines were left out', { lines: unread })
    unread = 0
    tell(level, message, times === 0 ? given : { ...given, alsoSaid: times })
  }
}

/** Also of what a driver threw: whatever that is, it is a line. */
function plain(value: unknown): unknown {
  try {
    if (value instanceof HomeostatError) return cut(`${value.code}: ${value.message}`)
    if (value instanceof Error) return cut(value.stack ?? value.message)
    if (typeof value === 'string') return cut(value)
    if (value === undefined) return undefined
    const text = JSON.stringify(value) as string | undefined
    return text === undefined || text.length > charactersMost ? cut(inspect(value)) : value
  } catch {
    return unreadable(value)
  }
}

/** What is no JSON, or throws when it is looked at. */
function unreadable(value: unknown): string {
  try {
    return cut(inspect(value))
  } catch {
    return 'what cannot be read'
  }
}

const cut = (text: string): string => (text.length > charactersMost ? `${text.slice(0, charactersMost)} …` : text)
