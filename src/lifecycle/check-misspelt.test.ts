// Whatever is misspelt in a declaration that uses every word of the language is told: words, names and spans of time.
import { expect, test } from 'vitest'
import { records, zones } from '../../test/lifecycle/every-word.ts'
import { checkLifecycles } from './check-lifecycle.ts'
import { languageWords } from './check-words.ts'
import type { AnyLifecycle } from './lifecycle.ts'

type Table = Readonly<Record<string, unknown>>
const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !('~standard' in value)

interface Misspelt {
  readonly place: string
  readonly body: unknown
}

/** Every way to misspell one word, name or text. */
function* misspellings(value: unknown, place: string, put: (other: unknown) => unknown): Generator<Misspelt> {
  if (typeof value === 'string') yield { place: `${place}: ${value}`, body: put(`${value}x`) }
  if (!isTable(value)) return
  for (const [name, one] of Object.entries(value)) {
    const renamed = Object.entries(value).map(([key, other]) => [key === name ? `${key}x` : key, other])
    if (!Array.isArray(value)) yield { place: `${place}.${name}`, body: put(Object.fromEntries(renamed)) }
    yield* misspellings(one, Array.isArray(value) ? place : `${place}.${name}`, (other) =>
      put(Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other }),
    )
  }
}

/** What the declaration itself names, and nothing in it refers to; texts for people; what only drivers know. */
const own = [
  /^operations\.\w+$/,
  /\.steps\.\w+$/,
  /^(timers|rules)\.\w+$/,
  /\.(meaning|says|say|failureText): /,
  /\.(undo|creates|destroys|code): /,
]
/** Properties that are any text. */
const texts = /\.(origin|value): /

const silentIn = (lifecycle: AnyLifecycle, others: readonly AnyLifecycle[]): string[] => {
  const found: string[] = []
  for (const [word, value] of Object.entries(lifecycle.body as unknown as Table)) {
    for (const { place, body } of misspellings(value, word, (other) => ({ ...lifecycle.body, [word]: other }))) {
      if (own.some((one) => one.test(place)) || texts.test(place)) continue
      const faults = checkLifecycles([{ ...lifecycle, body } as AnyLifecycle, ...others])
      if (!faults.some(({ severity }) => severity === 'error')) found.push(place)
    }
  }
  return found
}

test('the declarations use every word', () => {
  const text = JSON.stringify([zones.body, records.body], (_, value: unknown) =>
    typeof value === 'function' ? '' : value,
  )
  expect(languageWords.filter((word) => !text.includes(`"${word}":`))).toEqual([])
})

test('whatever is misspelt is told', () => {
  expect(silentIn(zones, [records])).toEqual([])
  expect(silentIn(records, [zones])).toEqual([])
})
