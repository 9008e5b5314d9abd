// The life of a lease by its tables: transitions with their triggers (1.2), reservations and events (1.3), and what upstream does
// wrong where we decided otherwise (1.9 a to j, 1.10 B1 to B9). Every decision is judged from outside.
import { describe, expect, test } from 'vitest'
import {
  asked,
  combinations,
  doAll,
  doUntil,
  endDate,
  eventOf,
  leased,
  newTable,
  placed,
  reservationsOf,
  seen,
  startDate,
  started,
} from './lease-table.ts'

const outcomes = (t: ReturnType<typeof newTable>) => t.ended.map(({ operation, outcome }) => `${operation} ${outcome}`)

describe('1.2: the transitions of a lease', () => {
  test('none -> CREATING -> PENDING: reservations and events are written with the first commit', () => {
    const t = newTable()
    t.ok(asked(t))
    expect(seen(t)).toBe('CREATING | pending pending | UNDONE | UNDONE')
    expect(t.owedBy('L')).toEqual([`reserveResources(${reservationsOf(t)[0]!.id})`])
    doAll(t)
    expect(seen(t)).toBe('PENDING | pending pending | UNDONE | UNDONE')
  })

  test('CREATING -> removed: a failure releases everything; it never becomes ERROR', () => {
    const t = newTable()
    t.ok(asked(t))
    const [first, second] = reservationsOf(t)
    t.done('L', undefined, first)
    t.failed('L', 'no host left', { item: second!, code: 'NotEnoughHostsAvailable' })
    expect(t.owedBy('L')).toEqual(['releaseResources'])
    t.done('L')
    expect(seen(t)).toBe('gone | gone gone | gone | gone')
    expect(t.get('L').description).toContain('no host left')
    expect(t.get('L').ledger).toEqual([])
  })

  test('CREATING -> removed, also when releasing fails: what may be left is orphaned, for the sweeper', () => {
    const t = newTable()
    t.ok(asked(t))
    t.failed('L', 'no host left', { item: reservationsOf(t)[0]! })
    t.failed('L', 'no answer')
    expect(seen(t)).toBe('gone | gone gone | gone | gone')
    expect(t.get('L').ledger.map(({ kind, state }) => [kind, state])).toEqual([['allocation', 'orphaned']])
  })

  test('PENDING -> STARTING -> ACTIVE: the start event is claimed and done in the same commits', () => {
    const t = leased()
    t.now = startDate
    t.fireTimers()
    expect(seen(t)).toBe('STARTING | pending pending | IN_PROGRESS | UNDONE')
    t.done('L', undefined, reservationsOf(t)[0])
    expect(seen(t)).toBe('STARTING | active pending | IN_PROGRESS | UNDONE')
    doAll(t)
    expect(seen(t)).toBe('ACTIVE | active active | DONE | UNDONE')
  })

  test('ACTIVE -> TERMINATING -> TERMINATED: the end event is claimed and done in the same commits', () => {
    const t = started()
    t.now = endDate
    t.fireTimers()
    expect(seen(t)).toBe('TERMINATING | active active | DONE | IN_PROGRESS')
    doAll(t)
    expect(seen(t)).toBe('TERMINATED | deleted deleted | DONE | DONE')
    expect(t.get('L').ledger).toEqual([])
  })

  test('STARTING -> ERROR and TERMINATING -> ERROR: any reservation that fails', () => {
    const t = leased()
    t.now = startDate
    t.fireTimers()
    for (const one of reservationsOf(t)) t.failed('L', 'no power', { item: one })
    expect(seen(t)).toBe('ERROR | error error | ERROR | UNDONE')
    t.now = endDate
    t.fireTimers()
    doUntil(t, 'endReservations')
    for (const one of reservationsOf(t)) t.failed('L', 'stuck', { item: one })
    expect(seen(t)).toBe('ERROR | error error | ERROR | ERROR')
    expect(t.get('L').description).toContain('stuck')
  })

  test('ERROR -> TERMINATING: the end event of a lease in ERROR still comes', () => {
    const t = placed('ERROR', [['active', 'error'], 'DONE', 'UNDONE'])
    t.now = endDate
    t.fireTimers()
    expect(seen(t)).toBe('TERMINATING | active error | DONE | IN_PROGRESS')
    doAll(t)
    expect(seen(t)).toBe('TERMINATED | deleted deleted | DONE | DONE')
  })

  test.each([
    ['PENDING', 'PENDING | pending pending | UNDONE | UNDONE'],
    ['ACTIVE', 'ACTIVE | active active | DONE | UNDONE'],
    ['TERMINATED', 'TERMINATED | deleted deleted | DONE | DONE'],
    ['ERROR', 'ERROR | active error | ERROR | UNDONE'],
  ])('%s -> UPDATING -> derived (B7: equal to the original in every consistent case)', (status, out) => {
    const t = placed(status)
    t.request('L', 'update', { name: 'renamed' })
    expect(t.status('L')).toBe('UPDATING')
    doAll(t)
    expect(seen(t)).toBe(out)
    expect(t.get('L').properties['name']).toBe('renamed')
  })

  test.each(Object.keys(combinations))('%s -> DELETING -> removed', (status) => {
    const t = placed(status)
    t.request('L', 'delete')
    expect(t.status('L')).toMatch(/DELETING|gone/)
    expect(seen(t)).not.toContain('IN_PROGRESS')
    doAll(t)
    expect(seen(t)).toMatch(/^gone \| gone gone \| gone \| gone$/)
  })

  test('DELETING -> ERROR: releasing fails while deleting; the next delete goes on with what is left', () => {
    const t = started()
    const [first, second] = reservationsOf(t)
    t.request('L', 'delete')
    doUntil(t, 'endReservations')
    t.done('L', undefined, first)
    t.failed('L', 'stuck', { item: second! })
    expect(seen(t)).toBe('ERROR | deleted error | DONE | UNDONE')
    t.request('L', 'delete')
    doUntil(t, 'endReservations')
    expect(t.owedBy('L')).toEqual([`endReservations(${second!.id})`])
    doAll(t)
    expect(t.status('L')).toBe('gone')
  })
})

describe('1.3: the transitions of a reservation', () => {
  const one = (is: string, start: string, end: string, status: string) => placed(status, [[is], start, end])
  test('none -> pending -> active -> deleted', () => {
    const t = started({ reservations: 1 })
    expect(t.eventsOf(reservationsOf(t)[0]!).map(({ from, to }) => `${from}>${to}`)).toEqual([
      '>pending',
      'pending>active',
    ])
    t.request('L', 'end')
    doAll(t)
    expect(t.status(reservationsOf(t)[0]!)).toBe('deleted')
  })
  test.each([
    ['pending', 'start', 'error', 'PENDING', 'UNDONE', 'UNDONE'],
    ['active', 'end', 'error', 'ACTIVE', 'DONE', 'UNDONE'],
    ['pending', 'delete', 'error', 'PENDING', 'UNDONE', 'UNDONE'],
    ['active', 'delete', 'error', 'ACTIVE', 'DONE', 'UNDONE'],
  ])('%s: %s fails -> %s', (is, operation, to, status, start, end) => {
    const t = one(is, start, end, status)
    t.request('L', operation)
    doUntil(t, operation === 'start' ? 'startReservations' : 'endReservations')
    t.failed('L', 'no', { item: 'r0' })
    expect(t.statuses('L', 'r0')).toEqual(['ERROR', to])
  })
  test.each([
    ['pending', 'delete', 'PENDING', 'UNDONE', 'UNDONE'],
    ['error', 'end', 'ERROR', 'ERROR', 'UNDONE'],
    ['error', 'delete', 'ERROR', 'ERROR', 'UNDONE'],
  ])('%s: %s done -> deleted', (is, operation, status, start, end) => {
    const t = one(is, start, end, status)
    t.request('L', operation)
    doAll(t)
    expect(t.eventsOf('r0').map(({ to }) => to)).toContain('deleted')
  })
  test('deleted: nothing is released twice', () => {
    const t = placed('TERMINATED')
    t.request('L', 'delete')
    expect(seen(t)).toBe('gone | gone gone | gone | gone')
  })
  test('1.1: the resource monitor writes flags, never a status; the lease is degraded as long as one is flagged', () => {
    const t = placed('ACTIVE')
    const flags = () => [t.statuses('L', 'r0', 'r1').join(' '), t.get('L').properties['degraded']]
    t.request('r0', 'report', { missingResources: true, resourcesChanged: false })
    t.request('r1', 'report', { missingResources: false, resourcesChanged: true })
    expect(t.get('r0').properties).toMatchObject({ missingResources: true, resourcesChanged: false })
    expect(flags()).toEqual(['ACTIVE active active', true])
    t.request('r0', 'report', { missingResources: false, resourcesChanged: false })
    expect(flags()).toEqual(['ACTIVE active active', true])
    t.request('r1', 'report', { missingResources: false, resourcesChanged: false })
    expect(flags()).toEqual(['ACTIVE active active', false])
  })
})

describe('1.4: a lease without reservations satisfies every row', () => {
  test('it starts and ends normally', () => {
    const t = leased({ reservations: 0 })
    expect(t.status('L')).toBe('PENDING')
    t.now = startDate
    t.fireTimers()
    expect(seen(t)).toBe('ACTIVE |  | DONE | UNDONE')
    t.now = endDate
    t.fireTimers()
    doAll(t)
    expect(seen(t)).toBe('TERMINATED |  | DONE | DONE')
  })
})

describe('1.9 and 1.10: what upstream does wrong, and ours', () => {
  test('a, B1: delete while STARTING pre-empts: the start is fenced, its event ERROR, then everything is released', () => {
    const t = leased()
    t.request('L', 'start')
    const late = t.ending('L', { kind: 'done', result: null }, reservationsOf(t)[0])
    t.request('L', 'delete')
    expect(seen(t)).toBe('DELETING | pending pending | ERROR | UNDONE')
    expect(t.refused(late).code).toBe('fenced')
    doAll(t)
    expect(outcomes(t)).toEqual(['create succeeded', 'start preempted', 'delete succeeded'])
  })

  test('b, B1: delete while TERMINATING pre-empts; what is deleted already is not ended again', () => {
    const t = started()
    const [first, second] = reservationsOf(t)
    t.request('L', 'end')
    doUntil(t, 'endReservations')
    t.done('L', undefined, first)
    t.request('L', 'delete')
    expect(seen(t)).toBe('DELETING | deleted active | DONE | ERROR')
    doUntil(t, 'endReservations')
    expect(t.owedBy('L')).toEqual([`endReservations(${second!.id})`])
    doAll(t)
    expect(t.status('L')).toBe('gone')
  })

  test.each(['create', 'update'])('B1: delete also pre-empts %s', (operation) => {
    const t = newTable()
    t.ok(asked(t))
    if (operation === 'update') {
      doAll(t)
      t.request('L', 'update', { name: 'x' })
    }
    t.request('L', 'delete')
    doAll(t)
    expect(t.status('L')).toBe('gone')
    expect(outcomes(t)).toContain(`${operation} preempted`)
  })

  test('B1: the first call of the delete waits for the interrupted one, at most 30 s', () => {
    const t = leased()
    t.request('L', 'start')
    t.request('L', 'delete')
    expect(t.call('L').dueAt).toBe(t.now + 30_000)
  })

  test('c: a delete that fails leaves no event behind IN_PROGRESS; the lease can be deleted again', () => {
    const t = started({ reservations: 1 })
    t.request('L', 'delete')
    doUntil(t, 'endReservations')
    t.failed('L', 'stuck', { item: reservationsOf(t)[0]! })
    expect(seen(t)).toBe('ERROR | error | DONE | UNDONE')
    t.request('L', 'delete')
    doAll(t)
    expect(t.status('L')).toBe('gone')
  })

  test('d, B4: a failed start and a clean end: stays ERROR, reservations deleted, event DONE, not tried again', () => {
    const t = leased({ reservations: 1 })
    t.now = startDate
    t.fireTimers()
    t.failed('L', 'no power', { item: reservationsOf(t)[0]! })
    t.now = endDate
    t.fireTimers()
    doAll(t)
    expect(seen(t)).toBe('ERROR | deleted | ERROR | DONE')
    expect(t.get('L').description).toBe('It never started; its reservations are released.')
    t.advance(86_400_000)
    t.fireTimers()
    expect(seen(t)).toBe('ERROR | deleted | ERROR | DONE')
    expect(t.refused(t.asking('L', 'end')).message).toContain('end is')
  })

  test('e, B2: one of two fails on start: ERROR with both kept; nothing is raised or tried again; end and delete are open', () => {
    const t = leased()
    const [first, second] = reservationsOf(t)
    t.request('L', 'start')
    t.failed('L', 'no power', { item: first! })
    expect(t.status('L')).toBe('STARTING')
    t.done('L', undefined, second)
    expect(seen(t)).toBe('ERROR | error active | ERROR | UNDONE')
    expect(t.refused(t.asking('L', 'start')).code).toBe('operation_not_allowed')
    t.request('L', 'end')
    doAll(t)
    expect(seen(t)).toBe('ERROR | deleted deleted | ERROR | DONE')
  })

  test.each([
    ['error', 'DONE', 'ERROR'],
    ['active', 'ERROR', 'UNDONE'],
    ['deleted', 'ERROR', 'DONE'],
    ['pending', 'UNDONE', 'UNDONE'],
  ])('g: an ERROR lease with %s, %s, %s is renamed without an error', (reservation, start, end) => {
    const t = placed('ERROR', [[reservation], start, end])
    t.request('L', 'update', { name: 'renamed' })
    doAll(t)
    expect(t.get('L').properties['name']).toBe('renamed')
    // The last one is consistent: deriving finds that nothing is wrong with it.
    expect(t.status('L')).toBe(reservation === 'pending' ? 'PENDING' : 'ERROR')
    expect(outcomes(t)).toEqual(['update succeeded'])
    expect(t.get('L').description).toBe(
      reservation === 'pending' ? '' : 'Updated; its reservations and events still fit no other status.',
    )
  })

  test('h: end fails: ERROR, reservation error, event ERROR; end can be asked again, and delete works', () => {
    const t = started({ reservations: 1 })
    t.request('L', 'end')
    doUntil(t, 'endReservations')
    t.failed('L', 'stuck', { item: reservationsOf(t)[0]! })
    expect(seen(t)).toBe('ERROR | error | DONE | ERROR')
    t.request('L', 'end')
    expect(eventOf(t, 'end').status).toBe('IN_PROGRESS')
    t.request('L', 'delete')
    doAll(t)
    expect(t.status('L')).toBe('gone')
  })

  test('i: one of two fails on end: ERROR with deleted and error', () => {
    const t = started()
    const [first, second] = reservationsOf(t)
    t.request('L', 'end')
    doUntil(t, 'endReservations')
    t.failed('L', 'stuck', { item: first! })
    t.done('L', undefined, second)
    expect(seen(t)).toBe('ERROR | error deleted | DONE | ERROR')
  })

  test('j: a PENDING lease whose start event is claimed cannot come to be; imported, update is refused and delete wins', () => {
    const t = placed('PENDING', [['pending'], 'IN_PROGRESS', 'UNDONE'])
    const refused = t.refused(t.asking('L', 'update', { name: 'x' }))
    expect([refused.code, refused.message.includes('table 1.4')]).toEqual(['rule_breached', true])
    t.request('L', 'delete')
    doAll(t)
    expect(t.status('L')).toBe('gone')
  })

  test('B3, decision 0.8: end from ERROR turns pending reservations to error on entry, and claims an event in ERROR', () => {
    const t = placed('ERROR', [['pending', 'active'], 'ERROR', 'ERROR'])
    t.request('L', 'end')
    expect(seen(t)).toBe('TERMINATING | error active | ERROR | IN_PROGRESS')
    doAll(t)
    expect(seen(t)).toBe('ERROR | deleted deleted | ERROR | DONE')
  })

  test('B5: the same delete joins one that moves, and pre-empts one that hangs', () => {
    const t = started()
    const { begun } = t.request('L', 'delete').resource.run!
    expect(t.request('L', 'delete').resource.run!.begun).toBe(begun)
    t.advance(2 * 3_600_000)
    t.request('L', 'delete')
    expect(outcomes(t)).toContain('delete preempted')
    doAll(t)
    expect(t.status('L')).toBe('gone')
  })

  test('B5: a deleted lease is gone for good, and is told so', () => {
    const t = placed('TERMINATED')
    t.request('L', 'delete')
    expect(t.refused(t.asking('L', 'delete')).message).toContain('it is gone, for good')
  })
})
