// The catalogue's README names a test for every contradiction and every row: each of them must be there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')
/** Titles that are made from rows are looked for in the rows, too. */
const sources = (file: string) =>
  [`${file}.test.ts`, 'healing-rows.ts', 'transition-rows.ts'].map(read).join('\n').replaceAll(/\s+/g, ' ')

test('every test that README.md names is there', () => {
  const rows = read('../../catalogues/ovc/README.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && /\b(transitions|healing|cross-object|upstream|life|killed)\b/.test(line))
  // In the last cell: file, `name`, `name`; file, `name`. What varies in a name is left out of it: `...` and `<row>`.
  const named = rows.flatMap((row) => {
    const cell = row.split(' | ').at(-1)!
    return [...cell.matchAll(/\b([a-z-]+), ((?:`[^`]+`(?:, )?)+)/g)].flatMap(([, file, names]) =>
      [...names!.matchAll(/`([^`]+)`/g)].flatMap(([, name]) =>
        name!
          .split(/\.\.\.|<[^>]+>/)
          .map((part) => part.replace(/:? $/, '').trim())
          .filter((part) => part.length > 1)
          .map((part) => [file!, part] as const),
      ),
    )
  })
  expect(named.length).toBeGreaterThan(60)
  expect(named.filter(([file, part]) => !sources(file).includes(part))).toEqual([])
})
