// What is read anew after events: what they are about, what they may have changed, and no list that is too long for it.
import { expect, test } from 'vitest'
import type { CloudEvent } from '../client/event-source.ts'
import { touchedBy } from './touched.ts'

const event = {
  subject: 'opensds.volume/orders',
  data: { resource: { type: 'opensds.volume', id: 'orders' }, run: 'run-1' },
} as CloudEvent
const isTouched = touchedBy([event])
const asked = (name: string, path: object = {}, data?: unknown) => ({
  queryKey: [name, { path }],
  state: { data },
})

test('the resource, its run, and whatever counts or lists are read anew; others are not', () => {
  expect(isTouched(asked('getResource', { type: 'opensds.volume', id: 'orders' }))).toBe(true)
  expect(isTouched(asked('getRun', { run: 'run-1' }))).toBe(true)
  expect(isTouched(asked('countResources'))).toBe(true)
  expect(isTouched(asked('listResources', { type: 'opensds.volume' }))).toBe(true)
  expect(isTouched(asked('getResource', { type: 'opensds.volume', id: 'users' }))).toBe(false)
  expect(isTouched(asked('getRun', { run: 'run-2' }))).toBe(false)
  expect(isTouched(asked('listResources', { type: 'sahara.cluster' }))).toBe(false)
  expect(isTouched(asked('listAccounts'))).toBe(false)
})

test('a list of many pages is not asked for again, page after page, with every round of events', () => {
  const list = (length: number) => asked('listResources', { type: 'opensds.volume' }, { pages: Array(length).fill({}) })
  expect(isTouched(list(3))).toBe(true)
  expect(isTouched(list(4))).toBe(false)
})
