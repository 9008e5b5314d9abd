// F11, F44: an orderly stop hands runs over at once; a store that is locked by somebody else is waited for.
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { audit, untilSettled } from './audit.ts'
import { Client, freshFolder } from './client.ts'
import { until } from '../../scripts/waiting.ts'
import { endAll, WorkerHandle } from './worker-handle.ts'
import { World } from './world.ts'

afterAll(endAll)

const boundMs = 20_000
const ids = Array.from({ length: 20 }, (_, index) => `b${index}`)
/** All calls of `fill` have begun. */
const filling = (world: World) => () => world.effects().filter((one) => one.function === 'fill').length === ids.length

test.concurrent('SIGTERM hands the runs over at once, long before the lease would end', async () => {
  const folder = freshFolder()
  const world = new World(folder)
  const settings = { leaseMs: 60_000, stopPatienceMs: 300 }
  const client = Client.launch(folder, () => ({ folder, settings }))
  const leaving = client.worker
  await client.rack('r')
  for (const id of ids) await client.create('r', id, { size: 2, behaviour: 'held' })
  await until('all boxes are being filled', boundMs, filling(world))
  const other = await WorkerHandle.start({ folder, settings })
  for (const id of ids.slice(10)) world.open(id)
  const begun = performance.now()
  await leaving.stop()
  const stoppedIn = performance.now() - begun
  for (const id of ids) world.open(id)
  await untilSettled(folder, boundMs)
  const settledIn = performance.now() - begun
  // Nobody waited for a lease to end.
  expect(stoppedIn).toBeLessThan(settings.leaseMs)
  expect(settledIn).toBeLessThan(settings.leaseMs)
  const { faults, events } = await audit(folder, client.acknowledged)
  expect(faults).toEqual([])
  expect(events.filter(({ kind }) => kind === 'handedOver').length).toBeGreaterThanOrEqual(10)
  expect(events.filter(({ kind }) => kind === 'resumed')).toEqual([])
  await other.stop()
  rmSync(folder, { recursive: true })
})

test.concurrent('SIGKILL beside a living process: it takes over at once, too, since the dead one is known to be gone', async () => {
  const folder = freshFolder()
  const world = new World(folder)
  const settings = { leaseMs: 60_000, healEveryMs: 200 }
  const client = Client.launch(folder, () => ({ folder, settings }))
  await client.rack('r')
  for (const id of ids) await client.create('r', id, { size: 2, behaviour: 'held' })
  await until('all boxes are being filled', boundMs, filling(world))
  const other = await WorkerHandle.start({ folder, settings })
  const begun = performance.now()
  await client.worker.kill()
  for (const id of ids) world.open(id)
  await untilSettled(folder, boundMs)
  expect(performance.now() - begun).toBeLessThan(settings.leaseMs)
  const { faults, events } = await audit(folder, client.acknowledged)
  expect(faults).toEqual([])
  expect(events.filter(({ kind }) => kind === 'resumed')).toHaveLength(ids.length)
  await other.stop()
  rmSync(folder, { recursive: true })
})

test.concurrent('SQLITE_BUSY: while another process holds the write lock nothing is lost, then it goes on', async () => {
  const folder = freshFolder()
  const settings = { leaseMs: 5_000, healEveryMs: 200 }
  const client = Client.launch(folder, () => ({ folder, settings }))
  await client.rack('r')
  const incarnation = await client.worker.ready
  const other = new DatabaseSync(join(folder, 'store.db'))
  other.exec('begin immediate')
  const asked = Promise.all(ids.map((id) => client.create('r', id, { size: 2 })))
  let isAnswered = false
  void asked.then(() => (isAnswered = true))
  // Longer than the lease, and longer than one commit waits.
  await sleep(6_500)
  expect(isAnswered).toBe(false)
  other.exec('rollback')
  other.close()
  await asked
  await client.settled(boundMs)
  const { faults, resources, events } = await audit(folder, client.acknowledged)
  expect(faults).toEqual([])
  expect(resources.filter(({ status }) => status === 'Ready')).toHaveLength(ids.length)
  expect(events.filter(({ kind }) => kind === 'resumed')).toEqual([])
  expect(await client.worker.tell({ do: 'incarnation' })).toBe(incarnation)
  await client.worker.stop()
  rmSync(folder, { recursive: true })
})

test.concurrent('a program that has nothing but the engine is alive until the engine has stopped, whoever asks for it', async () => {
  const program = join(import.meta.dirname, 'waiting-program.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', program])
  expect(stdout).toBe('first second\n')
})
