// Points 6, 7 and 8: pre-emption, held resources, which related resources a move takes.
import { previous, resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sahara } from '../../catalogues/sahara/index.ts'
import { databases } from '../../examples/database.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'

const properties = { counts: { w: 2 }, isTransient: false, isProtected: false, unfinishedJobs: 0 }

function cluster() {
  const t = new TableTop(Object.values(sahara))
  t.create('sahara.cluster', 'c', { properties })
  for (const _ of ['validate', 'updateInfra']) t.done('c')
  return t
}

function shop() {
  const t = new TableTop(workshop)
  t.create('w.site', 's')
  const parent = { no: t.get('s').no }
  for (const id of ['a', 'b']) t.place('w.tool', id, 'Idle', { parent })
  return t
}

describe('6 pre-emption', () => {
  test('6 in one commit the interrupted run is closed, the epoch raised, the first step of the new run entered', () => {
    const t = cluster()
    const before = t.get('c')
    const { resource, begun } = t.request('c', 'delete')
    expect(resource).toMatchObject({
      status: 'Deleting',
      epoch: before.epoch + 1,
      run: { operation: 'delete', begun, lane: 'delete' },
    })
    expect(t.ended.at(-1)).toMatchObject({ operation: 'create', outcome: 'preempted', begun: before.run!.begun })
    expect(
      t
        .eventsOf('c')
        .slice(-2)
        .map(({ kind, begun }) => [kind, begun]),
    ).toEqual([
      ['preempted', before.run!.begun],
      ['accepted', begun],
    ])
    expect(t.lastEvent('c').detail).toMatchObject({ preempted: '1-1', while: 'step', next: 'refreshJobs' })
    expect(t.eventsOf('c').at(-2)!.detail).toEqual({ by: 'delete' })
  })

  test('6 the interrupted call changes nothing any more; what it did is evidence', () => {
    const t = cluster()
    const late = t.ending('c', { kind: 'done', result: null })
    t.request('c', 'delete')
    expect(t.refused(late).code).toBe('fenced')
    const { no, epoch } = t.get('c')
    expect(t.late).toEqual([
      { no, epoch: epoch - 1, call: 'step/2/0/1', at: t.now, outcome: { kind: 'done', result: null, by: 'worker' } },
    ])
    expect(t.refused({ ...late, no: 99 } as never).message).toContain('for resource number 99 came at epoch')
    expect(t.late).toHaveLength(1)
    expect(t.owedBy('c')).toEqual(['refreshJobs'])
  })

  test('6 its undo is not run: the new operation gets its ledger, in doubt, and closes it', () => {
    const t = cluster()
    expect(t.get('c').ledger).toMatchObject([{ kind: 'machine', state: 'meant' }])
    t.request('c', 'delete')
    expect(t.get('c').ledger).toMatchObject([{ kind: 'machine', state: 'unknown' }])
    while (t.get('c').run !== null) t.done('c')
    expect(t.get('c').ledger).toEqual([])
  })

  test('6 what it did not confirm as removed becomes an orphan at the end', () => {
    const t = new TableTop([databases])
    t.create('shop.database', 'd', { properties: { sizeGb: 1 } })
    t.request('d', 'delete')
    t.done('d')
    const { no } = t.get('d')
    t.ok({ kind: 'skipStep', no, by: 'ann', reason: 'the disk is gone' })
    expect(t.get('d')).toMatchObject({ status: 'Gone', ledger: [{ kind: 'disk', state: 'orphaned' }] })
  })

  test('6 resources that it holds are held by the new run', () => {
    const t = cluster()
    const instances = t.children(t.get('c').no)
    expect(instances.map(({ holder }) => holder?.begun)).toEqual([1, 1])
    const { begun } = t.request('c', 'delete')
    expect(t.children(t.get('c').no).map(({ status, holder }) => [status, holder?.begun])).toEqual([
      ['Deleting', begun],
      ['Deleting', begun],
    ])
  })

  test('6 also where the new run does not move them', () => {
    const t = shop()
    t.request('s', 'clear')
    const { begun } = t.request('s', 'delete')
    expect(t.get('a')).toMatchObject({ status: 'Packed', holder: { no: t.get('s').no, begun } })
    expect(t.refused(t.healing('a', 'unowned')).code).toBe('healed_with_owner')
  })

  test('6 the first call waits for the grace when a call may be under way, also past steps that are passed over', () => {
    const t = shop()
    t.request('s', 'close')
    t.request('s', 'delete')
    expect(t.get('s').run).toMatchObject({ dueAt: t.now + 5_000, deadlineAt: t.now + 5_000 + 3_600_000 })
    t.done('s')
    expect(t.get('s').run!.dueAt).toBe(0)
    const idle = shop()
    idle.request('s', 'delete')
    expect(idle.get('s').run!.dueAt).toBe(0)
  })

  test('6 it does not wait where no call can be under way: nobody had taken the run, it waits, is parked, or is forced over', () => {
    const dueAtAfter = (interrupt: (t: TableTop) => void, more = {}) => {
      const t = shop()
      interrupt(t)
      return t.request('s', 'delete', {}, more).resource.run!.dueAt - t.now
    }
    const close = (t: TableTop) => t.request('s', 'close')
    expect(dueAtAfter(close)).toBe(5_000)
    expect(dueAtAfter(close, { force: true, reason: 'now' })).toBeLessThan(0)
    const nobody = (t: TableTop) => {
      t.claimant = 0
      close(t)
    }
    expect(dueAtAfter(nobody)).toBeLessThan(0)
    const waits = (t: TableTop, ms: number) => {
      close(t)
      t.again('s', ms)
    }
    expect(dueAtAfter((t) => waits(t, 60_000))).toBeLessThan(0)
    expect(dueAtAfter((t) => waits(t, 0))).toBe(5_000)
    const parked = (t: TableTop) => {
      close(t)
      for (let n = 0; n < 10 && t.get('s').run?.parked === null; n++) t.unknown('s')
      expect(t.get('s').run!.parked).not.toBeNull()
      t.advance(60_000)
    }
    expect(dueAtAfter(parked)).toBeLessThan(0)
  })

  test('6 one whose requirements do not hold, or that may not begin from here, interrupts nothing', () => {
    const t = new TableTop([boxes, lids])
    t.place('t.box', 'box', 'Open')
    t.request('box', 'check')
    const before = t.get('box')
    expect(t.refused(t.asking('box', 'soak')).code).toBe('requirement_not_met')
    expect(t.refused(t.asking('box', 'unseal')).code).toBe('operation_in_progress')
    expect(t.get('box')).toBe(before)
    t.done('box')
    t.request('box', 'check')
    // Accepted from where the interrupted run came from.
    expect(t.request('box', 'unseal').resource.run).toMatchObject({ operation: 'unseal', previous: 'Sealed' })
  })

  test('6 a repeated delete with the same input joins the run while that is alive and moving', () => {
    const t = shop()
    const first = t.request('s', 'delete', { why: 'old' })
    const again = t.request('s', 'delete', { why: 'old' })
    expect(again.begun).toBe(first.begun)
    expect(again.changes.writes).toEqual([])
  })

  test('6 it pre-empts when the run hangs, is parked, or was asked otherwise', () => {
    const other = shop()
    const first = other.request('s', 'delete', { why: 'old' })
    expect(other.request('s', 'delete', { why: 'ugly' }).begun).toBeGreaterThan(first.begun)
    expect(other.request('s', 'delete', { why: 'ugly' }, { force: true, reason: 'now' }).begun).toBeGreaterThan(
      first.begun + 1,
    )
    const hanging = shop()
    hanging.request('s', 'delete')
    hanging.advance(3_600_000)
    expect(hanging.request('s', 'delete').begun).toBe(hanging.get('s').epoch)
    expect(hanging.ended.at(-1)).toMatchObject({ operation: 'delete', outcome: 'preempted' })
    const parked = new TableTop([boxes, lids])
    parked.place('t.box', 'box', 'Open')
    parked.request('box', 'crush')
    for (let n = 0; n < 10 && parked.get('box').run?.parked === null; n++) parked.unknown('box')
    const { begun: gaveUp } = parked.get('box').run!
    expect(parked.request('box', 'crush').begun).toBeGreaterThan(gaveUp)
  })

  test('6 healing of a delete is no delete: asked for again, it pre-empts the healing', () => {
    const t = new TableTop([boxes, lids])
    t.place('t.box', 'box', 'Sealed')
    t.request('box', 'unseal')
    t.heal('box')
    expect(t.get('box').run).toMatchObject({ kind: 'heal', operation: 'unseal' })
    expect(t.refused(t.asking('box', 'check')).message).toMatch(/healing \S+ is under way/)
    expect(t.request('box', 'unseal').resource.run).toMatchObject({ kind: 'operation', operation: 'unseal' })
  })

  test('6 runs that it asked for are taken back', () => {
    const t = shop()
    const parent = { no: t.get('s').no }
    t.place('w.tool', 'x', 'Busy', { parent, properties: { rpm: 5 } })
    t.request('s', 'close')
    expect(t.status('x')).toBe('Stopping')
    t.request('s', 'delete')
    expect(t.status('x')).toBe('Bad')
    expect(t.get('x').description).toContain('pre-empted by delete')
  })
})

describe('7 held resources', () => {
  test('7 a move into a transitional status holds; a held one refuses as busy, is not unowned, and is released by the move out', () => {
    const t = shop()
    const { begun } = t.request('s', 'clear')
    expect(t.get('a')).toMatchObject({ status: 'Packed', holder: { no: t.get('s').no, begun } })
    const { code, message } = t.refused(t.asking('a', 'start'))
    expect([code, message]).toEqual(['operation_in_progress', expect.stringContaining('held by run')])
    expect(t.refused(t.healing('a', 'unowned')).code).toBe('healed_with_owner')
    t.done('s')
    t.done('s', undefined, 'a')
    expect(t.get('a')).toMatchObject({ status: 'Idle', holder: null })
  })

  test('7 a normal operation is refused when it would move a busy one', () => {
    const t = shop()
    t.request('a', 'start')
    t.request('s', 'clear')
    expect(t.statuses('a', 'b')).toEqual(['Starting', 'Packed'])
    const moved = new TableTop([boxes, lids])
    moved.create('t.box', 'box')
    moved.place('t.lid', 'lid', 'Off', { parent: { no: moved.get('box').no } })
    moved.request('lid', 'turn')
    expect(moved.refused(moved.asking('box', 'seal')).code).toBe('related_busy')
    expect(moved.status('box')).toBe('Open')
  })

  test('7 a landing that finds a related one busy is answered by the failure answer', () => {
    const t = new TableTop([boxes, lids])
    t.create('t.box', 'box')
    t.place('t.lid', 'lid', 'Off', { parent: { no: t.get('box').no } })
    t.request('box', 'check')
    t.request('lid', 'turn')
    t.done('box')
    expect(t.get('box')).toMatchObject({ status: 'Dented', description: expect.stringContaining('it is busy') })
    expect(t.status('lid')).toBe('Turning')
  })

  test('7 pre-empting, forced and healing moves go over busy ones and close their runs', () => {
    const t = new TableTop([boxes, lids])
    t.create('t.box', 'box')
    t.place('t.lid', 'lid', 'Off', { parent: { no: t.get('box').no } })
    const { begun } = t.request('lid', 'turn')
    const late = t.ending('lid', { kind: 'done', result: null })
    t.request('box', 'crush')
    expect(t.get('lid')).toMatchObject({ status: 'Lost', run: null, holder: null, epoch: begun + 1 })
    expect(t.ended.find((run) => run.operation === 'turn')).toMatchObject({ outcome: 'preempted' })
    expect(t.lastEvent('lid')).toMatchObject({ kind: 'moved', begun, detail: { preempted: 'turn' } })
    expect(t.refused(late).code).toBe('fenced')
  })

  test('7 so do forced ones and healing, in their steps and in their landings', () => {
    const boxIn = (status: string) => {
      const t = new TableTop([boxes, lids])
      t.place('t.box', 'box', status)
      t.place('t.lid', 'lid', 'Off', { parent: { no: t.get('box').no } })
      return t
    }
    const force = { force: true, reason: 'now' }
    const step = boxIn('Open')
    step.request('lid', 'turn')
    expect(step.refused(step.asking('box', 'seal')).code).toBe('related_busy')
    step.request('box', 'seal', undefined, force)
    expect(step.statuses('box', 'lid')).toEqual(['Sealing', 'On'])
    const landing = boxIn('Open')
    landing.request('box', 'check', undefined, force)
    landing.request('lid', 'turn')
    landing.done('box')
    expect(landing.statuses('box', 'lid')).toEqual(['Sealed', 'On'])
    const healed = boxIn('Tearing')
    healed.request('lid', 'turn')
    healed.heal('box', 'unowned')
    healed.answered('box', 'whole')
    expect(healed.statuses('box', 'lid')).toEqual(['Sealed', 'Lost'])
    const attempt = boxIn('Soaking')
    attempt.request('lid', 'turn')
    attempt.heal('box', 'unowned')
    expect(attempt.statuses('box', 'lid')).toEqual(['Sealing', 'On'])
    const attempted = boxIn('Checking')
    attempted.heal('box', 'unowned')
    attempted.request('lid', 'turn')
    attempted.done('box')
    expect(attempted.statuses('box', 'lid')).toEqual(['Sealed', 'On'])
  })

  test('7 what is moved over a parked run no longer asks people to see to that', () => {
    const t = new TableTop([boxes, lids])
    t.create('t.box', 'box')
    t.place('t.lid', 'lid', 'Off', { parent: { no: t.get('box').no } })
    t.request('lid', 'turn')
    for (let n = 0; n < 10 && t.get('lid').run?.parked === null; n++) t.unknown('lid')
    expect(t.get('lid').description).toContain('Parked')
    t.request('box', 'crush')
    expect(t.get('lid')).toMatchObject({ status: 'Lost', run: null, description: '' })
  })

  test('7 what is put elsewhere by hand is held no longer, and the run that held it goes on with the others', () => {
    const t = shop()
    t.request('s', 'clear')
    t.ok({ kind: 'setStatus', no: t.get('a').no, status: 'Bad', reason: 'broken', by: 'ann' })
    expect(t.get('a')).toMatchObject({ status: 'Bad', holder: null })
    t.done('s')
    expect(t.owedBy('s')).toEqual(['clean(b)'])
  })

  test('7 a holder that has ended holds nobody: what it left is healed', () => {
    const t = shop()
    t.request('s', 'clear')
    t.ok({ kind: 'setStatus', no: t.get('s').no, status: 'Broken', reason: 'stop', by: 'ann' })
    expect(t.get('a')).toMatchObject({ status: 'Packed', holder: { begun: 2 } })
    expect(t.refused(t.asking('a', 'start')).code).toBe('operation_not_allowed')
    expect(t.heal('a', 'unowned').status).toBe('Idle')
  })
})

const box = resourceType('t.box', {
  properties: z.object({}),
  statuses: {
    stable: { Open: 'Open.', Sealed: 'Sealed.' },
    transitional: {
      Sealing: 'Sealed.',
      Checking: 'Checked.',
      Crushing: 'Crushed.',
      Soaking: 'Soaked.',
      Tearing: 'Torn.',
    },
    failed: { Dented: 'Dented.' },
    terminal: { Flat: 'Flat.' },
  },
})
const lid = resourceType('t.lid', {
  properties: z.object({ turns: z.number().default(0) }),
  statuses: { stable: { Off: 'Off.', On: 'On.' }, transitional: { Turning: 'Turned.' }, failed: { Lost: 'Lost.' } },
})
const boxes = box.relations({ lids: { children: lid }, lid: { child: lid } }).lifecycle({
  probes: { look: ['whole', 'torn'] },
  operations: {
    create: { from: [], steps: {}, to: 'Open', onFailure: 'Dented' },
    seal: {
      from: ['Open'],
      force: '1s',
      steps: { press: { during: { status: 'Sealing', move: { lids: 'On' } } } },
      to: 'Sealed',
      onFailure: 'Dented',
    },
    check: {
      from: ['Open', 'Sealed'],
      force: '1s',
      steps: { look: { during: 'Checking' } },
      to: { status: 'Sealed', move: { lids: { to: 'On', set: { turns: ({ item }) => item.properties.turns + 1 } } } },
      onFailure: 'Dented',
    },
    soak: {
      from: ['*'],
      ifBusy: 'preempt',
      requires: [{ lids: { exists: true } }],
      steps: { pour: { during: 'Soaking' } },
      to: 'Open',
      onFailure: 'Dented',
    },
    mark: {
      from: ['Open', 'Sealed'],
      steps: {},
      to: { status: previous, move: { lids: { from: ['On', 'Turning'], set: { turns: 9 } } } },
      onFailure: 'Dented',
    },
    unseal: {
      from: ['Sealed'],
      ifBusy: 'preempt',
      steps: { tear: { during: 'Tearing' } },
      to: 'Open',
      onFailure: 'Dented',
    },
    count: {
      from: ['Sealed'],
      steps: { look: { during: 'Checking' } },
      to: {
        status: 'Sealed',
        move: {
          lids: {
            from: ['On'],
            only: { says: 'was turned', test: ({ item }) => item.properties.turns > 0 },
            to: 'Off',
          },
        },
      },
      onFailure: 'Dented',
    },
    wrong: {
      from: ['Open'],
      steps: { look: { during: 'Checking' } },
      to: { status: 'Sealed', move: { lids: { from: ['Off'], to: 'Turning' } } },
      onFailure: 'Dented',
    },
    crush: {
      from: ['*'],
      ifBusy: 'preempt',
      steps: { press: { during: { status: 'Crushing', move: { lids: 'Lost' } } } },
      to: 'Flat',
      onFailure: 'Dented',
    },
  },
  heal: {
    Sealing: { resume: true, unowned: { status: 'Dented' } },
    Checking: { status: 'Open', attempt: 'check' },
    Crushing: { attempt: 'crush' },
    Soaking: { status: 'Open', attempt: 'seal' },
    Tearing: {
      probe: { look: { whole: { status: 'Sealed', move: { lids: 'Lost' } }, torn: 'Open', unknown: 'Dented' } },
    },
  },
})
const lids = lid.relations({ box: { parent: box } }).lifecycle({
  moves: [
    { from: ['Off', 'Turning'], to: 'On', by: 'box' },
    { from: ['On'], to: 'Off', by: 'box' },
    { from: ['*'], to: 'Lost', by: 'box' },
  ],
  operations: { turn: { from: ['Off'], steps: { turnLid: { during: 'Turning' } }, to: 'On', onFailure: 'Lost' } },
  heal: { Turning: { status: 'Off' } },
})

const dwelling = { properties: z.object({}), statuses: { stable: { Lived: 'Lived in.', Shut: 'Shut.' } } } as const
const estate = resourceType('t.estate', dwelling)
const house = resourceType('t.house', dwelling)
const room = resourceType('t.room', dwelling)
const shut = { from: ['Lived'], steps: {}, onFailure: previous } as const
const estates = estate.relations({ houses: { children: house }, rooms: { descendants: room } }).lifecycle({
  begins: ['Lived'],
  operations: {
    close: { ...shut, to: { status: 'Shut', move: { rooms: 'Shut' } } },
    empty: { ...shut, to: { status: 'Shut', move: { houses: 'Shut' } } },
  },
  heal: {},
})
const houses = house.relations({ estate: { parent: estate }, rooms: { children: room } }).lifecycle({
  begins: ['Lived'],
  heal: {},
})
const rooms = room.relations({ house: { parent: house } }).lifecycle({
  begins: ['Lived'],
  moves: [{ from: ['Lived'], to: 'Shut', by: 'house' }],
  heal: {},
})

describe('8 which a move takes', () => {
  const open = (...statuses: string[]) => {
    const t = new TableTop([boxes, lids])
    t.create('t.box', 'box')
    statuses.forEach((status, i) =>
      t.place('t.lid', `lid${i}`, status, { parent: { no: t.get('box').no }, properties: { turns: i } }),
    )
    return t
  }

  test('8 a bare status takes all that are not terminal and not there already, and touches no other', () => {
    const t = open('Off', 'On')
    const before = t.get('lid1')
    t.request('box', 'seal')
    expect(t.statuses('lid0', 'lid1')).toEqual(['On', 'On'])
    expect(t.get('lid1')).toBe(before)
  })

  test('8 `from` and `only` leave the others, silently; nothing to move is no error', () => {
    const t = open('On', 'On', 'Lost')
    t.ok({ kind: 'setStatus', no: t.get('box').no, status: 'Sealed', reason: 'by hand', by: 'ann' })
    t.request('box', 'count')
    t.done('box')
    expect(t.statuses('box', 'lid0', 'lid1', 'lid2')).toEqual(['Sealed', 'On', 'Off', 'Lost'])
    const empty = open()
    empty.request('box', 'seal')
    expect(empty.done('box').status).toBe('Sealed')
  })

  test('8 a move sets properties of what it moves, from what it sees of it', () => {
    const t = open('Off', 'Off')
    t.request('box', 'check')
    t.done('box')
    expect([t.get('lid0').properties, t.get('lid1').properties]).toEqual([{ turns: 1 }, { turns: 2 }])
  })

  test('8 one that only sets properties leaves status, run and time as they are, also of what is busy', () => {
    const t = open('Off', 'On', 'Off')
    t.request('lid0', 'turn')
    const [busy, idle] = [t.get('lid0'), t.get('lid1')]
    t.advance(5)
    t.request('box', 'mark')
    const properties = { turns: 9 }
    expect(t.get('lid0')).toEqual({ ...busy, properties, revision: busy.revision + 1 })
    expect(t.get('lid1')).toEqual({ ...idle, properties, revision: idle.revision + 1 })
    expect(t.get('lid2').properties).toEqual({ turns: 2 })
    expect(t.lastEvent('lid0')).toMatchObject({ kind: 'moved', from: 'Turning', to: 'Turning', begun: 0 })
    t.done('lid0')
    expect(t.status('lid0')).toBe('On')
  })

  test('8 whoever moves what is far below it is let in by what their parent may do, and by nobody else', () => {
    const t = new TableTop([estates, houses, rooms])
    const { no } = t.place('t.estate', 'e', 'Lived')
    const house = t.place('t.house', 'h', 'Lived', { parent: { no } })
    t.place('t.room', 'r', 'Lived', { parent: { no: house.no } })
    t.request('e', 'close')
    expect(t.statuses('e', 'h', 'r')).toEqual(['Shut', 'Lived', 'Shut'])
    t.place('t.estate', 'f', 'Lived')
    t.place('t.house', 'g', 'Lived', { parent: { no: t.get('f').no } })
    expect(t.refused(t.asking('f', 'empty')).message).toContain('t.house declares no such move')
  })

  test('8 a move that is no edge of the other is a defect: a request is rejected whole, a run is failed by its answer', () => {
    const t = open('Off')
    t.request('box', 'wrong')
    t.done('box')
    expect(t.statuses('box', 'lid0')).toEqual(['Dented', 'Off'])
    expect(t.get('box').description).toContain('declares no such move')
    const lost = open('Lost')
    const { code } = lost.refused(lost.asking('box', 'seal'))
    expect(code).toBe('declaration_defect')
    expect([lost.status('box'), lost.incidents.map(({ kind }) => kind)]).toEqual(['Open', ['declaration_defect']])
  })
})
