// Point 11: what is found stuck is brought back, in the order of its row.
import { previous, resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { opensds } from '../../catalogues/opensds/index.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { databases } from '../../examples/database.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'
import { healingBudget } from './heal-probe.ts'

const cloud = { enabled: true, system: false, verified: true, memory: 1, size: 1 }

function site(status = 'Open') {
  const t = new TableTop(workshop)
  t.place('w.site', 's', status)
  return t
}

function tool(status: string, properties = { rpm: 0 }) {
  const t = site()
  t.place('w.tool', 'a', status, { parent: { no: t.get('s').no }, properties })
  return t
}

/** Its worker is lost so often, each time at work. */
function loseWorkers(t: TableTop, id: string, times: number) {
  for (let n = 0; n < times; n++) {
    t.heal(id)
    t.advance(700_000)
    atWork(t, id)
  }
}

/** A run that was suspected before says that its call begins. */
function atWork(t: TableTop, id: string) {
  const { no, epoch, run } = t.get(id)
  if (run !== null && run.parked === null)
    t.ok({ kind: 'progressReported', no, epoch, text: 'its call begins', by: 'w' })
}

const gate = resourceType('t.gate', {
  properties: z.object({ tries: z.number().default(0) }),
  statuses: {
    stable: { Shut: 'Shut.', Open: 'Open.' },
    transitional: { Opening: 'Opened.' },
    failed: { Jammed: 'Jammed.' },
  },
})
const guard = resourceType('t.guard', { properties: z.object({}), statuses: { stable: { There: 'There.' } } })
const guards = guard.relations({ gate: { parent: gate } }).lifecycle({ heal: {} })
const gates = gate.relations({ guards: { children: guard } }).lifecycle({
  rules: { guarded: { says: 'no gate opens without a guard', holds: { Opening: { guards: { exists: true } } } } },
  operations: {
    open: {
      from: ['Shut'],
      steps: {
        push: {
          during: { status: 'Opening', set: { tries: ({ resource }) => resource.properties.tries + 1 } },
          creates: 'gap',
        },
      },
      to: 'Open',
      onFailure: 'Jammed',
    },
  },
  heal: { Opening: { status: 'Shut', attempt: 'open' } },
})

const well = resourceType('t.well', {
  properties: z.object({}),
  statuses: { stable: { Full: 'Full.' }, transitional: { Digging: 'Dug.' }, failed: { Dry: 'Dry.' } },
})
const wells = well.lifecycle({
  operations: {
    create: { from: [], steps: { dig: { during: 'Digging', creates: 'hole' } }, to: 'Full', onFailure: 'Dry' },
    deepen: {
      from: ['Digging', 'Dry'],
      steps: { dig: { during: 'Digging', creates: 'hole' } },
      to: 'Full',
      onFailure: 'Dry',
    },
  },
  heal: { Digging: { attempt: 'deepen' } },
})

const socket = resourceType('t.socket', { properties: z.object({}), statuses: { stable: { Live: 'Live.' } } })
const sockets = socket.lifecycle({ heal: {} })
const lamp = resourceType('t.lamp', {
  properties: z.object({ tries: z.number().default(0) }),
  statuses: { stable: { Off: 'Off.', On: 'On.' }, transitional: { Plugging: 'Plugged in.' } },
})
const lamps = lamp.relations({ socket: { link: socket } }).lifecycle({
  operations: {
    plug: {
      from: ['Off'],
      input: z.object({ socket: z.string().default('none') }),
      steps: {
        push: {
          during: {
            status: 'Plugging',
            set: { tries: ({ resource }) => resource.properties.tries + 1 },
            link: { socket: ({ input }) => input.socket },
          },
          creates: 'current',
        },
      },
      to: 'On',
      onFailure: 'Off',
    },
  },
  heal: { Plugging: { status: 'Off', attempt: 'plug' } },
})

describe('11 resume', () => {
  test('11 a recorded run goes on at its step under a new epoch, with the same keys and a description', () => {
    const t = site()
    const { begun } = t.request('s', 'close')
    const before = t.get('s')
    const { key } = t.call('s')
    const after = t.heal('s')
    expect(after).toMatchObject({
      epoch: before.epoch + 1,
      heals: 1,
      run: { begun, step: 1, resumed: 1, uncertain: true },
    })
    expect(after.description).toBe('Found in Closing: its worker was lost. Healed: goes on with close.')
    expect(t.call('s').key).toBe(key)
    expect(t.incidents).toEqual([])
    t.done('s')
    expect(t.get('s')).toMatchObject({ status: 'Closed', description: '', heals: 0 })
  })

  test('11 a begun call whose outcome is unknown is probed first: yes adopts, no repeats', () => {
    const started = () => {
      const t = new TableTop(Object.values(opensds))
      t.create('opensds.volume', 'v', { properties: { size: 1 } })
      t.heal('v')
      expect(t.owedBy('v')).toEqual(['volumeExists'])
      return t
    }
    const adopted = started()
    adopted.answered('v', 'yes')
    expect(adopted.get('v')).toMatchObject({ status: 'Available', ledger: [{ state: 'there' }] })
    const repeated = started()
    repeated.answered('v', 'no')
    expect(repeated.call('v')).toMatchObject({ function: 'createVolume', name: { attempt: 2 } })
  })

  test('11 adopted without what the step would have answered, the same key is called once more for it', () => {
    const t = tool('Idle')
    t.request('a', 'start')
    const { key } = t.call('a')
    t.heal('a')
    t.answered('a', 'yes')
    expect(t.call('a')).toMatchObject({ function: 'spin', key, name: { attempt: 2 } })
    const told = tool('Idle')
    told.request('a', 'start')
    told.heal('a')
    told.answered('a', 'yes', { rpm: 8 })
    expect(told.get('a')).toMatchObject({ status: 'Busy', properties: { rpm: 8 } })
  })

  test('11 a run that nobody had claimed has begun nothing: no probe', () => {
    const t = tool('Idle')
    t.claimant = 0
    t.request('a', 'start')
    t.claimant = 1
    t.ok({ kind: 'claim', no: t.get('a').no, owner: 1, by: 'worker' })
    expect(t.owedBy('a')).toEqual(['spin'])
    expect(t.get('a').run).toMatchObject({ phase: 'step', uncertain: false })
  })

  test('11 a run handed over in the middle is probed by whoever claims it', () => {
    const t = tool('Idle')
    t.request('a', 'start')
    const { no, epoch } = t.get('a')
    t.ok({ kind: 'handOver', no, epoch, by: 'worker' })
    expect(t.get('a').run).toMatchObject({ owner: 0, uncertain: true })
    t.ok({ kind: 'claim', no, owner: 2, by: 'other' })
    expect(t.owedBy('a')).toEqual(['spinning'])
  })

  test('11 the step has all its time again: what waited for a worker is not late', () => {
    const t = tool('Idle')
    t.claimant = 0
    t.request('a', 'start')
    t.advance(3_600_000)
    expect(t.refused(t.healing('a', 'overdue')).code).toBe('not_stuck')
    t.ok({ kind: 'claim', no: t.get('a').no, owner: 1, by: 'worker' })
    expect(t.get('a').run).toMatchObject({ deadlineAt: t.now + 120_000, progressAt: t.now + 30_000 })
  })

  test('11 resumed too often without an end, the step has failed', () => {
    const t = site()
    t.request('s', 'close')
    loseWorkers(t, 's', healingBudget)
    expect(t.get('s').run).toMatchObject({ resumed: healingBudget })
    const { epoch } = t.get('s')
    expect(t.heal('s').epoch).toBe(epoch + 1)
    expect(t.get('s')).toMatchObject({
      status: 'Undoing',
      run: { code: 'budget_spent', reasons: ['lock was resumed 5 times and never ended'] },
    })
    t.done('s')
    expect(t.status('s')).toBe('Open')
  })

  test('11 a step that ends gives the next one its own budget', () => {
    const t = new TableTop([databases])
    t.create('shop.database', 'd', { properties: { sizeGb: 1 } })
    loseWorkers(t, 'd', 3)
    expect(t.get('d').run).toMatchObject({ step: 0, resumed: 3 })
    t.done('d')
    expect(t.get('d').run).toMatchObject({ step: 1, resumed: 0 })
  })

  test('11 the death of a worker counts only for runs that were at work', () => {
    const t = site()
    t.request('s', 'close')
    loseWorkers(t, 's', 2)
    expect(t.get('s').run).toMatchObject({ resumed: 2 })
    const waits = t.heal('s')
    expect(waits.run!.dueAt).toBeGreaterThan(t.now)
    for (let n = 0; n < 20; n++) t.heal('s')
    expect(t.get('s').run).toMatchObject({ resumed: 3 })
    t.advance(700_000)
    for (let n = 0; n < 20; n++) t.heal('s')
    expect(t.get('s').run).toMatchObject({ resumed: 3 })
  })

  test('11 overdue with a live owner: the deadline is answered, and an incident tells of it', () => {
    const t = site()
    t.request('s', 'close')
    expect(t.refused(t.healing('s', 'overdue')).message).toBe('w.site s is in time.')
    t.advance(600_000)
    t.heal('s', 'overdue')
    expect(t.get('s')).toMatchObject({ status: 'Undoing', run: { code: 'deadline_exceeded' } })
    expect(t.incidents.map(({ kind }) => kind)).toEqual(['overdue'])
  })

  test('11 an overdue step with a probe is asked about, not taken for an unanswered probe', () => {
    const t = tool('Idle')
    t.request('a', 'start')
    t.advance(120_000)
    t.heal('a', 'overdue')
    expect(t.get('a').run).toMatchObject({ phase: 'probe', probes: 1, code: 'deadline_exceeded' })
  })
})

describe('11 with its owner, unowned, by probe, by its row', () => {
  test('11 what is healed with its owner is left to it while that one stands in the matching status', () => {
    const t = new TableTop(Object.values(opensds))
    t.place('opensds.volume', 'v', 'Attaching', { properties: { size: 1 } })
    t.place('opensds.attachment', 'a', 'Attaching', { parent: { no: t.get('v').no }, properties: { hostId: 'h' } })
    expect(t.refused(t.healing('v', 'unowned')).code).toBe('healed_with_owner')
    t.heal('a', 'unowned')
    expect(t.statuses('a', 'v')).toEqual(['ErrorAttaching', 'Available'])
  })

  test('11 without a run `unowned` says where it lands, with an incident', () => {
    const t = site('Closing')
    expect(t.heal('s', 'unowned')).toMatchObject({ status: 'Closed', run: null, heals: 1 })
    expect(t.get('s').description).toBe('Found in Closing: nobody was working on it. Healed: put to Closed.')
    expect(t.incidents).toMatchObject([{ kind: 'unowned', status: 'Closing' }])
    expect(t.ended.at(-1)).toMatchObject({ kind: 'heal', operation: '', outcome: 'healed', status: 'Closed' })
  })

  test('11 a probe is asked what is really there; its answer lands, with the properties it saw', () => {
    const t = tool('Stopping', { rpm: 9 })
    t.heal('a', 'unowned')
    expect(t.owedBy('a')).toEqual(['spinning'])
    expect(t.get('a').run).toMatchObject({ kind: 'heal', phase: 'healProbe', found: 'unowned' })
    t.answered('a', 'yes', { rpm: 4, colour: 'red' })
    expect(t.get('a')).toMatchObject({ status: 'Busy', properties: { rpm: 4 }, run: null })
  })

  test('11 garbage that a probe saw is ignored; an answer nobody declared is unknown', () => {
    const t = tool('Starting', { rpm: 9 })
    t.heal('a', 'unowned')
    t.answered('a', 'sideways', { rpm: -4 })
    expect(t.get('a')).toMatchObject({ status: 'Bad', properties: { rpm: 9 } })
  })

  test('11 a probe that cannot be asked is asked again before unknown is believed', () => {
    const t = new TableTop(Object.values(ovc))
    t.place('ovc.machine', 'm', 'REBOOTING', { properties: cloud })
    t.heal('m', 'unowned')
    for (const attempt of [1, 2]) {
      expect(t.call('m').name.attempt).toBe(attempt)
      t.failed('m', 'no route')
    }
    expect(t.status('m')).toBe('REBOOTING')
    t.failed('m', 'no route')
    expect(t.get('m')).toMatchObject({ status: 'HALTED', properties: { verified: false } })
  })

  test('11 unknown may be declared to be asked again, for ever', () => {
    const t = tool('Stopping')
    t.heal('a', 'unowned')
    for (let n = 0; n < 8; n++) {
      t.answered('a', 'unknown')
      expect(t.call('a').dueAt).toBe(t.now + 30_000)
      t.advance(30_000)
    }
    t.answered('a', 'no')
    expect(t.status('a')).toBe('Idle')
  })

  test('11 the landing closes the recorded run as healed; an attempt is a new run with the original input', () => {
    const t = new TableTop(Object.values(ovc))
    t.place('ovc.account', 'p', 'DISABLED', { properties: cloud })
    const { begun } = t.request('p', 'delete', { reason: 'unpaid' })
    expect(t.status('p')).toBe('DELETED')
    t.place('ovc.image', 'i', 'CREATED', {
      parent: { no: t.place('ovc.account', 'q', 'CONFIRMED', { properties: cloud }).no },
      properties: cloud,
    })
    const first = t.request('i', 'delete', { reason: 'old' })
    const acceptedAt = t.now
    t.advance(9)
    t.heal('i')
    expect(t.endedRun(t.get('i').no, first.begun)).toMatchObject({
      outcome: 'healed',
      status: 'CREATED',
      acceptedAt,
      endedAt: t.now,
    })
    expect(t.get('i').run).toMatchObject({
      operation: 'delete',
      input: { reason: 'old' },
      previous: 'CREATED',
      lane: 'heal',
    })
    expect(begun).toBe(2)
  })

  test('11 no record: the attempt gets what the schema fills in; what is invalid is not attempted, and said', () => {
    const t = new TableTop(Object.values(ovc))
    t.place('ovc.account', 'p', 'RESTORING', { properties: cloud })
    t.heal('p', 'unowned')
    expect(t.get('p').run).toMatchObject({ operation: 'restore', input: { reason: '' } })
    const space = new TableTop(Object.values(ovc))
    space.place('ovc.account', 'p', 'DISABLED', { properties: cloud })
    space.place('ovc.cloudspace', 'c', 'RESTORING', { parent: { no: space.get('p').no }, properties: cloud })
    space.heal('c', 'unowned')
    expect(space.get('c')).toMatchObject({ status: 'DELETED', run: null })
    expect(space.get('c').description).toMatch(
      /put to DELETED, restore is attempted again. The attempt was refused: Cannot restore/,
    )
  })

  test('11 a refused attempt leaves the landing alone: nothing of the half-begun run stays', () => {
    const t = new TableTop([gates, guards])
    t.place('t.gate', 'g', 'Opening')
    const { events } = t.ok(t.healing('g', 'unowned')).changes
    expect(t.get('g')).toMatchObject({ status: 'Shut', run: null, epoch: 2, ledger: [], properties: { tries: 0 } })
    expect(t.get('g').description).toContain('The attempt was refused: Refused: t.gate g would be Opening')
    expect(events.map(({ kind }) => kind)).toEqual(['healed'])
  })

  test('11 so also when it is refused in the middle of its first commit', () => {
    const t = new TableTop([lamps, sockets])
    t.place('t.lamp', 'l', 'Plugging')
    t.heal('l', 'unowned')
    expect(t.get('l')).toMatchObject({
      status: 'Off',
      run: null,
      epoch: 2,
      links: {},
      ledger: [],
      properties: { tries: 0 },
    })
    expect(t.get('l').description).toContain('The attempt was refused: Cannot link t.lamp l to t.socket "none"')
  })

  test('11 a row that only attempts begins where it was found; the ledger of the healed run is in doubt', () => {
    const t = site()
    t.create('w.tool', 'a', { parent: { no: t.get('s').no } })
    t.request('a', 'delete')
    expect(t.get('a').ledger).toMatchObject([{ state: 'unknown' }])
    t.heal('a')
    expect(t.get('a')).toMatchObject({ status: 'Scrapping', run: { operation: 'delete', by: 'healing' } })
    expect(
      t
        .eventsOf('a')
        .slice(-2)
        .map(({ kind, from, to }) => [kind, from, to]),
    ).toEqual([
      ['healed', 'Scrapping', 'Scrapping'],
      ['accepted', 'Scrapping', 'Scrapping'],
    ])
  })

  test('11 what the healed run meant to make is in doubt; the attempt means to make its own', () => {
    const t = new TableTop([wells])
    t.create('t.well', 'w')
    t.heal('w')
    expect(t.get('w').ledger).toMatchObject([
      { name: 't.well/w/hole/1', state: 'unknown' },
      { name: 't.well/w/hole/3', state: 'meant' },
    ])
  })

  test('11 a spent budget lands without another attempt; where only an attempt is declared, it parks', () => {
    const t = new TableTop(Object.values(ovc))
    t.place('ovc.account', 'p', 'CONFIRMED', { properties: cloud })
    t.place('ovc.image', 'i', 'CREATED', { parent: { no: t.get('p').no }, properties: cloud })
    t.request('i', 'delete', {})
    loseWorkers(t, 'i', healingBudget + 1)
    expect(t.get('i')).toMatchObject({ status: 'CREATED', run: null })
    expect(t.lastEvent('i').detail).toMatchObject({ budgetSpent: 'delete' })
    const only = tool('Scrapping')
    for (let n = 0; n < 60 && only.get('a').run?.parked == null; n++) {
      only.heal('a', only.get('a').run === null ? 'unowned' : 'ownerLost')
      only.advance(700_000)
      atWork(only, 'a')
    }
    expect(only.get('a')).toMatchObject({
      status: 'Scrapping',
      run: { kind: 'heal', parked: { code: 'budget_spent' } },
    })
    const { no } = only.get('a')
    only.ok({ kind: 'retryRun', no, by: 'ann' })
    expect(only.get('a')).toMatchObject({ run: { operation: 'delete', parked: null } })
  })

  test('11 a healing is not cancelled or skipped; one that waits for its next probe is asked at once', () => {
    const t = tool('Stopping')
    t.heal('a', 'unowned')
    const { no } = t.get('a')
    expect(t.refused({ kind: 'cancelRun', no, by: 'ann', reason: 'x' }).code).toBe('operation_not_allowed')
    expect(t.refused({ kind: 'skipStep', no, by: 'ann', reason: 'x' }).code).toBe('operation_not_allowed')
    t.failed('a', 'no route')
    expect(t.get('a').run!.dueAt).toBeGreaterThan(t.now)
    t.ok({ kind: 'retryRun', no, by: 'ann' })
    expect(t.get('a')).toMatchObject({
      heals: 1,
      run: { phase: 'healProbe', probes: 1, dueAt: 0, deadlineAt: t.now + 60_000, progressAt: 0 },
    })
  })

  test('11 a person may heal what is parked or not found stuck by itself', () => {
    const t = site()
    t.request('s', 'close')
    expect(t.refused(t.healing('s', 'unowned')).code).toBe('not_stuck')
    expect(t.heal('s', 'unowned', { override: true }).run).toMatchObject({ resumed: 1 })
  })

  test('11 held back, it is reported and nothing else; a resource that changed since is not even that', () => {
    const t = site()
    t.request('s', 'close')
    const held = { ...t.healing('s'), held: 'the breaker is open' } as const
    const decision = t.send(held)
    expect(decision).toMatchObject({ accepted: false, rejection: { code: 'healing_held' }, changes: null })
    t.advance(600_000)
    const late = t.send({ ...t.healing('s', 'overdue'), held: 'the breaker is open' } as never)
    expect(late).toMatchObject({ accepted: false, changes: { writes: [], incidents: [{ kind: 'overdue' }] } })
    expect(t.incidents.at(-1)!.text).toMatch(/When it was found, it was not healed by itself: the breaker is open\.$/)
    const alone = tool('Stopping')
    alone.send({ ...alone.healing('a', 'unowned'), held: 'mode' } as never)
    expect(alone.get('a')).toMatchObject({ status: 'Stopping', run: null })
    expect(alone.incidents).toMatchObject([{ kind: 'unowned', text: expect.stringContaining('mode') }])
  })

  test('11 a person may heal what is parked, and what has spent its budget, once more', () => {
    const t = tool('Busy', { rpm: 3 })
    t.request('a', 'stop')
    for (let n = 0; n < 4; n++) t.unknown('a')
    t.claimant = 4
    t.heal('a', 'ownerLost', { override: true })
    expect(t.get('a').run).toMatchObject({ kind: 'heal', parked: null, owner: 4, probe: 'spinning', by: 'healing' })
    const spent = site()
    spent.request('s', 'close')
    loseWorkers(spent, 's', healingBudget)
    spent.heal('s', 'ownerLost', { override: true })
    expect(spent.get('s')).toMatchObject({ status: 'Closing', run: { operation: 'close', resumed: healingBudget + 1 } })
  })

  test('11 attempted again and again, each waits a while of its own; the first is attempted at once', () => {
    const t = tool('Scrapping')
    t.heal('a', 'unowned')
    expect(t.get('a').run).toMatchObject({ operation: 'delete', dueAt: 0, resumed: 0 })
    const waits = []
    for (let n = 0; n < 3; n++) {
      atWork(t, 'a')
      t.heal('a')
      waits.push(t.get('a').run!.dueAt - t.now)
      expect(t.get('a').run).toMatchObject({ resumed: 1, deadlineAt: t.get('a').run!.dueAt + 3_600_000 })
      t.now = t.get('a').run!.dueAt
    }
    expect(waits[0]).toBeGreaterThanOrEqual(250)
    expect(waits[0]).toBeLessThanOrEqual(500)
    expect(waits[1]).toBeGreaterThanOrEqual(500)
    expect(waits[1]).toBeLessThanOrEqual(1_000)
    expect(waits[2]).toBeGreaterThanOrEqual(1_000)
  })

  test('11 what the healed run was asked with goes on: input, trace, asker; an attempt of another operation has its own', () => {
    const t = site()
    t.create('w.tool', 'a', { parent: { no: t.get('s').no } })
    t.request('a', 'delete', undefined, { trace: '00-a-b-01' })
    t.heal('a')
    expect(t.get('a').run).toMatchObject({ operation: 'delete', trace: '00-a-b-01', forced: false })
    expect(t.get('a').description).toBe('Found in Scrapping: its worker was lost. Healed: delete is attempted again.')
  })

  test('11 a site that is torn down again holds what it held', () => {
    const t = site()
    t.place('w.tool', 'a', 'Idle', { parent: { no: t.get('s').no } })
    t.request('s', 'clear')
    t.request('s', 'delete')
    t.heal('s')
    expect(t.get('s').run).toMatchObject({ operation: 'delete', by: 'healing' })
    expect(t.get('a').holder).toEqual({ no: t.get('s').no, begun: t.get('s').run!.begun })
  })

  test('11 an ask step that loses its worker asks again at once; a call that was not due was never begun', () => {
    const t = site()
    t.place('w.tool', 'a', 'Busy', { parent: { no: t.get('s').no }, properties: { rpm: 4 } })
    t.request('s', 'close')
    t.heal('s')
    expect(t.get('s').run).toMatchObject({ phase: 'step', uncertain: false, items: [{ dueAt: 0, relation: 'tools' }] })
    t.done('a')
    expect(t.owedBy('s')).toEqual(['lock'])
    const waiting = tool('Idle')
    waiting.request('a', 'start')
    waiting.again('a', 60_000)
    waiting.heal('a')
    expect(waiting.get('a').run).toMatchObject({ phase: 'step', uncertain: false, resumed: 0 })
    expect(waiting.get('a').heals).toBe(0)
    waiting.advance(60_000)
    waiting.heal('a')
    expect(waiting.get('a').run).toMatchObject({ phase: 'probe', uncertain: true })
  })

  test('11 healings count until an operation earns a landing: a failure does not, a success does', () => {
    const t = site()
    t.request('s', 'close')
    t.heal('s')
    expect(t.get('s').heals).toBe(1)
    t.failed('s', 'jammed')
    t.done('s')
    expect(t.get('s')).toMatchObject({ status: 'Open', heals: 1 })
    t.request('s', 'close')
    t.done('s')
    expect(t.get('s')).toMatchObject({ status: 'Closed', heals: 0 })
  })

  test('11 what moved on since it was found, is settled, or waits for a worker is not healed', () => {
    const t = site()
    const stale = t.healing('s')
    t.request('s', 'close')
    expect(t.refused(stale).code).toBe('not_stuck')
    t.done('s')
    expect(t.refused(t.healing('s', 'unowned')).code).toBe('not_stuck')
    expect(t.refused(t.healing('s', 'drifted')).code).toBe('not_stuck')
  })

  test('11 a parked run keeps its place when its worker dies: only the owner is taken off', () => {
    const t = tool('Busy', { rpm: 3 })
    t.request('a', 'stop')
    for (let n = 0; n < 4; n++) t.unknown('a')
    const before = t.get('a')
    expect(t.heal('a').run).toMatchObject({ parked: { code: 'unknown_outcome' }, owner: 0 })
    expect(t.get('a').epoch).toBe(before.epoch + 1)
    expect(t.refused({ kind: 'claim', no: before.no, owner: 3, by: 'x' }).code).toBe('run_not_found')
  })

  test('11 undoing that loses its worker goes on undoing', () => {
    const t = site()
    t.request('s', 'close')
    t.failed('s', 'jammed')
    loseWorkers(t, 's', 1)
    expect(t.owedBy('s')).toEqual(['unlock'])
    expect(t.get('s').run).toMatchObject({ phase: 'undo', reasons: ['jammed'] })
    loseWorkers(t, 's', 5 * healingBudget)
    expect(t.get('s')).toMatchObject({
      status: 'Broken',
      run: null,
      description: expect.stringContaining('never ended'),
    })
  })
})

const kiln = resourceType('t.kiln', {
  properties: z.object({}),
  statuses: {
    stable: { Cold: 'Cold.', Hot: 'Hot.' },
    transitional: { Firing: 'Fired.', Fixing: 'Fixed.' },
    failed: { Cracked: 'Cracked.' },
  },
})
const kilns = kiln.lifecycle({
  probes: { feel: ['warm', 'cool'] },
  operations: {
    create: {
      from: [],
      steps: { build: { during: 'Firing' }, fix: { during: 'Fixing' } },
      to: 'Cold',
      onFailure: 'Hot',
    },
    fire: {
      from: ['Cold'],
      steps: { burn: { during: 'Firing' }, fix: { during: 'Fixing' } },
      to: 'Hot',
      onFailure: 'Cold',
    },
  },
  heal: {
    Firing: { status: previous, unowned: { status: 'Cracked' } },
    Fixing: {
      probe: { feel: { warm: 'Hot', cool: { status: previous }, unknown: { status: previous } } },
      unowned: { status: 'Cracked' },
    },
  },
})

describe('a row that leads back', () => {
  test('leads a creation, which came from nowhere, where one without a run goes', () => {
    const t = new TableTop([kilns])
    t.create('t.kiln', 'k')
    t.heal('k')
    expect(t.get('k')).toMatchObject({ status: 'Cracked', run: null })
    expect(t.incidents).toEqual([])
  })

  test('does so by the answer of a probe, too; a run that came from somewhere goes back there', () => {
    const t = new TableTop([kilns])
    t.create('t.kiln', 'k')
    t.done('k')
    t.heal('k')
    t.answered('k', 'cool')
    expect(t.get('k')).toMatchObject({ status: 'Cracked', run: null })
    t.place('t.kiln', 'other', 'Cold')
    t.request('other', 'fire')
    t.heal('other')
    expect(t.get('other').status).toBe('Cold')
    expect(t.incidents).toEqual([])
  })
})
