// The four promises that PostgreSQL does not give by itself, each with its control: the same test with the protection taken away must
// see the promise broken, else it would prove nothing.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../scripts/waiting.ts'
import type { Resource } from '../../src/decision/state.ts'
import { openPostgresStore, type PostgresStore } from '../../src/postgres.ts'
import { resolverStatements } from '../../src/store/postgres/committer.ts'
import type { Form } from '../../src/store/postgres/sheet.ts'
import { commitStatements } from '../../src/store/postgres/statements.ts'
import type { Store } from '../../src/store/store.ts'
import { changed, sampleBatch, sampleKinds, sampleResource, sampleRun } from '../../src/testing/store-samples.ts'
import { ask } from './ask.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
let schemas = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

async function open(schema: string, url = server.url): Promise<PostgresStore> {
  const store = await openPostgresStore({ url, schema, durability: 'none', clock: 'given' })
  await store.useKinds(sampleKinds)
  return store
}

/** A schema of its own, and handles on it that end with the test. */
async function withSchema<T>(work: (open: () => Promise<PostgresStore>, schema: string) => Promise<T>): Promise<T> {
  const schema = `promise_${++schemas}`
  const stores: Store[] = []
  try {
    return await work(async () => {
      const store = await open(schema)
      stores.push(store)
      return store
    }, schema)
  } finally {
    for (const store of stores) await store.close()
  }
}

/** The statements are changed for all connections that are opened meanwhile. */
async function sabotaged<T>(
  statements: Record<string, string>,
  patch: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  const sound = { ...statements }
  for (const [name, sql] of Object.entries(patch)) {
    if (statements[name] === undefined || statements[name] === sql) throw new Error(`${name} is not changed`)
    statements[name] = sql
  }
  try {
    return await work()
  } finally {
    Object.assign(statements, sound)
  }
}

/** The same for the statements of commits, in each form that they have. */
async function sabotagedCommits<T>(
  patchOf: (form: Form) => Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  commitStatements.textOf = (name, form) => patchOf(form)[name] ?? sound(name, form)
  try {
    return await work()
  } finally {
    commitStatements.textOf = sound
  }
}
const sound = commitStatements.textOf

// Zombie: an owner that was frozen past its lease, while another took its runs over and finished half of them.

function thawed(): Promise<{ refused: number; dragged: number; events: number; beats: boolean }> {
  return withSchema(async (handle) => {
    const [zombie, other] = [await handle(), await handle()]
    const me = await zombie.register({ name: 'zombie', leaseMs: 600, now: 1_000 })
    const successor = await other.register({ name: 'other', leaseMs: 60_000, now: 1_000 })
    const status = 'creating'
    const owned = Array.from({ length: 200 }, (_, i) =>
      sampleResource(i + 1, { status, run: sampleRun({ owner: me }) }),
    )
    await zombie.commit(sampleBatch(owned.map((after) => ({ before: null, after }))))
    // Frozen here. Its lease runs out, its runs are taken over, and half of them finished.
    expect(await other.end({ no: me, as: 'expired', now: 2_000 })).toBe(true)
    const found = (await other.work({ work: 'ownedBy', owners: [me] }, 2_000, 1_000)) as Resource[]
    expect(found).toHaveLength(200)
    const taken = found.map((one) =>
      changed(one, { epoch: one.epoch + 1, run: { ...one.run!, owner: successor, step: 1 } }),
    )
    await other.commit(sampleBatch(taken.map((after, i) => ({ before: found[i]!, after }))))
    const finished = taken.slice(0, 100)
    const done = finished.map((one) => changed(one, { status: 'available', run: null }))
    await other.commit(sampleBatch(done.map((after, i) => ({ before: finished[i]!, after }))))
    const head = (await other.events(0, 10_000)).length
    // Thawed: it reports what its calls did, each by itself.
    let refused = 0
    for (const before of owned) {
      const late = sampleBatch([{ before, after: changed(before, { run: { ...before.run!, step: 2 } }) }])
      const answer = await zombie.commit(late)
      if (!answer.committed) refused++
    }
    const states = (await other.list({ limit: 1_000, after: 0 })) as Resource[]
    return {
      refused,
      dragged: states.filter(({ status, run }) => (run === null ? status !== 'available' : run.step !== 1)).length,
      events: (await other.events(0, 10_000)).length - head,
      beats: await zombie.beat({ no: me, leaseMs: 600, now: 1_100 }),
    }
  })
}

test('zombie: nothing that an owner writes after ownership moved on is accepted, not even a beat', async () => {
  expect(await thawed()).toEqual({ refused: 200, dragged: 0, events: 0, beats: false })
})

test('zombie, control: without the fence, what is under way is dragged back; what was finished is no longer among it', async () => {
  const unfenced = (form: Form) => sound('steps', form).replace('and s.revision = v.was and s.epoch = v.fence', '')
  const found = await sabotagedCommits((form) => ({ steps: unfenced(form) }), thawed)
  expect(found).toEqual({ refused: 100, dragged: 100, events: 100, beats: false })
})

// Unknown commit: the connection breaks in the middle of a commit. What is answered must be what is true, and stay so.

type Case = 'cutBefore' | 'cutAfter' | 'cutWhileBlocked' | 'terminated'

async function unknownCommit(how: Case): Promise<{ answered: boolean; true: boolean }> {
  return withSchema(async (handle, schema) => {
    const watching = await handle()
    const proxy = await CuttingProxy.start(server.port)
    const through = await open(schema, server.url.replace(`:${server.port}`, `:${proxy.port}`))
    await through.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))
    const blocker = how === 'cutWhileBlocked' || how === 'terminated' ? await blockFeed(schema) : null
    // As it is named when it is carried out, not when it is prepared.
    const marker = '\u0000number 0\u0000'
    const cuts = { cutBefore: 'before', cutAfter: 'answered', cutWhileBlocked: 'sent' } as const
    const cut = how === 'terminated' ? null : proxy.cutNext(cuts[how], marker)
    const sent = through.commit(sampleBatch([{ before: null, after: sampleResource(2) }]))
    const committing = Promise.resolve(sent).then(
      (answer) => answer.committed,
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'store_unavailable' })
        return false
      },
    )
    await cut
    if (how === 'terminated') {
      await waiting(schema)
      await ask(
        server,
        `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and query like '%feed%'`,
      )
    }
    // The old transaction is still there, waiting; it is let go when the outcome was asked for.
    if (blocker !== null) await blocker.release(how === 'cutWhileBlocked' ? committing : null)
    const answered = await committing
    await through.close()
    await proxy.stop()
    await noneUnderWay(schema)
    const [found] = await watching.load([{ ask: 'resource', no: 2 }])
    return { answered, true: found !== null }
  })
}

/** Holds the row that numbers commits. */
async function blockFeed(schema: string): Promise<{ release(after: Promise<unknown> | null): Promise<void> }> {
  const { default: pg } = await import('pg')
  const client = new pg.Client(server.url)
  await client.connect()
  await client.query(`begin; select 1 from ${schema}.feed for update`)
  return {
    async release(after) {
      await after
      await client.query('rollback')
      await client.end()
    },
  }
}

const withinMs = 50_000

/** A commit waits for the feed. */
const waiting = (schema: string) =>
  until('a commit waits for the feed', withinMs, async () => {
    const sql = `select count(*) from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
      join pg_stat_activity a on a.pid = l.pid where n.nspname = '${schema}' and c.relname = 'feed' and a.wait_event_type = 'Lock'`
    return Number((await ask(server, sql))[0]) > 0
  })

/** No transaction on the schema is under way any more. */
const noneUnderWay = (schema: string) =>
  until('no transaction is under way', withinMs, async () => {
    const sql = `select count(*) from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = '${schema}' and l.mode = 'RowExclusiveLock'`
    return Number((await ask(server, sql))[0]) === 0
  })

const cases: readonly Case[] = ['cutBefore', 'cutAfter', 'cutWhileBlocked', 'terminated']
for (const how of cases) {
  test(`unknown commit: the answer is the truth (${how})`, async () => {
    const found = await unknownCommit(how)
    expect(found.answered).toBe(found.true)
    expect(found.true).toBe(how === 'cutAfter')
  })
}

test('unknown commit, control: who only looks its number up says "no", and then it happens', async () => {
  const onlyLooks = `insert into commit (batch, n) select $1::int8, null where exists (select 1 from commit where batch = $1::int8)`
  const found = await sabotaged(resolverStatements, { forestall: onlyLooks }, () => unknownCommit('cutWhileBlocked'))
  expect(found).toEqual({ answered: false, true: true })
})

// Family rule: a child may begin only while its parent stands, and a parent may be frozen only while no child is at work.

async function familyRounds(rounds: number): Promise<{ both: number; neither: number }> {
  return withSchema(async (handle) => {
    const [one, other] = [await handle(), await handle()]
    let both = 0
    let neither = 0
    for (let round = 0; round < rounds; round++) {
      const parent = sampleResource(round * 2 + 1)
      const child = sampleResource(round * 2 + 2, { parent: parent.no })
      await one.commit(sampleBatch([parent, child].map((after) => ({ before: null, after }))))
      const begin = sampleBatch([{ before: child, after: changed(child, { status: 'creating', run: sampleRun() }) }], {
        guards: [{ guard: 'revision', no: parent.no, revision: 1 }],
      })
      const freeze = sampleBatch([{ before: parent, after: changed(parent, { status: 'frozen' }) }], {
        guards: [
          { guard: 'children', no: parent.no, members: [child.no] },
          { guard: 'revision', no: child.no, revision: 1 },
        ],
      })
      const answers = await Promise.all([one, other].map(async (store, i) => store.commit(i === 0 ? begin : freeze)))
      const committed = answers.filter((answer) => answer.committed).length
      if (committed === 2) both++
      if (committed === 0) neither++
    }
    return { both, neither }
  })
}

test('family rule: of a child that begins and a parent that freezes, exactly one does', async () => {
  expect(await familyRounds(60)).toEqual({ both: 0, neither: 0 })
})

/** Numbers from a sequence: nobody waits for anybody. The pause stands for a flush that takes its time. */
const unlocked = ({
  rowsOf,
}: Form) => `with f as (select nextval('public.free_number') - 1 as events, 0 as runs, pg_sleep($1::int8 * 0 + random() * 0.004)),
    c as (insert into commit (batch, n) select $4::int8, events from f),
    e as (insert into event (first, body) select f.events + v.place, v.body from f, ${rowsOf('events', 5)})
    select max(events), 1 / count(*) from f where $2::int8 >= 0 and $3::int8 >= 0`

/** Commits that count the same statuses would wait for each other there. */
const uncounted = ({ rowsOf }: Form) => `select 1 from ${rowsOf('tally')} where v.more is null`

test('family rule, control: without the lock both do', async () => {
  await ask(server, 'create sequence public.family_number')
  const patchOf = (form: Form) => ({
    number: unlocked(form).replace('free_number', 'family_number'),
    // Each looks, and takes its time before it is over: the other looks meanwhile.
    revisions: sound('revisions', form).replace(' from ', ', pg_sleep(0.1) from '),
    tally: uncounted(form),
  })
  const found = await sabotagedCommits(patchOf, () => familyRounds(5))
  expect(found.both).toBeGreaterThan(0)
})

// Feed: whoever has read up to a number has missed nothing below it.

async function readWhileWriting(perWriter: number): Promise<{ written: number; read: number }> {
  return withSchema(async (handle) => {
    const writers = [await handle(), await handle(), await handle()]
    const reader = await handle()
    let isOver = false
    let number = 0
    const write = async (store: Store) => {
      for (let n = 0; n < perWriter; n++) {
        const batch = sampleBatch([{ before: null, after: sampleResource(++number) }])
        const answer = await store.commit(batch)
        if (!answer.committed) throw new Error('nothing stands in its way')
      }
    }
    const seen = new Set<number>()
    const reading = (async () => {
      for (let after = 0; ;) {
        const wasOver = isOver
        const events = await reader.events(after, 100)
        for (const { no, n } of events) {
          seen.add(no)
          after = n
        }
        if (events.length === 0 && wasOver) return
      }
    })()
    await Promise.all(writers.flatMap((store) => [write(store), write(store)]))
    isOver = true
    await reading
    return { written: number, read: seen.size }
  })
}

test('feed: a reader that follows misses nothing, whoever commits meanwhile', async () => {
  const { written, read } = await readWhileWriting(40)
  expect(written).toBe(240)
  expect(read).toBe(written)
})

test('feed, control: numbers from a sequence lose events', async () => {
  await ask(server, 'create sequence public.free_number')
  const patchOf = (form: Form) => ({ number: unlocked(form), tally: uncounted(form) })
  const { written, read } = await sabotagedCommits(patchOf, () => readWhileWriting(40))
  expect(written).toBe(240)
  expect(read).toBeLessThan(written)
})
