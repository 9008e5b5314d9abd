// The README of this catalogue names a test for every row of the specification: those tests exist.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const here = import.meta.dirname
const read = (file: string) => readFileSync(join(here, file), 'utf8')

test('every test that the README names is there', () => {
  const tests = readdirSync(here)
    .filter((file) => file.endsWith('.test.ts'))
    .map(read)
    .join('\n')
  const named = [...read('README.md').matchAll(/"([^"\n]+)"/g)].map(([, name]) => name!)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((name) => !tests.includes(name))).toEqual([])
})
