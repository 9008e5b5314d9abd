// A worker with very little room: what waits for others, or for a time, keeps nobody from being carried out.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { TerminalError } from '../lifecycle/driver.ts'
import { resourceType } from '../lifecycle/lifecycle.ts'
import { createMemoryBackend } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import { far } from '../testing/engine-bench.ts'
import { createEngine } from './engine.ts'

const statuses = {
  stable: { Whole: 'Has its wool.', Shorn: 'Has none.' },
  transitional: { Shearing: 'Its wool is cut.' },
}
const flock = resourceType('room.flock', { properties: z.object({}), statuses })
const sheep = resourceType('room.sheep', { properties: z.object({}), statuses })
const heal = { Shearing: { resume: true, unowned: { status: 'Whole' } } } as const
const create = { from: [], steps: {}, to: 'Whole', onFailure: 'Whole' } as const
const grow = { from: ['Shorn'], steps: {}, to: 'Whole', onFailure: 'Whole' } as const
const lifecycles = {
  flock: flock.relations({ sheep: { children: sheep } }).lifecycle({
    operations: {
      create,
      grow,
      shear: {
        from: ['Whole'],
        steps: { shearAll: { during: 'Shearing', ask: { sheep: 'shear' } } },
        to: 'Shorn',
        onFailure: 'Whole',
      },
    },
    heal,
  }),
  sheep: sheep.relations({ flock: { parent: flock } }).lifecycle({
    operations: {
      create,
      grow,
      shear: { from: ['Whole'], steps: { cut: { during: 'Shearing' } }, to: 'Shorn', onFailure: { again: '1h' } },
    },
    heal,
  }),
}

async function started(cut: (id: string) => void | Promise<void>, backend = createMemoryBackend()) {
  const engine = createEngine({
    store: far(backend.open() as unknown as Store),
    lifecycles,
    drivers: { flock: {}, sheep: { cut: async ({ resource }) => cut(resource.id) } },
    options: { runs: 1 },
  })
  await engine.start()
  const client = engine.client('ann')
  await client.flock.create({ id: 'f', properties: {} })
  for (const id of ['a', 'b']) await client.sheep.create({ id, parent: 'f', properties: {} })
  return { engine, client }
}

const failingAtA = (id: string) => {
  if (id === 'a') throw new TerminalError('no_blade', 'the blade is blunt')
}

test('runs that others are asked for are carried out by the worker that waits for them', async () => {
  const { engine, client } = await started(() => {})
  const { run } = await client.flock.shear('f')
  expect(await engine.waitForRun(run!.id, { timeoutMs: 10_000 })).toMatchObject({ state: 'succeeded' })
  await engine.stop()
})

test('one that is tried again after an hour gives its place to those that wait for a worker', async () => {
  const { engine, client } = await started(failingAtA)
  await client.sheep.shear('a')
  const { run } = await client.sheep.shear('b')
  expect(await engine.waitForRun(run!.id, { timeoutMs: 10_000 })).toMatchObject({ state: 'succeeded' })
  expect(await client.sheep.get('a')).toMatchObject({ status: 'Shearing' })
  await engine.stop()
})

test('so it does behind hundreds that wait for a worker that knows their type', async () => {
  const backend = createMemoryBackend()
  const goat = resourceType('room.goat', { properties: z.object({}), statuses }).lifecycle({
    operations: {
      create: { ...create, steps: { catch: { during: 'Shearing' } } },
      grow,
      shear: { from: ['Whole'], steps: {}, to: 'Shorn', onFailure: 'Whole' },
    },
    heal,
  })
  const store = backend.open() as unknown as Store
  const others = createEngine({
    store,
    lifecycles: { goat },
    drivers: { goat: { catch: async () => {} } },
    options: { worker: false },
  })
  await others.start()
  await Promise.all(Array.from({ length: 250 }, () => others.client('ann').goat.create({ properties: {} })))
  const { engine, client } = await started(failingAtA, backend)
  await client.sheep.shear('a')
  const { run } = await client.sheep.shear('b')
  expect(await engine.waitForRun(run!.id, { timeoutMs: 10_000 })).toMatchObject({ state: 'succeeded' })
  for (const one of [engine, others]) await one.stop()
})

test('a declared input that throws is told as why the asker failed, at once', async () => {
  const shear = {
    from: ['Whole'],
    steps: {
      shearAll: {
        during: 'Shearing',
        ask: {
          sheep: {
            operation: 'shear',
            input: (): object => {
              throw new Error('no shears are left')
            },
          },
        },
      },
    },
    to: 'Shorn',
    onFailure: 'Whole',
  } as const
  const engine = createEngine({
    store: far(createMemoryBackend().open() as unknown as Store),
    lifecycles: {
      ...lifecycles,
      flock: flock.relations({ sheep: { children: sheep } }).lifecycle({ operations: { create, grow, shear }, heal }),
    },
    drivers: { flock: {}, sheep: { cut: async () => {} } },
  })
  await engine.start()
  const client = engine.client('ann')
  await client.flock.create({ id: 'f', properties: {} })
  await client.sheep.create({ id: 'a', parent: 'f', properties: {} })
  const { run } = await client.flock.shear('f')
  expect(await engine.waitForRun(run!.id, { timeoutMs: 10_000 })).toMatchObject({ state: 'failed' })
  const found = await engine.get('room.flock', 'f')
  expect(found).toMatchObject({ status: 'Whole', description: expect.stringContaining('no shears are left') })
  await engine.stop()
})

test('a tenant that asks for little does not wait for the whole queue of another', async () => {
  const gate = Promise.withResolvers<void>()
  const { engine, client } = await started((id) => (id.startsWith('n') ? gate.promise : undefined))
  const shear = async (id: string, tenant: string) => {
    await client.sheep.create({ id, tenant, parent: tenant, properties: {} })
    return engine.operate('room.sheep', id, 'shear', { by: 'ann', tenant })
  }
  for (const tenant of ['noisy', 'quiet']) await client.flock.create({ id: tenant, tenant, properties: {} })
  for (const id of ['n1', 'n2', 'n3', 'n4']) await shear(id, 'noisy')
  const { id } = await shear('q1', 'quiet').then(({ resource }) => resource)
  await expect.poll(async () => (await client.sheep.get(id))!.status, { timeout: 10_000 }).toBe('Shorn')
  for (const id of ['n1', 'n2', 'n3', 'n4']) expect((await client.sheep.get(id))!.status).toBe('Shearing')
  gate.resolve()
  await expect.poll(async () => (await client.sheep.get('n4'))!.status, { timeout: 10_000 }).toBe('Shorn')
  await engine.stop()
})
