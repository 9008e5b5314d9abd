// Statements are made while others are sent: what fails on the way leaves nothing behind, and the connection as good as before.
import pg from 'pg'
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

test('a pipeline is sent before others are answered; each is a transaction of its own and answered in its turn', async () => {
  const wire = await Wire.open({
    address: addressOf({ url: server.url }),
    settings: {},
    statements: {
      put: 'insert into ahead values ($1::int4)',
      all: 'select n from ahead order by n',
      fails: 'select 1 / $1::int4',
      waits: 'select 1 from barrier for update',
    },
    openMs: 5_000,
  })
  await wire.query('create table ahead (n integer); create table barrier (n integer); insert into barrier values (1)')
  const put = (n: number) => ({ name: 'put', values: [String(n)] })
  const all = { name: 'all', values: [] }
  const fails = (by: number) => ({ name: 'fails', values: [String(by)] })
  const waits = { name: 'waits', values: [] }
  const made: number[] = []
  function* noted(n: number, ...steps: { name: string; values: string[] }[]) {
    made.push(n)
    yield* steps
  }

  // Nothing is known yet: what the first teaches and does not get through with is taught again by the second, in its turn.
  const taught = wire.run(noted(1, put(1), fails(0), waits))
  const again = wire.run(noted(2, put(2), fails(1), waits, all))
  expect(made).toEqual([1])
  await expect(taught).rejects.toThrow('division by zero')
  expect(await again).toEqual([[], [['1']], [['1']], [['2']]])

  const holder = new pg.Client(server.url)
  await holder.connect()
  await holder.query('begin')
  await holder.query('select 1 from barrier for update')
  const answers: string[] = []
  const told = (name: string, answer: Promise<unknown>) =>
    answer.then(
      () => answers.push(name),
      () => answers.push(`no ${name}`),
    )
  const first = wire.run(noted(3, waits, put(3)))
  const second = wire.run(noted(4, put(4), fails(0)))
  const question = wire.query('select n from ahead order by n')
  const behind = wire.run(noted(5, put(5), all))
  // Behind a question, which is not sent before its turn, it waits for its own.
  expect(made).toEqual([1, 2, 3, 4])
  const heard = Promise.all([told('first', first), told('second', second), told('question', question)])
  await holder.query('commit')
  await holder.end()
  await heard
  expect(answers).toEqual(['first', 'no second', 'question'])
  expect(await question).toEqual([['2'], ['3']])
  expect(await behind).toEqual([[], [['2'], ['3'], ['5']]])
  await wire.close()
})

test('a third pipeline waits for its turn: the driver would warn the program of it', async () => {
  const wire = await Wire.open({
    address: addressOf({ url: server.url }),
    settings: {},
    statements: { put: 'insert into third values ($1::int4)', waits: 'select pg_advisory_xact_lock(3)' },
    openMs: 5_000,
  })
  await wire.query('create table third (n integer)')
  const holder = new pg.Client(server.url)
  await holder.connect()
  await holder.query('select pg_advisory_lock(3)')
  const made: number[] = []
  function* noted(n: number) {
    made.push(n)
    yield { name: 'waits', values: [] }
    yield { name: 'put', values: [String(n)] }
  }
  await wire.run([{ name: 'put', values: ['0'] }])
  // Teaches the last statement, so that what comes after need not wait for that.
  const taught = wire.run(noted(1))
  await holder.query('select pg_advisory_unlock(3)')
  await taught
  await holder.query('select pg_advisory_lock(3)')
  const all = [2, 3, 4, 5].map((n) => wire.run(noted(n)))
  expect(made).toEqual([1, 2, 3])
  await holder.query('select pg_advisory_unlock(3)')
  await holder.end()
  expect(await Promise.all(all)).toHaveLength(4)
  expect(made).toEqual([1, 2, 3, 4, 5])
  expect(await ask(server, 'select n from third order by n')).toEqual([0, 1, 2, 3, 4, 5])
  await wire.close()
})

test('of two commits on one connection that breaks, both are found out', async () => {
  const store = await openPostgresStore({ url: server.url, schema: 'together', durability: 'none' })
  await store.useKinds(sampleKinds)
  const commit = (no: number) => store.commit(sampleBatch([{ before: null, after: sampleResource(no) }]))
  expect(await commit(1)).toMatchObject({ committed: true })
  const holder = new pg.Client(server.url)
  await holder.connect()
  const answers = async () => {
    await holder.query('begin')
    await holder.query('select 1 from together.feed for update')
    const both = Promise.allSettled([commit(2), commit(3)])
    const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%feed%'`
    let backends: unknown[] = []
    while (backends.length === 0) backends = await ask(server, waiting)
    return { both, backends }
  }

  const first = await answers()
  // The second stands behind the first, not beside it.
  expect(await ask(server, 'select count(*)::int from pg_locks where not granted')).toEqual([1])
  await ask(server, `select pg_terminate_backend(${String(first.backends[0])})`)
  await holder.query('commit')
  const lost = await first.both
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(store.resolved.committed).toBe(0)
  expect(await ask(server, 'select no::int from together.state order by no')).toEqual([1])

  const second = await answers()
  await holder.query('commit')
  await holder.end()
  expect(await second.both).toMatchObject([{ value: { committed: true } }, { value: { committed: true } }])
  expect(await ask(server, 'select no::int from together.state order by no')).toEqual([1, 2, 3])
  await store.close()
})
