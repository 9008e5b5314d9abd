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

test('a resource comes to rest, begins again and comes back: each time one row where it belongs', async () => {
  const store = await open()
  let state = begun(5)
  const commit = async (after: Resource, ended = false) => {
    const batch = sampleBatch([{ before: after === state ? null : state, after }], {
      ended: ended ? [sampleEnd(state, { begun: state.epoch })] : [],
    })
    expect((await store.commit(batch)).committed).toBe(true)
    state = after
  }
  await commit(state)
  expect([rowsOf('live'), rowsOf('settled')]).toEqual([[5], []])
  await commit(changed(state, { status: 'available', run: null }), true)
  expect([rowsOf('live'), rowsOf('settled')]).toEqual([[], [5]])
  for (const status of ['available', 'error', 'error']) {
    const epoch = state.epoch + 1
    await commit(
      changed(state, { status: 'extending', epoch, run: sampleRun({ begun: epoch, previous: state.status }) }),
    )
    expect(rowsOf('live')).toEqual([5])
    await commit(changed(state, { status, run: null }), true)
    expect([rowsOf('live'), rowsOf('settled')]).toEqual([[], [5]])
  }
  expect((await store.endedRuns({ no: 5, limit: 9 })).map((run) => run.begun)).toEqual([4, 3, 2, 1])
  expect((await store.load([{ ask: 'endedRun', no: 5, begun: 2 }]))[0]).toMatchObject({ begun: 2 })
  expect(await store.counts()).toEqual([{ type: 'volume', status: 'error', count: 1 }])
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
