// F2, F31, F52: a process that dies inside a driver call, an undo, a probe or a cascade; and one that a driver kills every time.
import { cpSync, rmSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { audit, callsByKey, untilSettled, withStore } from './audit.ts'
import { bundleWorker } from './bundled-worker.ts'
import { Client, freshFolder } from './client.ts'
import type { DriverOrders } from './driver.ts'
import { inTurn } from './in-turn.ts'
import { endAll, WorkerHandle } from './worker-handle.ts'
import { World } from './world.ts'

bundleWorker()
afterEach(endAll)

const settings = { leaseMs: 1_500, healEveryMs: 200 }
const boundMs = 20_000
type KillIn = NonNullable<DriverOrders['killIn']>

/** Two boxes, one of them faulty; the good one grows and goes. Each driver function is called at least once. */
async function story(kills: readonly KillIn[]): Promise<Client> {
  const folder = freshFolder()
  let started = 0
  const client = Client.launch(folder, () => ({ folder, settings, killIn: kills[started++] }))
  await client.rack('r')
  await client.create('r', 'good', { size: 3 })
  await client.create('r', 'bad', { size: 4, behaviour: 'faulty' })
  await client.settled(boundMs)
  await client.grow('good', 30)
  await client.settled(boundMs)
  return client
}

async function judge(client: Client, kills: readonly KillIn[]): Promise<Map<string, number[]>> {
  const { resources, faults } = await audit(client.folder, client.acknowledged)
  expect(faults).toEqual([])
  expect(client.deaths).toBe(kills.length)
  expect(resources.map(({ id, status }) => [id, status])).toEqual([
    ['r', 'Open'],
    ['good', 'Ready'],
    ['bad', 'Broken'],
  ])
  const times = new Map<string, number[]>()
  for (const { function: fn, times: n } of callsByKey(new World(client.folder)).values())
    times.set(fn, [...(times.get(fn) ?? []), n])
  await client.worker.stop()
  rmSync(client.folder, { recursive: true })
  return times
}

describe('SIGKILL inside a call', () => {
  const functions = ['makeFile', 'pay', 'fill', 'refund', 'removeFile', 'extend', 'note']
  test.each(['begin', 'end'] as const)('at its %s: it alone is repeated, or found to have happened', async (at) => {
    await inTurn(functions, 3, async (fn) => {
      const kills = [{ function: fn, at, nth: 1 }]
      const client = await story(kills)
      const times = await judge(client, kills).catch((error: unknown) => {
        throw new Error(`killed at the ${at} of ${fn} in ${client.folder}`, { cause: error })
      })
      // Both boxes are created side by side: the call of the other one may have been cut, too.
      expect([...times].filter(([, counts]) => Math.max(...counts) > 2)).toEqual([])
      // Where its probe saw that it had happened, it was not done again.
      const isAdopted = fn === 'extend' && at === 'end'
      expect({ fn, most: Math.max(...times.get(fn)!) }).toEqual({ fn, most: isAdopted ? 1 : 2 })
    })
  })

  test('and again inside the probe, and again after it: each time the next process goes on', async () => {
    const kills: KillIn[] = [
      { function: 'extend', at: 'end', nth: 1 },
      { function: 'isExtended', at: 'begin', nth: 1 },
      { function: 'isExtended', at: 'end', nth: 1 },
      { function: 'note', at: 'end', nth: 1 },
    ]
    const times = await judge(await story(kills), kills)
    expect(times.get('extend')).toEqual([1])
    expect(times.get('note')).toEqual([2])
  })

  test('and again inside the undo', async () => {
    const kills: KillIn[] = [
      { function: 'refund', at: 'begin', nth: 1 },
      { function: 'refund', at: 'end', nth: 1 },
      { function: 'removeFile', at: 'end', nth: 1 },
    ]
    const times = await judge(await story(kills), kills)
    expect(times.get('refund')).toEqual([3])
    expect(times.get('removeFile')).toEqual([2])
  })
})

describe('a cascade of 1,200 boxes in chunks', () => {
  const count = 1_200

  /** Imported in the middle of closing, by a process that heals nothing. */
  async function template(): Promise<string> {
    const folder = freshFolder()
    const worker = await WorkerHandle.start({ folder, settings: { ...settings, worker: false } })
    const by = 'import'
    await worker.submit({ kind: 'importResource', type: 'crash.rack', id: 'r', status: 'Closing', properties: {}, by })
    const parent = { type: 'crash.rack', id: 'r' }
    const box = (index: number) =>
      worker.submit({
        kind: 'importResource',
        type: 'crash.box',
        id: `b${index}`,
        status: 'Ready',
        properties: { size: 1 },
        parent,
        by,
      })
    const answers = await Promise.all(Array.from({ length: count }, (_, index) => box(index)))
    expect(answers.every(({ accepted }) => accepted)).toBe(true)
    await worker.stop()
    return folder
  }

  test('goes on where it was cut, whichever commit it was', async () => {
    const original = await template()
    let deaths = 0
    const points = [1, 2, 3].flatMap((commit) => [
      { commit, when: 'before' as const },
      { commit, when: 'after' as const },
    ])
    await inTurn(points, 3, async (death) => {
      const folder = freshFolder()
      cpSync(original, folder, { recursive: true })
      const first = WorkerHandle.launch({ folder, settings, death })
      const settling = untilSettled(folder, boundMs)
      settling.catch(() => {})
      const died = await Promise.race([first.ended.then(() => true), settling.then(() => false)])
      if (died) {
        await first.diesOf('SIGKILL')
        deaths++
      }
      // Not half closed: the rack itself moves last.
      const [rack] = await withStore(folder, (store) => store.list({ type: 'crash.rack', limit: 1, after: 0 }))
      const left = await withStore(folder, (store) => store.list({ status: ['Ready'], limit: 1, after: 0 }))
      expect([rack!.status, left.length]).not.toEqual(['Closed', 1])
      const second = died ? await WorkerHandle.start({ folder, settings }) : first
      await untilSettled(folder, boundMs)
      const { faults, resources } = await audit(folder, [])
      expect(faults).toEqual([])
      expect(resources.filter(({ status }) => status === 'Gone')).toHaveLength(count)
      expect(resources.filter(({ status }) => status === 'Closed')).toHaveLength(1)
      await second.kill()
      rmSync(folder, { recursive: true })
    })
    expect(deaths).toBeGreaterThanOrEqual(5)
    rmSync(original, { recursive: true })
  })
})

test('a driver that kills its process every time is stopped by the healing budget', async () => {
  const folder = freshFolder()
  const orders = { folder, settings }
  let worker = await WorkerHandle.start(orders)
  const by = 'client'
  const parent = { type: 'crash.rack', id: 'r' }
  await worker.submit({
    kind: 'requestOperation',
    type: 'crash.rack',
    id: 'r',
    operation: 'create',
    by,
    create: { properties: {} },
  })
  const create = (id: string, behaviour: string) =>
    worker.submit({
      kind: 'requestOperation',
      type: 'crash.box',
      id,
      operation: 'create',
      by,
      create: { properties: { size: 1, behaviour }, parent },
    })
  await create('before', 'plain')
  await untilSettled(folder, boundMs)
  await create('poison', 'poison').catch(() => null)
  let deaths = 0
  for (;;) {
    const settling = untilSettled(folder, boundMs)
    settling.catch(() => {})
    if ((await Promise.race([worker.ended.then(() => false), settling.then(() => true)])) === true) break
    await worker.diesOf('SIGABRT')
    deaths++
    expect(deaths).toBeLessThanOrEqual(6)
    worker = WorkerHandle.launch(orders)
  }
  // Once, and each time healing resumed it.
  expect(deaths).toBe(6)
  await create('after', 'plain')
  await untilSettled(folder, boundMs)
  const { faults, resources } = await audit(folder, [])
  expect(faults).toEqual([])
  expect(resources.map(({ id, status }) => [id, status])).toEqual([
    ['r', 'Open'],
    ['before', 'Ready'],
    ['poison', 'Broken'],
    ['after', 'Ready'],
  ])
  expect(resources[2]!.description).toContain('resumed')
  await worker.stop()
  rmSync(folder, { recursive: true })
})
