// README.md names a test for every contradiction and every row: each of them must be there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')

test('every test that README.md names is there', () => {
  const rows = read('README.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes('`: '))
  // In the last cell: `file`: "beginning", "beginning"; `file`: "beginning". A beginning ends before what varies.
  const named = rows.flatMap((row) => {
    const cell = row.split(' | ').at(-1)!
    return [...cell.matchAll(/`([\w-]+)`: ((?:"[^"]*"(?:, )?)+)/g)].flatMap(([, file, names]) =>
      [...names!.matchAll(/"([^"]*?)(?: ?\.\.\.)?"/g)].map(([, name]) => [`${file}.test.ts`, name!] as const),
    )
  })
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter(([file, name]) => !read(file).includes(name))).toEqual([])
})
