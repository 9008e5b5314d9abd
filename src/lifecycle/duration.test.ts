// Spans of time: what can be written, and what it means.
import { expect, test } from 'vitest'
import { Defect } from '../base/assert.ts'
import { durationMs, isDuration } from './duration.ts'

test.each([
  ['250ms', 250],
  ['30s', 30_000],
  ['1.5s', 1_500],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['0s', 0],
])('%s is %i milliseconds', (text, millis) => {
  expect(isDuration(text)).toBe(true)
  expect(durationMs(text)).toBe(millis)
})

// Some of these pass the compiler, whose numbers are wider.
test.each([
  '',
  '5',
  's',
  '-1s',
  '+1s',
  '1e3s',
  '5 minutes',
  '1s ',
  ' 1s',
  'Infinityd',
  'NaNs',
  '999999999999d',
  5,
  null,
  undefined,
])('%j is no duration', (text) => {
  expect(isDuration(text)).toBe(false)
})

test('reading what check has not seen is a defect', () => {
  expect(() => durationMs('soon')).toThrow(Defect)
})
