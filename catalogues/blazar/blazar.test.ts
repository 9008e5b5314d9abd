// Blazar's declarations against the tables of the specification.
import { checkLifecycles, edgesOf, type Lifecycle } from 'homeostat'
import { expect, test } from 'vitest'
import { blazar, events, leases, reservations } from './index.ts'

const set = Object.values(blazar)
const byOperations = ['begin', 'step', 'done', 'failure']

/** Where each status leads by edges of these kinds; '' before creation. */
function leads(lifecycle: Lifecycle, kinds: readonly string[]): Record<string, string> {
  const found = new Map<string, Set<string>>()
  for (const { kind, from, to } of edgesOf(lifecycle, set)) {
    if (kinds.includes(kind)) found.set(from, (found.get(from) ?? new Set()).add(to))
  }
  return Object.fromEntries([...found].map(([from, to]) => [from, [...to].sort().join(' ')]))
}

test('check finds nothing', () => {
  expect(checkLifecycles(set)).toEqual([])
})

test('1.2: the transitions of a lease, with what our resolutions add', () => {
  const table = {
    CREATING: 'PENDING DELETING',
    PENDING: 'STARTING UPDATING DELETING',
    STARTING: 'ACTIVE ERROR DELETING',
    ACTIVE: 'UPDATING TERMINATING DELETING',
    UPDATING: 'PENDING ACTIVE TERMINATED ERROR DELETING',
    TERMINATING: 'TERMINATED ERROR DELETING',
    TERMINATED: 'UPDATING DELETING',
    ERROR: 'UPDATING TERMINATING DELETING',
    DELETING: 'ERROR',
  }
  /** The row is removed; a lease without reservations has nothing to wait for; an undo of its creation may fail. */
  const added = {
    '': 'CREATING PENDING',
    CREATING: 'ERROR gone',
    PENDING: 'ACTIVE gone',
    STARTING: 'gone',
    ACTIVE: 'TERMINATED ERROR gone',
    UPDATING: 'gone',
    TERMINATING: 'gone',
    TERMINATED: 'gone',
    ERROR: 'TERMINATED gone',
    DELETING: 'gone',
  }
  const expected = Object.entries(added).map(([from, to]) => {
    const all = `${(table as Record<string, string>)[from] ?? ''} ${to}`.trim().split(' ')
    return [from, all.sort().join(' ')]
  })
  expect(leads(leases, byOperations)).toEqual(Object.fromEntries(expected))
})

test('1.3: the transitions of a reservation and of an event', () => {
  expect(leads(reservations, ['begin', 'move'])).toEqual({
    '': 'pending',
    pending: 'active deleted error gone',
    active: 'deleted error gone',
    error: 'deleted gone',
    deleted: 'gone',
  })
  expect(leads(events, [...byOperations, 'move'])).toEqual({
    '': 'UNDONE',
    UNDONE: 'IN_PROGRESS gone',
    IN_PROGRESS: 'DONE ERROR UNDONE gone',
    DONE: 'UNDONE gone',
    ERROR: 'IN_PROGRESS gone', // decision 0.8: an end event in error may be tried again
  })
})

test('decision 0.4: what healing does with a lease that nobody owns', () => {
  expect(leads(leases, ['heal'])).toEqual({
    CREATING: 'gone',
    STARTING: 'ERROR',
    UPDATING: 'ACTIVE ERROR PENDING TERMINATED',
    TERMINATING: 'ACTIVE ERROR',
  })
})
