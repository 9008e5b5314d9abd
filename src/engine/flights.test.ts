// Batches that depart: a store that takes several commits at once is kept busy while the door decides on.
import { expect, test } from 'vitest'
import { seededRandom } from '../base/random.ts'
import type { Command, SetStatus } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import type { Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import { createMemoryBackend } from '../store/memory-store.ts'
import type { Batch, CommitAnswer, Store } from '../store/store.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { changed, sampleResource } from '../testing/store-samples.ts'
import { Door, type Decide } from './door.ts'
import { ForeignWrites } from './foreign-writes.ts'
import { silent } from './log.ts'

const plans: Plans = { all: [], get: () => undefined, kindOf: () => 'stable' }
const add = (no: number): Command => ({ kind: 'setStatus', no, status: 'add', reason: '', by: 'test' })

/** Each resource counts how often it was written; it is made by the first time. */
const counting: Decide = (_, situation, command): Decision => {
  const { no } = command as SetStatus
  const before = situation.resource(no)
  const after: Resource = before
    ? changed(before, { description: String(Number(before.description) + 1) })
    : sampleResource(no, { description: '1' })
  const nothing = { events: [], ended: [], key: null, late: [], incidents: [], followUps: [] }
  return { accepted: true, changes: { ...nothing, writes: [after] }, resource: after, begun: 0 }
}

interface Commit {
  readonly batch: Batch
  readonly land: (answer?: CommitAnswer) => void
  readonly fail: () => void
}

function make() {
  const handle = createMemoryBackend().open()
  handle.useKinds(() => 'stable')
  const commits: Commit[] = []
  const store: Store = Object.assign(Object.create(handle) as Store, {
    commitsAtOnce: 2,
    load: async (asks: Parameters<Store['load']>[0]) => handle.load(asks),
    commit: (batch: Batch) =>
      new Promise<CommitAnswer>((resolve, reject) =>
        commits.push({
          batch,
          land: (answer) => resolve(answer ?? handle.commit(batch)),
          fail: () => reject(new Error('lost')),
        }),
      ),
  })
  const clock = new ManualClock()
  const door = new Door({
    store,
    plans,
    decide: counting,
    clock,
    random: seededRandom(1),
    log: silent,
    foreign: new ForeignWrites(store),
  })
  const done: string[] = []
  const send = (no: number) =>
    door.submit(add(no), (decision) =>
      done.push(`${no}:${decision.accepted ? decision.resource.description : decision.rejection.code}`),
    )
  const settle = () => clock.settle()
  return { door, commits, done, send, settle, handle }
}

test('a second batch is decided and sent while the first is on its way', async () => {
  const { commits, done, send, settle } = make()
  send(1)
  await settle()
  send(2)
  await settle()
  expect(commits.map(({ batch }) => batch.writes.map(({ after }) => after.no))).toEqual([[1], [2]])
  send(3)
  await settle()
  // No more than the store takes at once.
  expect(commits).toHaveLength(2)
  commits[1]!.land()
  await settle()
  expect(done).toEqual(['2:1'])
  expect(commits).toHaveLength(3)
  commits[0]!.land()
  commits[2]!.land()
  await settle()
  expect(done).toEqual(['2:1', '1:1', '3:1'])
})

test('a command about what is on its way waits for it, and keeps its place', async () => {
  const { commits, done, send, settle, door } = make()
  send(1)
  await settle()
  send(1)
  send(2)
  await settle()
  expect(commits[1]!.batch.writes.map(({ after }) => after.no)).toEqual([2])
  send(1)
  commits[1]!.land()
  await settle()
  expect(commits).toHaveLength(2)
  commits[0]!.land()
  await settle()
  expect(commits[2]!.batch.writes).toMatchObject([{ before: { description: '1' }, after: { description: '3' } }])
  commits[2]!.land()
  await settle()
  expect(done).toEqual(['2:1', '1:1', '1:2', '1:3'])
  await door.idle()
})

test('a batch that comes back unwritten is decided again, alone', async () => {
  const { commits, done, send, settle, handle } = make()
  send(1)
  send(2)
  await settle()
  send(3)
  await settle()
  // Somebody else was faster with 1.
  handle.commit({ ...commits[0]!.batch, writes: [commits[0]!.batch.writes[0]!] })
  commits[0]!.land()
  await settle()
  // It waits until nothing else is under way.
  expect(commits).toHaveLength(2)
  commits[1]!.fail()
  await settle()
  for (let next = 2; next < 6 && commits[next]; next++) {
    commits[next]!.land()
    await settle()
  }
  expect(done.sort()).toEqual(['1:2', '2:1', '3:1'])
})

test('two halves of much work stay halves, also when both have landed before one of them goes on', async () => {
  const { commits, send, settle } = make()
  const sendAll = (from: number, to: number) => {
    for (let no = from; no <= to; no++) send(no)
  }
  const sizes = () => commits.map(({ batch }) => batch.writes.length)
  sendAll(1, 400)
  await settle()
  expect(sizes()).toEqual([200, 200])
  commits[0]!.land()
  commits[1]!.land()
  await settle()
  sendAll(1, 200)
  await settle()
  sendAll(201, 400)
  await settle()
  expect(sizes()).toEqual([200, 200, 200, 200])
})

test('closing lets flights land and turns away the rest', async () => {
  const { commits, done, send, settle, door } = make()
  send(1)
  await settle()
  send(1)
  send(2)
  await settle()
  door.close('engine_stopped', 'over')
  send(3)
  const idle = door.idle()
  commits[0]!.land()
  commits[1]!.land()
  await settle()
  await idle
  expect(done.sort()).toEqual(['1:1', '1:engine_stopped', '2:1', '3:engine_stopped'])
})
