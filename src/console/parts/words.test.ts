// Events in words, with details as decisions write them.
import { expect, test } from 'vitest'
import type { Event } from '../api.ts'
import { eventWords } from './words.ts'

const told = (kind: string, detail: Event['detail']): string =>
  eventWords({ kind, detail, from: 'Creating', to: 'Creating' } as Event)

test('a step that was taken back is named (decision/undo-ended.ts)', () => {
  expect(told('undone', { undone: 'startServer' })).toBe('startServer undone, Creating')
})

test('what failed is named: a step, the probe of a cut step, or the probe of healing (decision/heal-probe.ts)', () => {
  const reason = 'no answer'
  expect(told('attemptFailed', { step: 'make', attempt: 2, reason })).toBe('make failed at attempt 2: no answer')
  expect(told('attemptFailed', { step: 'make', probe: 'isMade', attempt: 2, reason })).toBe(
    'isMade failed at attempt 2: no answer',
  )
  expect(told('attemptFailed', { probe: 'power', reason })).toBe('power failed: no answer')
  expect(told('stepAgain', { probe: 'power', afterMs: 5 })).toBe('power is not finished; it is looked at again')
})
