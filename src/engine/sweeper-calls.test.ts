// What a driver's sweeper may answer, and what is no answer.
import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manual-clock.ts'
import { SweeperCalls } from './sweeper-calls.ts'

const asked = (told: unknown) => {
  const sweeper = { inventory: async () => told as never, destroy: async () => {} }
  return new SweeperCalls(new Map([['a.box', { sweeper }]]), new ManualClock()).inventory('a.box')
}

test('an inventory is a list of things with a kind and a name', async () => {
  const things = [{ kind: 'wood', name: 'a.box/b/wood/1', ref: { pieces: 4 } }]
  expect(await asked(things)).toEqual(things)
})

test.each([
  [undefined, 'it is no list of things'],
  ['things', 'it is no list of things'],
  [new Set(), 'it is no list of things'],
  [[{ kind: 'wood', name: 'x' }, null], 'number 2 of its 2 things is not { kind, name } with two texts'],
  [[{ kind: 'wood', name: 7 }], 'number 1 of its 1 things is not { kind, name } with two texts'],
])('what is no inventory is refused as a whole, with what is wrong: %o', async (told, words) => {
  await expect(asked(told)).rejects.toThrow(words)
})
