// In which form rows come to a statement: what differs as arrays, and never so many forms that a connection could not keep them.
import { expect, test } from 'vitest'
import { arraysOf, Columns, formFor } from './sheet.ts'

const rows = (...values: readonly (readonly (number | string | null)[])[]) => {
  const columns = new Columns('keys')
  for (const row of values) columns.push(...row)
  return columns
}

test('what is the same in all rows is one value, what differs an array; a single row has no arrays', () => {
  expect(rows(['a', 'h', 1, 1, 5]).varying).toBe(0)
  expect(rows(['a', 'h', 1, 1, 5], ['b', 'h', 1, 1, 5]).varying).toBe(0b00001)
  expect(rows(['a', 'h', 1, 1, 5], ['b', 'h', 2, 1, null]).varying).toBe(0b10101)
  // The first tells how many rows there are, also where it is the same in all.
  expect(rows(['a', 'h', 1, 1, 5], ['a', 'h', 1, 1, 5]).varying).toBe(0b00001)
  const form = formFor(rows(['a', 'h', 1, 1, 5], ['b', 'h', 2, 1, 5]))
  expect(form.rowsOf('keys', 3)).toBe(
    '(select u.key, $4::text as hash, u.no, $6::int4 as begun, $7::float8 as at from ' +
      '(select unnest(string_to_array($3::text, chr(1), chr(2))) as key, unnest($5::int8[]) as no) u) v',
  )
})

test('beyond sixteen forms of a part, the narrowest of them that fits is taken, or all are arrays', () => {
  const all = new Columns('newRecords').all
  const taken = (varying: number) => arraysOf({ part: 'recordDeletes', varying, all: [...all, ...all] })
  const first = [0b000001, 0b000011, 0b000101, 0b000111, 0b001001, 0b001011, 0b001101, 0b001111, 0b010001, 0b010011]
  for (const varying of [...first, 0b010101, 0b010111, 0b011001, 0b011011, 0b011101])
    expect(taken(varying)).toBe(varying)
  expect(taken(0)).toBe(0)
  expect(taken(0b011000)).toBe(0b011001)
  expect(taken(0b100001)).toBe(0b111111)
  expect(taken(0b001111)).toBe(0b001111)
})
