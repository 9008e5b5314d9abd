// Names of things come from strangers: each is one file of its own, below the folder.
import { expect, test } from 'vitest'
import { fileName } from './world-folder.ts'

test('no two names share a file, also where one is made to look like another that was shortened', () => {
  const long = `t.disk/${'x'.repeat(150)}/disk/1`
  const disguised = decodeURIComponent(fileName(long).replaceAll('+', '/'))
  expect(disguised).not.toBe(long)
  expect(fileName(disguised)).not.toBe(fileName(long))
  const names = [
    '.',
    '..',
    '...',
    'a',
    'A',
    'a~b',
    'a+b',
    'a%2Bb',
    'a b',
    '%2E',
    '\u0000',
    'é',
    'e\u0301',
    'x'.repeat(90),
  ]
  expect(new Set(names.map(fileName)).size).toBe(names.length)
  for (const name of [...names, long, disguised, '../..', '/etc/passwd']) {
    expect(fileName(name)).toMatch(/^[^/]{1,255}$/)
    expect(fileName(name)).not.toMatch(/^\./)
  }
})
