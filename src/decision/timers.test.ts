// Point 15: timers, armed by where a resource stands, asking for operations in the commit that moves them on.
import { resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { blazar } from '../../catalogues/blazar/index.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { sahara } from '../../catalogues/sahara/index.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'
import { driftTimer } from './timers.ts'

const fire = (t: TableTop, id: string, timer: string) =>
  ({ kind: 'timerFired', no: t.get(id).no, timer, by: 'clock' }) as const

describe('15 arming', () => {
  test('15 a timer is armed when its status is entered, by a property or a delay, and disarmed on leaving', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's', { properties: { closesAt: 5_000_000 } })
    expect(t.get('s').timers).toEqual({ closing: 5_000_000 })
    t.request('s', 'close')
    expect(t.get('s').timers).toEqual({})
    t.advance(7)
    t.failed('s', 'x')
    t.failed('s', 'y')
    expect(t.get('s')).toMatchObject({ status: 'Broken', timers: { quiet: t.now + 3_600_000 } })
  })

  test('15 a timer without its time is not armed; it is when the time comes to be, and moves with it', () => {
    const t = new TableTop([alarms])
    t.create('t.alarm', 'a')
    expect(t.get('a').timers).toEqual({})
    for (const at of [9_000_000, 8_000_000]) {
      t.request('a', 'set', { at })
      t.done('a')
      expect(t.get('a').timers).toEqual({ ring: at })
    }
  })

  test('15 also by a step: where the next one shows another status, its timers are armed and those before are not', () => {
    const t = new TableTop([kettles])
    t.create('t.kettle', 'k')
    expect(t.get('k')).toMatchObject({ status: 'Filling', timers: { spill: t.now + 60_000 } })
    t.advance(5)
    t.done('k')
    expect(t.get('k')).toMatchObject({ status: 'Boiling', timers: { whistle: t.now + 120_000 } })
    t.done('k')
    expect(t.get('k')).toMatchObject({ status: 'Hot', timers: {} })
  })

  test('15 a time that is no time is none; a change of what it does not look at leaves it as it is', () => {
    const t = new TableTop([clocks])
    for (const at of ['soon', null])
      expect(t.place('t.clock', `c${at}`, 'Goes', { properties: { at, isWound: false } }).timers).toEqual({})
    t.place('t.clock', 'c', 'Goes', { properties: { at: 5_000_000, isWound: true } })
    const { no } = t.get('c')
    // Put off by hand, as a refusal does.
    t.resources.set(no, { ...t.get('c'), timers: { strike: 7_000_000, rest: 8_000_000 } })
    t.request('c', 'paint', { colour: 'red' })
    expect(t.get('c').timers).toEqual({ strike: 7_000_000, rest: 8_000_000 })
    t.request('c', 'set', { at: 6_000_000 })
    expect(t.get('c').timers).toEqual({ strike: 6_000_000, rest: 8_000_000 })
    t.request('c', 'wind', { isWound: false })
    expect(t.get('c').timers).toEqual({ strike: 6_000_000 })
    t.advance(9)
    t.request('c', 'wind', { isWound: true })
    expect(t.get('c').timers).toEqual({ strike: 6_000_000, rest: t.get('c').since + 60_000 })
    t.request('c', 'stop')
    expect(t.get('c').timers).toEqual({})
  })

  test('15 a delay counts from entering the status, whatever else changes', () => {
    const t = new TableTop(Object.values(ovc))
    t.place('ovc.account', 'p', 'CONFIRMED', { properties: { enabled: true } })
    t.place('ovc.image', 'i', 'DELETED', {
      parent: { no: t.get('p').no },
      properties: { enabled: true, system: false },
    })
    expect(t.get('i').timers).toEqual({ retention: t.now + 7 * 86_400_000 })
  })

  test('15 as long as its own properties forbid it, it is not armed; a change of them arms it, from when the status was entered', () => {
    const t = new TableTop(Object.values(sahara))
    const properties = { counts: {}, isTransient: true, isProtected: false, unfinishedJobs: 2 }
    t.place('sahara.cluster', 'busy', 'Active', { properties })
    expect(t.get('busy').timers).toEqual({})
    t.place('sahara.cluster', 'c', 'Active', { properties: { ...properties, unfinishedJobs: 0 } })
    expect(t.get('c').timers).toEqual({ transient: t.now + 30_000 })
  })
})

const alarm = resourceType('t.alarm', {
  properties: z.object({ at: z.number().optional(), isOn: z.boolean().default(true), other: z.number().default(0) }),
  statuses: {
    stable: { Quiet: 'Quiet.', Loud: 'Loud.' },
    transitional: { Setting: 'Set.', Ringing: 'Rings.' },
    failed: { Dead: 'Dead.' },
  },
})
const alarms = alarm.lifecycle({
  timers: {
    ring: { in: ['Quiet', 'Setting'], when: { isOn: true }, at: 'at', ask: 'ring' },
    nap: { in: ['Loud'], when: { isOn: true }, after: '1m', ask: 'hush' },
  },
  operations: {
    create: { from: [], steps: {}, to: 'Quiet', onFailure: 'Dead' },
    set: {
      from: ['Quiet', 'Loud'],
      input: z.object({ at: z.number().optional(), isOn: z.boolean().default(true) }),
      steps: {
        turn: { during: { status: 'Setting', set: { at: ({ input }) => input.at, isOn: ({ input }) => input.isOn } } },
      },
      to: [{ when: { isOn: false }, status: 'Loud' }, { status: 'Quiet' }],
      onFailure: 'Dead',
    },
    touch: { from: ['Loud'], steps: {}, to: { status: 'Loud', set: { other: 1 } }, onFailure: 'Dead' },
    arm: { from: ['Loud'], steps: {}, to: { status: 'Loud', set: { isOn: true } }, onFailure: 'Dead' },
    ring: { from: ['Quiet'], steps: { shrill: { during: 'Ringing' } }, to: 'Loud', onFailure: 'Dead' },
    hush: { from: ['Loud'], steps: {}, to: 'Quiet', onFailure: 'Dead' },
  },
  heal: { Setting: { status: 'Quiet' }, Ringing: { status: 'Loud' } },
})

const kettle = resourceType('t.kettle', {
  properties: z.object({}),
  statuses: {
    stable: { Hot: 'Hot.' },
    transitional: { Filling: 'Filled.', Boiling: 'Boils.' },
    failed: { Dry: 'Dry.' },
  },
})
const kettles = kettle.lifecycle({
  timers: {
    spill: { in: ['Filling'], after: '1m', ask: 'create' as never },
    whistle: { in: ['Boiling'], after: '2m', ask: 'create' as never },
  },
  operations: {
    create: {
      from: [],
      steps: { fill: { during: 'Filling' }, boil: { during: 'Boiling' } },
      to: 'Hot',
      onFailure: 'Dry',
    },
  },
  heal: { Filling: { status: 'Dry' }, Boiling: { status: 'Dry' } },
})

const clock = resourceType('t.clock', {
  properties: z.object({
    at: z.union([z.number(), z.string(), z.null()]).optional(),
    isWound: z.boolean().default(true),
    colour: z.string().default(''),
  }),
  statuses: { stable: { Goes: 'Goes.' }, failed: { Stopped: 'Stopped.' }, terminal: { Gone: 'Gone.' } },
})
const clocks = clock.lifecycle({
  timers: {
    strike: { in: ['Goes'], at: 'at' as never, ask: 'paint' },
    rest: { in: ['Goes'], when: { isWound: true }, after: '1m', ask: 'stop' },
  },
  operations: {
    create: { from: [], steps: {}, to: 'Goes', onFailure: 'Stopped' },
    paint: {
      from: ['Goes'],
      input: z.object({ colour: z.string() }),
      steps: {},
      to: { status: 'Goes', set: { colour: ({ input }) => input.colour } },
      onFailure: 'Stopped',
    },
    set: {
      from: ['Goes'],
      input: z.object({ at: z.number() }),
      steps: {},
      to: { status: 'Goes', set: { at: ({ input }) => input.at } },
      onFailure: 'Stopped',
    },
    wind: {
      from: ['Goes'],
      input: z.object({ isWound: z.boolean() }),
      steps: {},
      to: { status: 'Goes', set: { isWound: ({ input }) => input.isWound } },
      onFailure: 'Stopped',
    },
    stop: { from: ['Goes'], steps: {}, to: 'Gone', onFailure: 'Stopped' },
  },
  heal: {},
})

const rented = {
  properties: z.object({ until: z.number() }),
  statuses: {
    stable: { Let: 'Let.', Free: 'Free.' },
    transitional: { Leaving: 'Being given back.', Painting: 'Being painted.' },
  },
} as const
const room = resourceType('t.room', rented)
const rooms = (again?: '10s') =>
  room.lifecycle({
    timers: { end: { in: ['Let'], at: 'until', ask: 'leave', ...(again === undefined ? {} : { again }) } },
    operations: {
      create: { from: [], steps: {}, to: 'Let', onFailure: 'Let' },
      leave: { from: ['Let'], steps: { empty: { during: 'Leaving' } }, to: 'Free', onFailure: 'Let' },
      prolong: {
        from: ['Let'],
        input: z.object({ until: z.number() }),
        steps: { paint: { during: { status: 'Painting', set: { until: ({ input }) => input.until } } } },
        to: 'Let',
        onFailure: 'Let',
      },
    },
    heal: { Leaving: { status: 'Let' }, Painting: { status: 'Let' } },
  })

describe('15 a time that has passed', () => {
  const left = (again?: '10s') => {
    const t = new TableTop([rooms(again)])
    t.create('t.room', 'r', { properties: { until: 2_000_000 } })
    t.now = 3_000_000
    t.ok(fire(t, 'r', 'end'))
    t.advance(5)
    t.failed('r', 'locked')
    return t
  }

  test.each([
    ['after a minute', undefined, 60_000],
    ['as it is declared', '10s', 10_000],
  ] as const)('15 whose operation led back is not asked for at once, for ever: %s', (_, again, afterMs) => {
    const t = left(again)
    expect(t.get('r')).toMatchObject({ status: 'Let', timers: { end: t.now + afterMs } })
    t.advance(afterMs)
    t.ok(fire(t, 'r', 'end'))
    expect(t.get('r')).toMatchObject({ status: 'Leaving', run: { by: 'timer end of t.room r' } })
  })

  test('15 while something else was done is due when that ends; another time counts as it is', () => {
    const t = left()
    for (const until of [2_500_000, 9_000_000]) {
      t.request('r', 'prolong', { until })
      t.done('r')
      expect(t.get('r').timers).toEqual({ end: until })
    }
  })
})

describe('15 firing', () => {
  test('15 it asks for the operation in the same commit, by its name, in the background', () => {
    const t = new TableTop([alarms])
    t.create('t.alarm', 'a', { properties: { at: 2_000_000 } })
    expect(t.refused(fire(t, 'a', 'ring')).code).toBe('timer_not_due')
    t.now = 2_000_000
    t.ok(fire(t, 'a', 'ring'))
    expect(t.get('a')).toMatchObject({
      status: 'Ringing',
      timers: {},
      run: { by: 'timer ring of t.alarm a', lane: 'background' },
    })
    expect(
      t
        .eventsOf('a')
        .slice(-2)
        .map(({ kind }) => kind),
    ).toEqual(['timerFired', 'accepted'])
    expect(t.eventsOf('a').at(-2)).toMatchObject({ begun: 0, detail: { timer: 'ring', due: 2_000_000 } })
    expect(t.refused(fire(t, 'a', 'ring')).code).toBe('timer_not_due')
  })

  test('15 armed again by a property, the delay still counts from entering the status; other properties do nothing', () => {
    const t = new TableTop([alarms])
    t.create('t.alarm', 'a')
    t.request('a', 'set', { isOn: false })
    t.done('a')
    const entered = t.now
    expect(t.get('a')).toMatchObject({ status: 'Loud', timers: {} })
    t.advance(70_000)
    t.request('a', 'touch')
    expect(t.get('a').timers).toEqual({})
    t.request('a', 'arm')
    expect(t.get('a').timers).toEqual({ nap: entered + 60_000 })
    t.ok(fire(t, 'a', 'nap'))
    expect(t.status('a')).toBe('Quiet')
  })

  test('15 its condition is judged at firing: not so, it is asked again later without a word', () => {
    const t = new TableTop(Object.values(blazar))
    const input = { reservations: [] }
    t.now = 0
    t.create('blazar.lease', 'L', { properties: { startDate: 10, endDate: 20, degraded: false }, input })
    t.now = 1_000_000
    const beforeEnd = t.children(t.get('L').no)[2]!
    expect(t.get(beforeEnd).timers).toEqual({ beforeEnd: 10, giveUp: 10 })
    t.ok(fire(t, beforeEnd.id, 'beforeEnd'))
    expect(t.get(beforeEnd)).toMatchObject({ status: 'UNDONE', timers: { beforeEnd: t.now + 10_000 } })
    expect(t.lastEvent(beforeEnd)).toMatchObject({ kind: 'added' })
  })

  test('15 refused, it is asked again later where that is declared, and the reason is told', () => {
    const lease = leased()
    lease.t.ok(fire(lease.t, lease.end, 'end'))
    expect(lease.t.get(lease.end)).toMatchObject({ status: 'UNDONE', timers: { end: lease.t.now + 10_000 } })
    expect(lease.t.lastEvent(lease.end)).toMatchObject({
      kind: 'timerRefused',
      detail: { timer: 'end', again: lease.t.now + 10_000 },
    })
    expect(lease.t.lastEvent(lease.end).detail!['reason']).toContain('end starts from ACTIVE, ERROR')
  })

  test('15 refused without `again`, the reason is kept and the timer is gone', () => {
    const t = new TableTop([alarms])
    t.create('t.alarm', 'a', { properties: { at: 5 } })
    t.request('a', 'set', { at: 6 })
    expect(t.get('a').timers).toEqual({ ring: 6 })
    t.ok(fire(t, 'a', 'ring'))
    expect(t.get('a')).toMatchObject({ status: 'Setting', timers: {} })
    expect(t.lastEvent('a')).toMatchObject({ kind: 'timerRefused', begun: 0 })
    expect(t.lastEvent('a').detail).toEqual({ timer: 'ring', reason: expect.stringContaining('Cannot ring') })
  })

  test('15 a start that would break a rule is a refusal, too: the timer goes on', () => {
    const { t, start } = leased()
    const reservation = t.children(t.get('L').no)[0]!
    t.resources.set(reservation.no, { ...reservation, status: 'deleted' })
    t.ok(fire(t, start, 'start'))
    expect(t.statuses('L', start)).toEqual(['PENDING', 'UNDONE'])
    expect(t.get(start).timers).toMatchObject({ start: t.now + 10_000 })
  })

  test('15 one of several that refuses does not keep the others from beginning', () => {
    const t = new TableTop(workshop)
    t.place('w.site', 's', 'Broken')
    const parent = { no: t.get('s').no }
    t.place('w.tool', 'a', 'Busy', { parent, properties: { rpm: 4 } })
    t.place('w.tool', 'b', 'Bad', { parent })
    t.place('w.tool', 'c', 'Busy', { parent, properties: { rpm: 4 } })
    t.advance(3_600_000)
    t.ok(fire(t, 's', 'quiet'))
    expect(t.statuses('a', 'b', 'c')).toEqual(['Stopping', 'Bad', 'Stopping'])
    expect(
      t
        .eventsOf('s')
        .slice(-2)
        .map(({ kind }) => kind),
    ).toEqual(['timerFired', 'timerRefused'])
    expect(t.get('s').timers).toEqual({ quiet: t.now + 60_000 })
  })

  test('15 a related operation is asked, and its start moves the event in one write', () => {
    const { t, start, end } = leased()
    t.fireTimers()
    expect(t.statuses('L', start, end)).toEqual(['STARTING', 'IN_PROGRESS', 'UNDONE'])
    expect(t.get(start).timers).toEqual({})
  })

  test('15 of timers due at one moment the lowest rank goes first', () => {
    const { t } = leased()
    t.fireTimers()
    const kinds = t.events
      .filter(({ kind }) => kind === 'timerFired' || kind === 'timerRefused')
      .map(({ detail }) => detail!['timer'])
    expect(kinds).toEqual(['end', 'start'])
  })

  test('15 a timer that nobody declares any more is disarmed; an unknown one is not due', () => {
    const t = new TableTop([alarms])
    t.create('t.alarm', 'a')
    t.resources.set(1, { ...t.get('a'), timers: { old: 1 } })
    expect(t.refused(fire(t, 'a', 'nix')).code).toBe('timer_not_due')
    expect(t.refused(fire(t, 'a', driftTimer)).code).toBe('timer_not_due')
    expect(t.refused({ kind: 'timerFired', no: 99, timer: 'old', by: 'clock' }).code).toBe('timer_not_due')
    t.ok(fire(t, 'a', 'old'))
    expect(t.get('a')).toMatchObject({ status: 'Quiet', timers: {}, run: null })
    t.resources.set(1, { ...t.get('a'), timers: { [driftTimer]: 1 } })
    t.ok(fire(t, 'a', driftTimer))
    expect(t.get('a')).toMatchObject({ timers: {}, run: null })
  })
})

function leased() {
  const t = new TableTop(Object.values(blazar))
  const input = { reservations: [{ resourceType: 'a' }] }
  t.now = 0
  t.create('blazar.lease', 'L', { properties: { startDate: 10, endDate: 20, degraded: false }, input })
  t.now = 1_000_000
  t.done('L')
  const [, start, end] = t.children(t.get('L').no)
  return { t, start: start!.id, end: end!.id }
}
