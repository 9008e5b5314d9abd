// Moments as a person reads them.
import { expect, test } from 'vitest'
import { exactly, moment } from './print.ts'

const now = Date.parse('2026-03-02T10:00:00.000Z')

test('a moment of another day has its day', () => {
  expect(exactly('2026-03-02T09:59:58.250Z', now)).toBe('09:59:58.250')
  expect(exactly('2026-03-01T23:59:58.250Z', now)).toBe('2026-03-01 23:59:58.250')
  expect(moment('2026-03-02T09:59:00.000Z', now)).toMatch(/^09:59:00 UTC/)
  expect(moment('2026-02-02T09:59:00.000Z', now)).toMatch(/^2026-02-02 09:59:00 UTC/)
})
