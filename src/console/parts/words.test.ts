// An event in one line of a page.
import { expect, test } from 'vitest'
import { eventStory } from './words.ts'

test('the line of an event ends with the way of its status, where it moved', () => {
  const landed = { kind: 'landed', detail: { operation: 'create' } }
  expect(eventStory({ ...landed, from: 'Starting', to: 'Active' })).toBe('create has ended; Starting to Active')
  expect(eventStory({ kind: 'claimed', detail: null, from: 'Starting', to: 'Starting' })).toBe('taken up by a worker')
})
