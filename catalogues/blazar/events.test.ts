// The event loop on durable timers: what is due, in which order, what is skipped, tried again and given up (1.5), the before-end
// event (1.7, decision 0.8), and the cases of upstream's test_service (section 7).
import type { TableTop } from 'homeostat/testing'
import { describe, expect, test } from 'vitest'
import { asked, doAll, endDate, eventOf, leased, newTable, placed, seen, startDate, started } from './lease-table.ts'
import { notificationOf } from './notifications.ts'

/** Timers that asked for something, in order: type of the event and lease. */
const fired = (t: TableTop): string[] =>
  t.events
    .filter(({ kind }) => kind === 'timerFired')
    .map(({ no, detail }) => `${detail!['timer'] as string} ${t.get(t.get(no).parent!).id}`)

function twoLeases(a: readonly [number, number], b: readonly [number, number]): TableTop {
  const t = newTable()
  for (const [id, [start, end]] of [
    ['A', a],
    ['B', b],
  ] as const) {
    t.ok(asked(t, { id, reservations: 1, input: { minutesBeforeEndLease: 0 } }, { startDate: start, endDate: end }))
    doAll(t, id)
  }
  return t
}

describe('1.5: the event loop', () => {
  test('nothing is done before its time', () => {
    const t = leased()
    t.now = startDate - 1
    t.fireTimers()
    expect(seen(t)).toBe('PENDING | pending pending | UNDONE | UNDONE')
  })

  test('test_concurrent_events: leases back to back: the end of one goes before the start of the next', () => {
    const t = twoLeases([startDate, endDate], [endDate, endDate + 1_000_000])
    t.now = startDate
    t.fireTimers()
    doAll(t, 'A')
    t.now = endDate
    t.fireTimers()
    expect(fired(t)).toEqual(['start A', 'end A', 'start B'])
  })

  test('test_concurrent_events: of one lease with everything due: start, then before_end, then end', () => {
    const t = leased()
    t.now = endDate + 60_000
    t.fireTimers()
    expect(seen(t)).toBe('STARTING | pending pending | IN_PROGRESS | UNDONE')
    doAll(t)
    t.advance(10_000)
    t.fireTimers()
    expect(fired(t)).toEqual(['start L', 'beforeEnd L', 'end L'])
    expect([t.status('L'), eventOf(t, 'before_end').status]).toEqual(['TERMINATING', 'IN_PROGRESS'])
    doAll(t, eventOf(t, 'before_end'))
    doAll(t)
    expect(seen(t)).toBe('TERMINATED | deleted deleted | DONE | DONE')
  })

  test('test_event_pass: the event of a lease in a transitional status is left UNDONE, and comes 10 s later', () => {
    const t = newTable()
    t.ok(asked(t))
    t.now = startDate
    t.fireTimers()
    expect(seen(t)).toBe('CREATING | pending pending | UNDONE | UNDONE')
    expect(eventOf(t, 'start').timers['start']).toBe(startDate + 10_000)
    doAll(t)
    t.advance(10_000)
    t.fireTimers()
    expect(t.status('L')).toBe('STARTING')
  })

  test('test_event_spawn_fail: IN_PROGRESS, then ERROR, of the event that failed and no other', () => {
    const t = twoLeases([startDate, endDate], [startDate, endDate])
    t.now = startDate
    t.fireTimers()
    expect(t.statuses(eventOf(t, 'start', 'A'), eventOf(t, 'start', 'B'))).toEqual(['IN_PROGRESS', 'IN_PROGRESS'])
    t.failed('A', 'no power', { item: t.children(t.get('A').no)[0]! })
    doAll(t, 'B')
    expect(t.statuses(eventOf(t, 'start', 'A'), eventOf(t, 'start', 'B'))).toEqual(['ERROR', 'DONE'])
  })

  test.each([
    ['start', ['active'], 'UNDONE', 'UNDONE'],
    ['end', ['error'], 'UNDONE', 'UNDONE'],
  ])(
    'test_exec_event_retry, decision 0.8: a refused %s event is tried again, then gives up with the reason',
    (type, reservations, start, end) => {
      const t = placed('ERROR', [reservations, start, end])
      const id = type === 'start' ? 's' : 'e'
      const time = type === 'start' ? startDate : endDate
      if (type === 'end') t.resources.set(t.get('s').no, { ...t.get('s'), timers: {} })
      t.now = time
      t.fireTimers()
      expect(t.status(id)).toBe('UNDONE')
      t.advance(9_999)
      t.fireTimers()
      expect(t.status(id)).toBe('UNDONE')
      t.advance(1)
      t.fireTimers()
      expect(t.status(id)).toBe('ERROR')
      expect(t.get(id).description).toContain('Refused until its retries were spent')
      expect(
        t
          .eventsOf(id)
          .some(({ kind, detail }) => kind === 'timerRefused' && (detail!['reason'] as string).includes('Cannot')),
      ).toBe(true)
    },
  )

  test('test_exec_event_no_more_retry: a day late, it gives up at once', () => {
    const t = placed('ERROR', [['error'], 'UNDONE', 'UNDONE'])
    t.now = startDate + 86_400_000
    t.fireTimers()
    expect(t.status('s')).toBe('ERROR')
  })

  test('a start that gave up lets the end release what there is', () => {
    const t = placed('ERROR', [['pending'], 'UNDONE', 'UNDONE'])
    t.now = startDate + 10_000
    t.fireTimers()
    t.now = endDate
    t.fireTimers()
    doAll(t)
    expect(seen(t)).toBe('ERROR | deleted | ERROR | DONE')
  })

  test('an event does not give up while its lease is in transition, or may still be started', () => {
    const t = leased()
    t.now = endDate + 10_000
    const no = eventOf(t, 'end').no
    t.ok({ kind: 'timerFired', no, timer: 'giveUp', by: 'clock' })
    expect(eventOf(t, 'end').status).toBe('UNDONE')
    const refused = t.refused(t.asking(eventOf(t, 'end'), 'giveUp'))
    expect([refused.code, refused.message.includes('TERMINATED')]).toEqual(['requirement_not_met', true])
  })

  test('test_exec_event_handle_exception: a failure is not tried again by the loop', () => {
    const t = leased({ reservations: 1 })
    t.now = startDate
    t.fireTimers()
    t.failed('L', 'boom', { item: t.children(t.get('L').no)[0]! })
    t.advance(86_000)
    t.fireTimers()
    expect(seen(t)).toBe('ERROR | error | ERROR | UNDONE')
  })

  test('test_exec_event_invalid_event_type: there is no such event', () => {
    const t = placed('PENDING')
    const refused = t.refused({
      kind: 'importResource',
      type: 'blazar.event',
      id: 'x',
      status: 'UNDONE',
      parent: { no: t.get('L').no },
      properties: { eventType: 'coffee', time: 1 },
      by: 'ann',
    })
    expect(refused.message).toContain('eventType')
  })

  test('the times survive: an event whose engine was away for hours is carried out when somebody is there again', () => {
    const t = leased()
    t.now = endDate - 1
    t.fireTimers()
    doAll(t)
    expect(t.status('L')).toBe('ACTIVE')
  })

  test('an update moves the time of an event, and its timer with it', () => {
    const t = leased()
    t.request('L', 'update', { startDate: startDate + 600_000 })
    doAll(t)
    t.now = startDate
    t.fireTimers()
    expect(t.status('L')).toBe('PENDING')
    t.now = startDate + 600_000
    t.fireTimers()
    expect(t.status('L')).toBe('STARTING')
  })
})

describe('1.7: before_end', () => {
  const announced = () => {
    const t = started()
    t.now = endDate - 3_600_000
    t.fireTimers()
    return t
  }

  test('it is announced, and changes neither the lease nor its reservations', () => {
    const t = announced()
    const event = eventOf(t, 'before_end')
    expect([t.status(event), t.owedBy(event)]).toEqual(['IN_PROGRESS', ['announceEnd']])
    t.done(event)
    expect([t.status(event), seen(t)]).toEqual(['DONE', 'ACTIVE | active active | DONE | UNDONE'])
  })

  test('f, decision 0.8: a failure marks only its event ERROR; update stays possible and the end comes', () => {
    const t = announced()
    t.failed(eventOf(t, 'before_end'), 'nobody listens')
    expect([eventOf(t, 'before_end').status, seen(t)]).toEqual(['ERROR', 'ACTIVE | active active | DONE | UNDONE'])
    t.request('L', 'update', { name: 'x' })
    doAll(t)
    expect(t.status('L')).toBe('ACTIVE')
    t.now = endDate
    t.fireTimers()
    doAll(t)
    expect(t.status('L')).toBe('TERMINATED')
  })

  test('an update that moves the end calls an announcement under way neither back nor off', () => {
    const t = announced()
    t.request('L', 'update', { endDate: endDate + 3_600_000 })
    doAll(t)
    const event = eventOf(t, 'before_end')
    expect([event.status, event.properties['time']]).toEqual(['IN_PROGRESS', endDate])
    t.done(event)
    expect(t.status(event)).toBe('DONE')
  })

  test('an announcement cut in the middle is asked about before it is repeated', () => {
    const t = announced()
    const event = eventOf(t, 'before_end')
    t.unknown(event)
    expect(t.owedBy(event)).toEqual(['endAnnounced'])
    t.answered(event, 'yes')
    expect(t.status(event)).toBe('DONE')
  })

  test('only a before-end event is announced, and only of an ACTIVE lease', () => {
    const t = placed('PENDING', undefined, 'UNDONE')
    for (const id of ['s', 'b']) expect(t.refused(t.asking(id, 'announce')).message).toContain('lease is ACTIVE')
  })

  test('of a lease that has ended it gives up, instead of waiting for ever', () => {
    const t = placed('TERMINATED', undefined, 'UNDONE')
    t.now = endDate
    t.fireTimers()
    expect(t.status('b')).toBe('ERROR')
  })
})

describe('1.5, 1.6, 1.7: what upstream notifies of is told by the feed', () => {
  const told = (t: TableTop): string[] => t.events.flatMap((one) => notificationOf(one, t.get(one.no)) ?? [])

  test('lease.event.<type> for each event that was carried out, its reset, and lease.delete, in order and once', () => {
    const t = started()
    expect(told(t)).toEqual(['lease.event.start_lease'])
    t.now = endDate - 3_600_000
    t.fireTimers()
    doAll(t, eventOf(t, 'before_end'))
    expect(told(t).slice(1)).toEqual(['lease.event.before_end_lease'])
    t.request('L', 'update', { endDate: endDate + 3_600_000 })
    doAll(t)
    expect(told(t).slice(2)).toEqual(['event.before_end_lease.stop'])
    t.now = endDate
    t.fireTimers()
    doAll(t, eventOf(t, 'before_end'))
    t.now = endDate + 3_600_000
    t.fireTimers()
    doAll(t)
    expect(told(t).slice(3)).toEqual(['lease.event.before_end_lease', 'lease.event.end_lease'])
    t.request('L', 'delete')
    doAll(t)
    expect(told(t).slice(5)).toEqual(['lease.delete'])
  })

  test('nothing is told of an event that failed, nor of a creation that was taken back', () => {
    const t = leased({ reservations: 1 })
    t.request('L', 'start')
    t.failed('L', 'no power', { item: t.children(t.get('L').no).find(({ type }) => type === 'blazar.reservation')! })
    expect([t.status('L'), told(t)]).toEqual(['ERROR', []])
    const failed = newTable()
    failed.ok(asked(failed, { reservations: 1 }))
    const [one] = failed.children(failed.get('L').no).filter(({ type }) => type === 'blazar.reservation')
    failed.failed('L', 'no host', { item: one!, code: 'NotEnoughHostsAvailable' })
    doAll(failed)
    expect([failed.status('L'), told(failed)]).toEqual(['gone', []])
  })
})
