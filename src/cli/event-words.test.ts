// Events in words, with details as decisions write them.
import { expect, test } from 'vitest'
import { eventWords } from './event-words.ts'

test('what failed is named: a step, the probe of a cut step, the probe of healing, or the run', () => {
  const reason = 'no answer'
  expect(eventWords({ kind: 'attemptFailed', detail: { step: 'make', attempt: 1, reason } })).toBe(
    'make failed: no answer',
  )
  expect(eventWords({ kind: 'attemptFailed', detail: { step: 'make', probe: 'isMade', attempt: 1, reason } })).toBe(
    'isMade failed: no answer',
  )
  expect(eventWords({ kind: 'attemptFailed', detail: { probe: 'power', reason } })).toBe('power failed: no answer')
  expect(eventWords({ kind: 'stepAgain', detail: { probe: 'power', afterMs: 5 } })).toBe(
    'power is not finished; it is looked at again',
  )
  expect(eventWords({ kind: 'failed', detail: { code: 'cancelled', reason: 'cancelled by ann' } })).toBe(
    'it failed: cancelled by ann',
  )
})
