// What each request does in each status (1.6), the dates of create and update (1.6, 1.7), failures of an update, and B8: every
// refusal says why. The upstream cases of section 7 are named as upstream names them.
import type { TableTop } from 'homeostat/testing'
import { describe, expect, test } from 'vitest'
import {
  asked,
  combinations,
  dates,
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

const hour = 3_600_000
const timeOf = (t: TableTop, type: 'start' | 'end' | 'before_end') => eventOf(t, type).properties['time']

describe('1.6: update in each status', () => {
  const may = ['PENDING', 'ACTIVE', 'TERMINATED', 'ERROR']
  test.each(Object.keys(combinations))('%s', (status) => {
    const t = placed(status)
    const answer = t.send(t.asking('L', 'update', { name: 'x' }))
    expect(answer.accepted).toBe(may.includes(status))
    if (answer.accepted) return
    expect(answer.rejection.code).toBe('operation_not_allowed')
    expect(answer.rejection.message).toBe(
      `Cannot update blazar.lease L: it is ${status}; update starts from PENDING, ACTIVE, TERMINATED, ERROR.`,
    )
  })

  test.each(['start', 'end', 'update', 'delete'])(
    'B8: while %s is under way, the refusal names the run',
    (operation) => {
      const t = operation === 'start' ? leased() : started()
      t.request('L', operation)
      const refused = t.refused(t.asking('L', 'update', { name: 'x' }))
      expect(refused.message).toMatch(new RegExp(`run .+ of ${operation} is under way`))
    },
  )

  test('a lease that is being created is not updated', () => {
    const t = newTable()
    t.ok(asked(t))
    expect(t.refused(t.asking('L', 'update', { name: 'x' })).message).toContain('of create is under way')
  })
})

describe('1.6: delete in each status', () => {
  test.each(Object.keys(combinations))('%s: ok, whatever its events are', (status) => {
    for (const claimed of [combinations[status]!, [['active'], 'IN_PROGRESS', 'IN_PROGRESS']] as const) {
      const t = placed(status, claimed, 'IN_PROGRESS')
      t.request('L', 'delete')
      expect(seen(t)).not.toContain('IN_PROGRESS')
      doAll(t)
      expect([t.status('L'), t.status('b')]).toEqual(['gone', 'gone'])
    }
  })

  test('test_delete_lease_before_starting_date: everything is released, no event changes before', () => {
    const t = leased({ reservations: 1 })
    t.request('L', 'delete')
    expect(t.owedBy('L')).toEqual(['endUsage'])
    expect(seen(t)).toBe('DELETING | pending | UNDONE | UNDONE')
    t.done('L')
    expect(t.owedBy('L')).toEqual([`endReservations(${reservationsOf(t)[0]!.id})`])
  })

  test('test_delete_lease_after_ending_date: nothing is ended again, no usage', () => {
    const t = placed('TERMINATED')
    t.request('L', 'delete')
    expect(t.owed()).toEqual([])
    expect(t.status('L')).toBe('gone')
  })

  test('test_delete_lease_after_starting_date: usage and reservations are ended; the end event is not claimed', () => {
    const t = started({ reservations: 1 })
    t.request('L', 'delete')
    expect(seen(t)).toBe('DELETING | active | DONE | UNDONE')
    doUntil(t, 'endReservations')
    expect(t.owedBy('L')).toHaveLength(1)
  })

  test.each(['UNDONE', 'IN_PROGRESS', 'ERROR'])('its usage is ended unless it ended: end %s', (end) => {
    const t = placed('ERROR', [['error'], 'DONE', end])
    t.request('L', 'delete')
    expect(t.owedBy('L')).toEqual(['endUsage'])
  })

  test('test_delete_lease_after_failed_start: a reservation in error is ended too', () => {
    const t = placed('ERROR', [['error'], 'ERROR', 'UNDONE'])
    t.request('L', 'delete')
    doUntil(t, 'endReservations')
    expect(t.owedBy('L')).toEqual(['endReservations(r0)'])
    doAll(t)
    expect(t.status('L')).toBe('gone')
  })
})

describe('1.6: create', () => {
  test.each([
    ['test_create_lease_start_date_in_past', { startDate: 1, endDate }, {}, 'the start lies not in the past'],
    ['test_create_lease_end_before_start', { startDate, endDate: startDate }, {}, 'the end lies after the start'],
    [
      '1.7 before_end_date on the start',
      dates,
      { beforeEndDate: startDate },
      'the before-end date lies inside the lease',
    ],
    ['1.7 before_end_date on the end', dates, { beforeEndDate: endDate }, 'the before-end date lies inside the lease'],
  ])('%s is refused in words', (_, properties, input, words) => {
    const t = newTable()
    const refused = t.refused(asked(t, { input }, properties))
    expect([refused.code, refused.message]).toEqual([
      'requirement_not_met',
      `Cannot create blazar.lease L: it needs that ${words}.`,
    ])
    expect(t.find('L')).toBeNull()
  })

  test('a start in the present minute is not in the past', () => {
    const t = newTable()
    t.ok(asked(t, {}, { startDate: t.now - 30_000, endDate }))
  })

  test('test_create_lease_duplicate_name: the id is the name that cannot be taken twice', () => {
    const t = leased()
    expect(t.refused(asked(t)).code).toBe('already_exists')
  })

  test('test_create_lease_unsupported_resource_type: the plugin refuses, and the lease is removed with the reason', () => {
    const t = newTable()
    t.ok(asked(t, { reservations: 1 }))
    t.failed('L', 'unsupported resource type', { item: reservationsOf(t)[0]!, code: 'UnsupportedResourceType' })
    doAll(t)
    expect([t.status('L'), t.get('L').description.includes('unsupported resource type')]).toEqual(['gone', true])
  })

  test.each([
    [{ reservations: [{}] }, 'resourceType'],
    [{ reservations: [{ resourceType: 'host', amount: 0 }] }, 'amount'],
    [{ reservations: 'all' }, 'reservations'],
    [{ minutesBeforeEndLease: -1 }, 'minutesBeforeEndLease'],
  ])('an input that does not fit is refused with its path: %j', (input, path) => {
    const t = newTable()
    const refused = t.refused(asked(t, { input }))
    expect([refused.code, refused.message.includes(path)]).toEqual(['input_invalid', true])
  })
})

describe('1.7: the before-end event', () => {
  test.each([
    ['60 minutes before the end', {}, endDate - hour],
    ['at its own date', { beforeEndDate: 5_000_000 }, 5_000_000],
    ['clamped to the start', { minutesBeforeEndLease: 10_000 }, startDate],
    ['some minutes before the end', { minutesBeforeEndLease: 30 }, endDate - hour / 2],
  ])('%s', (_, input, time) => {
    expect(timeOf(leased({ input }), 'before_end')).toBe(time)
  })

  test('none with minutes = 0', () => {
    expect(() => eventOf(leased({ input: { minutesBeforeEndLease: 0 } }), 'before_end')).toThrow('missing')
  })

  test.each([
    ['a new date', { beforeEndDate: 9_000_000 }, 9_000_000],
    ['the old distance is kept', { endDate: endDate + hour }, endDate],
    ['clamped to the start', { endDate: startDate + hour / 2 }, startDate],
    ['nothing moves', { name: 'x' }, endDate - hour],
  ])('update: %s', (_, input, time) => {
    const t = leased()
    t.request('L', 'update', input)
    doAll(t)
    expect(timeOf(t, 'before_end')).toBe(time)
    expect(eventOf(t, 'before_end').timers['beforeEnd']).toBe(time)
  })

  test.each([
    ['DONE', { endDate: endDate + 1 }, 'UNDONE'],
    ['DONE', { beforeEndDate: 9_000_000 }, 'UNDONE'],
    ['DONE', { name: 'x' }, 'DONE'],
    ['DONE', { endDate }, 'DONE'],
    ['DONE', { beforeEndDate: endDate - hour }, 'DONE'],
    ['ERROR', { endDate: endDate + 1 }, 'ERROR'],
    ['UNDONE', { endDate: endDate + 1 }, 'UNDONE'],
  ])('B6: %s and an update of %j: %s', (is, input, to) => {
    const t = placed('ACTIVE', undefined, is)
    t.request('L', 'update', input)
    doAll(t)
    expect(t.statuses('L', 'b')).toEqual(['ACTIVE', to])
    // Its reset is told: the notification event.before_end_lease.stop of upstream.
    const told = t.eventsOf('b').filter(({ from, to: at }) => from === 'DONE' && at === 'UNDONE')
    expect(told).toHaveLength(is === 'DONE' && to === 'UNDONE' ? 1 : 0)
  })

  test('update: a date for a lease that was to end without a word schedules one, and never a second', () => {
    const t = leased({ input: { minutesBeforeEndLease: 0 } })
    for (const beforeEndDate of [9_000_000, 8_000_000]) {
      t.request('L', 'update', { beforeEndDate })
      doAll(t)
      expect(eventOf(t, 'before_end')).toMatchObject({ status: 'UNDONE', timers: { beforeEnd: beforeEndDate } })
    }
    expect(t.children(t.get('L').no).filter(({ type }) => type === 'blazar.event')).toHaveLength(3)
  })

  test('start and end never move back: only the before-end event is scheduled again', () => {
    const t = placed('ACTIVE', undefined, 'DONE')
    t.request('L', 'update', { endDate: endDate + hour })
    doAll(t)
    expect(seen(t)).toBe('ACTIVE | active active | DONE | UNDONE')
    expect(timeOf(t, 'end')).toBe(endDate + hour)
  })
})

describe('1.6: update checks', () => {
  test.each([
    ['TERMINATED', { endDate: endDate + 1 }, 'an ended lease is only renamed'],
    ['TERMINATED', { startDate }, 'an ended lease is only renamed'],
    ['TERMINATED', { reservations: [{ id: 'r0', amount: 2 }] }, 'an ended lease is only renamed'],
    ['ACTIVE', { startDate: startDate + 1 }, 'the start of a started lease stays'],
    ['PENDING', { startDate: 1 }, 'the start does not move into the past'],
    ['ACTIVE', { endDate: 1 }, 'the end lies in the future'],
    ['PENDING', { endDate: startDate }, 'the end lies after the start'],
    ['PENDING', { beforeEndDate: endDate + 1 }, 'the before-end date lies inside the lease'],
    ['PENDING', { beforeEndDate: startDate }, 'the before-end date lies inside the lease'],
    [
      'PENDING',
      { reservations: [{ id: 'foreign', amount: 1 }] },
      'every reservation that is named belongs to the lease',
    ],
  ])('%s with %j is refused: %s', (status, input, words) => {
    const t = placed(status)
    const refused = t.refused(t.asking('L', 'update', input))
    expect(refused.code).toBe('requirement_not_met')
    expect(refused.message).toContain(words)
    expect(t.status('L')).toBe(status)
  })

  test('dates count by the minute: the start may move into the present minute, and not into the one before', () => {
    const t = placed('PENDING')
    t.now = 1_234_567
    const minute = 1_200_000
    expect(t.refused(t.asking('L', 'update', { startDate: minute - 1 })).message).toContain('into the past')
    t.request('L', 'update', { startDate: minute })
    doAll(t)
    expect(seen(t)).toBe('PENDING | pending pending | UNDONE | UNDONE')
    expect([t.get('L').properties['startDate'], timeOf(t, 'start')]).toEqual([minute, minute])
    // Its start is due at once.
    t.fireTimers()
    expect(t.status('L')).toBe('STARTING')
  })

  test('a start that stays where it is may lie in the past', () => {
    const t = placed('PENDING')
    t.now = startDate + hour
    t.request('L', 'update', { startDate, name: 'x' })
    doAll(t)
    expect(t.get('L').properties).toMatchObject({ startDate, name: 'x' })
  })

  test('a reservation without an id is refused', () => {
    const t = placed('PENDING')
    expect(t.refused(t.asking('L', 'update', { reservations: [{ amount: 2 }] })).code).toBe('input_invalid')
  })

  test('test_update_lease_completed_lease_rename', () => {
    const t = placed('TERMINATED')
    t.request('L', 'update', { name: 'renamed' })
    doAll(t)
    expect([t.status('L'), t.get('L').properties['name']]).toEqual(['TERMINATED', 'renamed'])
  })

  test('an empty update leaves the lease unchanged, and passes through UPDATING', () => {
    const t = placed('PENDING')
    const before = t.get('L').properties
    t.request('L', 'update', {})
    expect(t.status('L')).toBe('UPDATING')
    doAll(t)
    expect([t.status('L'), t.get('L').properties]).toEqual(['PENDING', before])
  })

  test('dates, amounts and the times of the events change with the landing, not before', () => {
    const t = leased()
    const [first] = reservationsOf(t)
    const input = { startDate: startDate + hour, endDate: endDate + hour, reservations: [{ id: first!.id, amount: 3 }] }
    t.request('L', 'update', input)
    const looks = () => [
      t.get('L').properties['startDate'],
      timeOf(t, 'start'),
      timeOf(t, 'end'),
      reservationsOf(t).map(({ properties }) => properties['amount']),
    ]
    expect(looks()).toEqual([startDate, startDate, endDate, [1, 1]])
    doAll(t)
    expect(looks()).toEqual([startDate + hour, startDate + hour, endDate + hour, [3, 1]])
    expect(eventOf(t, 'start').timers['start']).toBe(startDate + hour)
  })
})

describe('1.6: an update that fails', () => {
  const nonFatal =
    'InvalidInput InvalidRange MissingParameter MalformedRequirements MalformedParameter NotEnoughHostsAvailable ' +
    'InvalidDate CantUpdateParameter InvalidPeriod MaxLeaseDurationException ExternalServiceFilterException'
  test.each(nonFatal.split(' '))('%s: back to where it was, nothing changed, the reason told', (code) => {
    const t = placed('ACTIVE')
    t.request('L', 'update', { endDate: endDate + hour })
    t.failed('L', 'cannot', { code })
    expect(t.owedBy('L')).toEqual(['restoreReservations'])
    t.done('L')
    expect([t.status('L'), t.get('L').properties['endDate']]).toEqual(['ACTIVE', endDate])
    expect(t.get('L').description).toBe('update failed: cannot')
    expect(t.ended.map(({ outcome }) => outcome)).toEqual(['failed'])
  })

  test.each(['NotAuthorized', 'Boom', 'invalidinput'])('%s: ERROR, after what was done is taken back', (code) => {
    const t = placed('ACTIVE')
    t.request('L', 'update', { endDate: endDate + hour })
    t.failed('L', 'cannot', { code })
    t.done('L')
    expect(seen(t)).toBe('ERROR | active active | DONE | UNDONE')
  })

  test('an update that cannot be taken back: ERROR with both reasons', () => {
    const t = placed('ACTIVE')
    t.request('L', 'update', { endDate: endDate + hour })
    t.failed('L', 'cannot', { code: 'InvalidInput' })
    t.failed('L', 'nor back')
    expect([t.status('L'), t.get('L').description]).toEqual(['ERROR', 'update failed: cannot, nor back'])
  })

  test('a lease in ERROR after an update is derived back by the next one that works', () => {
    const t = placed('ERROR', combinations['ACTIVE'])
    t.request('L', 'update', { endDate: endDate + hour })
    doAll(t)
    expect(seen(t)).toBe('ACTIVE | active active | DONE | UNDONE')
  })

  test('a lease that vanished while it was updated: the late answer writes nothing', () => {
    const t = placed('ACTIVE')
    t.request('L', 'update', { name: 'x' })
    const late = t.ending('L', { kind: 'done', result: null })
    t.request('L', 'delete')
    doAll(t)
    expect(t.refused(late).code).toBe('fenced')
    expect(t.status('L')).toBe('gone')
  })
})

test('B8: what is not there is refused with a reason, not an internal error', () => {
  const t = newTable()
  const refused = t.refused({ kind: 'requestOperation', type: 'blazar.lease', id: 'x', operation: 'delete', by: 'ann' })
  expect([refused.code, refused.message]).toEqual(['resource_not_found', 'There is no blazar.lease x.'])
})
