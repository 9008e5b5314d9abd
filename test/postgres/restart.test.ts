// The server goes away and comes back while an engine works: what was acknowledged is there, and everything goes on by itself.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../scripts/waiting.ts'
import { systemClock } from '../../src/base/clock.ts'
import { seededRandom } from '../../src/base/random.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { openPostgresStore, type PostgresStore } from '../../src/postgres.ts'
import { lifecycles, Puppet } from '../../src/testing/engine-bench.ts'
import { ask } from './ask.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
beforeAll(async () => {
  // Without this an acknowledged commit need not survive the server: that is what `none` says.
  server = await startPostgres({ settings: { synchronous_commit: 'on' } })
})
afterAll(() => server.remove())

async function open(schema: string): Promise<{ engine: Engine; store: PostgresStore }> {
  const store = await openPostgresStore({ url: server.url, schema, durability: 'none' })
  const puppet = new Puppet()
  const engine = createEngine({
    store,
    lifecycles,
    drivers: {
      'bench.rack': puppet.driver('mount', 'unmount', 'polishBox'),
      'bench.box': puppet.driver('cut', 'glue', 'toil', 'unplug', 'burn', 'toiled', 'alive'),
    },
    clock: systemClock,
    random: seededRandom(1),
    log: () => {},
    options: { leaseMs: 60_000, healEveryMs: 200 },
  })
  await engine.start()
  return { engine, store }
}

/** Whoever asks while the server is away asks again. */
const comesTrue = (what: string, holds: () => Promise<boolean>) => until(what, 50_000, () => holds().catch(() => false))

/** Asks for boxes one after another, each under a key of its own until it is acknowledged. */
async function createBoxes(engine: Engine, prefix: string, count: number): Promise<string[]> {
  const parent = { type: 'bench.rack', id: 'r' }
  const acknowledged: string[] = []
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const id = `${prefix}${n}`
      for (;;) {
        try {
          await engine.create('bench.box', { id, parent, properties: { size: 1 } }, { by: 'test', key: id })
          acknowledged.push(id)
          return
        } catch (error) {
          const { code } = error as { code?: string }
          if (code !== 'store_unavailable' && code !== 'lease_lost') throw error
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
    }),
  )
  return acknowledged
}

const allReady = (engine: Engine, ids: readonly string[]) => async () => {
  const { resources } = await engine.list({ type: 'bench.box', limit: 1_000 })
  const ready = new Set(resources.filter(({ status, run }) => status === 'Ready' && run === null).map(({ id }) => id))
  return ids.every((id) => ready.has(id))
}

test.each(['crash', 'stop'] as const)(
  '%s of the server in the middle of work: nothing is lost, it goes on',
  async (how) => {
    const { engine, store } = await open(`restart_${how}`)
    await engine.create('bench.rack', { id: 'r', properties: {} }, { by: 'test' })
    await comesTrue('the rack stands', async () => (await engine.get('bench.rack', 'r'))?.status === 'Standing')
    const before = await createBoxes(engine, 'before', 20)
    const during = createBoxes(engine, 'during', 100)
    if (how === 'crash') await server.crash()
    else await server.stop()
    await server.start()
    const after = await createBoxes(engine, 'after', 20)
    const all = [...before, ...(await during), ...after]
    expect(all).toHaveLength(140)
    await comesTrue('all boxes are ready', allReady(engine, all))
    const events = await store.events(0, 10_000)
    expect(events.map(({ n }) => n)).toEqual(events.map((_, i) => i + 1))
    const accepted = events.filter(({ kind }) => kind === 'accepted')
    expect(accepted).toHaveLength(141)
    await engine.stop()
    await store.close()
  },
)

test('connections that are ended one by one are replaced', async () => {
  const { engine, store } = await open('ended')
  await engine.create('bench.rack', { id: 'r', properties: {} }, { by: 'test' })
  await comesTrue('the rack stands', async () => (await engine.get('bench.rack', 'r'))?.status === 'Standing')
  const made: string[] = []
  for (let round = 0; round < 5; round++) {
    const creating = createBoxes(engine, `round${round}-`, 20)
    await ask(server, `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'homeostat'`)
    made.push(...(await creating))
  }
  await comesTrue('all boxes are ready', allReady(engine, made))
  expect(made).toHaveLength(100)
  // It is still seen to live: the lock was taken again.
  await comesTrue('the worker is seen to live', async () =>
    (await store.workers(0)).some(({ no, state }) => no === engine.incarnation && state === 'live'),
  )
  await engine.stop()
  await store.close()
})
