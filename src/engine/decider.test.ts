// Requests decided in hope: on what is cached, without a look whether others wrote, and as if their keys were new.
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../base/random.ts'
import type { Command, RequestOperation } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import type { Ask } from '../decision/situation.ts'
import type { Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import { createMemoryBackend } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { changed, sampleBatch, sampleResource } from '../testing/store-samples.ts'
import { Door, type Decide } from './door.ts'
import { ForeignWrites } from './foreign-writes.ts'
import { silent } from './log.ts'
import { rejected } from './rejections.ts'

const plans: Plans = { all: [], get: () => undefined, kindOf: () => 'stable' }
const [parent, child] = [1, 2]

/** Counts in the description of the child, as long as the parent is open. */
const counting: Decide = (_, situation, command): Decision => {
  const { key } = command as RequestOperation
  const recorded = key === undefined ? null : situation.key(key)
  const before = situation.resource(child)
  const nothing = { events: [], ended: [], late: [], incidents: [], followUps: [] }
  if (recorded !== null)
    return { accepted: true, changes: { ...nothing, key: null, writes: [] }, resource: before!, begun: recorded.begun }
  if (situation.resource(parent)?.status !== 'open') return rejected('rule_breached', 'The parent is closed.')
  const after = changed(before!, { description: String(Number(before!.description) + 1) })
  const record = key === undefined ? null : { key, hash: 'h', no: child, begun: after.revision, at: 0 }
  return {
    accepted: true,
    changes: { ...nothing, key: record, writes: [after] },
    resource: after,
    begun: after.revision,
  }
}

/** `learnsLater`: a store that is told late what others wrote; else one that knows whenever it is asked. */
async function make(learnsLater: boolean) {
  const backend = createMemoryBackend()
  const [handle, other] = [backend.open(), backend.open()]
  for (const one of [handle, other]) one.useKinds(() => 'stable')
  const open = sampleResource(parent, { status: 'open' })
  const counter = sampleResource(child, { status: 'counting', description: '0' })
  other.commit(sampleBatch([open, counter].map((after) => ({ before: null, after }))))
  handle.othersWrote()
  const loads: Ask[][] = []
  let commits = 0
  let hasHeard = false
  let looks = 0
  const store: Store = Object.assign(Object.create(handle) as Store, {
    commitsAtOnce: 2,
    learnsLater,
    othersWrote: () => {
      looks++
      return learnsLater ? hasHeard && !(hasHeard = false) : handle.othersWrote()
    },
    load: async (asks: readonly Ask[]) => {
      loads.push([...asks])
      return handle.load(asks)
    },
    commit: async (batch: Parameters<Store['commit']>[0]) => {
      commits++
      return handle.commit(batch)
    },
  })
  const clock = new ManualClock()
  const foreign = new ForeignWrites(store)
  const door = new Door({ store, plans, decide: counting, clock, random: seededRandom(1), log: silent, foreign })
  const askAll = async (keys: readonly (string | undefined)[]): Promise<string[]> => {
    const said: string[] = []
    for (const [i, key] of keys.entries()) {
      const command: Command = {
        kind: 'requestOperation',
        type: 'counter',
        no: child,
        operation: 'count',
        by: 'test',
        key,
      }
      door.submit(command, (decision) => {
        said[i] = decision.accepted ? `${decision.resource.description} ${decision.begun}` : decision.rejection.code
      })
    }
    await clock.settle()
    return said
  }
  const ask = async (key?: string): Promise<string> => (await askAll([key]))[0]!
  // Known from here on.
  expect(await ask()).toBe('1 2')
  const figures = () => ({ loads: loads.length, commits })
  const before = figures()
  const spent = () => ({ loads: loads.length - before.loads, commits: commits - before.commits })
  const now = (no: number) => (handle.load([{ ask: 'resource', no }]) as readonly Resource[])[0]!
  /** The other process changes the status of the parent. */
  const set = (status: string) => {
    const was = now(parent)
    other.commit(sampleBatch([{ before: was, after: changed(was, { status }) }]))
  }
  /** The child is not cached any more. */
  const forget = () => door.forget(child)
  return { ask, askAll, spent, set, other, now, forget, hear: () => (hasHeard = true), looks: () => looks }
}

describe.each([true, false])('a store that learns late what others wrote: %s', (learnsLater) => {
  test('a request whose facts are cached asks the store nothing before its commit', async () => {
    const { ask, spent } = await make(learnsLater)
    expect([await ask('a'), await ask()]).toEqual(['2 3', '3 4'])
    expect(spent()).toEqual({ loads: 0, commits: 2 })
  })

  test('a key that was used, here or elsewhere, is answered as it was the first time', async () => {
    const { ask, other, now } = await make(learnsLater)
    expect(await ask('mine')).toBe('2 3')
    expect(await ask('mine')).toBe('2 3')
    const theirs = { key: 'theirs', hash: 'h', no: child, begun: 77, at: 0 }
    other.commit({ ...sampleBatch([]), keys: [theirs] })
    expect(await ask('theirs')).toBe('2 77')
    expect(now(child).description).toBe('2')
  })

  test('nobody is refused because of what is only remembered', async () => {
    const { ask, set, spent } = await make(learnsLater)
    set('closed')
    expect(await ask()).toBe('rule_breached')
    set('open')
    const { commits } = spent()
    expect(await ask()).toBe('2 3')
    // The refusal in hope has cost no commit.
    expect(spent().commits).toBe(commits + 1)
  })

  test('what was accepted on something that is no longer so is decided again before it is answered', async () => {
    const { ask, set, now } = await make(learnsLater)
    set('closed')
    expect(await ask('a')).toBe('rule_breached')
    expect(now(child).description).toBe('1')
    // Its key was not used up.
    set('open')
    expect(await ask('a')).toBe('2 3')
  })
})

test('what is not cached is loaded with the keys, and what else is cached is hoped to hold', async () => {
  const { ask, askAll, forget, set, spent } = await make(true)
  forget()
  expect(await ask('a')).toBe('2 3')
  forget()
  expect((await askAll(many('b')))[29]).toBe('32 33')
  expect(spent()).toEqual({ loads: 2, commits: 2 })
  // A used key is found with the rest: the commit that makes its answer durable is the only one.
  forget()
  expect(await ask('a')).toBe('32 3')
  expect(spent()).toEqual({ loads: 3, commits: 3 })
  // Nobody is refused because of what is only remembered, or accepted on what is no longer so.
  set('closed')
  forget()
  expect(await ask('c')).toBe('rule_breached')
  set('open')
  forget()
  expect(await ask('c')).toBe('33 34')
})

test('once others were heard to write, facts are asked for first', async () => {
  const { ask, set, spent, hear } = await make(true)
  set('closed')
  hear()
  expect(await ask()).toBe('rule_breached')
  // The child, then its parent.
  expect(spent()).toEqual({ loads: 2, commits: 0 })
})

test('a store that knows at once what others wrote is not even asked about it', async () => {
  const { ask, looks } = await make(false)
  const before = looks()
  expect(await ask('a')).toBe('2 3')
  expect(looks()).toBe(before)
})

const many = (name: string) => Array.from({ length: 30 }, (_, i) => `${name}-${i}`)

test('many requests at once ask the store nothing either', async () => {
  const { askAll, spent } = await make(true)
  const said = await askAll(many('a'))
  expect([said[0], said[29]]).toEqual(['2 3', '31 32'])
  expect(spent()).toEqual({ loads: 0, commits: 1 })
})

test('a used key among many costs them one commit; many ask first for a while then, few do not', async () => {
  const { ask, askAll, spent, now } = await make(true)
  await askAll(many('a'))
  // Its answer is the old one; the others' are their own.
  const said = await askAll([...many('b'), 'a-7'])
  expect([said[0], said[29]]).toEqual(['32 33', '61 62'])
  expect(said[30]).toMatch(/ 10$/)
  expect(now(child).description).toBe('61')
  const afterVain = spent()
  // The keys and the child, then its parent.
  expect(afterVain).toEqual({ loads: 2, commits: 3 })
  await ask('c')
  expect(spent().loads).toBe(afterVain.loads)
  for (let i = 0; i < 63; i++) await askAll(many(`d${i}`))
  expect(spent().loads).toBe(afterVain.loads + 2 * 63)
  await askAll(many('e'))
  expect(spent()).toEqual({ loads: afterVain.loads + 2 * 63, commits: afterVain.commits + 65 })
})

test('of many, too, nobody is refused because of what is only remembered', async () => {
  const { ask, askAll, set, spent } = await make(true)
  set('closed')
  expect(await ask()).toBe('rule_breached')
  set('open')
  const { commits } = spent()
  const said = await askAll(many('a'))
  expect([said[0], said[29]]).toEqual(['2 3', '31 32'])
  // The refusals in hope have cost no commit.
  expect(spent().commits).toBe(commits + 1)
})

test('where others were heard to write, many ask first for a while, also about what is loaded since', async () => {
  const { askAll, spent, hear } = await make(true)
  hear()
  await askAll(many('a'))
  const { loads } = spent()
  expect(loads).toBeGreaterThan(0)
  await askAll(many('b'))
  expect(spent().loads).toBeGreaterThan(loads)
})

test('where no round trip is spared, many requests ask first', async () => {
  const { askAll, spent } = await make(false)
  await askAll(many('a'))
  expect(spent().loads).toBeGreaterThan(0)
})
