// Point 18: what may exist in the real world is written before it is made, and leaves the ledger only when it is known to be gone.
import { describe, expect, test } from 'vitest'
import { opensds } from '../../catalogues/opensds/index.ts'
import { databases } from '../../examples/database.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'
import { sweepLeaseMs } from './sweep-orphan.ts'

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
    t.ok(ended('swept', 2))
    expect(ledger(t)).toEqual([])
    expect(t.refused(sweep(1)).code).toBe('orphan_not_found')
  })

  test('18 a sweeper that is silent for long loses it', () => {
    const { t, sweep, ended } = orphaned()
    t.ok(sweep(1))
    t.advance(sweepLeaseMs)
    t.ok(sweep(2))
    expect(t.refused(ended('swept', 1)).code).toBe('fenced')
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
