// What `serve` and `work` say while they run: a line each, in words on a terminal, as JSON for whoever gathers logs. What is said again and
// again, as when a store is away, is said once a minute with how often.
import { isoTime, type Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Log } from '../engine/log.ts'

export interface LogOptions {
  readonly clock: Clock
  readonly isJson: boolean
  readonly note: (line: string) => void
}

const againAfterMs = 60_000
/** Beyond so many different lines the oldest is forgotten. */
const linesMax = 1_000

export function logTo({ clock, isJson, note }: LogOptions): Log {
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

  return (level, message, fields = {}) => {
    // What the check of the declarations doubts is told by `homeostat check`, not at each start.
    if (level === 'debug' || 'suggestion' in fields) return
    // People see the rest where they ask for it.
    if (level === 'info' && !isJson) return
    const given = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]))
    const times = leftOut(JSON.stringify([level, message, { ...given, request: null }]))
    if (times === null) return
    const all = times === 0 ? given : { ...given, alsoSaid: times }
    if (isJson) return note(JSON.stringify({ at: isoTime(clock.now()), level, message, ...all }))
    const rest = Object.entries(all).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    note([level === 'error' ? 'error:' : 'warning:', message, ...rest].join(' '))
  }
}

const plain = (value: unknown): unknown =>
  value instanceof HomeostatError
    ? `${value.code}: ${value.message}`
    : value instanceof Error
      ? (value.stack ?? value.message)
      : value
