// What people and workers wait for is found with little effort, also right after very many runs: the index of what is under way is full of
// dead entries then, and statistics say that nearly all resources are alike.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore, type PostgresStore } from '../../src/postgres.ts'
import { addressOf } from '../../src/store/postgres/address.ts'
import { Connections, openMs } from '../../src/store/postgres/connections.ts'
import { listSql } from '../../src/store/postgres/lister.ts'
import { readStatements } from '../../src/store/postgres/reader.ts'
import { Wire } from '../../src/store/postgres/wire.ts'
import { workerStatements } from '../../src/store/postgres/workers.ts'
import type { ListQuery } from '../../src/store/store.ts'
import { sampleBatch, sampleKinds, sampleResource, sampleRun } from '../../src/testing/store-samples.ts'
import { startPostgres, type PostgresServer } from './server.ts'

const schema = 'crowd'
/** Numbers of the many. A page takes less than a walk past a good part of them. */
const crowd = { first: 1_001, last: 21_000 }
const few = 2_000
/** Not written down as a worker. */
const stranger = 900

let server: PostgresServer
let store: PostgresStore
let wire: Wire
let watcher: Wire

beforeAll(async () => {
  server = await startPostgres({ settings: { autovacuum: 'off' } })
  store = await openPostgresStore({ url: server.url, schema, durability: 'none', clock: 'given' })
  await store.useKinds(sampleKinds)
  const worker = await store.register({ name: 'one', leaseMs: 1_000_000, now: 0 })
  const live = (no: number, owner: number) => sampleResource(no, { status: 'extending', run: sampleRun({ owner }) })
  const made = [
    sampleResource(1, { status: 'available', tenant: 'default' }),
    sampleResource(2, { status: 'error' }),
    live(10_005, worker),
    live(10_010, stranger),
    sampleResource(30_000, { tenant: 'small', parent: 2, name: 'rare' }),
  ]
  await store.commit(sampleBatch(made.map((after) => ({ before: null, after }))))
  const { base, reading } = new Connections({ url: server.url, schema })
  const opened = (settings: Readonly<Record<string, string>>) =>
    Wire.open({ address: addressOf({ url: server.url }), openMs, settings, statements: {} })
  wire = await opened(reading)
  // As long as somebody looks at what was before, nobody can mark a dead entry as dead for those who come later.
  watcher = await opened(reading)
  await watcher.query('begin')
  await watcher.query('select count(*) from state')
  const writer = await opened(base)
  await fill(writer, worker)
  await writer.close()
})
afterAll(async () => {
  await wire.close()
  await watcher.close()
  await store.close()
  await server.remove()
})

/** As if each of them had been made and enlarged by this worker, and nothing had been vacuumed. */
async function fill(writer: Wire, worker: number): Promise<void> {
  const [row] = await writer.query('select shape, batch from state where no = 1')
  const [shape, batch] = row!
  const among = (no: string) => `${no} between ${crowd.first} and ${crowd.last} and ${no} not in (10005, 10010)`
  const numbers = `generate_series(${crowd.first}, ${crowd.last}) i where ${among('i')}`
  const begin = `with begun as (update settled set away = true where ${among('no')} returning *)
    insert into live (no, owner, epoch, revision, shape, batch, seq, since) select no, ${worker}, 1, 1, shape, batch, seq, since from begun`
  const end = `with gone as (delete from live where ${among('no')} returning *) update settled s set away = null from gone where s.no = gone.no`
  const tenant = `case when i % 2 = 0 then 'default' else 'acme' end`
  for (const sql of [
    `insert into resource select i, 'volume', null, 1, false, ${tenant}, 'same', 1000, '{}', null from ${numbers}`,
    `insert into settled (no, epoch, revision, shape, batch, seq, since) select i, 1, 1, ${shape}, ${batch}, 0, 1000 from ${numbers}`,
    `update tally set count = count + (select count(*) from ${numbers}) where shape = ${shape}`,
    begin,
    end,
    begin,
    end,
    'analyze',
  ])
    await writer.query(sql)
}

interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Actual Loops': number
  readonly Plans?: readonly Plan[]
}
const inVain = (plan: Plan): number =>
  (plan['Rows Removed by Filter'] ?? 0) * plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, part) => sum + inVain(part), 0)

let statements = 0
/** Blocks that a statement touches and rows that it looks at in vain, planned as a connection that reads plans it. */
async function effortOf(sql: string, values: readonly (string | number)[]): Promise<number> {
  const name = `statement_${++statements}`
  await wire.query(`prepare ${name} as ${sql}`)
  const given = values.map((value) => `'${value}'`).join()
  const execute = `execute ${name}${given === '' ? '' : `(${given})`}`
  const [row] = await wire.query(`explain (analyze, buffers, timing off, format json) ${execute}`)
  const [{ Plan: plan }] = JSON.parse(row![0]!) as [{ Plan: Plan }]
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] + inVain(plan)
}

const page = { limit: 50, after: 0 }
const lists: Readonly<Record<string, Partial<ListQuery>>> = {
  'of a type': { type: 'volume' },
  'of a type, further on': { type: 'volume', after: 10_000 },
  'of a type, the last': { type: 'volume', after: crowd.last - 20 },
  'of a type that few have': { type: 'pool' },
  'of a status that most have': { type: 'volume', status: ['available'], after: 10_000 },
  'of a status that few have': { type: 'volume', status: ['error'] },
  'of a status that none has': { type: 'volume', status: ['deleted'] },
  'of a status of several types': { status: ['error', 'deleted'] },
  'of the tenant that most have': { type: 'volume', tenant: 'default', after: 10_000 },
  'of a tenant that few have': { tenant: 'small' },
  'of a tenant that none has': { tenant: 'nobody', type: 'volume' },
  'of a parent that few have': { parent: 2 },
  'of a parent that none has': { parent: 3 },
  'of a name that few have': { name: 'rare' },
  'of a name that none has': { name: 'none' },
  'of a name and a parent': { name: 'none', parent: 2 },
}

test.each(Object.entries(lists))('a list %s', async (_, query) => {
  const { sql, values } = listSql({ ...page, ...query })
  expect(await effortOf(sql, values)).toBeLessThan(few)
})

test('work of somebody who has none, or of nobody', async () => {
  expect(await effortOf(readStatements.ownedBy, ['{7,8}', 0, 50])).toBeLessThan(few)
  expect(await effortOf(readStatements.waiting, [5_000, 0, 50])).toBeLessThan(few)
  expect(await effortOf(readStatements.withoutRun, [0, 50])).toBeLessThan(few)
  expect(await effortOf(workerStatements.strangers, [])).toBeLessThan(few)
})

test('what is under way is in its place in a page, whoever owns it', async () => {
  const listed = async (query: Partial<ListQuery>) => (await store.list({ ...page, ...query })).map((one) => one.no)
  const ten = Array.from({ length: 10 }, (_, i) => 10_002 + i)
  expect(await listed({ type: 'volume', after: 10_001, limit: 10 })).toEqual(ten)
  expect(await listed({ type: 'volume', status: ['extending'] })).toEqual([10_005, 10_010])
  expect(await listed({ type: 'volume', status: ['extending', 'error'] })).toEqual([2, 10_005, 10_010])
  const states = (await store.workers(0)).map((one) => [one.no, one.state])
  expect(states).toContainEqual([stranger, 'dead'])
})
