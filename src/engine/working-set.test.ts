// Two doors on one store, deciding on lists of related resources at the same time: what a decision read must still be so.
import { describe, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { seededRandom, type Random } from '../base/random.ts'
import type { SetStatus } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import type { Situation } from '../decision/situation.ts'
import type { Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import { createMemoryBackend, type MemoryBackend } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { sampleResource } from '../testing/store-samples.ts'
import { Door, type Decide } from './door.ts'
import { ForeignWrites } from './foreign-writes.ts'
import { silent } from './log.ts'
import { WorkingSet } from './working-set.ts'

const kindOf = (_: string, status: string) => (status === 'Gone' ? 'terminal' : 'stable')
const plans: Plans = { all: [], get: () => undefined, kindOf }
const nothing = { events: [], ended: [], key: null, late: [], incidents: [], followUps: [] }
const most = 3

const resource = (no: number, parent: number | null, id = `r-${no}`): Resource =>
  sampleResource(no, { id, type: 'thing', parent, links: parent === null ? {} : { owner: parent }, status: 'There' })

const refusal = (message: string): Decision => ({
  accepted: false,
  rejection: { code: 'rule_breached', message },
  changes: null,
})
const accept = (after: Resource): Decision => ({
  accepted: true,
  changes: { ...nothing, writes: [after] },
  resource: after,
  begun: 0,
})

/** `status` is what to do with the family of `no`: add a child or link, remove the first, or claim a name. */
const family: Decide = (_, situation: Situation, command): Decision => {
  const { no, status, reason } = command as SetStatus
  const members = status === 'link' ? situation.linkedBy(no, 'owner') : situation.children(no)
  if (status === 'remove') {
    const [first] = members
    return first ? accept({ ...first, status: 'Gone', revision: first.revision + 1 }) : refusal('empty')
  }
  if (status === 'name') {
    return situation.named('thing', reason) === null
      ? accept(resource(situation.nextNo(), null, reason))
      : refusal('taken')
  }
  return members.length < most ? accept(resource(situation.nextNo(), no)) : refusal('full')
}

/** A store that answers later, after a number of turns that chance decides. */
function late(backend: MemoryBackend, random: Random): Store {
  const handle = backend.open()
  handle.useKinds(kindOf)
  const wait = async () => {
    for (let turns = random.below(4); turns > 0; turns--)
      await new Promise<void>((resolve) => systemClock.soon(resolve))
  }
  return Object.assign(Object.create(handle) as Store, {
    load: (asks: Parameters<Store['load']>[0]) => wait().then(() => handle.load(asks)),
    commit: (batch: Parameters<Store['commit']>[0]) => wait().then(() => handle.commit(batch)),
    othersWrote: () => handle.othersWrote(),
  })
}

function openDoor(backend: MemoryBackend, incarnation: number, random: Random): Door {
  const store = late(backend, random)
  const clock = new ManualClock()
  // Pauses after conflicts are real turns of the event loop here.
  const impatient = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    soon: (then: () => void) => clock.soon(then),
    after: (_: number, then: () => void) => (clock.soon(then), () => {}),
  }
  const foreign = new ForeignWrites(store)
  const door = new Door({ store, plans, decide: family, clock: impatient, random, log: silent, foreign, batchLimit: 4 })
  door.reborn(incarnation)
  return door
}

const act = (no: number, status: string, reason = ''): SetStatus => ({ kind: 'setStatus', no, status, reason, by: '' })

describe('the working set', () => {
  test.each(Array.from({ length: 60 }, (_, seed) => seed))(
    'rules over lists hold with two doors at once, seed %i',
    async (seed) => {
      const random = seededRandom(seed)
      const backend = createMemoryBackend()
      const doors = [openDoor(backend, 1, random), openDoor(backend, 2, random)]
      const [first] = doors as [Door, Door]
      await first.ask(act(1, 'name', 'parent'))
      const root = [...backend.resources.keys()][0]!
      const asking = Array.from({ length: 40 }, () => {
        const what = ['add', 'add', 'link', 'remove'][random.below(4)]!
        return doors[random.below(2)]!.ask(act(root, what)).then((decision) => {
          const living = [...backend.resources.values()].filter((one) => one.parent === root && one.status !== 'Gone')
          expect(living.length).toBeLessThanOrEqual(most)
          return decision
        })
      })
      const decisions = await Promise.all(asking)
      expect(decisions.filter((one) => !one.accepted && one.rejection.code === 'store_unavailable')).toEqual([])
    },
  )

  test('a decision over a tree loads it level by level, not one by one', async () => {
    const backend = createMemoryBackend()
    const handle = backend.open()
    handle.useKinds(kindOf)
    const writes = Array.from({ length: 1_111 }, (_, i) => {
      const no = i + 1
      return { before: null, after: resource(no, no === 1 ? null : Math.floor((no - 2) / 10) + 1) }
    })
    handle.commit({ ...nothing, keys: [], guards: [], writes })
    let loads = 0
    const store = Object.assign(Object.create(handle) as Store, {
      load: (asks: Parameters<Store['load']>[0]) => (loads++, handle.load(asks)),
      commit: (batch: Parameters<Store['commit']>[0]) => handle.commit(batch),
      othersWrote: () => false,
    })
    const size = (situation: Situation, no: number): number =>
      situation.children(no).reduce((sum, child) => sum + size(situation, child.no), 1)
    const decide: Decide = (_, situation) => refusal(String(size(situation, 1)))
    const foreign = new ForeignWrites(store)
    const clock = new ManualClock()
    const door = new Door({ store, plans, decide, clock, random: seededRandom(1), log: silent, foreign })
    expect(await door.ask(act(1, 'count'))).toMatchObject({ rejection: { message: '1111' } })
    expect(loads).toBeLessThan(8)
  })

  test('a name is given once, whoever asks', async () => {
    const random = seededRandom(7)
    const backend = createMemoryBackend()
    const doors = [openDoor(backend, 1, random), openDoor(backend, 2, random)]
    const asking = Array.from({ length: 20 }, (_, i) => doors[i % 2]!.ask(act(0, 'name', 'the one')))
    expect((await Promise.all(asking)).filter((one) => one.accepted)).toHaveLength(1)
  })

  test('lists loaded after a decision of the same batch show its result', () => {
    const set = new WorkingSet({ plans, cacheSize: 100 })
    set.reborn(1)
    set.begin(0, 1)
    const child = resource(5, 1)
    set.apply({ ...nothing, writes: [child] })
    set.children(1)
    expect(set.missing).toEqual([{ ask: 'children', no: 1 }])
    set.supply({ ask: 'children', no: 1 }, [resource(3, 1), resource(9, 1)])
    expect(set.children(1).map((one) => one.no)).toEqual([3, 5, 9])
    set.apply({ ...nothing, writes: [{ ...child, status: 'Gone', revision: 2 }] })
    expect(set.children(1).map((one) => one.no)).toEqual([3, 9])
    const [guard] = set.batch().guards.filter((one) => one.guard === 'children')
    expect(guard).toEqual({ guard: 'children', no: 1, members: [3, 9] })
  })

  test('a resource made in the batch needs no look for those that refer to it', () => {
    const set = new WorkingSet({ plans, cacheSize: 100 })
    set.begin(0, 1)
    set.apply({ ...nothing, writes: [resource(1, null)] })
    expect(set.children(1)).toEqual([])
    set.apply({ ...nothing, writes: [resource(2, 1)] })
    expect(set.children(1).map((one) => one.no)).toEqual([2])
    expect(set.linkedBy(1, 'owner').map((one) => one.no)).toEqual([2])
    expect(set.batch().guards).toEqual([])
  })

  test('where the store learns later, commands of a run rely on what is cached, and the commit must verify it', () => {
    const set = new WorkingSet({ plans, cacheSize: 100, relies: true })
    set.begin(0, 1)
    set.supply({ ask: 'resource', no: 1 }, resource(1, null))
    set.supply({ ask: 'resource', no: 2 }, null)
    set.begin(0, 2)
    set.strict = true
    expect([set.resource(1), set.missing]).toEqual([null, [{ ask: 'resource', no: 1 }]])
    expect(set.mustCommit).toBe(false)
    set.strict = false
    expect(set.resource(1)?.no).toBe(1)
    expect(set.mustCommit).toBe(true)
    expect(set.batch().guards).toEqual([{ guard: 'revision', no: 1, revision: 1 }])
    // That something is not there is verified by no guard.
    set.missing = []
    expect([set.resource(2), set.missing]).toEqual([null, [{ ask: 'resource', no: 2 }]])
  })

  test('what is not owned is forgotten when there is too much of it, or when others have written', () => {
    const set = new WorkingSet({ plans, cacheSize: 10 })
    set.reborn(1)
    for (let no = 1; no <= 100; no++) {
      set.begin(0, 1)
      const owner = no <= 5 ? 1 : 0
      set.supply({ ask: 'resource', no }, { ...resource(no, null), run: { owner } as Resource['run'] })
      set.resource(no)
      set.committed()
    }
    const kept = Array.from({ length: 100 }, (_, i) => set.hasResource(i + 1))
    expect(kept.filter(Boolean).length).toBeLessThanOrEqual(16)
    set.begin(0, 2)
    expect(set.resource(3)?.no).toBe(3)
    expect(set.resource(100)).toBe(null)
    expect(set.missing).toEqual([{ ask: 'resource', no: 100 }])
    set.begin(0, 3)
    set.strict = true
    expect([set.hasResource(3), set.hasResource(100)]).toEqual([false, false])
  })
})

test('what is read again and again is kept while others come and go, and goes when it is no longer read', () => {
  const set = new WorkingSet({ plans, cacheSize: 10 })
  set.begin(0, 1)
  set.supply({ ask: 'resource', no: 1 }, resource(1, null))
  const passing = (from: number, readsParent: boolean) => {
    for (let no = from; no < from + 100; no++) {
      set.begin(0, 1)
      set.supply({ ask: 'resource', no }, resource(no, 1))
      set.resource(no)
      if (readsParent) expect(set.resource(1)?.no).toBe(1)
      set.committed()
    }
  }
  passing(100, true)
  expect(set.missing).toEqual([])
  passing(200, false)
  expect(set.hasResource(1)).toBe(false)
})

test('a name that the store has no more is not asked for again and again', () => {
  const set = new WorkingSet({ plans, cacheSize: 10 })
  set.begin(0, 1)
  const known = { ...resource(1, null), id: 'mine' }
  set.supply({ ask: 'named', type: known.type, id: 'mine' }, known)
  expect(set.named(known.type, 'mine')).toMatchObject({ no: 1 })
  // Others have written since; the server has lost it meanwhile, with an acknowledgement that was worth nothing.
  set.begin(1, 2)
  expect(set.named(known.type, 'mine')).toBeNull()
  for (const ask of set.missing) set.supply(ask, null)
  set.missing = []
  expect(set.named(known.type, 'mine')).toBeNull()
  expect(set.missing).toEqual([])
  expect(set.batch().guards).toEqual([{ guard: 'absent', type: known.type, id: 'mine' }])
})

test('what was looked for in vain and has been made since can be read in a list that names it', () => {
  const set = new WorkingSet({ plans, cacheSize: 10 })
  set.begin(0, 1)
  set.supply({ ask: 'resource', no: 1 }, resource(1, null))
  set.supply({ ask: 'resource', no: 2 }, null)
  expect(set.resource(2)).toBeNull()
  set.supply({ ask: 'children', no: 1 }, [resource(2, 1)])
  expect(set.children(1)).toMatchObject([{ no: 2 }])
  expect(set.missing).toEqual([])
})
