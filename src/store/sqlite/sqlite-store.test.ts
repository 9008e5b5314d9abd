// What is special to SQLite: rows that are written many at a time, and processes that judge a status differently.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Resource } from '../../decision/state.ts'
import { openSqliteStore } from '../../sqlite.ts'
import { changed, sampleBatch, sampleEnd, sampleKinds, sampleResource, sampleRun } from '../../testing/store-samples.ts'
import type { KindOf, Store } from '../store.ts'

let folder = ''
let file = ''
let stores: Store[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
  file = join(folder, 'store.db')
})
afterEach(async () => {
  for (const store of stores) await store.close()
  stores = []
  rmSync(folder, { recursive: true })
})

async function open(kinds: KindOf = sampleKinds): Promise<Store> {
  const store = openSqliteStore({ file })
  stores.push(store)
  await store.useKinds(kinds)
  return store
}

/** Numbers of the rows that a table has. */
function rowsOf(table: string): number[] {
  const db = new DatabaseSync(file, { readOnly: true })
  const rows = db.prepare(`select no from ${table} order by no`).all()
  db.close()
  return rows.map((row) => Number(row['no']))
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
const begun = (no: number) => sampleResource(no, { status: 'creating', run: sampleRun({ previous: '' }) })
const stepped = (before: Resource) => changed(before, { run: { ...before.run!, step: before.run!.step + 1 } })

test('one of many steps that finds its row gone, or changed, undoes them all and is named', async () => {
  const [one, other] = [await open(), await open()]
  const states = numbers(75).map(begun)
  await one.commit(sampleBatch(states.map((after) => ({ before: null, after }))))
  const [landed, moved] = [states[30]!, states[72]!]
  await other.commit(
    sampleBatch([
      { before: landed, after: changed(landed, { status: 'available', run: null }) },
      { before: moved, after: stepped(moved) },
    ]),
  )
  const steps = () => sampleBatch(states.map((before) => ({ before, after: stepped(before) })))
  expect(await one.commit(steps())).toEqual({ committed: false, conflicts: [landed.no, moved.no], keys: [] })
  expect(rowsOf('live')).toEqual(numbers(75).filter((no) => no !== landed.no))
  const rest = states.filter((state) => state !== landed && state !== moved)
  const answer = await one.commit(sampleBatch(rest.map((before) => ({ before, after: stepped(before) }))))
  expect(answer).toEqual({ committed: true, first: 78 })
  const stored = await one.list({ limit: 100, after: 0 })
  expect(stored.map((state) => state.revision)).toEqual(numbers(75).map(() => 2))
  expect(stored.map((state) => state.run?.step)).toEqual(numbers(75).map((no) => (no === landed.no ? undefined : 1)))
})

test('processes that judge a status differently can still write each other’s resources', async () => {
  const one = await open((type, status) => (status === 'paused' ? 'transitional' : sampleKinds(type, status)))
  const other = await open()
  let state = sampleResource(1, { status: 'paused', links: { disk: 1 } })
  await one.commit(sampleBatch([{ before: null, after: state }]))
  for (const [at, status] of ['paused', 'available', 'paused', 'paused', 'deleted', 'paused', 'deleted'].entries()) {
    const next = changed(state, { status })
    expect(await (at % 2 ? one : other).commit(sampleBatch([{ before: state, after: next }]))).toEqual({
      committed: true,
      first: at + 2,
    })
    state = next
    expect(await one.load([{ ask: 'resource', no: 1 }])).toEqual([state])
    expect((await other.list({ limit: 9, after: 0, status: [status] })).length).toBe(1)
    expect(await other.counts()).toEqual([{ type: 'volume', status, count: 1 }])
  }
})

test('a resource comes to rest, begins again and comes back: each time one row, that lingers among the live', async () => {
  const store = await open()
  let state = begun(5)
  const commit = async (after: Resource, ended = false) => {
    const batch = sampleBatch([{ before: after === state ? null : state, after }], {
      ended: ended ? [sampleEnd(state, { begun: state.epoch })] : [],
    })
    expect((await store.commit(batch)).committed).toBe(true)
    state = after
  }
  const register = () => store.register({ name: 'next', leaseMs: 1_000, now: 1 })
  await commit(state)
  await commit(changed(state, { status: 'available', run: null }), true)
  expect([rowsOf('live'), rowsOf('settled')]).toEqual([[5], []])
  expect(await store.liveShapes()).toEqual([])
  for (const status of ['available', 'error', 'available', 'error']) {
    const epoch = state.epoch + 1
    await commit(
      changed(state, { status: 'extending', epoch, run: sampleRun({ begun: epoch, previous: state.status }) }),
    )
    // What is under way is nobody's to move.
    await register()
    expect(rowsOf('live')).toEqual([5])
    await commit(changed(state, { status, run: null }), true)
    expect((await store.list({ limit: 9, after: 0, status: [status] })).map(({ no }) => no)).toEqual([5])
    if (status === 'available') {
      await register()
      expect([rowsOf('live'), rowsOf('settled')]).toEqual([[], [5]])
    }
  }
  expect((await store.endedRuns({ no: 5, limit: 9 })).map((run) => run.begun)).toEqual([5, 4, 3, 2, 1])
  expect((await store.load([{ ask: 'endedRun', no: 5, begun: 2 }]))[0]).toMatchObject({ begun: 2 })
  expect(await store.counts()).toEqual([{ type: 'volume', status: 'error', count: 1 }])
})

/** Made and come to rest, one after another. */
async function rested(store: Store, count: number): Promise<Resource[]> {
  const states: Resource[] = []
  for (const no of numbers(count)) {
    const before = begun(no)
    const after = changed(before, { status: 'available', description: `was ${no}`, run: null })
    await store.commit(sampleBatch([{ before: null, after: before }]))
    await store.commit(sampleBatch([{ before, after }], { ended: [sampleEnd(before)] }))
    states.push(after)
  }
  return states
}

test('what lingers is moved on when there are many; what has begun again meanwhile is not', async () => {
  const store = await open()
  const states = await rested(store, 63)
  expect([rowsOf('live'), rowsOf('settled')]).toEqual([numbers(63), []])
  const again = changed(states[0]!, { status: 'extending', epoch: 2, run: sampleRun({ begun: 2 }) })
  await store.commit(sampleBatch([{ before: states[0]!, after: again }]))
  for (const no of [64, 65]) {
    const before = begun(no)
    await store.commit(sampleBatch([{ before: null, after: before }]))
    const after = changed(before, { status: 'available', run: null })
    const end = sampleBatch([{ before, after }], { ended: [sampleEnd(before)] })
    // A batch that would move them, and is undone, has moved nothing.
    const stale = { ...end, guards: [{ guard: 'revision', no: 1, revision: 1 } as const] }
    expect(await store.commit(stale)).toMatchObject({ committed: false, conflicts: [1] })
    expect(rowsOf('settled')).toEqual([])
    expect((await store.commit(end)).committed).toBe(true)
  }
  expect([rowsOf('live'), rowsOf('settled')]).toEqual([[1], numbers(65).slice(1)])
  expect(await store.load([{ ask: 'resource', no: 1 }])).toEqual([again])
  expect(await store.load([{ ask: 'resource', no: 2 }])).toEqual([states[1]])
})

test('one that another process has moved on, or begun, is found where it is', async () => {
  const store = await open()
  const [moved, begunThere, left] = await rested(store, 3)
  const other = await open()
  const begin = (state: Resource) => changed(state, { status: 'extending', epoch: 2, run: sampleRun({ begun: 2 }) })
  const there = begin(begunThere!)
  expect((await other.commit(sampleBatch([{ before: begunThere!, after: there }]))).committed).toBe(true)
  await other.register({ name: 'other', leaseMs: 1_000, now: 1 })
  expect([rowsOf('live'), rowsOf('settled')]).toEqual([[2], [1, 3]])
  const mine = begin(moved!)
  expect((await store.commit(sampleBatch([{ before: moved!, after: mine }]))).committed).toBe(true)
  expect(await store.commit(sampleBatch([{ before: begunThere!, after: begin(begunThere!) }]))).toEqual({
    committed: false,
    conflicts: [2],
    keys: [],
  })
  const changedThere = changed(left!, { description: 'seen' })
  expect((await store.commit(sampleBatch([{ before: left!, after: changedThere }]))).committed).toBe(true)
  expect(await other.load([1, 2, 3].map((no) => ({ ask: 'resource', no })))).toEqual([mine, there, changedThere])
})

test('a run that ends while another begins in the same change is not lost', async () => {
  const store = await open()
  const first = begun(1)
  await store.commit(sampleBatch([{ before: null, after: first }]))
  const second = changed(first, {
    status: 'deleting',
    epoch: 2,
    run: sampleRun({ begun: 2, operation: 'delete', previous: '' }),
  })
  await store.commit(
    sampleBatch([{ before: first, after: second }], { ended: [sampleEnd(first, { outcome: 'preempted' })] }),
  )
  const third = changed(second, { status: 'deleted', run: null })
  await store.commit(sampleBatch([{ before: second, after: third }], { ended: [sampleEnd(second, { begun: 2 })] }))
  expect((await store.endedRuns({ no: 1, limit: 9 })).map((run) => [run.begun, run.outcome])).toEqual([
    [2, 'succeeded'],
    [1, 'preempted'],
  ])
})
