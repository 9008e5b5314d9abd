// Point 14: rules are judged on the state to be committed.
import { previous, resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { blazar } from '../../catalogues/blazar/index.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'

const ship = resourceType('t.ship', {
  properties: z.object({ isLoaded: z.boolean().default(false) }),
  statuses: {
    stable: { Docked: 'In port.', AtSea: 'At sea.' },
    transitional: { Leaving: 'Leaves.', Sinking: 'Sinks.' },
    failed: { Wrecked: 'Wrecked.' },
    terminal: { Sunk: 'Gone.' },
  },
})
const sailor = resourceType('t.sailor', {
  properties: z.object({}),
  statuses: {
    stable: { Ashore: 'Ashore.', Aboard: 'Aboard.' },
    transitional: { Walking: 'Walks.' },
    terminal: { Drowned: 'Gone.' },
  },
})
const ships = ship.relations({ crew: { children: sailor }, master: { link: sailor } }).lifecycle({
  rules: {
    manned: {
      says: 'no ship is at sea without its crew',
      holds: {
        AtSea: { crew: { every: ['Aboard'] } },
        Leaving: [{ isLoaded: true }, { crew: { some: ['Aboard'] } }],
        Wrecked: { crew: { none: ['Aboard'] } },
        Sunk: { crew: { exists: false } },
      },
    },
  },
  operations: {
    create: { from: [], steps: {}, to: 'Docked', onFailure: 'Sunk' },
    leave: {
      from: ['Docked'],
      steps: { cast: { during: 'Leaving' }, sail: { during: { status: 'Leaving', set: { isLoaded: false } } } },
      to: 'AtSea',
      onFailure: [{ code: ['Storm'], status: 'Wrecked' }, { status: previous }],
    },
    sink: { from: ['Docked', 'AtSea'], steps: { drill: { during: 'Sinking' } }, to: 'Sunk', onFailure: 'Wrecked' },
  },
  heal: { Leaving: { status: 'AtSea' }, Sinking: { status: 'Sunk' } },
})
const sailors = sailor.relations({ ship: { parent: ship } }).lifecycle({
  operations: {
    walk: { from: ['Ashore', 'Aboard'], steps: { step: { during: 'Walking' } }, to: 'Aboard', onFailure: 'Ashore' },
    jump: { from: ['Aboard'], steps: {}, to: 'Ashore', onFailure: 'Aboard' },
    drown: { from: ['Ashore', 'Aboard'], steps: {}, to: 'Drowned', onFailure: 'Ashore' },
  },
  heal: { Walking: { status: 'Ashore' } },
})

const root = resourceType('t.root', {
  properties: z.object({}),
  statuses: { stable: { Free: 'Free.', Ill: 'Ill.', ByTwigs: '-', ByLeaves: '-', ByFans: '-', Loved: '-' } },
})
const twig = resourceType('t.twig', {
  properties: z.object({ isFirst: z.boolean().default(false) }),
  statuses: { stable: { Free: 'Free.', Ill: 'Ill.', ByRoot: '-', ByLeaf: '-' } },
})
const leaf = resourceType('t.leaf', {
  properties: z.object({ isFirst: z.boolean().default(false) }),
  statuses: { stable: { Free: 'Free.', Ill: 'Ill.', BySiblings: '-', ByFriend: '-', ByTwig: '-' } },
})
const healthy = { none: ['Ill'] } as const
const rooted = root.relations({
  twigs: { children: twig },
  leaves: { descendants: leaf },
  fans: { linkedBy: leaf, as: 'friend' },
})
const roots = rooted.lifecycle({
  begins: ['Free'],
  rules: {
    well: {
      says: 'all are well',
      holds: {
        ByTwigs: { twigs: healthy },
        ByLeaves: { leaves: healthy },
        ByFans: { fans: healthy },
        Loved: { fans: { exists: true } },
      },
    },
  },
  heal: {},
})
const twigs = twig.relations({ root: { parent: root }, first: { child: leaf, where: { isFirst: true } } }).lifecycle({
  begins: ['Free'],
  rules: { well: { says: 'all are well', holds: { ByRoot: { root: ['Free'] }, ByLeaf: { first: ['Free'] } } } },
  heal: {},
})
const leaves = leaf
  .relations({ twig: { parent: twig }, others: { siblings: leaf }, friend: { link: root } })
  .lifecycle({
    begins: ['Free'],
    operations: {
      part: { from: ['Free'], steps: {}, to: { status: 'Free', link: { friend: null } }, onFailure: 'Ill' },
    },
    rules: {
      well: {
        says: 'all are well',
        holds: { BySiblings: { others: healthy }, ByFriend: { friend: ['Free'] }, ByTwig: { twig: ['Free'] } },
      },
    },
    heal: {},
  })

/** Two trees; what looks at others stands in the first, all others are free. */
function grove(looking: string, status: string) {
  const t = new TableTop([roots, twigs, leaves])
  const stands = (id: string) => (id === looking ? status : 'Free')
  t.place('t.root', 'friend', stands('friend'))
  for (const tree of ['', '2']) {
    const { no } = t.place('t.root', `root${tree}`, stands(`root${tree}`))
    const { no: on } = t.place('t.twig', `twig${tree}`, stands(`twig${tree}`), { parent: { no } })
    const links = { friend: tree === '' ? 'friend' : 'root2' }
    t.place('t.leaf', `leaf${tree}`, stands(`leaf${tree}`), {
      parent: { no: on },
      links,
      properties: { isFirst: true },
    })
    t.place('t.leaf', `twin${tree}`, stands(`twin${tree}`), { parent: { no: on } })
  }
  return t
}

function harbour(status: string, ...crew: string[]) {
  const t = new TableTop([ships, sailors])
  t.place('t.ship', 's', status)
  crew.forEach((one, i) => t.place('t.sailor', `c${i}`, one, { parent: { no: t.get('s').no } }))
  return t
}

describe('14 rules', () => {
  test('14 a request that would break a rule is refused with the row in words, and changes nothing', () => {
    const t = harbour('Docked', 'Ashore')
    const { code, message } = t.refused(t.asking('s', 'leave'))
    expect(code).toBe('rule_breached')
    expect(message).toContain('t.ship s would be Leaving, which needs that')
    expect(message).toContain('no ship is at sea without its crew')
    expect(t.get('s')).toMatchObject({ status: 'Docked', run: null, revision: 1 })
  })

  test('14 any row of a status is enough', () => {
    expect(harbour('Docked', 'Ashore', 'Aboard').request('s' as never, 'leave').resource.status).toBe('Leaving')
  })

  test('14 a change of a related resource is judged by whoever looks at it', () => {
    const t = harbour('AtSea', 'Aboard')
    const { code, message } = t.refused(t.asking('c0', 'jump'))
    expect([code, message]).toEqual(['rule_breached', expect.stringContaining('t.ship s would be AtSea')])
    t.request('c0', 'drown')
    expect(t.statuses('s', 'c0')).toEqual(['AtSea', 'Drowned'])
  })

  test('14 a run whose landing would break a rule is failed by its own answer', () => {
    const t = harbour('Docked', 'Aboard', 'Ashore')
    t.request('s', 'leave')
    t.done('s')
    t.done('s')
    expect(t.get('s')).toMatchObject({ status: 'Docked', run: null })
    expect(t.get('s').description).toContain('leave failed: t.ship s would be AtSea, which needs that')
    expect(t.lastEvent('s')).toMatchObject({ kind: 'landed', detail: { code: 'rule_breached', failed: true } })
  })

  test('14 when that breaks a rule, too, it parks with an incident, and can be tried again when the world has changed', () => {
    const t = harbour('Docked', 'Aboard')
    t.request('s', 'sink')
    t.done('s')
    expect(t.get('s')).toMatchObject({ status: 'Sinking', run: { parked: { code: 'rule_breached' } } })
    expect(t.incidents).toMatchObject([
      {
        no: t.get('s').no,
        kind: 'rule_breached',
        status: 'Sinking',
        text: expect.stringMatching(/^t\.ship s cannot go on from Sinking: t\.ship s would be Sunk/),
        evidence: { properties: { isLoaded: false }, operation: 'sink', step: 0 },
      },
    ])
    expect(t.refused(t.healing('s', 'overdue')).code).toBe('not_stuck')
    t.request('c0', 'drown')
    t.ok({ kind: 'retryRun', no: t.get('s').no, by: 'ann' })
    expect(t.done('s').status).toBe('Sunk')
  })

  test('14 a failure that is answered otherwise, because its answer would break a rule, keeps its own reason', () => {
    const t = harbour('Docked', 'Aboard', 'Ashore')
    t.request('s', 'leave')
    t.failed('s', 'gale', { code: 'Storm' })
    expect(t.get('s')).toMatchObject({ status: 'Docked', run: null })
    expect(t.get('s').description).toMatch(/^leave failed: gale, t.ship s would be Wrecked/)
  })

  test('14 so it is however the step ended: by a callback, or by its deadline', () => {
    const called = harbour('Docked', 'Aboard', 'Ashore')
    called.request('s', 'leave')
    const { no } = called.get('s')
    const { key } = called.call('s')
    const gale = { kind: 'failed', code: 'Storm', reason: 'gale', terminal: true } as const
    called.ok({ kind: 'completeStep', no, key, outcome: gale, by: 'harbour' })
    expect(called.get('s').description).toMatch(/^leave failed: gale, t.ship s would be Wrecked/)
    const late = harbour('Docked', 'Aboard')
    late.request('s', 'sink')
    late.advance(3_600_000)
    late.ok(late.deadline('s'))
    expect(late.get('s')).toMatchObject({ status: 'Sinking', run: { parked: { code: 'rule_breached' } } })
  })

  test('14 a healing that would break a rule is replaced by the failure answer, then parked, never a silent loop', () => {
    const t = harbour('Docked', 'Aboard', 'Ashore')
    t.request('s', 'leave')
    t.heal('s')
    expect(t.status('s')).toBe('Docked')
    const unowned = harbour('Leaving', 'Aboard', 'Ashore')
    unowned.heal('s', 'unowned')
    expect(unowned.get('s')).toMatchObject({
      status: 'Leaving',
      run: { kind: 'heal', parked: { code: 'rule_breached' } },
    })
    expect(unowned.refused(unowned.healing('s', 'unowned')).code).toBe('not_stuck')
    expect(unowned.refused({ kind: 'retryRun', no: unowned.get('s').no, by: 'ann' }).code).toBe('rule_breached')
    unowned.request('c1', 'walk')
    unowned.done('c1')
    unowned.ok({ kind: 'retryRun', no: unowned.get('s').no, by: 'ann' })
    expect(unowned.get('s')).toMatchObject({ status: 'AtSea', run: null })
  })

  test('14 an import may break rules; they bind from the first change of what they look at', () => {
    const t = harbour('AtSea', 'Ashore', 'Aboard')
    t.place('t.sailor', 'stowaway', 'Ashore', { parent: { no: t.get('s').no } })
    expect(t.status('s')).toBe('AtSea')
    expect(t.refused(t.asking('c1', 'walk')).code).toBe('rule_breached')
    expect(t.request('s', 'sink').resource.status).toBe('Sinking')
  })

  test('14 what changes nothing that a rule looks at is not held up by a state that was broken from outside', () => {
    const t = harbour('Docked', 'Aboard')
    t.claimant = 0
    t.request('s', 'leave')
    t.resources.set(t.get('c0').no, { ...t.get('c0'), status: 'Ashore' })
    const { no } = t.get('s')
    t.ok({ kind: 'claim', no, owner: 1, by: 'worker' })
    t.ok({ kind: 'progressReported', no, epoch: t.get('s').epoch, text: 'half', by: 'worker' })
    t.ok({ kind: 'handOver', no, epoch: t.get('s').epoch, by: 'worker' })
  })

  test('14 rules are judged over parents, children and links: also when a link is taken away', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.create('w.rack', 'r')
    t.done('w.rack/r')
    t.place('w.tool', 'a', 'Idle', { parent: { no: t.get('s').no } })
    t.request('a', 'hang', { rack: 'r' })
    t.done('a')
    t.request('w.rack/r', 'lower')
    t.done('w.rack/r')
    expect(t.get('w.rack/r')).toMatchObject({
      status: 'Up',
      description: expect.stringContaining('a rack with tools stands'),
    })
    t.request('a', 'delete')
    t.done('a')
    t.request('w.rack/r', 'lower')
    expect(t.done('w.rack/r').status).toBe('Down')
  })

  test.each([
    ['its parent', 'leaf', 'ByTwig', 'twig'],
    ['its parent', 'twig', 'ByRoot', 'root'],
    ['its siblings', 'leaf', 'BySiblings', 'twin'],
    ['its grandchildren', 'root', 'ByLeaves', 'leaf'],
    ['its children', 'root', 'ByTwigs', 'twig'],
    ['a child of its own', 'twig', 'ByLeaf', 'leaf'],
    ['what it links to', 'leaf', 'ByFriend', 'friend'],
    ['what links to it', 'friend', 'ByFans', 'leaf'],
  ])('14 a rule that looks at %s (%s %s) binds that, and nobody else', (_, looking, status, other) => {
    const t = grove(looking, status)
    const ill = (id: string) =>
      ({ kind: 'setStatus', no: t.get(id).no, status: 'Ill', reason: 'x', by: 'ann' }) as const
    const { code, message } = t.refused(ill(other))
    expect([code, message]).toEqual(['rule_breached', expect.stringContaining(`${looking} would be ${status}`)])
    for (const id of ['root2', 'twig2', 'leaf2', 'twin2']) expect(t.ok(ill(id)).resource.status).toBe('Ill')
  })

  test('14 what links to another no longer is judged for whom it leaves', () => {
    const t = grove('friend', 'Loved')
    const { code, message } = t.refused(t.asking('leaf', 'part'))
    expect([code, message]).toEqual(['rule_breached', expect.stringContaining('t.root friend would be Loved')])
    expect(t.request('leaf2', 'part').resource.links).toEqual({})
  })

  test('14 each breach is told once, all of them together', () => {
    const t = grove('root', 'ByLeaves')
    t.resources.set(t.get('friend').no, { ...t.get('friend'), status: 'ByFans' })
    const { message } = t.refused({ kind: 'setStatus', no: t.get('leaf').no, status: 'Ill', reason: 'x', by: 'ann' })
    expect(
      message
        .split('; ')
        .map((words) => words.replace(/^Refused: /, '').slice(0, 13))
        .sort(),
    ).toEqual(['t.root friend', 't.root root w'])
  })

  test('14 a repair by hand is bound by rules, too', () => {
    const t = harbour('Docked', 'Ashore')
    expect(t.refused({ kind: 'setStatus', no: t.get('s').no, status: 'AtSea', reason: 'go', by: 'ann' }).code).toBe(
      'rule_breached',
    )
  })

  test('14 the combinations of Blazar hold through a whole life', () => {
    const t = new TableTop(Object.values(blazar))
    const input = { reservations: [{ resourceType: 'a' }] }
    t.now = 0
    t.create('blazar.lease', 'L', { properties: { startDate: 10, endDate: 20, degraded: false }, input })
    t.done('L')
    const [reservation] = t.children(t.get('L').no)
    const { no } = reservation!
    expect(t.refused({ kind: 'setStatus', no, status: 'active', reason: 'x', by: 'ann' }).code).toBe('rule_breached')
  })
})
