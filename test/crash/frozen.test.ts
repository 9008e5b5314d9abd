// F3, F4, F5: processes that are frozen, and processes that only look as if they were.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { Resource } from '../../src/decision/state.ts'
import type { WorkerRow } from '../../src/store/store.ts'
import { audit, readAll, untilSettled, withStore } from './audit.ts'
import { freshFolder } from './client.ts'
import { until } from '../../scripts/waiting.ts'
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

const rowOf = (folder: string, no: number): Promise<WorkerRow | undefined> =>
  withStore(folder, async (store) => (await store.workers(Date.now())).find((row) => row.no === no))

/** All calls of `fill` have begun. */
const filling = (world: World) => () =>
  new Set(world.effects().flatMap((one) => (one.function === 'fill' ? [one.id] : []))).size === ids.length

test.concurrent('frozen past its lease, it is taken over; thawed, nothing that it writes is accepted', async () => {
  const folder = freshFolder()
  const world = new World(folder)
  const settings = { leaseMs: 1_500, healEveryMs: 100 }
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
  // Half of them are finished by the other one; it is still at the other half when the frozen one thaws and ends its calls.
  const [done, underWay] = [ids.slice(0, 10), ids.slice(10)]
  for (const id of done) world.open(id)
  await until('half of them are done', boundMs, async () =>
    (await boxesIn(folder)).every(({ id, status }) => status === (done.includes(id) ? 'Ready' : 'Making')),
  )
  for (const id of underWay) world.open(id, frozen.pid)
  const thawing = await withStore(folder, readAll)
  const leaseThen = await rowOf(folder, old)
  expect(leaseThen?.state).toBe('expired')

  frozen.signal('SIGCONT')
  await frozen.lost
  await until('it has come back as another', boundMs, async () => {
    const now = (await frozen.tell({ do: 'incarnation' })) as number
    return now !== old && now !== 0
  })
  // What its calls did after all is kept as evidence.
  const lateOf = async (no: number) => withStore(folder, (store) => store.lateResults(no))
  for (const { no, id } of await boxesIn(folder)) {
    await until(`the late result of ${id} is kept`, boundMs, async () => (await lateOf(no)).length > 0)
    const late = await lateOf(no)
    expect(late.map(({ epoch, outcome }) => [epoch, outcome['kind']])).toEqual([[before.get(id), 'done']])
  }
  // Nothing else was written: not one event, no status, no step, no beat.
  const after = await withStore(folder, readAll)
  expect(after.events).toEqual(thawing.events)
  expect(after.resources).toEqual(thawing.resources)
  expect((await rowOf(folder, old))?.leaseUntil).toBe(leaseThen!.leaseUntil)
  const taken = after.events.filter(({ kind }) => kind === 'resumed')
  expect(taken.map(({ no, epoch }) => [no, epoch])).toEqual(
    after.resources.filter(({ type }) => type === 'crash.box').map(({ no, id }) => [no, before.get(id)! + 1]),
  )

  for (const id of underWay) world.open(id)
  await untilSettled(folder, boundMs)
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
  // Far longer than the freeze, so that a busy machine does not make it longer than the lease.
  const settings = { leaseMs: 12_000, healEveryMs: 100 }
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
  // A busy machine may let the thread wait, too, but not for seconds.
  const settings = { leaseMs: 4_000, healEveryMs: 100 }
  const blocked = await WorkerHandle.start({ folder, settings, blockMs: 7_000 })
  const other = await WorkerHandle.start({ folder, settings })
  await makeBoxes(blocked, 'blocking', ['b'])
  const begun = performance.now()
  await untilSettled(folder, boundMs)
  expect(performance.now() - begun).toBeGreaterThan(settings.leaseMs)
  const { faults, events } = await audit(folder, [])
  expect(faults).toEqual([])
  expect(events.filter(({ kind }) => kind === 'resumed' || kind === 'claimed')).toEqual([])
  expect(new World(folder).effects().filter(({ function: fn }) => fn === 'fill')).toHaveLength(1)
  await Promise.all([blocked.stop(), other.stop()])
  rmSync(folder, { recursive: true })
})
