// Point 9: a step over related resources.
import { describe, expect, test } from 'vitest'
import { blazar } from '../../catalogues/blazar/index.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'

function clearing(...tools: string[]) {
  const t = new TableTop(workshop)
  t.create('w.site', 's', { properties: { isOpen: false } })
  for (const id of tools) t.place('w.tool', id, 'Idle', { parent: { no: t.get('s').no } })
  t.request('s', 'clear')
  t.done('s')
  return t
}

describe('9 forEach', () => {
  test('9 the items are frozen at entry, one call each, each with its own key', () => {
    const t = clearing('a', 'b')
    t.place('w.tool', 'late', 'Idle', { parent: { no: t.get('s').no } })
    expect(t.owedBy('s')).toEqual(['clean(a)', 'clean(b)'])
    expect(t.call('s', 'a').key).not.toBe(t.call('s', 'b').key)
  })

  test('9 each outcome is a commit: the item moves, the rest is left; with the last one the step ends', () => {
    const t = clearing('a', 'b')
    t.done('s', undefined, 'b')
    expect(t.statuses('s', 'a', 'b')).toEqual(['Clearing', 'Packed', 'Idle'])
    expect(t.owedBy('s')).toEqual(['clean(a)'])
    expect(t.lastEvent('s')).toMatchObject({ kind: 'itemDone', detail: { item: 'b', left: 1 } })
    t.done('s', undefined, 'a')
    expect(t.get('s')).toMatchObject({ status: 'Open', run: null })
  })

  test('9 one that fails does not stop the others; then the step fails with all reasons and the first code', () => {
    const t = clearing('a', 'b', 'c')
    t.failed('s', 'rust', { item: 'a', code: 'Rust' })
    expect(t.statuses('s', 'a')).toEqual(['Clearing', 'Bad'])
    t.done('s', undefined, 'c')
    t.failed('s', 'dirt', { item: 'b', code: 'Dirt' })
    expect(t.get('s').run).toMatchObject({ phase: 'undo', reasons: ['a: rust', 'b: dirt'], code: 'Rust' })
    t.done('s')
    t.done('s')
    expect(t.get('s')).toMatchObject({ status: 'Broken', description: 'clear failed: a: rust, b: dirt' })
  })

  test('9 an item is retried by itself; "again" spends none of its attempts', () => {
    const t = clearing('a', 'b')
    t.again('s', 5_000, 'a')
    expect(t.call('s', 'a')).toMatchObject({ dueAt: t.now + 5_000, name: { attempt: 1 } })
    t.failed('s', 'dirt', { item: 'a', terminal: false })
    expect(t.call('s', 'a').name.attempt).toBe(2)
    expect(t.call('s', 'b')).toMatchObject({ name: { attempt: 1 }, dueAt: 0 })
    t.failed('s', 'dirt', { item: 'a', terminal: false })
    expect(t.owedBy('s')).toEqual(['clean(b)'])
  })

  test('9 an outcome told twice, or of an item that is no longer owed, changes nothing', () => {
    const t = clearing('a', 'b')
    const told = t.ending('s', { kind: 'done', result: null }, 'a')
    t.ok(told)
    expect(t.refused(told).code).toBe('fenced')
  })

  test('9 resumption calls only what is left', () => {
    const t = new TableTop(Object.values(blazar))
    t.now = 0
    const properties = { startDate: 10, endDate: 20, degraded: false }
    t.create('blazar.lease', 'L', {
      properties,
      input: { reservations: [{ resourceType: 'a' }, { resourceType: 'b' }] },
    })
    const [r0, r1] = t.children(t.get('L').no)
    t.done('L', undefined, r0)
    t.done('L', undefined, r1)
    t.request('L', 'start')
    t.done('L', undefined, r1)
    const healed = t.heal('L')
    expect(healed.run).toMatchObject({ phase: 'step', uncertain: true, resumed: 1 })
    expect(t.owedBy('L')).toEqual([`startReservations(${r0!.id})`])
    t.done('L', undefined, r0)
    expect(t.status('L')).toBe('ACTIVE')
  })

  test('9 what is gone meanwhile counts as done', () => {
    const t = clearing('a', 'b')
    t.ok(t.asking('a', 'delete', undefined, { force: true, reason: 'now' }))
    t.done('a')
    expect(t.status('a')).toBe('Gone')
    t.done('s', undefined, 'a')
    t.done('s', undefined, 'b')
    expect(t.get('s')).toMatchObject({ status: 'Open', run: null })
  })

  test('9 no items: the step is done at once, and its status shows only if later steps keep it', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.request('s', 'delete')
    t.done('s')
    expect(t.owedBy('s')).toEqual(['tear'])
    const empty = new TableTop(Object.values(blazar))
    empty.now = 0
    const properties = { startDate: 10, endDate: 20, degraded: false }
    empty.create('blazar.lease', 'L', { properties, input: { reservations: [] } })
    expect(empty.status('L')).toBe('PENDING')
    expect(empty.eventsOf('L').map(({ from, to }) => [from, to])).toEqual([['', 'PENDING']])
    // Its step declares that it creates something; over nothing, it does not.
    expect(empty.get('L').ledger).toEqual([])
  })

  test('9 stopAtFirst goes one by one and begins no further call once one has failed', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    for (const id of ['a', 'b', 'c']) t.place('w.tool', id, 'Idle', { parent: { no: t.get('s').no } })
    t.request('s', 'delete')
    t.done('s')
    expect(t.owedBy('s')).toEqual(['evict(a)'])
    t.done('s', undefined, 'a')
    t.failed('s', 'screwed on', { item: 'b' })
    expect(t.get('s')).toMatchObject({ status: 'Removing', description: 'delete failed: b: screwed on' })
    expect(t.statuses('a', 'b', 'c')).toEqual(['Gone', 'Idle', 'Idle'])
    t.now = t.call('s').dueAt
    expect(t.owedBy('s')).toEqual(['evict(b)'])
    expect(t.get('s').run!.items!.map(({ no }) => t.get(no).id)).toEqual(['b', 'c'])
  })

  test('9 the undo of a step over many is one call with all of them in its results', () => {
    const t = new TableTop(workshop)
    t.create('w.tool', 'x', { parent: shopFor(t), input: { parts: [1, 2] } })
    t.done('x', { kg: 9 })
    const items = t.children(t.get('x').no).map(({ id }) => id)
    expect(t.get('x').run!.results).toEqual({ forge: { kg: 9 }, fix: items })
    t.failed('x', 'bent', { item: items[0]! })
    t.done('x', undefined, items[1]!)
    expect(t.owedBy('x')).toEqual(['loosen'])
    expect(t.get('x').run!.results).toEqual({ forge: { kg: 9 }, fix: items })
    t.done('x')
    expect(t.owedBy('x')).toEqual(['melt'])
  })

  test('9 the deadline of the whole step fails what is left; the answer says what becomes of the items', () => {
    const t = clearing('a', 'b')
    t.done('s', undefined, 'a')
    t.advance(3_600_000)
    t.ok(t.deadline('s'))
    t.done('s')
    t.done('s')
    expect(t.statuses('s', 'a', 'b')).toEqual(['Broken', 'Idle', 'Idle'])
    expect(t.get('s').description).toBe('clear failed: clean was not done in time')
  })
})

function shopFor(t: TableTop) {
  return { no: t.create('w.site', 's').no }
}
