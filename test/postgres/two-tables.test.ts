// What is under way and what is at rest have tables of their own: each resource is seen once, wherever its state is, whoever moves it at
// the same time as somebody else, and after the former table was divided.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Resource } from '../../src/decision/state.ts'
import { openPostgresStore, type PostgresStore } from '../../src/postgres.ts'
import { fixedOf, restOf } from '../../src/store/codec.ts'
import { migrations } from '../../src/store/postgres/migrations.ts'
import { changed, sampleBatch, sampleKinds, sampleResource, sampleRun } from '../../src/testing/store-samples.ts'
import { ask } from './ask.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

async function open(schema: string): Promise<PostgresStore> {
  const store = await openPostgresStore({ url: server.url, schema, durability: 'none', clock: 'given' })
  await store.useKinds(sampleKinds)
  return store
}

const write = async (store: PostgresStore, before: Resource | null, after: Resource): Promise<boolean> =>
  (await store.commit(sampleBatch([{ before, after }]))).committed
const begun = (before: Resource, begins: number): Resource =>
  changed(before, { status: 'extending', epoch: before.epoch + 1, run: sampleRun({ begun: begins, owner: 7 }) })
const ended = (before: Resource): Resource => changed(before, { status: 'available', run: null })
const tablesOf = (schema: string, no: number) =>
  ask(
    server,
    `select 'live' from ${schema}.live where no = ${no} union all
    select case when away then 'away' else 'settled' end from ${schema}.settled where no = ${no} order by 1`,
  )

test('a first run comes to rest in the other table; later ones leave their row there, and write it anew', async () => {
  const store = await open('moves')
  const states = async () => (await store.list({ limit: 10, after: 0 })) as readonly Resource[]
  const seen = async (state: Resource, ...tables: readonly string[]) => {
    expect(await tablesOf('moves', 1)).toEqual(tables)
    expect(await states()).toEqual([state])
  }
  let at = sampleResource(1, { status: 'creating', run: sampleRun({ owner: 7 }) })
  const next = async (after: Resource) => {
    expect(await write(store, at, after)).toBe(true)
    at = after
  }
  expect(await write(store, null, at)).toBe(true)
  await seen(at, 'live')
  await next(ended(at))
  await seen(at, 'settled')
  await next(begun(at, 2))
  await seen(at, 'away', 'live')
  // Away, it is found by what it is now, and not by what it was.
  expect(await store.list({ type: 'volume', status: ['available'], limit: 10, after: 0 })).toEqual([])
  await next(changed(at, { run: { ...at.run!, step: 1 } }))
  await seen(at, 'away', 'live')
  await next(changed(at, { status: 'error', run: null }))
  await seen(at, 'settled')
  expect(await store.list({ type: 'volume', status: ['available'], limit: 10, after: 0 })).toEqual([])
  await next(changed(at, { description: 'looked at', timers: { ageing: 5_000 } }))
  await seen(at, 'settled')
  await next(begun(at, 3))
  // A timer that it had at rest is not one that it has.
  await next(changed(at, { timers: {} }))
  expect(await store.work({ work: 'timers' }, 9_000, 10)).toEqual([])
  await next(ended(at))
  await seen(at, 'settled')
  await store.close()
})

test('a run that looks like the first of its resource, and is not, ends as any other, and so do those beside it', async () => {
  const store = await open('guess')
  const first = sampleResource(1, { status: 'creating', run: sampleRun({ owner: 7 }) })
  const found = sampleResource(2)
  const looksFirst = begun(found, 1)
  expect(await write(store, null, first)).toBe(true)
  expect(await write(store, null, found)).toBe(true)
  expect(await write(store, found, looksFirst)).toBe(true)
  const both = [first, looksFirst].map((before) => ({ before, after: ended(before) }))
  expect((await store.commit(sampleBatch(both))).committed).toBe(true)
  expect(await store.list({ limit: 10, after: 0 })).toEqual(both.map(({ after }) => after))
  for (const no of [1, 2]) expect(await tablesOf('guess', no)).toEqual(['settled'])
  await store.close()
})

test('of two who begin with the same resource, change it at rest or end it, one is refused, and it has one state', async () => {
  const stores = [await open('race'), await open('race')] as const
  const atRest = (no: number) => sampleResource(no)
  const live = (no: number) => sampleResource(no, { status: 'extending', run: sampleRun({ owner: 7 }) })
  const said = (before: Resource) => changed(before, { description: 'said' })
  const races: readonly (readonly [
    (no: number) => Resource,
    (one: Resource) => Resource,
    (one: Resource) => Resource,
  ])[] = [
    [atRest, (one) => begun(one, 2), (one) => begun(one, 3)],
    [atRest, (one) => begun(one, 2), said],
    [atRest, said, said],
    [live, ended, (one) => changed(one, { run: { ...one.run!, step: 1 } })],
    [live, ended, ended],
  ]
  let no = 0
  for (let round = 0; round < 20; round++)
    for (const [make, one, other] of races) {
      const before = make(++no)
      expect(await write(stores[0], null, before)).toBe(true)
      const answers = await Promise.all([
        write(stores[0], before, one(before)),
        write(stores[1], before, other(before)),
      ])
      expect(answers.filter(Boolean)).toHaveLength(1)
    }
  const [strangely] = await ask(
    server,
    `select count(*)::int from race.resource r where 1 <> (select count(*) from race.live where no = r.no)
      + (select count(*) from race.settled where no = r.no and away is null)`,
  )
  expect(strangely).toBe(0)
  expect(await stores[1].list({ limit: 1_000, after: 0 })).toHaveLength(no)
  for (const store of stores) await store.close()
})

test('a schema with one table for all states is divided, and nothing is lost', async () => {
  const schema = 'divided'
  const known = migrations as string[]
  const later = known.splice(4)
  try {
    await (await openPostgresStore({ url: server.url, schema, durability: 'none', clock: 'given' })).close()
  } finally {
    known.push(...later)
  }
  const run = sampleRun({
    owner: 7,
    step: 1,
    steps: [0, 1],
    dueAt: 3_000,
    deadlineAt: 4_000,
    results: { made: { ref: 'x' } },
  })
  const states = [
    sampleResource(1, { timers: { ageing: 2_000 } }),
    sampleResource(2, { status: 'extending', run }),
    sampleResource(3, { status: 'deleting' }),
    sampleResource(4, { status: 'deleted', description: 'gone' }),
  ]
  const sql = states.map(({ no, status, run: carried, timers, description }) => {
    const kind = sampleKinds('volume', status)
    const isLive = kind === 'transitional'
    const extra =
      no === 1
        ? `'{"heals":0,"timers":${JSON.stringify(timers)}}'`
        : no === 4
          ? `'{"heals":0,"description":"${description}"}'`
          : 'null'
    const [fixed, rest] = carried === null ? ['null', 'null'] : [`'${fixedOf(carried)}'`, `'${restOf(carried)}'`]
    return `insert into shape (type, status, kind) values ('volume', '${status}', '${kind}');
      insert into tally select id, 1 from shape where status = '${status}';
      insert into resource select ${no}, 'volume', null, null, ${kind === 'terminal'}, 'acme', null, 1000, '{"size":10}', null;
      insert into state (no, owner, wake, epoch, settled, lane, run, extra, revision, shape, batch, seq, since, due, overdue, rest)
        select ${no}, ${carried?.owner ?? (isLive ? -1 : 'null')}, ${no === 1 ? 2_000 : 'null'}, 1, ${isLive ? 'null' : 'id'}, ${carried === null ? 'null' : 2},
        ${fixed}, ${extra}, 1, id, 0, 0, 1000, ${carried?.dueAt ?? 'null'}, ${carried?.deadlineAt ?? 'null'}, ${rest} from shape where status = '${status}'`
  })
  await ask(server, `do $$ begin set local search_path to ${schema}; ${sql.join(';')}; end $$`)
  const store = await open(schema)
  expect(await store.list({ limit: 10, after: 0 })).toEqual(states)
  expect(await Promise.all([1, 2, 3, 4].map((no) => tablesOf(schema, no)))).toEqual([
    ['settled'],
    ['live'],
    ['live'],
    ['settled'],
  ])
  expect(await store.work({ work: 'timers' }, 2_000, 10)).toEqual([states[0]])
  expect(await store.work({ work: 'ownedBy', owners: [7] }, 2_000, 10)).toEqual([states[1]])
  expect(await store.work({ work: 'withoutRun' }, 2_000, 10)).toEqual([states[2]])
  expect(await write(store, states[1]!, ended(states[1]!))).toBe(true)
  expect(await write(store, states[0]!, begun(states[0]!, 2))).toBe(true)
  await store.close()
})
