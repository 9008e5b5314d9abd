// Point 18: what may exist in the real world is written before it is made, and leaves the ledger only when it is known to be gone.
import { resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { opensds } from '../../catalogues/opensds/index.ts'
import { databases } from '../../examples/database.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'
import { sweepLeaseMs } from './sweep-orphan.ts'

const yard = resourceType('t.yard', {
  properties: z.object({}),
  statuses: { stable: { Done: 'Done.' }, transitional: { Building: 'Built.' }, failed: { Ruined: 'Ruined.' } },
})
const yards = yard.lifecycle({
  operations: {
    create: {
      from: [],
      steps: {
        wall: { during: 'Building', creates: 'wall', undo: 'breakWall' },
        gate: { during: 'Building', creates: 'gate', undo: 'breakGate' },
      },
      to: 'Done',
      onFailure: { undo: true, status: 'Ruined' },
    },
    renew: {
      from: ['Done', 'Ruined'],
      steps: { rebuild: { during: 'Building', creates: 'wall', destroys: 'wall', undo: 'breakWall' } },
      to: 'Done',
      onFailure: { undo: true, status: 'Ruined' },
    },
    unhinge: {
      from: ['Done', 'Ruined'],
      steps: { lift: { during: 'Building', destroys: 'gate' } },
      to: 'Done',
      onFailure: 'Ruined',
    },
  },
  heal: { Building: { resume: true, unowned: { status: 'Ruined' } } },
})

function database() {
  const t = new TableTop([databases])
  t.create('shop.database', 'd', { properties: { sizeGb: 1 } })
  return t
}
const ledger = (t: TableTop, id = 'd') => t.get(id).ledger.map(({ name, state }) => [name, state])

describe('18 ledger', () => {
  test('18 the intent is written in the commit that owes the call, under the name that the driver is given', () => {
    const t = database()
    expect(t.get('d').ledger).toEqual([
      {
        name: 'shop.database/d/disk/1',
        kind: 'disk',
        state: 'meant',
        ref: null,
        begun: 1,
        step: 'makeDisk',
        since: t.now,
        sweeper: 0,
      },
    ])
  })

  test('18 done, it is there with what the driver answered; destroyed, all of that kind are closed', () => {
    const t = database()
    t.done('d', { path: '/dev/x' })
    expect(t.get('d').ledger).toMatchObject([{ state: 'there', ref: { path: '/dev/x' } }])
    t.done('d')
    t.request('d', 'delete')
    t.done('d')
    t.done('d')
    expect(ledger(t)).toEqual([])
  })

  test('18 a retry keeps the one intent; taken back, it is gone', () => {
    const t = database()
    t.failed('d', 'full', { terminal: false })
    expect(ledger(t)).toEqual([['shop.database/d/disk/1', 'meant']])
    t.failed('d', 'full')
    expect(ledger(t)).toEqual([['shop.database/d/disk/1', 'unknown']])
    t.done('d')
    expect([t.status('d'), ledger(t)]).toEqual(['Broken', []])
  })

  test('18 failed without an undo, nobody knows: the entry stays with its resource, in doubt', () => {
    const t = new TableTop(Object.values(opensds))
    t.create('opensds.volume', 'v', { properties: { size: 1 } })
    t.failed('v', 'full')
    expect([t.status('v'), ledger(t, 'v')]).toEqual(['Error', [['opensds.volume/v/volume/1', 'unknown']]])
    t.request('v', 'delete')
    t.done('v')
    expect(ledger(t, 'v')).toEqual([])
  })

  test('18 an undo that fails leaves what this run made to the sweeper, and nothing else', () => {
    const t = database()
    t.done('d')
    t.failed('d', 'no port')
    t.done('d')
    t.failed('d', 'disk busy')
    expect([t.status('d'), ledger(t)]).toEqual(['Broken', [['shop.database/d/disk/1', 'orphaned']]])
  })

  test('18 two things of one kind in one run have two names; a later run never gives a name again', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.create('w.tool', 'x', { parent: { no: t.get('s').no }, input: { parts: [1] } })
    t.done('x')
    expect(ledger(t, 'x').map(([name]) => name)).toEqual(['w.tool/x/steel/1', 'w.tool/x/steel/01'])
  })

  test('18 each step answers for its own: others stay as they are, whatever becomes of it', () => {
    const t = new TableTop([yards])
    t.create('t.yard', 'y')
    t.advance(1)
    t.done('y', 'w1')
    expect(t.get('y').ledger).toMatchObject([
      { name: 't.yard/y/wall/1', state: 'there', ref: 'w1', since: t.now },
      { name: 't.yard/y/gate/1', state: 'meant', ref: null, since: t.now },
    ])
    t.advance(1)
    t.failed('y', 'no wood')
    expect(t.get('y').ledger).toMatchObject([
      { state: 'there', ref: 'w1', since: t.now - 1 },
      { state: 'unknown', ref: null, since: t.now },
    ])
    t.done('y')
    expect(ledger(t, 'y')).toEqual([['t.yard/y/wall/1', 'there']])
    t.done('y')
    expect(ledger(t, 'y')).toEqual([])
  })

  test('18 what replaces its like closes the old one and keeps the new one; another kind is not touched', () => {
    const t = new TableTop([yards])
    t.create('t.yard', 'y')
    t.done('y', 'w1')
    t.done('y', 'g1')
    const { begun } = t.request('y', 'renew')
    expect(ledger(t, 'y').map(([, state]) => state)).toEqual(['there', 'there', 'meant'])
    t.done('y', 'w2')
    expect(t.get('y').ledger.map(({ name, ref }) => [name, ref])).toEqual([
      ['t.yard/y/gate/1', 'g1'],
      [`t.yard/y/wall/${begun}`, 'w2'],
    ])
    t.request('y', 'unhinge')
    t.done('y')
    expect(ledger(t, 'y')).toEqual([[`t.yard/y/wall/${begun}`, 'there']])
  })

  test('18 taken back or left behind is only what the run itself made', () => {
    const t = new TableTop([yards])
    t.create('t.yard', 'y')
    t.done('y', 'w1')
    t.done('y', 'g1')
    t.request('y', 'renew')
    t.failed('y', 'no stone')
    t.done('y')
    expect([t.status('y'), ledger(t, 'y').length]).toEqual(['Ruined', 2])
    const { begun } = t.request('y', 'renew')
    t.failed('y', 'no stone')
    t.advance(5)
    t.failed('y', 'too heavy')
    expect(t.get('y').ledger.map(({ name, state, since }) => [name, state, since])).toEqual([
      ['t.yard/y/wall/1', 'there', t.now - 5],
      ['t.yard/y/gate/1', 'there', t.now - 5],
      [`t.yard/y/wall/${begun}`, 'orphaned', t.now],
    ])
  })

  test('18 what a run was making when it was moved away is in doubt, and said when it is left behind', () => {
    const t = new TableTop(workshop)
    t.place('w.site', 's', 'Open')
    t.create('w.tool', 'x', { parent: { no: t.get('s').no } })
    t.ok({ kind: 'setStatus', no: t.get('x').no, status: 'Idle', reason: 'seen', by: 'ann' })
    expect(ledger(t, 'x')).toEqual([['w.tool/x/steel/1', 'unknown']])
    expect(t.get('x').heals).toBe(0)
  })

  test('18 a resource that ends leaves what is not confirmed as orphans, also when others end it', () => {
    const t = new TableTop(workshop)
    t.place('w.site', 's', 'Open')
    t.create('w.tool', 'x', { parent: { no: t.get('s').no }, input: { parts: [1] } })
    t.done('x')
    t.ok(t.asking('s', 'delete', {}, { force: true, reason: 'now' }))
    t.failed('s', 'a', { item: 'x' })
    t.failed('s', 'b')
    expect([t.status('x'), ledger(t, 'x').map(([, state]) => state)]).toEqual(['Gone', ['orphaned', 'orphaned']])
    expect(t.lastEvent('x').detail).toMatchObject({ orphans: ['w.tool/x/steel/1', 'w.tool/x/steel/01'] })
  })

  test('18 added resources have ids that follow from parent, relation, run, step and place', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.create('w.tool', 'x', { parent: { no: t.get('s').no }, input: { parts: [1, 2] } })
    t.done('x')
    expect(t.children(t.get('x').no)[0]).toEqual({
      no: 3,
      id: '~2.parts.1-1-0',
      type: 'w.part',
      tenant: 'default',
      name: null,
      parent: t.get('x').no,
      links: {},
      status: 'Loose',
      description: '',
      properties: { size: 1 },
      revision: 1,
      epoch: 1,
      since: t.now,
      createdAt: t.now,
      run: null,
      holder: null,
      queue: [],
      ledger: [],
      timers: {},
      heals: 0,
      last: 0,
    })
    expect(t.lastEvent(3)).toMatchObject({ kind: 'added', begun: 0, detail: { with: 'w.tool x' } })
    expect(t.children(t.get('x').no).map(({ id, properties }) => [id, properties['size']])).toEqual([
      ['~2.parts.1-1-0', 1],
      ['~2.parts.1-1-1', 2],
    ])
  })

  test('18 a user cannot take such an id, nor one that looks like a number of ours', () => {
    const t = new TableTop([databases])
    for (const id of ['~1', '~2.parts.1-1-0', '', 'a/b', 'x'.repeat(201), 'a\u0000'])
      expect(t.refused(t.creating('shop.database', id, { properties: { sizeGb: 1 } })).code).toBe('input_invalid')
    const { resource } = t.ok(t.creating('shop.database', undefined, { properties: { sizeGb: 1 } }))
    expect(resource.id).toBe(`~${resource.no.toString(36)}`)
  })

  test('18 properties that the declaration sets are judged by their schema at every write', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.place('w.tool', 'a', 'Idle', { parent: { no: t.get('s').no } })
    t.request('a', 'start')
    t.done('a', { rpm: -5 })
    expect(t.get('a')).toMatchObject({ status: 'Idle', properties: { rpm: 0 } })
    expect(t.get('a').description).toContain('sets properties of w.tool that its schema refuses')
  })

  test('18 the key of a call is stable over attempts, resumption and take-over', () => {
    const t = database()
    const { key } = t.call('d')
    t.failed('d', 'x', { terminal: false })
    expect(t.call('d').key).toBe(key)
    t.now = t.call('d').dueAt
    t.heal('d')
    expect(t.call('d').key).toBe(key)
    const { no, epoch } = t.get('d')
    t.ok({ kind: 'handOver', no, epoch, by: 'w' })
    t.ok({ kind: 'claim', no, owner: 2, by: 'v' })
    expect(t.call('d').key).toBe(key)
  })
})

describe('18 orphans', () => {
  function orphaned() {
    const t = database()
    t.request('d', 'delete')
    t.done('d')
    t.ok({ kind: 'skipStep', no: t.get('d').no, by: 'ann', reason: 'later' })
    const name = 'shop.database/d/disk/1'
    const { no } = t.get('d')
    const sweep = (sweeper: number) => ({ kind: 'sweepOrphan', no, name, sweeper, by: 'sweeper' }) as const
    const ended = (how: 'swept' | 'sweepFailed' | 'adopted' | 'writtenOff', sweeper = 1, reason = 'seen') =>
      ({ kind: 'orphanEnded', no, name, how, sweeper, reason, by: 'x' }) as const
    return { t, sweep, ended }
  }

  test('18 one sweeper takes it; destroyed, it leaves the ledger; failed, it is an orphan again', () => {
    const { t, sweep, ended } = orphaned()
    t.ok(sweep(1))
    expect(t.refused(sweep(2)).code).toBe('operation_in_progress')
    expect(t.refused(ended('swept', 2)).code).toBe('fenced')
    t.ok(ended('sweepFailed'))
    expect(ledger(t)).toEqual([['shop.database/d/disk/1', 'orphaned']])
    t.ok(sweep(2))
    t.ok(sweep(2))
    t.ok(ended('swept', 2))
    expect(ledger(t)).toEqual([])
    expect(t.refused(sweep(1)).code).toBe('orphan_not_found')
    const orphan = 'shop.database/d/disk/1'
    expect(
      t
        .eventsOf('d')
        .slice(-5)
        .map(({ kind, detail }) => [kind, detail]),
    ).toEqual([
      ['sweeping', { orphan }],
      ['orphaned', { orphan, reason: 'seen' }],
      ['sweeping', { orphan }],
      ['sweeping', { orphan }],
      ['swept', { orphan, reason: 'seen' }],
    ])
  })

  test('18 what belongs to a resource is no orphan: it is neither swept nor written off', () => {
    const t = database()
    t.done('d')
    const about = { no: t.get('d').no, name: 'shop.database/d/disk/1', sweeper: 1, by: 'x' } as const
    expect(t.refused({ kind: 'sweepOrphan', ...about }).code).toBe('orphan_not_found')
    expect(t.refused({ kind: 'orphanEnded', how: 'writtenOff', reason: 'x', ...about }).code).toBe('orphan_not_found')
  })

  test('18 a sweeper that is silent for long loses it', () => {
    const { t, sweep, ended } = orphaned()
    t.ok(sweep(1))
    t.advance(sweepLeaseMs)
    t.ok(sweep(2))
    expect(t.refused(ended('swept', 1)).code).toBe('fenced')
    t.advance(sweepLeaseMs - 1)
    expect(t.refused(sweep(1)).code).toBe('operation_in_progress')
    // One that is known to be dead is not waited for.
    t.ok({ ...sweep(3), gone: 2 })
  })

  test('18 nobody decides about what is being swept until that ends, or hangs', () => {
    const { t, sweep, ended } = orphaned()
    t.ok(sweep(1))
    t.advance(sweepLeaseMs - 1)
    expect(t.refused(ended('writtenOff', 0)).code).toBe('operation_in_progress')
    t.advance(1)
    t.ok(ended('writtenOff', 0))
    expect(t.lastEvent('d')).toMatchObject({ kind: 'writtenOff', detail: { reason: 'seen' } })
  })

  test('18 a person may write it off with a reason; a resource that is gone cannot take it back', () => {
    const { t, ended } = orphaned()
    expect(t.refused(ended('writtenOff', 0, ' ')).code).toBe('reason_required')
    expect(t.refused(ended('adopted', 0)).code).toBe('operation_not_allowed')
    t.ok(ended('writtenOff', 0))
    expect(ledger(t)).toEqual([])
  })

  test('18 a live resource takes its orphan back', () => {
    const t = database()
    t.done('d')
    t.failed('d', 'no port')
    t.done('d')
    t.failed('d', 'busy')
    t.ok({
      kind: 'orphanEnded',
      no: t.get('d').no,
      name: 'shop.database/d/disk/1',
      how: 'adopted',
      sweeper: 0,
      reason: 'ours',
      by: 'ann',
    })
    expect(ledger(t)).toEqual([['shop.database/d/disk/1', 'there']])
  })
})
