// What is saved for spreadsheets is text in them, whatever somebody gave as his reason.
import { expect, test } from 'vitest'
import { csvCell } from './csv.ts'

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '=HYPERLINK("https://elsewhere.example";"x")'])(
  '%j is no formula',
  (text) => {
    expect(csvCell(text)).toBe(`"'${text.replaceAll('"', '""')}"`)
  },
)

test('everything else is as it was, a number a number', () => {
  const cells = ['moving house', 'a=b', '5 - 3', 'say "no"', '', null, -3].map(csvCell)
  expect(cells).toEqual(['"moving house"', '"a=b"', '"5 - 3"', '"say ""no"""', '""', '""', '"-3"'])
})
