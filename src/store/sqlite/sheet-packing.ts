// A sheet as a parcel for another thread: numbers in one block that is handed over, all texts in one. Copying a list value by
// value, as a message would, costs as much as deciding what is in it.
import { assert } from '../../base/assert.ts'
import type { Guard } from '../store.ts'
import { emptySheet, listNames, type Sheet } from './sheet.ts'

export interface Parcel {
  /** How many values each list has, in the order of `listNames`. */
  readonly lengths: readonly number[]
  readonly numbers: Float64Array<ArrayBuffer>
  readonly text: string
  /** Number and revision of each guard that names nothing else: most do. */
  readonly revisions: Float64Array<ArrayBuffer>
  readonly guards: readonly Guard[]
}

export function pack(sheet: Sheet): Parcel {
  const lengths = listNames.map((name) => sheet[name].length)
  const numbers = new Float64Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  let text = ''
  for (const name of listNames) {
    const list = sheet[name]
    if (list.length === 0) continue
    assert(list.length % list.width === 0, `a row of ${name} is not whole`)
    numbers.set(list.numbers.subarray(0, list.length), at)
    at += list.length
    text += list.texts.join('')
  }
  return { lengths, numbers, text, ...packGuards(sheet.guards) }
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
export const handedOver = ({ numbers, revisions }: Parcel): ArrayBuffer[] => [numbers.buffer, revisions.buffer]

export function unpack(parcel: Parcel): Sheet {
  const { lengths, numbers, text } = parcel
  const sheet = emptySheet()
  sheet.guards = unpackGuards(parcel)
  let at = 0
  let read = 0
  listNames.forEach((name, i) => {
    const list = sheet[name]
    list.length = lengths[i]!
    list.numbers = numbers.subarray(at, at + list.length)
    for (let row = 0; row < list.length; row += list.width) {
      for (const place of list.textPlaces) {
        const length = list.numbers[row + place]!
        // Null, or a text that is there already.
        if (!(length >= 0)) continue
        list.texts.push(text.slice(read, read + length))
        read += length
      }
    }
    at += list.length
  })
  return sheet
}

function unpackGuards({ revisions, guards }: Parcel): Guard[] {
  const all: Guard[] = [...guards]
  for (let at = 0; at < revisions.length; at += 2)
    all.push({ guard: 'revision', no: revisions[at]!, revision: revisions[at + 1]! })
  return all
}
