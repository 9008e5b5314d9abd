// Statements are made while others are sent: what fails on the way leaves nothing behind, and the connection as good as before.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json.ts'
import { openPostgresStore } from '../../src/postgres.ts'
import { addressOf } from '../../src/store/postgres/address.ts'
import { Abandoned, sendNow } from '../../src/store/postgres/pipeline.ts'
import { Wire } from '../../src/store/postgres/wire.ts'
import { sampleBatch, sampleEvent, sampleKinds, sampleResource } from '../../src/testing/store-samples.ts'
import { ask } from './ask.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

test('steps that cannot be made are abandoned with those before them', async () => {
  const wire = await Wire.open({
    address: addressOf({ url: server.url }),
    settings: {},
    statements: { put: 'insert into kept values ($1::int4)', all: 'select n from kept order by n' },
    openMs: 5_000,
  })
  await wire.query('create table kept (n integer)')
  const all = { name: 'all', values: [] }
  const put = (n: number) => ({ name: 'put', values: [String(n)] })
  function* broken() {
    yield put(1)
    yield sendNow
    yield put(2)
    throw new RangeError('no more of them')
  }
  const failure = await wire.run(broken()).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Abandoned)
  expect((failure as Abandoned).cause).toEqual(new RangeError('no more of them'))
  expect(await wire.run([put(3), sendNow, all])).toEqual([[], [['3']]])
  expect(await wire.run([sendNow, put(4), all])).toEqual([[], [['3'], ['4']]])
  await wire.close()
})

test('a commit whose events cannot be put into words is refused whole, whatever of it was sent', async () => {
  const store = await openPostgresStore({ url: server.url, schema: 'sending', durability: 'none' })
  await store.useKinds(sampleKinds)
  const writes = (from: number) =>
    Array.from({ length: 200 }, (_, i) => ({ before: null, after: sampleResource(from + i) }))
  const bad = sampleEvent(sampleResource(200), { detail: { n: 1n } as unknown as JsonObject })
  await expect(store.commit(sampleBatch(writes(1), { events: [bad] }))).rejects.toThrow(TypeError)
  expect(await store.list({ limit: 10, after: 0 })).toEqual([])
  expect(await ask(server, 'select count(*)::int from sending.state')).toEqual([0])
  expect(await store.commit(sampleBatch(writes(1)))).toMatchObject({ committed: true })
  expect(store.resolved).toEqual({ committed: 0, undone: 0 })
  await store.close()
})
