// Words that people mistype.
import { expect, test } from 'vitest'
import { editDistance } from './edit-distance.ts'

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['delete', 'delete', 0],
  ['delte', 'delete', 1],
  ['deleted', 'delete', 1],
  ['celete', 'delete', 1],
  ['dleete', 'delete', 1],
  ['kitten', 'sitting', 3],
])("from '%s' to '%s' it is %i, both ways", (a, b, steps) => {
  expect([editDistance(a, b), editDistance(b, a)]).toEqual([steps, steps])
})
