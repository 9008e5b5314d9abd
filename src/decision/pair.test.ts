// Point 13: two resources that always stand in the same status; one side has the operations.
import { resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ovc } from '../../catalogues/ovc/index.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'

const both = ['w.rack/r', 'w.mirror/r'] as const

function racks() {
  const t = new TableTop(workshop)
  t.create('w.rack', 'r')
  return t
}

const on = { stable: { On: 'On.' }, terminal: { Off: 'Off.' } } as const
const lead = resourceType('t.lead', { properties: z.object({ n: z.number() }), statuses: on })
const follow = resourceType('t.follow', { properties: z.object({ n: z.number() }), statuses: on })
const other = resourceType('t.other', { properties: z.object({ n: z.number() }), statuses: on })
const stranger = resourceType('t.stranger', {
  properties: z.strictObject({ word: z.string().default('none') }),
  statuses: on,
})
const create = { create: { from: [], steps: {}, to: 'On', onFailure: 'Off' } } as const
const leads = lead.relations({ follower: { pair: follow } }).lifecycle({ operations: create, heal: {} })
const follows = follow.relations({ leader: { pair: lead } }).lifecycle({ heal: {} })
const others = other.relations({ follower: { pair: stranger } }).lifecycle({ operations: create, heal: {} })
const strangers = stranger.relations({ leader: { pair: other } }).lifecycle({ heal: {} })

const moving = {
  properties: z.object({}),
  statuses: { ...on, transitional: { Rising: 'Rises.', Turning: 'Turns.' } },
} as const
const mover = resourceType('t.mover', moving)
const shadow = resourceType('t.shadow', moving)
const backToOff = { Rising: { status: 'Off' }, Turning: { status: 'Off' } } as const
const movers = mover.relations({ shadow: { pair: shadow } }).lifecycle({
  operations: {
    create: {
      from: [],
      steps: { rise: { during: 'Rising' }, turn: { during: 'Turning' } },
      to: 'On',
      onFailure: 'Off',
    },
  },
  heal: backToOff,
})
const shadows = shadow.relations({ mover: { pair: mover } }).lifecycle({ heal: backToOff })

describe('13 pairs', () => {
  test('13 the follower is created with its leader, under the same id, and shares every status', () => {
    const t = racks()
    expect(t.statuses(...both)).toEqual(['Raising', 'Raising'])
    expect(t.get('w.mirror/r')).toMatchObject({
      links: { pair: t.get('w.rack/r').no },
      run: null,
      holder: { begun: 1 },
    })
    t.done('w.rack/r')
    expect(t.statuses(...both)).toEqual(['Up', 'Up'])
    expect(t.get('w.mirror/r').holder).toBeNull()
    t.request('w.rack/r', 'lower')
    t.failed('w.rack/r', 'stuck')
    expect(t.statuses(...both)).toEqual(['Up', 'Up'])
    t.request('w.rack/r', 'remove')
    t.done('w.rack/r')
    expect(t.statuses(...both)).toEqual(['Gone', 'Gone'])
    expect(t.eventsOf('w.mirror/r').map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ['moved', '', 'Raising'],
      ['moved', 'Raising', 'Up'],
      ['moved', 'Up', 'Lowering'],
      ['moved', 'Lowering', 'Up'],
      ['moved', 'Up', 'Lowering'],
      ['moved', 'Lowering', 'Gone'],
    ])
  })

  test("13 a request to the follower is answered with the leader's name; nor is it put anywhere by hand", () => {
    const t = racks()
    const { code, message } = t.refused(t.asking('w.mirror/r', 'lower'))
    expect([code, message]).toEqual(['operation_unknown', expect.any(String)])
    const stack = new TableTop(Object.values(ovc))
    stack.create('ovc.node', 'n')
    const { no } = stack.get('ovc.stack/n')
    expect(stack.refused({ kind: 'setStatus', no, status: 'ERROR', reason: 'x', by: 'ann' })).toMatchObject({
      code: 'follower_of_pair',
      message: 'ovc.stack n follows ovc.node n: ask that one.',
    })
    expect(
      stack.refused({ kind: 'importResource', type: 'ovc.stack', status: 'ENABLED', properties: {}, by: 'x' }).code,
    ).toBe('follower_of_pair')
  })

  test('13 healing, drift and repair of the leader take the follower along', () => {
    const t = racks()
    t.heal('w.rack/r')
    expect(t.statuses(...both)).toEqual(['Raising', 'Raising'])
    t.ok({ kind: 'setStatus', no: t.get('w.rack/r').no, status: 'Bent', reason: 'seen', by: 'ann' })
    expect(t.statuses(...both)).toEqual(['Bent', 'Bent'])
    const node = new TableTop(Object.values(ovc))
    node.create('ovc.node', 'n')
    node.ok({
      kind: 'observed',
      no: node.get('ovc.node/n').no,
      probe: 'hypervisor',
      answer: 'down',
      observed: null,
      by: 'agent',
    })
    expect(node.statuses('ovc.node/n', 'ovc.stack/n')).toEqual(['ERROR', 'ERROR'])
  })

  test('13 an import brings both in; stuck, the follower is healed with its leader', () => {
    const t = new TableTop(workshop)
    t.place('w.rack', 'r', 'Lowering')
    expect(t.statuses(...both)).toEqual(['Lowering', 'Lowering'])
    expect(t.refused(t.healing('w.mirror/r', 'unowned')).code).toBe('healed_with_owner')
    t.heal('w.rack/r', 'unowned')
    expect(t.statuses(...both)).toEqual(['Bent', 'Bent'])
  })

  test('13 the properties of a follower are those of its leader where they fit it, else its own', () => {
    const t = new TableTop([leads, follows, strangers, others])
    t.create('t.lead', undefined, { properties: { n: 7 } })
    const [lead, follow] = [...t.resources.values()]
    expect(follow).toMatchObject({ type: 't.follow', properties: { n: 7 }, epoch: 1, links: { pair: lead!.no } })
    expect([lead!.id, follow!.id]).toEqual(['~1', '~2'])
    t.create('t.other', 'o', { properties: { n: 7 } })
    expect(t.get('t.stranger/o').properties).toEqual({ word: 'none' })
    expect(
      t.refused({ kind: 'importResource', type: 't.follow', id: 'x', status: 'On', properties: {}, by: 'ann' }).code,
    ).toBe('follower_of_pair')
  })

  test('13 it follows from step to step, too', () => {
    const t = new TableTop([movers, shadows])
    t.create('t.mover', 'm')
    const twins = ['t.mover/m', 't.shadow/m'] as const
    expect(t.statuses(...twins)).toEqual(['Rising', 'Rising'])
    t.advance(5)
    t.done('t.mover/m')
    expect(t.statuses(...twins)).toEqual(['Turning', 'Turning'])
    expect(t.get('t.shadow/m').since).toBe(t.now)
    expect(t.lastEvent('t.shadow/m')).toMatchObject({ kind: 'moved', begun: 0, detail: { with: 't.mover m' } })
    t.done('t.mover/m')
    expect(t.statuses(...twins)).toEqual(['On', 'On'])
  })

  test('13 found different, the follower takes the status of a leader that is settled', () => {
    const t = racks()
    t.done('w.rack/r')
    const mirror = t.get('w.mirror/r')
    t.checks.apart.add(mirror.no)
    t.resources.set(mirror.no, { ...mirror, status: 'Lowering' })
    expect(t.heal('w.mirror/r', 'unowned').status).toBe('Up')
  })

  test('13 found different, the follower is put right by whatever its leader does next', () => {
    const t = racks()
    t.done('w.rack/r')
    const mirror = t.get('w.mirror/r')
    t.checks.apart.add(mirror.no)
    t.resources.set(mirror.no, { ...mirror, status: 'Bent' })
    t.ok({ kind: 'setStatus', no: t.get('w.rack/r').no, status: 'Up', reason: 'look', by: 'ann' })
    expect(t.statuses(...both)).toEqual(['Up', 'Up'])
  })
})
