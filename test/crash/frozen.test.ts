// F3, F4, F5: processes that are frozen, and processes that only look as if they were.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { Resource } from '../../src/decision/state.ts'
import { audit, readAll, untilSettled, withStore } from './audit.ts'
import { freshFolder } from './client.ts'
import { until } from './in-turn.ts'
import { endAll, WorkerHandle } from './worker-handle.ts'
import { World } from './world.ts'

afterAll(endAll)

const boundMs = 20_000
const ids = Array.from({ length: 20 }, (_, index) => `b${index}`)

async function makeBoxes(worker: WorkerHandle, behaviour: string, names: readonly string[] = ids): Promise<void> {
  const by = 'client'
  const rack = { type: 'crash.rack', id: 'r' }
  await worker.submit({ kind: 'requestOperation', ...rack, operation: 'create', by, create: { properties: {} } })
  for (const id of names) {
    const create = { properties: { size: 2, behaviour }, parent: rack }
    const answer = await worker.submit({
      kind: 'requestOperation',
      type: 'crash.box',
      id,
      operation: 'create',
      by,
      create,
    })
    expect(answer.accepted).toBe(true)
  }
}

const boxesIn = (folder: string): Promise<readonly Resource[]> =>
  withStore(folder, (store) => store.list({ type: 'crash.box', limit: 100, after: 0 }))

/** All calls of `fill` have begun. */
const filling = (world: World) => () =>
  new Set(world.effects().flatMap((one) => (one.function === 'fill' ? [one.id] : []))).size === ids.length

test.concurrent('frozen past its lease, it is taken over; thawed, nothing that it writes is accepted', async () => {
  const folder = freshFolder()
  const world = new World(folder)
  const settings = { leaseMs: 900, healEveryMs: 100 }
  const frozen = await WorkerHandle.start({ folder, settings })
  const old = (await frozen.ready)!
  await makeBoxes(frozen, 'stubborn')
  await until('all boxes are being filled', boundMs, filling(world))
  const other = await WorkerHandle.start({ folder, settings })
  const before = new Map((await boxesIn(folder)).map(({ id, epoch }) => [id, epoch]))

  frozen.signal('SIGSTOP')
  const stoppedAt = performance.now()
  await until('the other one owns all', boundMs, async () =>
    (await boxesIn(folder)).every(({ run }) => run !== null && run.owner !== old),
  )
  const takenAfter = performance.now() - stoppedAt
  expect(takenAfter).toBeLessThan(settings.leaseMs + 10_000)
  for (const id of ids) world.open(id)
  await untilSettled(folder, boundMs)
  const finished = await withStore(folder, readAll)
  const leaseThen = await withStore(folder, async (store) =>
    (await store.workers(Date.now())).find(({ no }) => no === old),
  )
  expect(leaseThen?.state).toBe('expired')

  frozen.signal('SIGCONT')
  await frozen.lost
  await until('it has come back as another', boundMs, async () => {
    const now = (await frozen.tell({ do: 'incarnation' })) as number
    return now !== old && now !== 0
  })
  await sleep(500)
  const seen = await withStore(folder, readAll)
  // Not one event was added, and none ever by the old epochs once the new ones were there.
  expect(seen.events.length).toBe(finished.events.length)
  const taken = seen.events.filter(({ kind }) => kind === 'resumed')
  expect(taken).toHaveLength(ids.length)
  for (const { no, epoch, n } of taken) {
    const id = seen.resources.find((one) => one.no === no)!.id
    expect(epoch).toBe(before.get(id)! + 1)
    expect(
      seen.events.filter((one) => one.no === no && one.n > n && (one.epoch < epoch || one.by === `worker ${old}`)),
    ).toEqual([])
  }
  // Its beats were refused: the lease is where it was.
  await withStore(folder, async (store) => {
    const row = (await store.workers(Date.now())).find(({ no }) => no === old)
    expect(row?.leaseUntil).toBe(leaseThen!.leaseUntil)
    // What its calls did after all is kept as evidence.
    for (const { no, id } of await boxesIn(folder)) {
      const late = await store.lateResults(no)
      expect(late.map(({ epoch, outcome }) => [epoch, outcome['kind']])).toEqual([[before.get(id), 'done']])
    }
  })
  expect((await audit(folder, [])).faults).toEqual([])
  // And it works again, under its new name.
  const create = { properties: { size: 1 }, parent: { type: 'crash.rack', id: 'r' } }
  const again = await frozen.submit({
    kind: 'requestOperation',
    type: 'crash.box',
    id: 'later',
    operation: 'create',
    by: 'client',
    create,
  })
  expect(again.accepted).toBe(true)
  await untilSettled(folder, boundMs)
  await Promise.all([frozen.stop(), other.stop()])
  rmSync(folder, { recursive: true })
})

test.concurrent('frozen for less than its lease, nothing happens', async () => {
  const folder = freshFolder()
  const world = new World(folder)
  const settings = { leaseMs: 3_000, healEveryMs: 100 }
  const frozen = await WorkerHandle.start({ folder, settings })
  await makeBoxes(frozen, 'held')
  await until('all boxes are being filled', boundMs, filling(world))
  const other = await WorkerHandle.start({ folder, settings })
  frozen.signal('SIGSTOP')
  await sleep(1_200)
  frozen.signal('SIGCONT')
  await sleep(1_500)
  for (const id of ids) world.open(id)
  await untilSettled(folder, boundMs)
  const { faults, events, resources } = await audit(folder, [])
  expect(faults).toEqual([])
  expect(events.filter(({ kind }) => kind === 'resumed' || kind === 'claimed')).toEqual([])
  expect(resources.filter(({ type, epoch }) => type === 'crash.box' && epoch !== 1)).toEqual([])
  await Promise.all([frozen.stop(), other.stop()])
  rmSync(folder, { recursive: true })
})

test.concurrent('an event loop that is blocked for longer than the lease keeps it: its heart beats in a thread', async () => {
  const folder = freshFolder()
  const settings = { leaseMs: 900, healEveryMs: 100 }
  const blocked = await WorkerHandle.start({ folder, settings, blockMs: 3_000 })
  const other = await WorkerHandle.start({ folder, settings })
  await makeBoxes(blocked, 'blocking', ['b'])
  const begun = performance.now()
  await untilSettled(folder, boundMs)
  expect(performance.now() - begun).toBeGreaterThan(2_000)
  const { faults, events } = await audit(folder, [])
  expect(faults).toEqual([])
  expect(events.filter(({ kind }) => kind === 'resumed' || kind === 'claimed')).toEqual([])
  expect(new World(folder).effects().filter(({ function: fn }) => fn === 'fill')).toHaveLength(1)
  await Promise.all([blocked.stop(), other.stop()])
  rmSync(folder, { recursive: true })
})
