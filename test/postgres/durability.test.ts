// An acknowledgement says that a change is as durable as was asked for. Here the synchronous standby is never there: whoever says "yes"
// is wrong, also when somebody makes the server stop waiting for it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../scripts/waiting.ts'
import { openPostgresStore } from '../../src/postgres.ts'
import { commitSettings } from '../../src/store/postgres/statements.ts'
import type { CommitAnswer } from '../../src/store/store.ts'
import { sampleBatch, sampleKinds, sampleResource } from '../../src/testing/store-samples.ts'
import { ask } from './ask.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
let schemas = 0
beforeAll(async () => {
  server = await startPostgres({ durable: true })
})
afterAll(() => server.remove())

const withinMs = 50_000
const expectStandby = async (name: string) => {
  await ask(server, `alter system set synchronous_standby_names = '${name}'`)
  await ask(server, 'select pg_reload_conf()')
  await until(
    'the server knows its standby',
    withinMs,
    async () => (await ask(server, 'show synchronous_standby_names'))[0] === name,
  )
  // That a new connection knows it is not enough: another process of the server, in its own time, tells those that commit.
  if (name !== '') await until('commits wait for it', withinMs, doCommitsWait)
}

async function doCommitsWait(): Promise<boolean> {
  let isOver = false
  const trying = ask(server, `select pg_logical_emit_message(true, 'trial', '')`).finally(() => (isOver = true))
  let pids: number[] = []
  await until('it waits or is over', withinMs, async () => isOver || (pids = await waiting()).length > 0)
  for (const pid of pids) await ask(server, `select pg_cancel_backend(${pid})`)
  await trying
  return pids.length > 0
}
/** Backends that wait for the standby. */
const waiting = async () =>
  (await ask(server, `select pid from pg_stat_activity where wait_event = 'SyncRep' order by pid`)) as number[]

/** Commits while the standby is away, has the wait cancelled, and says what was answered before the standby came. */
async function cancelled(): Promise<{ early: CommitAnswer | 'none'; late: CommitAnswer; resolved: number }> {
  await expectStandby('')
  const schema = `durability_${++schemas}`
  const store = await openPostgresStore({ url: server.url, schema })
  await store.useKinds(sampleKinds)
  await store.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))
  await expectStandby('ghost')
  let early: CommitAnswer | 'none' = 'none'
  const committing = Promise.resolve(store.commit(sampleBatch([{ before: null, after: sampleResource(2) }])))
  void committing.then((answer) => (early = answer))
  await until('a commit waits for the standby', withinMs, async () => (await waiting()).length === 1)
  const [first] = await waiting()
  await ask(server, `select pg_cancel_backend(${first})`)
  // Either it is answered now, or somebody else waits for the standby in order to find out.
  await until(
    'another waits, or it was answered',
    withinMs,
    async () => early !== 'none' || (await waiting()).some((pid) => pid !== first),
  )
  const seen = early
  await expectStandby('')
  const late = await committing
  const resolved = store.resolved.committed
  await store.close()
  return { early: seen, late, resolved }
}

test('a cancelled wait for the standby is not an acknowledgement', async () => {
  expect(await cancelled()).toEqual({ early: 'none', late: { committed: true, first: 2 }, resolved: 1 })
})

test('control: who does not hear the warning acknowledges what only the primary has', async () => {
  const settings = commitSettings as Record<string, string>
  const sound = settings['client_min_messages']!
  settings['client_min_messages'] = 'error'
  try {
    const found = await cancelled()
    expect([found.early, found.resolved]).toEqual([{ committed: true, first: 2 }, 0])
  } finally {
    settings['client_min_messages'] = sound
  }
})

test('an answer that repeats an earlier one waits for the standby too; beats do not', async () => {
  await expectStandby('')
  const store = await openPostgresStore({ url: server.url, schema: `durability_${++schemas}` })
  await store.useKinds(sampleKinds)
  const no = await store.register({ name: 'one', leaseMs: 60_000, now: 0 })
  await expectStandby('ghost')
  let isAnswered = false
  const again = Promise.resolve(store.commit(sampleBatch([]))).then(() => (isAnswered = true))
  await until('a commit waits for the standby', withinMs, async () => (await waiting()).length === 1)
  expect(await store.beat({ no, leaseMs: 60_000, now: 0 })).toBe(true)
  expect(isAnswered).toBe(false)
  await expectStandby('')
  await again
  await store.close()
})

test('the level is shown, and less than asked for is refused', async () => {
  await expectStandby('')
  const schema = `durability_${++schemas}`
  const disk = await openPostgresStore({ url: server.url, schema })
  expect(disk.durability).toBe('disk')
  await disk.close()
  const wanting = openPostgresStore({ url: server.url, schema, durability: 'standby' })
  await expect(wanting).rejects.toMatchObject({
    code: 'store_unsuitable',
    details: { found: 'disk', wanted: 'standby' },
  })
})
