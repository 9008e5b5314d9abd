// What somebody of one tenant names of another is as if it were not there, decided in the commit that would take it.
import { previous, resourceType } from 'homeostat'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { TableTop } from '../testing/table-top.ts'
import { explain, type Pace } from './explain.ts'

const house = resourceType('t.house', {
  properties: z.object({}),
  statuses: { stable: { Stands: 'Stands.' }, transitional: {}, terminal: { Gone: 'Gone.' } },
})
const lamp = resourceType('t.lamp', {
  properties: z.object({}),
  statuses: { stable: { Shines: 'Shines.' }, transitional: { Carried: 'Carried.' }, terminal: { Gone: 'Gone.' } },
})
const houses = house.relations({ lamps: { children: lamp } }).lifecycle({
  operations: { create: { from: [], steps: {}, to: 'Stands', onFailure: 'Gone' } },
  heal: {},
})
const lamps = lamp.relations({ house: { parent: house }, beside: { link: house }, under: { link: house } }).lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Shines', onFailure: 'Gone' },
    carry: {
      from: ['Shines'],
      input: z.object({ to: z.string() }),
      steps: { walk: { during: { status: 'Carried', link: { beside: ({ input }) => input.to } } } },
      to: 'Shines',
      onFailure: previous,
    },
  },
  heal: { Carried: { resume: true } },
})

const asked = { kind: 'requestOperation', by: 'ann', operation: 'create' } as const
const parentOf = (id: string) => ({ type: 't.house', id })

function street(): TableTop {
  const t = new TableTop([houses, lamps])
  for (const tenant of ['red', 'blue'])
    t.ok({ ...asked, type: 't.house', id: `${tenant}-house`, tenant, create: { properties: {} } })
  const create = { parent: parentOf('red-house'), links: { under: 'red-house' } }
  t.ok({ ...asked, type: 't.lamp', id: 'lamp', tenant: 'red', create })
  return t
}

/** For what is another's and for what never was: the same but for the name. */
function alike(t: TableTop, command: (id: string) => Parameters<TableTop['refused']>[0]): string {
  const told = (id: string) => {
    const { code, message } = t.refused(command(id))
    return `${code} ${message.replaceAll(id, '?')}`
  }
  expect(told('blue-house')).toBe(told('never-was'))
  return told('never-was').split(' ', 1)[0]!
}

test('a parent and a link of another tenant', () => {
  const t = street()
  const creating = (create: object) => ({ ...asked, type: 't.lamp', id: 'new', tenant: 'red', create })
  expect(alike(t, (id) => creating({ parent: parentOf(id) }))).toBe('parent_invalid')
  expect(alike(t, (id) => creating({ parent: parentOf('red-house'), links: { beside: id } }))).toBe('link_invalid')
  t.ok(creating({ parent: parentOf('red-house'), links: { beside: 'red-house' } }))
})

test('a resource of another tenant in the input of an operation, where it links', () => {
  const t = street()
  const carrying = (to: string, tenant?: string) =>
    ({ ...asked, type: 't.lamp', id: 'lamp', operation: 'carry', input: { to }, tenant }) as const
  expect(alike(t, (id) => carrying(id, 'red'))).toBe('link_invalid')
  // Who works in all tenants may.
  expect(t.ok(carrying('blue-house')).resource.status).toBe('Carried')
  expect(t.get('lamp').links).toEqual({ beside: t.get('blue-house').no, under: t.get('red-house').no })
})

test('what comes in', () => {
  const t = street()
  const incoming = { kind: 'importResource', type: 't.lamp', status: 'Shines', properties: {}, by: 'ann' } as const
  const within = { tenant: 'red', within: 'red' }
  expect(alike(t, (id) => ({ ...incoming, ...within, parent: parentOf(id) }))).toBe('parent_invalid')
  expect(alike(t, (id) => ({ ...incoming, ...within, links: { beside: id } }))).toBe('link_invalid')
  t.ok({ ...incoming, ...within, parent: parentOf('red-house'), links: { beside: 'red-house' } })
})

test('an id that an address cannot hold is refused', () => {
  const t = street()
  for (const id of ['.', '..', 'a/b', '~a', ''])
    expect(t.refused({ ...asked, type: 't.house', id, create: {} }).code, id).toBe('input_invalid')
  t.ok({ ...asked, type: 't.house', id: '...', create: {} })
})

const plug = resourceType('t.plug', {
  properties: z.object({}),
  statuses: { stable: { Free: 'Free.' }, transitional: { Turning: 'Turning.' }, terminal: { Gone: 'Gone.' } },
})
const radio = resourceType('t.radio', {
  properties: z.object({}),
  statuses: {
    stable: { Plays: 'Plays.' },
    transitional: { Waits: 'Waits.', Tuned: 'Tuned.' },
    terminal: { Gone: 'Gone.' },
  },
})
const plugs = plug.relations({ radios: { linkedBy: radio, as: 'plug' } }).lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Free', onFailure: 'Gone' },
    remove: {
      from: ['Free'],
      requires: [{ radios: { every: ['Gone'] }, says: 'no radio uses it' }],
      steps: {},
      to: 'Gone',
      onFailure: previous,
    },
    turn: {
      from: ['Free'],
      steps: { twist: { during: { status: 'Turning', move: { radios: 'Waits' } } } },
      to: { status: 'Free', move: { radios: 'Plays' } },
      onFailure: previous,
    },
  },
  heal: { Turning: { resume: true } },
})
const radios = radio.relations({ plug: { link: plug } }).lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Plays', onFailure: 'Gone' },
    tune: { from: ['Plays'], steps: { listen: { during: 'Tuned' } }, to: 'Plays', onFailure: previous },
  },
  moves: [
    { from: ['Plays', 'Tuned'], to: 'Waits', by: 'plug' },
    { from: ['Waits'], to: 'Plays', by: 'plug' },
  ],
  heal: { Waits: { resume: true, unowned: { status: 'Plays' } }, Tuned: { resume: true } },
})

test('where somebody of all tenants has linked two of them, reasons and explanations name what is of the other to nobody', () => {
  const t = new TableTop([plugs, radios])
  t.ok({ ...asked, type: 't.plug', id: 'red-plug', tenant: 'red', create: { properties: {} } })
  for (const tenant of ['red', 'blue']) {
    const create = { properties: {}, tenant, links: { plug: 'red-plug' } }
    t.ok({ ...asked, type: 't.radio', id: `${tenant}-radio`, create })
  }
  const of = (operation: string, tenant?: string) =>
    ({ ...asked, type: 't.plug', id: 'red-plug', operation, tenant }) as const
  expect(t.refused(of('remove')).message).toContain('(red-radio is Plays, blue-radio is Plays)')
  expect(t.refused(of('remove', 'red')).message).toContain('(red-radio is Plays, one of another tenant is Plays)')

  t.ok({ ...asked, type: 't.radio', id: 'blue-radio', operation: 'tune' })
  expect(t.refused(of('turn')).message).toContain('Cannot move t.radio blue-radio')
  expect(t.refused(of('turn', 'red')).message).toContain('Cannot move a t.radio of another tenant')
  t.done('blue-radio')

  t.ok(of('turn'))
  const pace: Pace = { leaseMs: 1, healEveryMs: 1, isAlive: () => true, held: () => null, isSwept: () => true }
  const told = (within?: string) => JSON.stringify(explain(t.plans, t, t.get('blue-radio'), pace, { within }))
  expect(told()).toMatch(/of t\.plug red-plug moved it there.*Of t\.plug red-plug/)
  expect(told('blue')).toMatch(/of a t\.plug of another tenant moved it there.*Of a t\.plug of another tenant/)
  expect(told('blue')).not.toContain('red')
})
