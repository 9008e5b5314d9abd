// Reads JSON from strangers: limited in depth, without duplicate names and without names that mean something to JavaScript.
// JSON.parse alone takes the last of two equal names, so that two readers of one text can see two different things.
import { HomeostatError } from '../base/errors.ts'

const depthMax = 32
const forbidden: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
/** Everything that JSON consists of. Strings are taken whole, so that nothing inside them counts. */
const token =
  // oxlint-disable-next-line no-control-regex
  /[ \t\n\r]*(?:([{}[\],:])|("[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y

interface Level {
  /** Null in an array. */
  readonly names: Set<string> | null
  wants: 'name' | 'colon' | 'value' | 'separator'
  isEmpty: boolean
}

/** `what` it is, for who is told that it cannot be read. */
export function parseStrictJson(text: string, what = 'The body'): unknown {
  try {
    refuse(text)
    return JSON.parse(text) as unknown
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it is no JSON'
    throw new HomeostatError('request_invalid', `${what} cannot be read: ${why}.`)
  }
}

/** Walks through the text once; throws with the first fault. */
function refuse(text: string): void {
  const levels: Level[] = []
  let isDone = false
  token.lastIndex = 0
  while (!isDone || levels.length > 0) {
    const at = token.lastIndex
    const found = token.exec(text)
    if (found === null) throw fault(`it is no JSON from character ${at} on`)
    const [, mark, string, number] = found
    if (number !== undefined) refuseChanged(number, at)
    const level = levels.at(-1)
    if (mark === '}' || mark === ']') {
      if (level === undefined || (level.names === null) !== (mark === ']')) throw fault(`unexpected ${mark} at ${at}`)
      const mayEnd = level.wants === 'separator' || (level.isEmpty && level.wants !== 'colon')
      if (!mayEnd) throw fault(`unexpected ${mark} at ${at}`)
      levels.pop()
      isDone = true
      continue
    }
    if (mark === ',' || mark === ':') {
      if (level?.wants !== (mark === ',' ? 'separator' : 'colon')) throw fault(`unexpected ${mark} at ${at}`)
      level.wants = mark === ',' && level.names !== null ? 'name' : 'value'
      continue
    }
    if (level?.wants === 'name') {
      if (string === undefined) throw fault(`a name is missing at ${at}`)
      takeName(level, string)
      continue
    }
    if (level !== undefined) {
      if (level.wants !== 'value') throw fault(`a separator is missing at ${at}`)
      level.wants = 'separator'
      level.isEmpty = false
    }
    isDone = mark === undefined
    if (mark === undefined) continue
    if (levels.length >= depthMax) throw fault(`it is nested deeper than ${depthMax}`)
    levels.push({ names: mark === '{' ? new Set() : null, wants: mark === '{' ? 'name' : 'value', isEmpty: true })
  }
  if (!/^[ \t\n\r]*$/.test(text.slice(token.lastIndex))) throw fault('something follows its end')
}

function takeName(level: Level, string: string): void {
  const name = JSON.parse(string) as string
  if (forbidden.has(name)) throw fault(`the name '${name}' is not taken`)
  if (level.names!.has(name)) throw fault(`the name '${name.slice(0, 100)}' occurs twice`)
  level.names!.add(name)
  level.wants = 'colon'
  level.isEmpty = false
}

/** Whole numbers of other languages may be longer than ours: one that would come back as another is not taken. */
function refuseChanged(number: string, at: number): void {
  const value = Number(number)
  if (!Number.isFinite(value)) throw fault(`the number at ${at} is too large: send it as text`)
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(number) || String(value) === number) return
  if (BigInt(value) !== BigInt(number)) throw fault(`the number at ${at} would be kept as ${value}: send it as text`)
}

const fault = (message: string) => new SyntaxError(message)
