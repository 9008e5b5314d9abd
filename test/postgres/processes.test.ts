// Many engines in processes of their own on one PostgreSQL: taking over from the frozen and the dead, handing over in order, sharing work.
// The program, the driver, the client and the auditor are those of the crash tests.
import { rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Resource } from '../../src/decision/state.ts'
import type { WorkerRow } from '../../src/store/store.ts'
import { audit, readAll, untilSettled, withStore } from '../crash/audit.ts'
import { Client, freshFolder } from '../crash/client.ts'
import { until } from '../../scripts/waiting.ts'
import { inTurn } from '../crash/in-turn.ts'
import { usePostgres } from '../crash/store-of.ts'
import { endAll, WorkerHandle } from '../crash/worker-handle.ts'
import { World } from '../crash/world.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
let schemas = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterEach(endAll)
afterAll(() => server.remove())

/** A machine that others use too takes its time. */
const boundMs = 90_000
const patient = { timeout: 240_000 }

async function inFolder(work: (folder: string, world: World) => Promise<void>): Promise<void> {
  const folder = freshFolder()
  usePostgres(folder, { url: server.url, schema: `processes_${++schemas}` })
  await work(folder, new World(folder))
  rmSync(folder, { recursive: true })
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `b${index}`)
const boxesIn = (folder: string): Promise<readonly Resource[]> =>
  withStore(folder, (store) => store.list({ type: 'crash.box', limit: 1_000, after: 0 }))
const rowOf = (folder: string, no: number): Promise<WorkerRow | undefined> =>
  withStore(folder, async (store) => (await store.workers(0)).find((row) => row.no === no))
const filling = (world: World, count: number) => () =>
  new Set(world.effects().flatMap((one) => (one.function === 'fill' ? [one.id] : []))).size === count

async function makeBoxes(client: Client, ids: readonly string[], behaviour: string): Promise<void> {
  await client.rack('r')
  await inTurn(ids, 20, (id) => client.create('r', id, { size: 2, behaviour }))
}

test('frozen past its lease, it is taken over; thawed, nothing that it writes is accepted', patient, () =>
  inFolder(async (folder, world) => {
    const ids = names(20)
    const settings = { leaseMs: 4_000, healEveryMs: 100 }
    const client = Client.launch(folder, () => ({ folder, settings }))
    const frozen = client.worker
    await makeBoxes(client, ids, 'stubborn')
    const old = (await frozen.ready)!
    await until('all boxes are being filled', boundMs, filling(world, ids.length))
    const other = await WorkerHandle.start({ folder, settings })
    const before = new Map((await boxesIn(folder)).map(({ id, epoch }) => [id, epoch]))

    frozen.signal('SIGSTOP')
    await until('the other one owns all', boundMs, async () =>
      (await boxesIn(folder)).every(({ run }) => run !== null && run.owner !== old),
    )
    const leaseThen = await rowOf(folder, old)
    expect(leaseThen?.state).toBe('expired')
    for (const id of ids) world.open(id)
    await untilSettled(folder, boundMs)
    const thawing = await withStore(folder, readAll)

    frozen.signal('SIGCONT')
    await frozen.lost
    // What its calls did after all is kept as evidence; nothing else is written.
    for (const { no, id } of await boxesIn(folder)) {
      const lateOf = () => withStore(folder, (store) => store.lateResults(no))
      await until(`the late result of ${id} is kept`, boundMs, async () => (await lateOf()).length > 0)
      expect((await lateOf()).map(({ epoch }) => epoch)).toEqual([before.get(id)])
    }
    const after = await withStore(folder, readAll)
    expect(after.events).toEqual(thawing.events)
    expect(after.resources).toEqual(thawing.resources)
    expect((await rowOf(folder, old))?.leaseUntil).toBe(leaseThen!.leaseUntil)
    expect((await audit(folder, client.acknowledged)).faults).toEqual([])
    await Promise.all([frozen.stop(), other.stop()])
  }),
)

test('a dead process is noticed by its closed connection, long before its lease would end', patient, () =>
  inFolder(async (folder, world) => {
    const ids = names(20)
    const settings = { leaseMs: 600_000, healEveryMs: 200 }
    const client = Client.launch(folder, () => ({ folder, settings }))
    await makeBoxes(client, ids, 'held')
    await until('all boxes are being filled', boundMs, filling(world, ids.length))
    const other = await WorkerHandle.start({ folder, settings })
    await client.worker.kill()
    for (const id of ids) world.open(id)
    await untilSettled(folder, boundMs)
    const { faults, events } = await audit(folder, client.acknowledged)
    expect(faults).toEqual([])
    expect(events.filter(({ kind }) => kind === 'resumed')).toHaveLength(ids.length)
    await other.stop()
  }),
)

test('SIGTERM hands the runs over at once', patient, () =>
  inFolder(async (folder, world) => {
    const ids = names(20)
    const settings = { leaseMs: 600_000, stopPatienceMs: 300 }
    const client = Client.launch(folder, () => ({ folder, settings }))
    await makeBoxes(client, ids, 'held')
    await until('all boxes are being filled', boundMs, filling(world, ids.length))
    const other = await WorkerHandle.start({ folder, settings })
    await client.worker.stop()
    for (const id of ids) world.open(id)
    await untilSettled(folder, boundMs)
    const { faults, events } = await audit(folder, client.acknowledged)
    expect(faults).toEqual([])
    expect(events.filter(({ kind }) => kind === 'handedOver')).toHaveLength(ids.length)
    expect(events.filter(({ kind }) => kind === 'resumed')).toEqual([])
    await other.stop()
  }),
)

test('eight workers share what one process accepts; four of them killed lose nothing', patient, () =>
  inFolder(async (folder, world) => {
    const settings = { leaseMs: 20_000, healEveryMs: 300 }
    const workers = await Promise.all(Array.from({ length: 8 }, () => WorkerHandle.start({ folder, settings })))
    // This one takes requests only: what it accepts waits for a worker.
    const client = Client.launch(folder, () => ({ folder, settings: { ...settings, worker: false } }))
    const ids = names(400)
    await makeBoxes(client, ids, 'held')
    await until('every box is being filled', boundMs, filling(world, ids.length))
    const owners = new Map<number, number>()
    for (const { run } of await boxesIn(folder)) owners.set(run!.owner, (owners.get(run!.owner) ?? 0) + 1)
    expect(owners.size).toBe(8)
    const even = ids.length / 8
    for (const share of owners.values()) {
      expect(share, `shares ${[...owners.values()].join()}`).toBeGreaterThanOrEqual(even * 0.7)
      expect(share, `shares ${[...owners.values()].join()}`).toBeLessThanOrEqual(even * 1.3)
    }
    await Promise.all(workers.slice(0, 4).map((worker) => worker.kill()))
    for (const id of ids) world.open(id)
    await untilSettled(folder, boundMs)
    const { faults, events } = await audit(folder, client.acknowledged)
    expect(faults).toEqual([])
    expect(client.acknowledged).toHaveLength(ids.length + 1)
    const dead = workers.slice(0, 4).map((worker) => worker.ready)
    const deadShare = (await Promise.all(dead)).reduce((sum, no) => sum! + (owners.get(no!) ?? 0), 0)
    expect(events.filter(({ kind }) => kind === 'resumed')).toHaveLength(deadShare!)
    await client.stop()
    await Promise.all(workers.slice(4).map((worker) => worker.stop()))
  }),
)
