// Spans as people read them, and as the command line tells them.
import { expect, test } from 'vitest'
import { lasting } from '../cli/print.ts'
import { span } from './time.ts'

test.each([0, 117, 12_000, 60_000, 77_000, 3_600_000, 11_520_000])('%i ms are told as on the command line', (ms) => {
  expect(span(ms)).toBe(lasting(ms))
})

test('short ones have a tenth, long ones days', () => {
  expect(span(3_140)).toBe('3.1 s')
  expect(span(2 * 86_400_000 + 4 * 3_600_000)).toBe('2 d 4 h')
})
