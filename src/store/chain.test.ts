// Whoever changes an entry of the journal, and computes its hash anew, has changed all that follow.
import { expect, test } from 'vitest'
import { chainHash, chainStart } from './chain.ts'

test('a hash holds the one before, the number and the value', () => {
  const first = chainHash(chainStart, 1, { who: 'ann' })
  expect(first).toMatch(/^[0-9a-f]{64}$/)
  expect(chainHash(chainStart, 1, { who: 'ann' })).toBe(first)
  const others = [
    chainHash(chainStart, 1, { who: 'bob' }),
    chainHash(chainStart, 2, { who: 'ann' }),
    chainHash(first, 1, { who: 'ann' }),
  ]
  expect(new Set([first, ...others]).size).toBe(4)
})
