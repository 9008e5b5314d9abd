// Point 9: a step over related resources.
import { resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { blazar } from '../../catalogues/blazar/index.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'

const shelf = resourceType('t.shelf', {
  properties: z.object({ most: z.number().default(9) }),
  statuses: { stable: { Neat: 'Neat.' }, transitional: { Dusting: 'Dusted.' }, failed: { Messy: 'Messy.' } },
})
const book = resourceType('t.book', {
  properties: z.object({ pages: z.number() }),
  statuses: {
    stable: { Dusty: 'Dusty.', Clean: 'Clean.' },
    transitional: { Lent: 'Lent.' },
    failed: { Torn: 'Torn.' },
    terminal: { Lost: 'Lost.' },
  },
})
const shelves = shelf.relations({ books: { children: book } }).lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Neat', onFailure: 'Messy' },
    dust: {
      from: ['Neat', 'Messy'],
      force: '5s',
      steps: {
        wipe: {
          during: 'Dusting',
          forEach: {
            books: {
              in: ['Dusty'],
              only: {
                says: 'thin enough',
                test: ({ item, resource }) => item.properties.pages < resource.properties.most,
              },
              done: 'Clean',
              failed: 'Torn',
            },
          },
          creates: 'dust',
          result: z.object({ grams: z.number() }),
          progress: '1m',
          retry: { times: 1, first: '10s' },
        },
      },
      to: 'Neat',
      onFailure: 'Messy',
    },
  },
  heal: { Dusting: { resume: true, unowned: { status: 'Messy' } } },
})
const books = book.relations({ shelf: { parent: shelf } }).lifecycle({
  begins: ['Dusty'],
  moves: [
    { from: ['Dusty', 'Lent'], to: 'Clean', by: 'shelf' },
    { from: ['Dusty', 'Lent'], to: 'Torn', by: 'shelf' },
  ],
  operations: { lend: { from: ['Dusty'], steps: { carry: { during: 'Lent' } }, to: 'Clean', onFailure: 'Torn' } },
  heal: { Lent: { status: 'Dusty' } },
})

function library(...pages: number[]) {
  const t = new TableTop([shelves, books])
  t.create('t.shelf', 's')
  pages.forEach((n, i) =>
    t.place('t.book', `b${i}`, 'Dusty', { parent: { no: t.get('s').no }, properties: { pages: n } }),
  )
  return t
}

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

  test('9 only those that fit are gone over, each as it is then', () => {
    const t = library(3, 30, 8, 9)
    t.request('s', 'dust')
    expect(t.owedBy('s')).toEqual(['wipe(b0)', 'wipe(b2)'])
    t.request('b0', 'lend')
    t.done('s', { grams: 1 }, 'b0')
    expect(t.get('b0')).toMatchObject({ status: 'Clean', run: null })
    t.done('s', { grams: 1 }, 'b2')
    expect(t.statuses('s', 'b0', 'b1', 'b2', 'b3')).toEqual(['Neat', 'Clean', 'Dusty', 'Clean', 'Dusty'])
    expect(t.get('s').ledger).toMatchObject([{ kind: 'dust', state: 'there' }])
  })

  test('9 what an item is answered is judged like every result', () => {
    const t = library(1)
    t.request('s', 'dust')
    t.done('s', { grams: 'few' }, 'b0')
    expect(t.lastEvent('s')).toMatchObject({ kind: 'attemptFailed', detail: { code: 'invalid_result', item: 'b0' } })
    expect(t.call('s', 'b0').name.attempt).toBe(2)
    t.answered('s', 'clean')
    expect(t.get('s')).toMatchObject({ status: 'Messy', description: expect.stringContaining('as if it were a probe') })
    expect(t.status('b0')).toBe('Torn')
  })

  test('9 it hangs when nothing is heard of any of them, counted from when the next is due', () => {
    const t = library(1, 2)
    t.request('s', 'dust')
    expect(t.get('s').run!.progressAt).toBe(t.now + 60_000)
    t.advance(50_000)
    t.done('s', { grams: 1 }, 'b0')
    expect(t.get('s').run!.progressAt).toBe(t.now + 60_000)
    t.again('s', 30_000, 'b1')
    expect(t.get('s').run!.progressAt).toBe(t.now + 90_000)
    t.advance(90_000)
    t.ok(t.deadline('s'))
    expect(t.get('s')).toMatchObject({ status: 'Messy', description: 'dust failed: wipe made no progress in time' })
  })

  test('9 of two that wait, the earlier one counts', () => {
    const t = library(1, 2)
    t.request('s', 'dust')
    t.again('s', 30_000, 'b0')
    t.again('s', 10_000, 'b1')
    expect(t.get('s').run!.progressAt).toBe(t.now + 70_000)
  })

  test('9 forced, nothing is watched for progress; what it makes is confirmed only if all were done', () => {
    const force = { force: true, reason: 'now' }
    const t = library(1, 2)
    t.request('s', 'dust', undefined, force)
    expect(t.get('s').run).toMatchObject({ progressAt: 0, deadlineAt: t.now + 5_000 })
    t.done('s', { grams: 1 }, 'b0')
    expect(t.get('s').run!.progressAt).toBe(0)
    t.heal('s')
    expect(t.get('s').run).toMatchObject({ progressAt: 0, deadlineAt: t.now + 5_000 })
    t.done('s', { grams: 1 }, 'b1')
    expect(t.get('s').ledger).toMatchObject([{ state: 'there' }])
    const torn = library(1, 2)
    torn.request('s', 'dust', undefined, force)
    torn.failed('s', 'thin', { item: 'b0' })
    torn.done('s', { grams: 1 }, 'b1')
    expect(torn.get('s')).toMatchObject({ status: 'Neat', ledger: [{ state: 'unknown' }] })
    expect(torn.get('s').description).toBe('Forced: now, b0: thin')
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

  test('9 where nothing is left to go over when it is tried again, it goes on at once, and says what failed', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.place('w.tool', 'a', 'Idle', { parent: { no: t.get('s').no } })
    t.request('s', 'delete')
    t.done('s')
    t.ok({ kind: 'setStatus', no: t.get('a').no, status: 'Gone', reason: 'stolen', by: 'ann' })
    t.failed('s', 'nailed', { item: 'a' })
    expect(t.owedBy('s')).toEqual(['tear'])
    expect(t.get('s')).toMatchObject({ description: 'delete failed: a: nailed', run: { dueAt: 0, items: null } })
  })

  test('9 items that wait are retried at once by whoever asks for it', () => {
    const t = clearing('a', 'b')
    const { no } = t.get('s')
    expect(t.refused({ kind: 'retryRun', no, by: 'ann' }).code).toBe('run_not_parked')
    t.failed('s', 'dirt', { item: 'a', terminal: false })
    t.ok({ kind: 'retryRun', no, by: 'ann' })
    expect(t.call('s', 'a')).toMatchObject({ dueAt: 0, name: { attempt: 1 } })
    t.failed('s', 'dirt', { item: 'a', terminal: false })
    t.now = t.call('s', 'a').dueAt
    expect(t.refused({ kind: 'retryRun', no, by: 'ann' }).code).toBe('run_not_parked')
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
