// History: partitions are made as they are needed, and what is old goes, but nothing of a live run.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/postgres.ts'
import {
  changed,
  sampleBatch,
  sampleEnd,
  sampleEvent,
  sampleKinds,
  sampleResource,
  sampleRun,
} from '../../src/testing/store-samples.ts'
import { ask } from './ask.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

const open = async (schema: string) => {
  const store = await openPostgresStore({ url: server.url, schema, durability: 'none', clock: 'given' })
  await store.useKinds(sampleKinds)
  return store
}
const partitions = async (schema: string) =>
  ask(
    server,
    `select inhrelid::regclass::text from pg_inherits where inhparent = '${schema}.event'::regclass order by 1`,
  )
const until = async (holds: () => Promise<boolean>) => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('what is old is removed, events, ends and keys; the rest reads as before', async () => {
  const store = await open('retained')
  const hour = 3_600_000
  let state = sampleResource(1)
  let before: typeof state | null = null
  for (let n = 0; n < 100; n++) {
    const at = n * hour
    const [one, ended] = [sampleEvent(state, { at, from: state.status }), sampleEnd(state, { endedAt: at, begun: n })]
    const keys = [{ key: `k${n}`, hash: 'h', no: 1, begun: n, at }]
    await store.commit(sampleBatch([{ before, after: state }], { events: [one], ended: [ended], keys }))
    before = state
    state = changed(state, {})
  }
  const all = await store.events(0, 1_000)
  expect(all).toHaveLength(100)
  const removed = await store.removeHistory({ before: 60 * hour, keysBefore: 50 * hour })
  expect(removed).toEqual({ events: 60, runs: 60, keys: 50 })
  expect(await store.events(0, 1_000)).toEqual(all.slice(60))
  // The chain of a resource just ends where it was cut.
  expect(await store.history(1, null, 1_000)).toEqual(all.slice(60).toReversed())
  expect(await store.endedRuns({ no: 1, limit: 1_000 })).toHaveLength(40)
  const keys = await store.load([49, 50].map((n) => ({ ask: 'key', key: `k${n}` })))
  expect(keys.map((key) => key !== null)).toEqual([false, true])
  expect(await store.removeHistory({ before: 60 * hour })).toEqual({ events: 0, runs: 0, keys: 0 })
  await store.close()
})

test('nothing of a live run is removed, however old it is', async () => {
  const store = await open('live_kept')
  const day = 86_400_000
  const live = sampleResource(1, { status: 'creating', run: sampleRun({ acceptedAt: 10 * day }) })
  const commit = (no: number, at: number, after = sampleResource(no)) =>
    store.commit(sampleBatch([{ before: null, after }], { events: [sampleEvent(after, { at })] }))
  await commit(2, 8 * day)
  await commit(1, 10 * day, live)
  await commit(3, 12 * day)
  expect(await store.removeHistory({ before: 20 * day })).toMatchObject({ events: 1 })
  expect((await store.events(0, 10)).map(({ n }) => n)).toEqual([2, 3])
  await store.commit(
    sampleBatch([{ before: live, after: changed(live, { status: 'available', run: null }) }], { events: [] }),
  )
  expect(await store.removeHistory({ before: 20 * day })).toMatchObject({ events: 1 })
  // The newest chunk always stays: numbers go on from it.
  expect((await store.events(0, 10)).map(({ n }) => n)).toEqual([3])
  await store.close()
})

test('partitions are made ahead of the events, and dropped whole', async () => {
  const schema = 'partitioned'
  const store = await open(schema)
  const commit = async (no: number, at: number) => {
    const after = sampleResource(no)
    await store.commit(sampleBatch([{ before: null, after }], { events: [sampleEvent(after, { at })] }))
  }
  await commit(1, 1_000)
  const first = [`${schema}.event_from_0`, `${schema}.event_rest`]
  await until(async () => (await partitions(schema)).length === 2)
  expect(await partitions(schema)).toEqual(first)
  // As if three and a half million events had been written.
  await ask(server, `update ${schema}.feed set events = 3500000`)
  let no = 10
  await until(async () => {
    await commit(++no, 2_000)
    return (await partitions(schema)).length === 3
  })
  const early = await store.events(0, 1_000)
  expect([early[0]!.n, early[1]!.n]).toEqual([1, 3_500_001])
  expect(await partitions(schema)).toEqual([first[0], `${schema}.event_from_4000000`, first[1]])
  await ask(server, `update ${schema}.feed set events = 4100000`)
  await commit(3, 9_000_000_000)
  expect((await store.events(0, 1_000)).map(({ n }) => n)).toEqual([...early.map(({ n }) => n), 4_100_001])
  await store.removeHistory({ before: 8_000_000_000 })
  expect((await store.events(0, 10)).map(({ n }) => n)).toEqual([4_100_001])
  expect(await partitions(schema)).toEqual([`${schema}.event_from_4000000`, first[1]])
  await store.close()
})
