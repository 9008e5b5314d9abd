// Spans as people read them, and as the command line tells them.
import { expect, test } from 'vitest'
import { lasting } from '../cli/print.ts'
import { aheadMs, hearClock, shortTime, span } from './time.ts'

test.each([0, 117, 12_000, 60_000, 77_000, 3_600_000, 11_520_000])('%i ms are told as on the command line', (ms) => {
  expect(span(ms)).toBe(lasting(ms))
})

test('short ones have a tenth, long ones days', () => {
  expect(span(3_140)).toBe('3.1 s')
  expect(span(2 * 86_400_000 + 4 * 3_600_000)).toBe('2 d 4 h')
})

test('a moment of another year is told with it', () => {
  expect(shortTime('2019-03-02T10:20:30Z')).toMatch(/^0[123] Mar 2019 \d\d:20:30$/)
})

test('a clock that agrees is left alone; one that does not is followed as far as the answers tell', () => {
  const told = Date.parse('2026-11-16T12:00:00Z')
  const date = new Date(told).toUTCString()
  hearClock(date, told + 300, told + 400)
  hearClock(null, 0, 0)
  hearClock('gibberish', 0, 0)
  expect(aheadMs()).toBe(0)
  // A device that is a minute slow; an answer that took long says less than one that was quick.
  hearClock(date, told - 90_000, told - 60_000)
  expect(aheadMs()).toBe(60_000)
  hearClock(date, told - 60_100, told - 60_000)
  expect(aheadMs()).toBe(60_000)
  hearClock(date, told, told + 100)
  expect(Math.abs(aheadMs())).toBeLessThanOrEqual(2_000)
})
