// Opening a store: what it makes, what it refuses, and what it says an acknowledgement is worth.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/postgres.ts'
import { sleep } from '../../src/base/clock.ts'
import { addressOf, shownAddress } from '../../src/store/postgres/address.ts'
import { migrations } from '../../src/store/postgres/migrations.ts'
import { mustBeNewEnough, mustSuit } from '../../src/store/postgres/suitability.ts'
import { Wire } from '../../src/store/postgres/wire.ts'
import { Wires } from '../../src/store/postgres/wires.ts'
import { sampleBatch, sampleKinds, sampleResource } from '../../src/testing/store-samples.ts'
import { ask } from './ask.ts'
import { startPostgres, type PostgresServer } from './server.ts'
import { TransactionPooler } from './transaction-pooler.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

const refused = (text: RegExp) =>
  expect.objectContaining({ code: 'store_unsuitable', message: expect.stringMatching(text) as string })

test('many open a new schema at once: one makes it, all can use it', async () => {
  const open = () => openPostgresStore({ url: server.url, schema: 'Odd "name"', durability: 'none' })
  const stores = await Promise.all([open(), open(), open(), open()])
  for (const store of stores) await store.useKinds(sampleKinds)
  const commits = stores.map(async (store, i) =>
    store.commit(sampleBatch([{ before: null, after: sampleResource(i + 1) }])),
  )
  expect((await Promise.all(commits)).map((answer) => answer.committed)).toEqual([true, true, true, true])
  expect(await stores[0]!.events(0, 10)).toHaveLength(4)
  for (const store of stores) await store.close()
})

test('what is declared is written down before anything stands in it: no commit has to wait for that', async () => {
  const store = await openPostgresStore({ url: server.url, schema: 'declared', durability: 'none' })
  const declared = [
    { type: 'b', status: 'Two' },
    { type: 'a', status: 'One' },
  ]
  await store.useKinds(() => 'stable', declared)
  await store.useKinds(() => 'stable', declared)
  const found = await ask(server, `select type || '/' || status || '/' || kind from declared.shape order by id`)
  expect(found).toEqual(['a//stable', 'a/One/stable', 'b//stable', 'b/Two/stable'])
  await store.close()
})

test('a store that is closed as soon as it is open leaves no connection behind', async () => {
  const count = async () =>
    Number((await ask(server, `select count(*) from pg_stat_activity where application_name = 'homeostat'`))[0])
  const before = await count()
  for (let i = 0; i < 5; i++)
    await (await openPostgresStore({ url: server.url, schema: 'brief', durability: 'none' })).close()
  // Nothing is on its way any more; the server may take its time to notice that a connection ended.
  await expect.poll(count).toBe(before)
  await sleep(50)
  expect(await count()).toBe(before)
})

test('closing does not wait for a connection that never comes', async () => {
  const accepted: Socket[] = []
  const silent = createServer((socket) => accepted.push(socket.resume()))
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  const { port } = silent.address() as AddressInfo
  const address = addressOf({ url: `postgres://postgres@127.0.0.1:${port}/postgres` })
  const wires = new Wires(
    (givenUp) => Wire.open({ address, settings: {}, statements: {}, openMs: 3_600_000, givenUp }),
    1,
  )
  const opening = wires.warm()
  opening.catch(() => {})
  await expect.poll(() => accepted.length).toBe(1)
  await wires.close()
  await expect(opening).rejects.toThrow(/terminated/)
  await expect.poll(() => accepted[0]!.closed).toBe(true)
  silent.close()
})

test('a refusal that only an operator can mend is told with the way out, at the start and while it runs', async () => {
  const [base, address] = [server.url.replace(/\/postgres$/, ''), server.url.replace('postgres@', 'guest:x@')]
  for (const role of ['guest', 'owner']) await ask(server, `create role ${role} login`)
  const open = (url: string) => openPostgresStore({ url, schema: 'refused', durability: 'none' })
  await expect(open(address)).rejects.toEqual(
    refused(/^PostgreSQL refuses: permission denied .* grant create on database/),
  )
  await expect(open(`${base}/nowhere`)).rejects.toEqual(refused(/"nowhere" does not exist\. Create the database/))
  await expect(open(server.url.replace('postgres@', 'nobody@'))).rejects.toEqual(refused(/Correct user and password/))
  await expect(open(`${server.url}?sslmode=verify-full`)).rejects.toEqual(refused(/SSL.*sslmode=disable/))
  await ask(server, 'create database fixed')
  await ask(server, 'alter database fixed set default_transaction_read_only = on')
  await expect(open(`${base}/fixed`)).rejects.toEqual(refused(/read-only transaction\. Connect to a primary/))

  await ask(server, `create schema refused authorization owner`)
  const store = await open(server.url.replace('postgres@', 'owner@'))
  await ask(server, `alter role owner nologin`)
  await ask(server, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'owner'`)
  const away = { code: 'store_unavailable', message: expect.stringMatching(/not permitted to log in\. Correct user/) }
  const found = async () => store.counts()
  await expect.poll(() => found().catch((error: unknown) => error)).toMatchObject(away)
  await ask(server, `alter role owner login`)
  await expect.poll(() => found().catch((error: unknown) => error)).toEqual([])
  await store.close()
})

test('whoever waits for another process that makes the tables says so, and whom for', async () => {
  const holder = await Wire.open({
    address: addressOf({ url: server.url }),
    settings: {},
    statements: {},
    openMs: 5_000,
  })
  await holder.query('begin')
  await holder.query(`select pg_advisory_xact_lock(x'486f6d65'::int, hashtext('awaited'))`)
  const lines: string[] = []
  const opening = openPostgresStore({
    url: server.url,
    schema: 'awaited',
    durability: 'none',
    log: (line) => lines.push(line),
  })
  const told = `waits for another process that makes or changes the tables of schema awaited: backend ${holder.pid} of PostgreSQL, homeostat at 127.0.0.1`
  await expect.poll(() => lines.join(), { timeout: 20_000 }).toContain(told)
  await holder.query('rollback')
  await holder.close()
  await (await opening).close()
})

test('a migration that fails leaves nothing behind', async () => {
  const known = migrations as string[]
  known.push('create table half (n integer); select 1 / 0')
  try {
    await expect(openPostgresStore({ url: server.url, schema: 'half', durability: 'none' })).rejects.toThrow(/zero/)
  } finally {
    known.pop()
  }
  expect(await ask(server, `select 1 from pg_namespace where nspname = 'half'`)).toEqual([])
  await (await openPostgresStore({ url: server.url, schema: 'half', durability: 'none' })).close()
})

test('a newer schema is refused, by writers and by those who only look', async () => {
  const schema = 'newer'
  await (await openPostgresStore({ url: server.url, schema, durability: 'none' })).close()
  await ask(server, `update ${schema}.schema_version set version = 99`)
  for (const readonly of [false, true]) {
    const opening = openPostgresStore({ url: server.url, schema, durability: 'none', readonly })
    await expect(opening).rejects.toMatchObject({ code: 'schema_newer', message: /version 99/ })
  }
})

test('who only looks changes nothing, and makes no schema', async () => {
  const schema = 'looked_at'
  const looking = { url: server.url, schema, readonly: true } as const
  await expect(openPostgresStore(looking)).rejects.toEqual(refused(/no schema looked_at that Homeostat made/))
  const store = await openPostgresStore({ url: server.url, schema, durability: 'none' })
  await store.useKinds(sampleKinds)
  await store.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))
  const reader = await openPostgresStore(looking)
  expect(await reader.list({ limit: 10, after: 0 })).toHaveLength(1)
  const batch = sampleBatch([{ before: null, after: sampleResource(2) }])
  await expect(reader.commit(batch)).rejects.toMatchObject({ code: 'store_unavailable' })
  await reader.close()
  await store.close()
})

test('a server that is not durable is refused, unless it was asked for', async () => {
  await expect(openPostgresStore({ url: server.url })).rejects.toEqual(refused(/none, not disk .*fsync off/))
  const lines: string[] = []
  const store = await openPostgresStore({ url: server.url, durability: 'none', log: (line) => lines.push(line) })
  expect(store.durability).toBe('none')
  expect(lines.join()).toMatch(/commits survive: none/)
  await store.close()
})

test('a server that is too old is refused', () => {
  expect(() => mustBeNewEnough(130_012, '13.12')).toThrow(refused(/13\.12 is too old/))
  mustBeNewEnough(140_000, '14.0')
})

test('a pooler that hands connections on between transactions is refused', async () => {
  const open = () => Wire.open({ address: addressOf({ url: server.url }), settings: {}, statements: {}, openMs: 5_000 })
  const [one, other] = [await open(), await open()]
  expect(await mustSuit(one, other, 'none', false)).toBe('none')
  // Two that were opened, and one session behind them.
  await expect(mustSuit(one, one, 'none', false)).rejects.toEqual(refused(/pooler/))
  await one.close()
  await other.close()
})

test.each([1, 3])('through a pooler of transactions with %i connections nothing opens', async (size) => {
  const pooler = await TransactionPooler.start(server.port, size)
  try {
    const opening = openPostgresStore({ url: pooler.url, schema: `pooled_${size}`, durability: 'none' })
    await expect(opening).rejects.toEqual(refused(/pooler/))
    expect(pooler.handedOn).toBeGreaterThan(0)
    // Nothing was made on the way.
    expect(await ask(server, `select 1 from pg_namespace where nspname = 'pooled_${size}'`)).toEqual([])
  } finally {
    pooler.stop()
  }
})

test('what leaves the machine is encrypted and the certificate verified, unless told otherwise', async () => {
  const ssl = (url: string, tls?: 'off' | 'verify-full') => addressOf({ url, tls }).ssl
  for (const here of ['localhost', '127.0.0.1', '[::1]']) expect(ssl(`postgres://ann@${here}/db`)).toBe(undefined)
  expect(ssl('postgres:///db?host=/run/postgresql')).toBe(undefined)
  expect(ssl('postgres:///db')).toBe(undefined)
  for (const there of ['db.example.com', '10.0.0.7', 'localhost.example.com'])
    expect(ssl(`postgres://ann@${there}/db`)).toEqual({ rejectUnauthorized: true })
  expect(ssl('postgres://ann@db.example.com/db', 'off')).toBe(false)
  expect(ssl('postgres://ann@localhost/db', 'verify-full')).toEqual({ rejectUnauthorized: true })
  expect(() => ssl('postgres://ann@h/db?sslmode=disable', 'verify-full')).toThrow(refused(/twice/))
  expect(() => ssl('mysql://h/db')).toThrow(refused(/must be a URL/))
  expect(shownAddress('postgres://ann:secret@h:5432/db?sslcert=x')).toBe('postgres://ann@h:5432/db')
  // This server has no certificate: nobody speaks to it by accident.
  await expect(openPostgresStore({ url: server.url, tls: 'verify-full' })).rejects.toThrow(/SSL/)
})

test('a server that is not there is away, not broken', async () => {
  const opening = openPostgresStore({ url: 'postgres://postgres@127.0.0.1:1/postgres' })
  await expect(opening).rejects.toMatchObject({ code: 'store_unavailable' })
})
