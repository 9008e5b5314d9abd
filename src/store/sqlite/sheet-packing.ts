// A sheet as a parcel for another thread: numbers in one block that is handed over, all texts in one. Copying a list value by
// value, as a message would, costs as much as deciding what is in it.
import type { SQLInputValue } from 'node:sqlite'
import { assert } from '../../base/assert.ts'
import type { Guard } from '../store.ts'
import { widths, type Sheet } from './sheet.ts'

type List = keyof typeof widths
const lists = Object.keys(widths) as List[]

export interface Parcel {
  /** How many values each list has, in the order of `widths`. */
  readonly lengths: readonly number[]
  /** A value each: the number, or how long the text is. */
  readonly numbers: Float64Array<ArrayBuffer>
  /** What each value is. */
  readonly kinds: Uint8Array<ArrayBuffer>
  readonly text: string
  /** Number and revision of each guard that names nothing else: most do. */
  readonly revisions: Float64Array<ArrayBuffer>
  readonly guards: readonly Guard[]
}

const isNumber = 0
const isNull = 1
const isText = 2

export function pack(sheet: Sheet): Parcel {
  const lengths = lists.map((list) => sheet[list].length)
  const count = lengths.reduce((sum, length) => sum + length, 0)
  const numbers = new Float64Array(count)
  const kinds = new Uint8Array(count)
  const texts: string[] = []
  let at = 0
  for (const list of lists) {
    const values = sheet[list]
    for (let i = 0; i < values.length; i++, at++) {
      const value = values[i]!
      if (typeof value === 'number') numbers[at] = value
      else if (value === null) kinds[at] = isNull
      else {
        assert(typeof value === 'string', `a value of ${list} is neither number nor text`)
        kinds[at] = isText
        numbers[at] = value.length
        texts.push(value)
      }
    }
  }
  return { lengths, numbers, kinds, text: texts.join(''), ...packGuards(sheet.guards) }
}

function packGuards(all: readonly Guard[]): Pick<Parcel, 'revisions' | 'guards'> {
  const revisions = new Float64Array(2 * all.length)
  const guards: Guard[] = []
  let at = 0
  for (const guard of all) {
    if (guard.guard !== 'revision') guards.push(guard)
    else {
      revisions[at++] = guard.no
      revisions[at++] = guard.revision
    }
  }
  return { revisions: revisions.slice(0, at), guards }
}

/** Memory that can be handed over instead of being copied. */
export const handedOver = ({ numbers, kinds, revisions }: Parcel): ArrayBuffer[] => [
  numbers.buffer,
  kinds.buffer,
  revisions.buffer,
]

export function unpack(parcel: Parcel): Sheet {
  const { lengths, numbers, kinds, text } = parcel
  const sheet: Partial<Record<List, SQLInputValue[]>> = {}
  let at = 0
  let read = 0
  lists.forEach((list, i) => {
    const values: SQLInputValue[] = []
    for (const end = at + lengths[i]!; at < end; at++) {
      if (kinds[at] === isNumber) values.push(numbers[at]!)
      else if (kinds[at] === isNull) values.push(null)
      else {
        const close = read + numbers[at]!
        values.push(text.slice(read, close))
        read = close
      }
    }
    sheet[list] = values
  })
  return { ...(sheet as Omit<Sheet, 'guards'>), guards: unpackGuards(parcel) }
}

function unpackGuards({ revisions, guards }: Parcel): Guard[] {
  const all: Guard[] = [...guards]
  for (let at = 0; at < revisions.length; at += 2)
    all.push({ guard: 'revision', no: revisions[at]!, revision: revisions[at + 1]! })
  return all
}
