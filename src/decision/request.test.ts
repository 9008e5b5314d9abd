// What a request names, and how it is refused: each refusal says what is wrong and where it stands instead.
import { previous, resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'
import type { RequestOperation } from './command.ts'

const train = resourceType('t.train', {
  properties: z.object({ isLit: z.boolean().default(true) }),
  statuses: { stable: { Stands: 'Stands.' }, failed: { Stuck: 'Stuck.' }, terminal: { Scrap: 'Scrap.' } },
})
const car = resourceType('t.car', {
  properties: z.object({}),
  statuses: { stable: { Full: 'Full.', Empty: 'Empty.' }, terminal: { Scrap: 'Scrap.' } },
})
const depot = resourceType('t.depot', {
  properties: z.object({}),
  statuses: { stable: { Open: 'Open.', Shut: 'Shut.' }, terminal: { Gone: 'Gone.' } },
})
const go = { from: ['Stands'], steps: {}, to: previous, onFailure: 'Stuck' } as const
const trains = train.relations({ cars: { children: car }, depot: { link: depot } }).lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Stands', onFailure: 'Stuck' },
    leave: { ...go, requires: [{ depot: ['Open'] }] },
    carry: { ...go, requires: [{ cars: { every: ['Full'] } }] },
    wash: { ...go, requires: [{ cars: { none: ['Full'] } }] },
    part: { ...go, requires: [{ cars: { exists: false } }] },
    sell: { ...go, requires: [{ cars: { some: ['Full'] } }, { isLit: false }] },
    pull: { ...go, requires: [{ cars: { exists: true } }] },
    scrap: { ...go, to: 'Scrap' },
  },
  heal: {},
})
const cars = car.relations({ train: { parent: train } }).lifecycle({
  operations: { create: { from: [], steps: {}, to: 'Empty', onFailure: 'Scrap' } },
  heal: {},
})
const depots = depot.lifecycle({
  operations: { create: { from: [], steps: {}, to: 'Open', onFailure: 'Gone' } },
  heal: {},
})

function yard(...statuses: string[]) {
  const t = new TableTop([trains, cars, depots])
  t.place('t.depot', 'd', 'Shut')
  t.place('t.train', 't', 'Stands', { links: { depot: 'd' } })
  statuses.forEach((status, i) => t.place('t.car', `c${i}`, status, { parent: { no: t.get('t').no } }))
  return t
}

describe('what is needed and is not so is told with where the others stand', () => {
  const why = (t: TableTop, operation: string) =>
    t.refused(t.asking('t', operation)).message.replace(`Cannot ${operation} t.train t: it needs that `, '')

  test('one that must stand somewhere, and that there is none', () => {
    const t = yard()
    expect(why(t, 'leave')).toBe('depot is Open (it is Shut).')
    t.place('t.train', 'alone', 'Stands')
    expect(t.refused(t.asking('alone', 'leave')).message).toContain('depot is Open (there is none).')
  })

  test('those that stand in the way are named, the first three of many', () => {
    const t = yard('Full', 'Empty', 'Empty')
    expect(why(t, 'carry')).toMatch(/ \(c1 is Empty, c2 is Empty\)\.$/)
    expect(why(t, 'wash')).toMatch(/ \(c0 is Full\)\.$/)
    expect(why(t, 'part')).toMatch(/ \(c0 is Full, c1 is Empty, c2 is Empty\)\.$/)
    const long = yard('Full', 'Full', 'Full', 'Full', 'Full')
    expect(why(long, 'part')).toMatch(/ \(c0 is Full, c1 is Full, c2 is Full, 2 more\)\.$/)
  })

  test('where there are too few, or a property is wrong, nobody stands in the way', () => {
    const t = yard('Empty')
    const { message, details } = t.refused(t.asking('t', 'sell'))
    expect(message).not.toContain('(')
    expect(details).toHaveLength(2)
    expect(message).toContain('; and that ')
    expect(yard().refused(yard().asking('t', 'pull')).message).not.toContain('(')
  })
})

describe('what a request names', () => {
  const ask = (more: Partial<RequestOperation>): RequestOperation => ({
    kind: 'requestOperation',
    type: 't.car',
    operation: 'create',
    by: 'ann',
    ...more,
  })

  test('a parent that there is, is of the right type, lives and is of the same tenant; none where there can be none', () => {
    const t = yard()
    const why = (more: Partial<RequestOperation>) => {
      const { code, message } = t.refused(ask(more))
      expect(code).toBe('parent_invalid')
      return message
    }
    expect(why({ create: {} })).toBe('Every t.car needs a parent of type t.train: give its id.')
    const parent = { type: 't.train', id: 'nix' }
    expect(why({ create: { parent } })).toBe('There is no t.train nix to be the parent of this t.car.')
    const { no } = t.get('d')
    expect(why({ create: { parent: { no } } })).toBe('There is no t.train ~1 to be the parent of this t.car.')
    expect(why({ type: 't.depot', create: { parent: { no } } })).toBe('No t.depot has a parent: leave it out.')
    expect(why({ create: { parent: { no: t.get('t').no }, tenant: 'acme' } })).toBe(
      'The parent of the new t.car belongs to tenant default, not acme.',
    )
    t.ok(ask({ create: { parent: { type: 't.train', id: 't' } }, id: 'c' }))
    expect(t.get('c')).toMatchObject({ parent: t.get('t').no, name: null, createdAt: t.now, tenant: 'default' })
    t.ok(ask({ create: { parent: { type: 't.train', id: `~${t.get('t').no}` } }, id: 'by-number' }))
    t.request('t', 'scrap')
    expect(why({ create: { parent: { type: 't.train', id: 't' } } })).toBe(
      't.train t is Scrap: it can have no new t.car.',
    )
  })

  test('links by their names, to what there is', () => {
    const t = yard()
    const link = (links: Record<string, string>) => t.refused(ask({ type: 't.train', create: { links } }))
    expect(link({ depots: 'd' }).message).toBe("'depots' is no link of t.train. It has depot.")
    expect(link({ cars: 'c' }).message).toBe("'cars' is no link of t.train. It has depot.")
    expect(link({ depot: 'nix' }).details).toEqual(['depot: there is no t.depot nix'])
    expect(link({ depot: `~${t.get('t').no}` }).code).toBe('link_invalid')
    const links = { x: 'y' }
    expect(t.refused(ask({ type: 't.depot', create: { links } })).message).toContain('It has none.')
  })

  test('an operation of this type, a resource of this type, by its id or its number', () => {
    const t = yard('Empty')
    expect(t.refused(t.asking('t', 'fly')).message).toContain('create, leave, carry, wash, part, sell, pull, scrap')
    const part = { type: 't.train', operation: 'part' } as const
    expect(t.refused(ask(part)).message).toBe('There is no t.train (no id given).')
    expect(t.refused(ask({ ...part, no: 77 })).message).toBe('There is no t.train ~25.')
    expect(t.refused(ask({ ...part, no: t.get('c0').no })).code).toBe('resource_not_found')
    expect(t.refused(ask({ ...part, id: `~${t.get('c0').no}` })).message).toBe('There is no t.train ~3.')
    expect(t.refused(ask({ ...part, id: 't', create: {} })).message).toContain("creates nothing: leave 'create' out")
    t.ok(ask({ type: 't.train', operation: 'scrap', id: `~${t.get('t').no}` }))
  })

  test('the revision that was read', () => {
    const t = yard()
    const { revision } = t.get('t')
    const at = (ifRevision: number) => t.asking('t', 'scrap', undefined, { id: 't', ifRevision })
    expect(t.refused(at(9))).toMatchObject({
      message: `t.train t is at revision ${revision}, not 9. Read it again.`,
      details: { revision },
    })
    expect(t.refused(at(0)).message).toContain('not 0.')
    expect(t.refused(at(-1)).message).toContain('not at the one that was named')
    t.ok(at(revision))
  })

  test('an id of at most 200 signs, all of them whole; what is wrong is shown in short', () => {
    const t = yard()
    const named = (id: string) => ask({ type: 't.depot', id, create: {} })
    t.ok(named('x'.repeat(200)))
    expect(t.refused(named('y'.repeat(201))).message).toContain(`'${'y'.repeat(50)}' cannot be an id`)
    expect(t.refused(named('\ud800')).code).toBe('input_invalid')
    const wrong = t.refused(ask({ type: 't.train', create: { properties: { isLit: 1 } } }))
    expect([wrong.code, wrong.details]).toEqual(['properties_invalid', [expect.stringMatching(/^isLit: /)]])
  })

  test('its tenant: that of the new resource, of its parent, of whoever asks', () => {
    const t = yard()
    const made = (more: Partial<RequestOperation>) => t.ok(ask(more)).resource.tenant
    expect(made({ type: 't.depot', create: { tenant: 'acme' } })).toBe('acme')
    expect(made({ type: 't.depot', tenant: 'own', create: {} })).toBe('own')
    expect(made({ type: 't.depot', create: {} })).toBe('default')
    const parent = { no: t.ok(ask({ type: 't.train', create: { tenant: 'acme' } })).resource.no }
    expect(made({ create: { parent } })).toBe('acme')
  })
})

describe('a key', () => {
  test('stands for one request: whatever is asked otherwise is another one', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.create('w.site', 'other')
    const first = t.asking('s', 'delete', { why: 'old' }, { key: 'k', id: 's' })
    t.ok(first)
    const { no, ...byId } = first
    const { id, ...byNo } = first
    const others: RequestOperation[] = [
      { ...first, type: 'w.tool' },
      { ...first, operation: 'close' },
      { ...first, no: t.get('other').no },
      { ...first, id: 'other' },
      { ...first, force: true, reason: 'now' },
      { ...first, create: {} },
      { ...first, input: undefined },
      byId,
      byNo,
    ]
    expect([no, id]).toEqual([t.get('s').no, 's'])
    for (const one of others) expect(t.refused(one).code).toBe('key_reused')
    expect(t.ok({ ...first, by: 'ben', force: false }).begun).toBe(2)
    expect(t.key('k')).toMatchObject({ no, begun: 2, at: t.now })
  })

  test('is kept only where one was given; the lane is the one that was asked for', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    expect(t.request('s', 'close', undefined, { lane: 'background' }).changes.key).toBeNull()
    expect(t.get('s').run).toMatchObject({ lane: 'background' })
    const traced = t.request('s', 'delete', {}, { trace: '00-a-b-01' })
    expect(traced.resource.run).toMatchObject({ lane: 'delete', trace: '00-a-b-01' })
  })
})
