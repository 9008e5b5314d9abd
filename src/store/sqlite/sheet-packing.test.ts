// What a sheet is after having been sent to another thread: the same.
import { expect, test } from 'vitest'
import { emptySheet, type Sheet } from './sheet.ts'
import { handedOver, pack, unpack } from './sheet-packing.ts'

const sheet: Sheet = {
  ...emptySheet([
    { guard: 'absent', type: 'lab.box', id: 'b1' },
    { guard: 'revision', no: 4_294_967_297, revision: 3 },
    { guard: 'children', no: 7, members: [8, 9] },
  ]),
  steps: [1, 2.5, null, '', 'naïve', -0, 2 ** 53 - 1, '\ud83d', '\ude00 second half of a pair', '["quoted"]'],
  newNames: ['id', 'type', 5],
  events: [1, 'x'.repeat(5_000)],
  journal: ['{"last":true}'],
}

test('a sheet is the same after having been packed, handed over and unpacked', () => {
  const parcel = pack(sheet)
  const { guards, ...lists } = unpack(structuredClone(parcel, { transfer: handedOver(parcel) }))
  const { guards: given, ...wanted } = sheet
  expect(lists).toEqual(wanted)
  expect(Object.is(lists.steps[5], -0)).toBe(true)
  // The order of guards does not matter: all of them must hold.
  expect(new Set(guards)).toEqual(new Set(given))
})

test('a value that is neither number nor text nor null is not packed', () => {
  expect(() => pack({ ...sheet, keys: [new Uint8Array(1)] })).toThrow('a value of keys')
})
