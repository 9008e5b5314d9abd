// Checks that every word of a declaration is followed by something of its shape: a list where a list belongs, a text where a text does.
// The compiler sees this, but Node runs declarations that were never compiled; the checks after this one read without looking.
import { didYouMeanOf } from '../base/did-you-mean.ts'
import type { Faults } from './fault.ts'
import { listWords } from './words.ts'

/** What may follow a word. Tells a fault, or nothing; all of the faults below it at once. */
type Shape = (value: unknown, path: string, faults: Faults) => void
type Fields = Readonly<Record<string, Shape>>

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shown = (value: unknown): string =>
  typeof value === 'string'
    ? `'${value}'`
    : typeof value === 'function'
      ? 'a function'
      : (JSON.stringify(value) ?? 'undefined')

const oneOf =
  (type: 'string' | 'number' | 'function', what: string): Shape =>
  (value, path, faults) => {
    if (typeof value !== type) faults.error(path, `${shown(value)} is no ${what}`, `Write a ${what}, or leave it out.`)
  }
const text = oneOf('string', 'text')
const number = oneOf('number', 'number')
const pureFunction = oneOf('function', 'function')
const anything: Shape = () => {}

/** One of a few words, and nothing else: what is misspelt would be taken for the default. */
const among =
  (...words: readonly string[]): Shape =>
  (value, path, faults) => {
    if (typeof value !== 'string' || !words.includes(value))
      faults.error(path, `${shown(value)} is none of its words`, didYouMeanOf(String(value), words))
  }
const yes: Shape = (value, path, faults) => {
  if (value !== true) faults.error(path, `${shown(value)} is not true`, 'Write true, or leave it out.')
}

const list =
  (item: Shape): Shape =>
  (value, path, faults) => {
    if (Array.isArray(value)) value.forEach((one, index) => item(one, `${path}[${index}]`, faults))
    else
      faults.error(path, `${shown(value)} is no list`, `Write [${typeof value === 'string' ? shown(value) : '...'}].`)
  }
const texts = list(text)

/** Names of the declaration's own, each followed by the same shape. */
const table =
  (each: Shape): Shape =>
  (value, path, faults) => {
    if (isObject(value)) for (const [name, one] of Object.entries(value)) each(one, `${path}.${name}`, faults)
    else faults.error(path, `${shown(value)} is no table of names`, 'Write { name: ... }.')
  }

/** Words of the language, each with its own shape; others are told elsewhere. What is left out is left out. */
const row =
  (fields: Fields): Shape =>
  (value, path, faults) => {
    if (!isObject(value))
      return faults.error(path, `${shown(value)} is no object`, `Write { ${Object.keys(fields).join(', ')} }.`)
    for (const [word, shape] of Object.entries(fields)) {
      if (value[word] !== undefined) shape(value[word], `${path}.${word}`, faults)
    }
  }
const textOr =
  (other: Shape): Shape =>
  (value, path, faults) => {
    if (typeof value !== 'string') other(value, path, faults)
  }
const listOr =
  (other: Shape): Shape =>
  (value, path, faults) =>
    (Array.isArray(value) ? list(other) : other)(value, path, faults)

const schema: Shape = (value, path, faults) => {
  const standard = (value as { readonly '~standard'?: { readonly validate?: unknown } } | null)?.['~standard']
  if (typeof standard?.validate !== 'function')
    faults.error(path, 'is no schema', 'Write a schema of a library of Standard Schema, such as z.object({ ... }).')
}

const test = row({ says: text, test: pureFunction })
/** What a condition says of relations to many. */
export const quantifiers: readonly string[] = ['every', 'some', 'none']

const expected: Shape = (value, path, faults) => {
  if (Array.isArray(value)) return
  if (isObject(value)) {
    for (const [word, one] of Object.entries(value))
      if (quantifiers.includes(word)) texts(one, `${path}.${word}`, faults)
  } else if (value === undefined || typeof value === 'function')
    faults.error(path, `${shown(value)} is nothing to compare with`, 'Write a value, a list of values or of statuses.')
}
const condition: Shape = (value, path, faults) => {
  if (!isObject(value)) return table(expected)(value, path, faults)
  for (const [name, one] of Object.entries(value)) {
    const shape = name === 'says' ? text : name === 'test' ? pureFunction : expected
    shape(one, `${path}.${name}`, faults)
  }
}

const changes: Fields = {
  set: table(anything),
  move: table(textOr(row({ from: texts, only: test, to: text, set: table(anything) }))),
  add: table(row({ status: text, each: pureFunction })),
  link: table(anything),
  say: text,
}
/** `previous` stands alone: what is written beside it would not be looked at. */
const status: Shape = (value, path, faults) => {
  if (typeof value === 'string') return
  if (!isObject(value) || value['previous'] !== true)
    return faults.error(path, `${shown(value)} is no status`, 'Write its name, or { previous: true }.')
  const beside = Object.keys(value).filter((word) => word !== 'previous')
  if (beside.length > 0)
    faults.error(
      path,
      `${listWords(beside, 'and')} beside \`previous\` would not be looked at`,
      `Write { status: { previous: true }, ${beside.join(', ')} }.`,
    )
}
const landing: Fields = { ...changes, status, when: condition }
const waits: Fields = { again: text, atMost: text }
const failure: Fields = { ...landing, ...waits, code: texts, undo: yes, during: text, ifUndoFails: text }
const recovery: Fields = { ...landing, ...waits, attempt: text }
const cases =
  (fields: Fields): Shape =>
  (value, path, faults) =>
    (isObject(value) && 'previous' in value ? status : textOr(listOr(row(fields))))(value, path, faults)
const probes = table(table(textOr(row(recovery))))

const step = row({
  meaning: text,
  during: textOr(row({ ...changes, status: text })),
  when: condition,
  forEach: table(row({ in: texts, only: test, done: text, failed: text, stopAtFirst: yes })),
  ask: table(textOr(row({ operation: text, in: texts, input: pureFunction, failed: among('goOn') }))),
  result: schema,
  undo: text,
  probe: text,
  creates: text,
  destroys: text,
  retry: row({ times: number, first: text, atMost: text }),
  deadline: text,
  progress: text,
  onFailure: cases(failure),
  ifForced: among('skip'),
})

const operation = row({
  meaning: text,
  from: texts,
  input: schema,
  requires: list(condition),
  ifBusy: among('refuse', 'queue', 'preempt'),
  queueBehind: number,
  ifTerminal: among('refuse', 'succeed'),
  grace: text,
  force: text,
  whileForced: text,
  steps: table(step),
  to: cases(landing),
  onFailure: cases(failure),
  failureText: text,
})

const healing: Fields = {
  ...recovery,
  resume: yes,
  unowned: cases(recovery),
  otherwise: cases(recovery),
  probe: probes,
  withOwner: table(texts),
  like: text,
}

const body = row({
  begins: texts,
  moves: list(row({ from: texts, to: text, by: text })),
  probes: table(texts),
  rules: table(row({ says: text, holds: table(listOr(condition)) })),
  timers: table(
    row({ in: texts, when: condition, at: text, after: text, ask: textOr(table(text)), again: text, rank: number }),
  ),
  operations: table(operation),
  heal: table(listOr(row(healing))),
  drift: table(row({ every: text, probe: probes })),
})

/** Also the properties have a schema, which stands outside of the body. */
export const checkSchema = (faults: Faults, path: string, value: unknown): void => schema(value, path, faults)

/** Answers false when something has not the shape that the other checks rely on. */
export function checkShapes(faults: Faults, type: string, written: unknown): boolean {
  const before = faults.all.length
  body(written, type, faults)
  return faults.all.length === before
}
