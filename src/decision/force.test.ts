// Point 17: forced, an operation goes on whatever happens; what it could not confirm is left to the sweeper, and said.
import { describe, expect, test } from 'vitest'
import { sahara } from '../../catalogues/sahara/index.ts'
import { databases } from '../../examples/database.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'

const force = { force: true, reason: 'the rack burns' }

function built() {
  const t = new TableTop(Object.values(sahara))
  const properties = { counts: { w: 1 }, isTransient: false, isProtected: false, unfinishedJobs: 0 }
  t.create('sahara.cluster', 'c', { properties })
  while (t.get('c').run !== null) t.done('c')
  return t
}

describe('17 force', () => {
  test('17 it needs a declaration that allows it, and a reason', () => {
    const t = built()
    for (const reason of [undefined, '', ' '])
      expect(t.refused(t.asking('c', 'delete', undefined, { force: true, reason })).code).toBe('reason_required')
    expect(t.refused(t.asking('c', 'scale', { counts: {} }, force))).toMatchObject({
      code: 'not_forceable',
      message: 'Cannot force scale of sahara.cluster c: only delete can be forced.',
    })
    const none = new TableTop([databases])
    none.place('shop.database', 'd', 'Ready', { properties: { sizeGb: 1 } })
    expect(none.refused(none.asking('d', 'delete', undefined, force)).message).toContain(
      'declares no operation with `force`',
    )
  })

  test('17 each step is tried once and briefly; failure and silence go on', () => {
    const t = built()
    t.request('c', 'delete', undefined, force)
    expect(t.get('c').run).toMatchObject({ forced: true, deadlineAt: t.now + 30_000, progressAt: 0 })
    t.failed('c', 'heat down', { terminal: false })
    expect(t.owedBy('c')).toEqual(['onTerminate'])
    t.failed('c', 'heat down', { terminal: false })
    expect(t.owedBy('c')).toEqual(['terminateInstances'])
    t.advance(30_000)
    t.ok(t.deadline('c'))
    expect(t.owedBy('c')).toEqual(['detachJobs'])
    t.unknown('c')
    expect(t.owedBy('c')).toEqual(['deleteTrust'])
    t.unknown('c')
    expect(t.status('c')).toBe('gone')
  })

  test('17 what was not confirmed becomes an orphan; description, history and record say forced and why', () => {
    const t = built()
    t.request('c', 'delete', undefined, force)
    for (let n = 0; t.get('c').run !== null; n++) t.failed('c', `no ${n}`)
    expect(t.get('c')).toMatchObject({ status: 'gone', ledger: [{ kind: 'machine', state: 'orphaned' }] })
    expect(t.get('c').description).toBe('Forced: the rack burns, no 0, no 1, no 2, no 3, no 4')
    expect(t.ended.at(-1)).toMatchObject({ operation: 'delete', outcome: 'forced' })
    expect(t.eventsOf('c').find(({ detail }) => detail?.['operation'] === 'delete')!.detail).toMatchObject({
      forced: 'the rack burns',
    })
  })

  test('17 what was confirmed is no orphan', () => {
    const t = built()
    t.request('c', 'delete', undefined, force)
    while (t.get('c').run !== null) t.done('c')
    expect(t.get('c')).toMatchObject({ ledger: [], description: 'Forced: the rack burns' })
  })

  test('17 a step may be left out when forced, and it is said', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.request('s', 'delete', {}, force)
    expect(t.owedBy('s')).toEqual(['tear'])
    expect(t.lastEvent('s').detail).toMatchObject({ skipped: ['warn: forced'], forced: 'the rack burns', next: 'tear' })
  })

  test('17 over many it tries all, also past the first failure, and confirms nothing if one failed', () => {
    const t = new TableTop(workshop)
    t.place('w.site', 's', 'Open', { ledger: [{ kind: 'house', ref: 1 }] })
    for (const id of ['a', 'b']) t.place('w.tool', id, 'Idle', { parent: { no: t.get('s').no } })
    t.request('s', 'delete', {}, force)
    t.failed('s', 'nailed', { item: 'a' })
    expect(t.owedBy('s')).toEqual(['evict(b)'])
    t.done('s', undefined, 'b')
    expect(t.owedBy('s')).toEqual(['tear'])
    t.failed('s', 'too big')
    expect(t.get('s')).toMatchObject({ status: 'Gone', ledger: [{ kind: 'house', state: 'orphaned' }] })
    expect(t.get('a')).toMatchObject({ status: 'Gone' })
    expect(t.get('s').description).toBe('Forced: the rack burns, a: nailed, too big')
  })

  test('17 it goes over a delete that is tried again and again, at once', () => {
    const t = built()
    t.request('c', 'delete')
    t.failed('c', 'heat down')
    const { begun } = t.request('c', 'delete', undefined, force)
    expect(t.get('c').run).toMatchObject({ begun, forced: true, dueAt: 0 })
  })

  test('17 whoever asks for it again without force gets the forced run, as long as it moves; nobody takes the force from it', () => {
    const t = built()
    const { begun } = t.request('c', 'delete', undefined, force)
    expect(t.request('c', 'delete').begun).toBe(begun)
    expect(t.get('c').run).toMatchObject({ begun, forced: true })
    const tool = new TableTop(workshop)
    tool.create('w.site', 's')
    const forced = tool.request('s', 'delete', { why: 'fire' }, force)
    expect(tool.request('s', 'delete', {}).begun).toBe(forced.begun)
    t.advance(60_000)
    expect(t.request('c', 'delete').begun).not.toBe(begun)
  })

  test('17 it cannot be cancelled', () => {
    const t = built()
    t.request('c', 'delete', undefined, force)
    expect(t.refused({ kind: 'cancelRun', no: t.get('c').no, by: 'ann', reason: 'x' }).message).toContain(
      'it is forced',
    )
  })

  test('17 healed, it goes on forced', () => {
    const t = built()
    t.request('c', 'delete', undefined, force)
    t.heal('c')
    expect(t.get('c').run).toMatchObject({ forced: true, phase: 'step', deadlineAt: t.now + 30_000 })
    const tool = new TableTop(workshop)
    tool.create('w.site', 's')
    tool.create('w.tool', 'a', { parent: { no: tool.get('s').no } })
    tool.request('a', 'delete', undefined, force)
    tool.heal('a')
    expect(tool.get('a').run).toMatchObject({ forced: true, operation: 'delete', reasons: ['the rack burns'] })
  })
})
