// History: partitions are made as they are needed, and what is old goes, but nothing of a live run.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../scripts/waiting.ts'
import { openPostgresStore } from '../../src/postgres.ts'
import { retentionPromises } from '../../src/testing/store-retention-promises.ts'
import { sampleBatch, sampleEvent, sampleKinds, sampleResource } from '../../src/testing/store-samples.ts'
import { removedEventsAreTold } from '../server/removed-events.ts'
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
const withinMs = 50_000

retentionPromises(open)
removedEventsAreTold(() => openPostgresStore({ url: server.url, schema: 'removed_told', durability: 'none' }))

test('while one process removes, another has nothing to do', async () => {
  const store = await open('removed_once')
  for (const at of [1_000, 2_000])
    await store.commit(
      sampleBatch([{ before: null, after: sampleResource(at) }], { events: [sampleEvent(sampleResource(at), { at })] }),
    )
  const other = new pg.Client(server.url)
  await other.connect()
  await other.query('select pg_advisory_lock($1)', [0x4869_7374])
  expect(await store.removeHistory({ before: 1_500 })).toEqual({ events: 0, runs: 0, keys: 0, late: 0 })
  await other.end()
  await until('the rest is removed', withinMs, async () => (await store.removeHistory({ before: 1_500 })).events === 1)
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
  await until('the first partition is made', withinMs, async () => (await partitions(schema)).length === 2)
  expect(await partitions(schema)).toEqual(first)
  // As if three and a half million events had been written.
  await ask(server, `update ${schema}.feed set events = 3500000`)
  let no = 10
  await until('the next partition is made', withinMs, async () => {
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
