// Events in words, with details as decisions write them.
import { expect, test } from 'vitest'
import type { Event } from '../api.ts'
import { eventWords } from './words.ts'

const told = (kind: string, detail: Event['detail']): string =>
  eventWords({ kind, detail, from: 'Creating', to: 'Creating' } as Event)

test('a step that was taken back is named (decision/undo-ended.ts)', () => {
  expect(told('undone', { undone: 'startServer' })).toBe('startServer undone, Creating')
})
