// A declaration whose steps were changed meets runs that stand in the middle of the former ones.
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createMemoryBackend, type MemoryBackend } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import { far } from '../testing/engine-bench.ts'
import { thingsWith } from '../testing/step-things.ts'
import { createEngine, type Engine } from './engine.ts'
import type { EngineSettings } from './options.ts'

async function started(
  backend: MemoryBackend,
  steps: readonly string[],
  options: Partial<EngineSettings> = {},
  hanging = '',
  through = (store: Store): Store => store,
): Promise<{ engine: Engine; called: string[] }> {
  const called: string[] = []
  const driver = Object.fromEntries(
    steps.map((name) => [
      name,
      async () => {
        called.push(name)
        if (name === hanging) await new Promise(() => {})
      },
    ]),
  )
  const engine = createEngine({
    store: through(far(backend.open() as unknown as Store)),
    lifecycles: [thingsWith(steps)],
    drivers: { 'steps.thing': driver },
    options: { stopPatienceMs: 10, ...options },
  })
  await engine.start()
  return { engine, called }
}

/** A store with a run that stands at the second of its steps. */
async function inTheMiddle(backend = createMemoryBackend()): Promise<{ backend: MemoryBackend; run: string }> {
  const { engine, called } = await started(backend, ['disk', 'server'], {}, 'server')
  await engine.create('steps.thing', { id: 'one', properties: {} }, { by: 'ann' })
  await expect.poll(() => called).toEqual(['disk', 'server'])
  const [run] = await engine.runsOf('steps.thing', 'one')
  await engine.stop()
  return { backend, run: run!.id }
}

test.each([
  ['put in before it', ['address', 'disk', 'server'], 'disk'],
  ['taken out before it', ['server', 'address'], 'disk'],
  ['named otherwise', ['disk', 'service'], 'server'],
])('a step that was %s stops the start, and the way out is told', async (_how, steps, changed) => {
  const { backend, run } = await inTheMiddle()
  await expect(started(backend, steps)).rejects.toMatchObject({
    code: 'lifecycle_missing',
    message: expect.stringContaining(
      `1 steps.thing in Making: its run of create is at or after the step ${changed}, which is at another place now, or gone`,
    ),
  })
  // Refused once more: that it was refused has taught the store nothing.
  await expect(started(backend, steps)).rejects.toMatchObject({ code: 'lifecycle_missing' })
  await expect(started(backend, steps, { moved: { 'steps.thing': { Making: 'Baad' } } })).rejects.toThrow(
    'gone; `moved` sends them to Baad, which is not declared either',
  )
  const { engine, called } = await started(backend, steps, { moved: { 'steps.thing': { Making: 'Bad' } } })
  expect(await engine.get('steps.thing', 'one')).toMatchObject({ status: 'Bad', run: null })
  expect(await engine.waitForRun(run, { timeoutMs: 1 })).toMatchObject({ isOver: true })
  expect(called).toEqual([])
  // From now on these are its steps.
  const made = await engine.create('steps.thing', { id: 'two', properties: {} }, { by: 'ann' })
  await expect.poll(async () => (await engine.get('steps.thing', 'two'))?.status).toBe('Ready')
  expect(made.resource.id).toBe('two')
  expect(called).toEqual(steps)
  await engine.stop()
})

test('a step after the one where a run stands may come, and is carried out; so is the run by the former declaration', async () => {
  const { backend, run } = await inTheMiddle()
  const { engine, called } = await started(backend, ['disk', 'server', 'address'])
  expect(await engine.waitForRun(run, { timeoutMs: 10_000 })).toMatchObject({ state: 'succeeded' })
  expect(called).toEqual(['server', 'address'])
  await engine.stop()
  const again = await inTheMiddle()
  const former = await started(again.backend, ['disk', 'server'])
  expect(await former.engine.waitForRun(again.run, { timeoutMs: 10_000 })).toMatchObject({ state: 'succeeded' })
  await former.engine.stop()
})

test('nothing is called for those that are moved, however long they take to be found', async () => {
  const { backend } = await inTheMiddle()
  const slow = (store: Store): Store => {
    const list = store.list.bind(store)
    store.list = async (query) => {
      await setTimeout(200)
      return list(query)
    }
    return store
  }
  const moved = { 'steps.thing': { Making: 'Bad' } }
  const { engine, called } = await started(backend, ['address', 'disk', 'server'], { moved }, '', slow)
  expect(await engine.get('steps.thing', 'one')).toMatchObject({ status: 'Bad', run: null })
  expect(called).toEqual([])
  await engine.stop()
})

test('a process with other steps that starts and begins runs in the middle of this start is seen', async () => {
  const backend = createMemoryBackend()
  const together = (store: Store): Store => {
    const commit = store.commit.bind(store)
    store.commit = async (batch) => {
      store.commit = commit
      await inTheMiddle(backend)
      return commit(batch)
    }
    return store
  }
  await expect(started(backend, ['address', 'disk', 'server'], {}, '', together)).rejects.toMatchObject({
    code: 'lifecycle_missing',
  })
  // Its own steps were not kept: the former ones still are.
  const { engine } = await started(backend, ['disk', 'server'])
  await engine.stop()
})
