// What was tried when, as the waterfall draws it.
import { expect, test } from 'vitest'
import type { Run } from '../api.ts'
import { tracksOf } from './tracks.ts'

test('attempts of later rounds are drawn in their step, not as its undoing', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString()
  const event = (second: number, kind: string, detail: object) => ({ kind, at: at(second), detail })
  const events = [
    event(0, 'accepted', { operation: 'delete', next: 'take' }),
    event(1, 'attemptFailed', { step: 'take', attempt: 1, reason: 'stuck' }),
    event(2, 'failed', { step: 'take', reason: 'stuck', failed: true, phase: 'step' }),
    event(3, 'attemptFailed', { step: 'take', attempt: 1, round: 2, reason: 'stuck' }),
    event(4, 'landed', { step: 'take', operation: 'delete' }),
  ]
  const steps = [{ name: 'take', status: 'Placing', state: 'done' }]
  const run = {
    acceptedAt: at(0),
    endedAt: at(4),
    isOver: true,
    state: 'succeeded',
    steps,
    events: events.toReversed(),
  }
  const tracks = tracksOf(run as unknown as Run, 4_000)
  expect(tracks.map(({ name, isUndo, bars }) => [name, isUndo, bars.map(({ words }) => words)])).toEqual([
    [
      'take',
      false,
      ['attempt 1 failed: stuck', 'failed: stuck', 'attempt 1 of round 2 failed: stuck', 'done in 1.0 s'],
    ],
  ])
})
