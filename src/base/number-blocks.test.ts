// Numbers in blocks: exact, and each of one block only.
import { expect, test } from 'vitest'
import { blockOf, blocks, numberIn } from './number-blocks.ts'

const some = [0, 1, 7, 2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 3_000_001, 66_000_001, blocks - 1]

test('every number is exact, is of its block, and is of no other', () => {
  for (const block of some) {
    const last = block < 2 ** 20 ? 2 ** 32 - 1 : 2 ** 26 - 1
    for (const n of [1, 2, last]) {
      const number = numberIn(block, n)
      expect(Number.isSafeInteger(number) && blockOf(number) === block, `${block} ${n}`).toBe(true)
      if (n < last) expect(numberIn(block, n + 1), `${block} ${n}`).toBe(number + 1)
    }
    expect(() => numberIn(block, last + 1)).toThrow('start this process again')
  }
})

test('the blocks of a store that was never restored are where they always were', () => {
  expect([numberIn(7, 1), numberIn(7, 2)]).toEqual([7 * 2 ** 32 + 1, 7 * 2 ** 32 + 2])
})

test('there are blocks for sixty restores and as many workers as a store has between them', () => {
  expect(blocks).toBeGreaterThan(60_000_000)
  expect(() => numberIn(blocks, 1)).toThrow('has no number')
})
