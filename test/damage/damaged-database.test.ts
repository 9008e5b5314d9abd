// Rows of a PostgreSQL database that stand for all others: without them nobody can start, and whoever tries is told which it is.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/postgres.ts'
import { ask } from '../postgres/ask.ts'
import { startPostgres, type PostgresServer } from '../postgres/server.ts'

let server: PostgresServer
beforeAll(async () => void (server = await startPostgres()))
afterAll(() => server.remove())

async function damagedBy(schema: string, statement: string) {
  const open = () => openPostgresStore({ url: server.url, schema, durability: 'none' })
  await (await open()).close()
  await ask(server, statement.replace('SCHEMA', schema))
  return open
}

test.each([
  ['gone', 'delete from SCHEMA.schema_version', /its version, in the table schema_version, is not there/],
  ['low', 'update SCHEMA.schema_version set version = 1', /its version.* is older than the tables are/],
  ['unfed', 'delete from SCHEMA.feed', /the row of its feed is gone/],
  ['behind', `insert into SCHEMA.event values (9, '[]')`, /it has event 9, its feed ends at 0/],
  ['uncounted', `delete from SCHEMA.counter where name = 'incarnation'`, /a counter is gone: incarnation/],
])('%s: nobody starts, and the damage is named', async (schema, statement, words) => {
  const open = await damagedBy(schema, statement)
  await expect(open()).rejects.toMatchObject({ code: 'store_corrupt', message: expect.stringMatching(words) })
})

test('a counter of workers that fell back gives no number twice', async () => {
  const numbered = 77 * 2 ** 32 + 1
  const open = await damagedBy(
    'counting',
    `insert into SCHEMA.resource (no, type, id, terminal, tenant, created, properties) values (${numbered}, 'some.type', 'some', false, 'default', 0, '{}')`,
  )
  const store = await open()
  expect(await store.register({ name: 'one', leaseMs: 1_000, now: 0 })).toBe(78)
  await store.close()
})
