// What a sheet is after having been sent to another thread: the same.
import { expect, test } from 'vitest'
import { clear, emptySheet, listNames, type Sheet } from './sheet.ts'
import { handedOver, pack, unpack } from './sheet-packing.ts'

const guards: Sheet['guards'] = [
  { guard: 'absent', type: 'lab.box', id: 'b1' },
  { guard: 'revision', no: 4_294_967_297, revision: 3 },
  { guard: 'children', no: 7, members: [8, 9] },
]

function written(): Sheet {
  const sheet = emptySheet()
  sheet.guards = guards
  for (const text of ['naïve', '', '\ud83d', '\ude00 second half of a pair', '["quoted"]'.repeat(1_000)]) {
    sheet.steps.row()
    for (const number of [1, 2.5, -0, 2 ** 53 - 1, 4_294_967_297, 0, -1, 8]) sheet.steps.number(number)
    sheet.steps.numberOrNull(null)
    sheet.steps.text(text)
  }
  for (const id of [null, 'given', null]) {
    sheet.newNames.row()
    sheet.newNames.textOrNull(id)
    sheet.newNames.text('type')
    sheet.newNames.numberOrNull(5)
  }
  sheet.journal.row()
  sheet.journal.text('{"last":true}')
  return sheet
}

const rowsOf = (sheet: Sheet) =>
  Object.fromEntries(
    listNames.map((name) => {
      const reader = sheet[name].reader()
      return [name, reader.take(reader.left)]
    }),
  )

test('a sheet is the same after having been packed, handed over and unpacked', () => {
  const sheet = written()
  const wanted = rowsOf(sheet)
  expect(wanted['newNames']).toEqual([null, 'type', 5, 'given', 'type', 5, null, 'type', 5])
  const parcel = pack(sheet)
  const got = unpack(structuredClone(parcel, { transfer: handedOver(parcel) }))
  expect(rowsOf(got)).toEqual(wanted)
  expect(Object.is(rowsOf(got)['steps']![2], -0)).toBe(true)
  // The order of guards does not matter: all of them must hold.
  expect(new Set(got.guards)).toEqual(new Set(guards))
})

test('a sheet that is used again holds nothing of what it held before', () => {
  const sheet = written()
  clear(sheet, [])
  expect(rowsOf(sheet)).toEqual(rowsOf(emptySheet()))
  expect(sheet.guards).toEqual([])
})

test('rows are read in portions, each value once', () => {
  const { steps } = written()
  const reader = steps.reader()
  const first = reader.take(2)
  expect(reader.left).toBe(3)
  const all = steps.reader().take(5)
  expect([...first, ...reader.take(3)]).toEqual(all)
})

test('half a row is not packed', () => {
  const sheet = written()
  sheet.keys.row()
  sheet.keys.text('key')
  expect(() => pack(sheet)).toThrow('a row of keys is not whole')
})
