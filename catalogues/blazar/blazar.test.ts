// Blazar's declarations against the tables of the specification: edges, combinations, derivation, healing.
import { checkLifecycles, edgesOf, type Lifecycle } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { blazar, events, leases, reservations } from './index.ts'
import { placed, seen } from './lease-table.ts'

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

test('1.1: every status of the table has its kind', () => {
  const kinds = (lifecycle: Lifecycle) =>
    Object.fromEntries(
      Object.entries(lifecycle.resource.statuses as Record<string, object>).map(([kind, table]) => [
        kind,
        Object.keys(table).join(' '),
      ]),
    )
  expect(kinds(leases)).toEqual({
    stable: 'PENDING ACTIVE TERMINATED',
    transitional: 'CREATING STARTING UPDATING TERMINATING DELETING',
    failed: 'ERROR',
    terminal: 'gone',
  })
  expect(kinds(reservations)).toEqual({ stable: 'pending active deleted', failed: 'error', terminal: 'gone' })
  expect(kinds(events)).toEqual({
    stable: 'UNDONE DONE',
    transitional: 'IN_PROGRESS',
    failed: 'ERROR',
    terminal: 'gone',
  })
})

test('1.2: the transitions of a lease, with what our resolutions add', () => {
  const table: Record<string, string> = {
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
  /** The row is removed; a lease without reservations has nothing to wait for. */
  const added: Record<string, string> = { '': 'CREATING PENDING', PENDING: 'ACTIVE gone' }
  const expected = ['', ...Object.keys(table)].map((from) => {
    const all = `${table[from] ?? ''} ${added[from] ?? 'gone'}`.trim().split(' ')
    return [from, all.sort().join(' ')]
  })
  expect(leads(leases, byOperations)).toEqual(Object.fromEntries(expected))
})

test('1.3: the transitions of a reservation and of an event, with B6 and decision 0.8', () => {
  expect(leads(reservations, ['begin', 'move'])).toEqual({
    '': 'pending',
    pending: 'active deleted error gone',
    active: 'deleted error gone',
    error: 'deleted gone',
    deleted: 'gone',
  })
  expect(leads(events, [...byOperations, 'move'])).toEqual({
    '': 'UNDONE',
    UNDONE: 'ERROR IN_PROGRESS gone', // decision 0.8: gives up when its retries are spent
    IN_PROGRESS: 'DONE ERROR UNDONE gone', // B6 retry
    DONE: 'UNDONE gone', // B6 reschedule
    ERROR: 'IN_PROGRESS gone', // decision 0.8: an end event in error may be tried again
  })
})

test('decision 0.4, B9: what healing does with a lease that nobody owns', () => {
  expect(leads(leases, ['heal'])).toEqual({
    CREATING: 'gone',
    STARTING: 'ERROR',
    UPDATING: 'ACTIVE ERROR PENDING TERMINATED',
    TERMINATING: 'ACTIVE ERROR',
  })
})

const reservationStatuses = ['pending', 'active', 'deleted', 'error']
const eventStatuses = ['UNDONE', 'IN_PROGRESS', 'DONE', 'ERROR']
const settled = 'UNDONE DONE ERROR'

/** Table 1.4: reservations, start, end; B2 and B3 included. */
const table14: Readonly<Record<string, readonly [string, string, string]>> = {
  CREATING: ['pending', 'UNDONE', 'UNDONE'],
  PENDING: ['pending', 'UNDONE', 'UNDONE'],
  STARTING: ['pending active error', 'IN_PROGRESS', 'UNDONE'],
  ACTIVE: ['active', 'DONE', 'UNDONE'],
  TERMINATING: ['active deleted error', 'DONE ERROR', 'IN_PROGRESS'],
  TERMINATED: ['deleted', 'DONE', 'DONE'],
  DELETING: [reservationStatuses.join(' '), settled, settled],
  UPDATING: [reservationStatuses.join(' '), settled, settled],
  ERROR: [reservationStatuses.join(' '), settled, settled],
}
const every = eventStatuses.flatMap((start) => eventStatuses.map((end) => [start, end] as const))

describe('1.4: the relationship table', () => {
  test.each(Object.entries(table14))('%s is declared as the table has it', (status, [many, start, end]) => {
    const row = (leases.body.rules!['combinations']!.holds as Record<string, Record<string, unknown>>)[status]!
    const declared = [
      (row['reservations'] as { every: string[] } | undefined)?.every.join(' ') ?? reservationStatuses.join(' '),
      (row['start'] as string[]).join(' '),
      (row['end'] as string[]).join(' '),
    ]
    expect(declared).toEqual([many, start, end])
  })

  test.each(['PENDING', 'ACTIVE', 'TERMINATED', 'ERROR'])(
    'a lease is let into %s in the combinations of its row, and in no other',
    (status) => {
      const [many, starts, ends] = table14[status]!.map((words) => words.split(' '))
      for (const reservation of ['', ...reservationStatuses]) {
        for (const [start, end] of every) {
          const t = placed('UPDATING', [reservation === '' ? [] : [reservation], start, end])
          const answer = t.send({ kind: 'setStatus', no: t.get('L').no, status, reason: 'try', by: 'ann' })
          const fits =
            (reservation === '' || many!.includes(reservation)) && starts!.includes(start) && ends!.includes(end)
          expect([reservation, start, end, answer.accepted]).toEqual([reservation, start, end, fits])
          if (!answer.accepted) expect(answer.rejection.code).toBe('rule_breached')
        }
      }
    },
  )

  test('one reservation that does not fit is enough: every, not some', () => {
    const t = placed('UPDATING', [['active', 'error'], 'DONE', 'UNDONE'])
    const answer = t.refused({ kind: 'setStatus', no: t.get('L').no, status: 'ACTIVE', reason: 'try', by: 'ann' })
    expect(answer.message).toContain('table 1.4')
  })

  test('a reservation or an event cannot be moved away from under its lease', () => {
    const t = placed('ACTIVE')
    for (const [id, status] of [
      ['r0', 'error'],
      ['s', 'ERROR'],
      ['e', 'DONE'],
    ] as const)
      expect(t.refused({ kind: 'setStatus', no: t.get(id).no, status, reason: 'try', by: 'ann' }).code).toBe(
        'rule_breached',
      )
  })

  test('the literal decision 0.4 (TERMINATING always back to ACTIVE) would break the table', () => {
    const t = placed('TERMINATING', [['deleted'], 'DONE', 'IN_PROGRESS'])
    expect(
      t.refused({ kind: 'setStatus', no: t.get('L').no, status: 'ACTIVE', reason: 'as printed', by: 'ann' }).code,
    ).toBe('rule_breached')
  })
})

describe('1.4, B7: the stable status is derived from events and reservations', () => {
  const derived = (reservation: string, start: string, end: string): string => {
    const wants: Record<string, readonly [string, string]> = {
      'UNDONE UNDONE': ['PENDING', 'pending'],
      'DONE UNDONE': ['ACTIVE', 'active'],
      'DONE DONE': ['TERMINATED', 'deleted'],
    }
    const [status, fits] = wants[`${start} ${end}`] ?? ['ERROR', '']
    return reservation === '' || reservation === fits ? status : 'ERROR'
  }
  test.each(every)('start %s, end %s', (start, end) => {
    for (const reservation of ['', ...reservationStatuses]) {
      const t = placed('UPDATING', [reservation === '' ? [] : [reservation], start, end])
      t.heal('L', 'unowned')
      expect([reservation, t.status('L')]).toEqual([reservation, derived(reservation, start, end)])
      expect(seen(t)).not.toContain('IN_PROGRESS')
    }
  })
})
