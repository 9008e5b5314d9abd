// Delays double, are bounded, and are spread: many resources that fail together do not come back together.
import { expect, test } from 'vitest'
import { afterMsOf, attemptDelayMs, nextProbe, suspicionMs } from './next-attempt.ts'

const retry = { times: 9, firstMs: 1_000, atMostMs: 20_000 }
/** Small numbers, and those beyond 32 bits that stores give. */
const nos = [...Array.from({ length: 200 }, (_, n) => n + 1), ...Array.from({ length: 200 }, (_, n) => 2 ** 40 + n)]

test('a delay is between half and all of the doubled one, up to the bound, also after very many attempts', () => {
  for (const no of nos)
    for (const attempt of [1, 2, 3, 4, 5, 6, 40, 2_000]) {
      const full = Math.min(20_000, 1_000 * 2 ** (attempt - 1))
      const delay = attemptDelayMs(retry, attempt, no)
      expect(delay).toBeGreaterThanOrEqual(full / 2)
      expect(delay).toBeLessThanOrEqual(full)
      expect(Number.isInteger(delay)).toBe(true)
      expect(attemptDelayMs(retry, attempt, no)).toBe(delay)
    }
})

test('resources that fail together come back one by one, over all of that time', () => {
  for (const some of [nos.slice(0, 200), nos.slice(200)])
    for (const attempt of [1, 2, 5]) {
      const full = Math.min(20_000, 1_000 * 2 ** (attempt - 1))
      const delays = some.map((no) => attemptDelayMs(retry, attempt, no) / full)
      for (const part of [0.5, 0.6, 0.7, 0.8, 0.9])
        expect(delays.filter((one) => one >= part && one <= part + 0.1).length).toBeGreaterThan(20)
    }
  const orders = [1, 2].map((attempt) => nos.map((no) => attemptDelayMs(retry, attempt, no) / 2 ** (attempt - 1)))
  expect(orders[0]).not.toEqual(orders[1])
})

test('a probe waits for seconds, never longer than half a minute; a suspect from half a second to ten minutes', () => {
  const between = (delay: number, least: number, most: number) => {
    expect(delay).toBeGreaterThanOrEqual(least)
    expect(delay).toBeLessThanOrEqual(most)
  }
  for (const no of nos) {
    between(nextProbe(1, no), 1_000, 2_000)
    between(nextProbe(9, no), 15_000, 30_000)
    between(suspicionMs(1, no), 250, 500)
    between(suspicionMs(40, no), 300_000, 600_000)
  }
})

test('whatever a driver says of when to look again is a time that can be reckoned with', () => {
  expect([Number.NaN, Number.POSITIVE_INFINITY, -5, 0, 250, 1e300].map(afterMsOf)).toEqual([0, 0, 0, 0, 250, 2 ** 40])
})
