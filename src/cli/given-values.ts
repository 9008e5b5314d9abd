// What is given on a command line as data: options that are numbers, and `name=value`. Values are JSON where they are, else text; names with dots go inwards; `now+10m` is a moment.
import { systemClock } from '../base/clock.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { durationMs } from '../lifecycle/duration.ts'
import { CliError, exits } from './cli-error.ts'

/** Undefined: nothing was given. */
export function valuesOf(given: readonly string[], now = systemClock.now()): JsonObject | undefined {
  if (given.length === 0) return undefined
  const root: Record<string, unknown> = {}
  for (const one of given) {
    const at = one.indexOf('=')
    if (at < 1) {
      const [whole] = given.length === 1 && one.startsWith('{') ? [one] : []
      if (whole !== undefined) return objectOf(whole)
      throw new CliError(exits.usage, `'${one}' is not name=value.`, 'As in: size=10, counts.worker=3, tags=["a","b"]')
    }
    put(root, one.slice(0, at).split('.'), valueOf(one.slice(at + 1), now))
  }
  return listsOf(root) as JsonObject
}

function objectOf(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject
  } catch (error) {
    throw new CliError(exits.usage, `The JSON cannot be read: ${(error as Error).message}.`)
  }
}

function put(into: Record<string, unknown>, [name, ...inner]: readonly string[], value: Json): void {
  if (name === undefined || name === '' || name === '__proto__')
    throw new CliError(exits.usage, 'A name before = is empty or cannot be used.')
  if (inner.length === 0) {
    into[name] = value
    return
  }
  const next = (into[name] ??= {})
  if (typeof next !== 'object' || next === null)
    throw new CliError(exits.usage, `'${name}' is given both as a value and with parts.`)
  put(next as Record<string, unknown>, inner, value)
}

function valueOf(text: string, now = systemClock.now()): Json {
  const moment = /^now(?:([+-])(\d+)(ms|s|m|h|d))?$/.exec(text)
  if (moment !== null) {
    const [, sign, count, unit] = moment
    return now + (sign === undefined ? 0 : Number(`${sign}1`) * durationMs(`${count}${unit}`))
  }
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** Parts that are numbered from 0 on are a list. */
function listsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, listsOf(inner)] as const)
  const isList = entries.length > 0 && entries.every(([name], i) => name === String(i))
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}

/** How many are shown: one at least. */
export function countOf(text: string, option: string): number {
  const count = Number(text)
  if (text !== '' && Number.isSafeInteger(count) && count > 0) return count
  throw new CliError(exits.usage, `${option} takes a whole number of 1 or more, not '${text}'.`)
}

export function numberOf(text: string, option: string): number {
  const number = Number(text)
  if (text !== '' && Number.isFinite(number) && number >= 0) return number
  throw new CliError(exits.usage, `${option} takes a number, not '${text}'.`)
}
