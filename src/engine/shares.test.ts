// Shares of what is in hand: equal, whole as long as there is so much, and smaller when there is less.
import { expect, test } from 'vitest'
import { Shares } from './shares.ts'

test('what a store takes at once is in equal shares, and few commands are not split', () => {
  const shares = new Shares()
  expect(shares.next(100, 0, 2)).toBe(100)
  expect(shares.next(1_000, 0, 2)).toBe(500)
  expect(shares.next(500, 500, 2)).toBe(500)
  expect(shares.next(1_001, 0, 3)).toBe(334)
  expect(shares.next(1_001, 0, 1)).toBe(1_001)
})

test('a share stays whole when the other has landed, and what comes of it is not here yet', () => {
  const shares = new Shares()
  shares.next(1_000, 0, 2)
  shares.next(500, 500, 2)
  expect(shares.next(500, 0, 2)).toBe(500)
  expect(shares.next(500, 500, 2)).toBe(500)
})

test('when there is less to do, shares become smaller', () => {
  const shares = new Shares()
  shares.next(1_000, 0, 2)
  const taken = Array.from({ length: 5 }, () => shares.next(300, 0, 2))
  expect(taken).toEqual([300, 300, 300, 150, 150])
})
