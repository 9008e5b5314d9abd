// Processes whose declarations count the steps of an operation otherwise, beside each other on one SQLite file: none carries on what the
// other began with the wrong step.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { openSqliteStore } from '../sqlite.ts'
import type { Store } from '../store/store.ts'
import { thingsWith } from '../testing/step-things.ts'
import { createEngine, type Engine } from './engine.ts'
import type { EngineSettings } from './options.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
afterAll(() => rmSync(folder, { recursive: true }))

const stores: Store[] = []
const engines: Engine[] = []
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop()
  for (const store of stores.splice(0)) await store.close()
})

/** Nobody loses such a lease, however busy the machine is; and so long a start waits for others. */
const longMs = 20_000
const shortMs = 400

let files = 0
const newFile = () => join(folder, `${files++}.db`)

interface Process {
  readonly engine: Engine
  readonly store: Store
  readonly called: string[]
  start(): Promise<void>
}

/** Calls of `hanging` never end. */
function processWith(
  file: string,
  steps: readonly string[],
  hanging = '',
  options: Partial<EngineSettings> = {},
): Process {
  const called: string[] = []
  const act = (name: string) => async () => {
    called.push(name)
    if (name === hanging) await new Promise(() => {})
  }
  const store = openSqliteStore({ file })
  stores.push(store)
  const engine = createEngine({
    store,
    lifecycles: [thingsWith(steps)],
    drivers: { 'steps.thing': Object.fromEntries(steps.map((name) => [name, act(name)])) },
    options: { stopPatienceMs: 10, leaseMs: longMs, ...options },
  }) as unknown as Engine
  engines.push(engine)
  return { engine, store, called, start: () => engine.start() }
}

async function started(file: string, steps: readonly string[], hanging = ''): Promise<Process> {
  const made = processWith(file, steps, hanging)
  await made.start()
  return made
}

const make = (engine: Engine, id: string) => engine.create('steps.thing', { id, properties: {} }, { by: 'ann' })
const statusOf = async (engine: Engine, id: string) => (await engine.get('steps.thing', id))?.status

test('a former process that comes back beside one with other steps is not started, and is told whom to stop', async () => {
  const file = newFile()
  const newer = await started(file, ['address', 'disk', 'server'], 'disk')
  const former = processWith(file, ['disk', 'server'], '', { leaseMs: shortMs })
  await expect(former.start()).rejects.toMatchObject({
    code: 'lifecycle_differs',
    message: expect.stringMatching(
      /steps\.thing\.create has the steps disk, server here, and address, disk, server .* worker \d+ \(.+\).* Stop /s,
    ),
  })
  // Nothing is left of what it asked for.
  expect(await newer.store.records({ kind: 'steps', after: '', limit: 10 })).toHaveLength(1)
  await make(newer.engine, 'one')
  await expect.poll(() => newer.called).toEqual(['address', 'disk'])
  await newer.engine.stop()
  // Alone it is refused for the run that stands where it knows no way.
  await expect(processWith(file, ['disk', 'server']).start()).rejects.toMatchObject({ code: 'lifecycle_missing' })
  const again = await started(file, ['address', 'disk', 'server'])
  await expect.poll(() => statusOf(again.engine, 'one')).toBe('Ready')
  expect(again.called).toEqual(['disk', 'server'])
})

test('what a former process lacks is not forgotten when it comes back', async () => {
  const file = newFile()
  const newer = await started(file, ['disk', 'server', 'address'], 'address')
  const former = await started(file, ['disk', 'server'])
  await former.engine.stop()
  await make(newer.engine, 'one')
  await expect.poll(() => newer.called).toEqual(['disk', 'server', 'address'])
  await newer.engine.stop()
  const newest = processWith(file, ['disk', 'server', 'network'])
  await expect(newest.start()).rejects.toMatchObject({
    code: 'lifecycle_missing',
    message: expect.stringContaining('at or after the step address'),
  })
  expect(newest.called).toEqual([])
})

test('several new ones start at once when the former has gone, also while they wait for it', async () => {
  const file = newFile()
  const former = await started(file, ['disk', 'server'])
  const steps = ['address', 'disk', 'server']
  const newer = [1, 2, 3].map(() => processWith(file, steps))
  const starting = Promise.all(newer.map((one) => one.start()))
  await expect.poll(async () => (await former.store.records({ kind: 'steps', after: '', limit: 10 })).length).toBe(4)
  await former.engine.stop()
  await starting
  await make(newer[0]!.engine, 'one')
  await expect.poll(() => statusOf(newer[1]!.engine, 'one')).toBe('Ready')
  expect(newer.flatMap(({ called }) => called).toSorted()).toEqual(steps)
  // Nothing is left of how they agreed.
  expect(await former.store.records({ kind: 'steps', after: '', limit: 10 })).toHaveLength(1)
})

test('one that lost its lease while others took up other steps takes nothing on until they are gone', async () => {
  const file = newFile()
  const former = processWith(file, ['disk', 'server'], '', { leaseMs: shortMs })
  await former.start()
  const watching = openSqliteStore({ file })
  stores.push(watching)
  const newer = processWith(file, ['address', 'disk', 'server'])
  const starting = newer.start()
  // As when it was frozen, and its lease ran out meanwhile.
  await watching.end({ no: former.engine.incarnation, as: 'dead', now: Date.now() })
  await starting
  await expect.poll(() => former.engine.health().reasons.join()).toContain('lease')
  await expect(make(former.engine, 'two')).rejects.toMatchObject({ code: 'lease_lost' })
  await make(newer.engine, 'one')
  await expect.poll(() => statusOf(newer.engine, 'one')).toBe('Ready')
  await newer.engine.stop()
  expect([newer.called, former.called]).toEqual([['address', 'disk', 'server'], []])
  const tried = () =>
    make(former.engine, 'three').then(
      () => 'made',
      (error: Error) => error.message,
    )
  await expect.poll(tried, { timeout: 20_000 }).toBe('made')
  await expect.poll(() => former.called).toEqual(['disk', 'server'])
})

test('one that lost its lease takes nothing on of what others have left at other steps', async () => {
  const file = newFile()
  const former = processWith(file, ['disk', 'server'], '', { leaseMs: shortMs })
  await former.start()
  const watching = openSqliteStore({ file })
  stores.push(watching)
  const steps = ['address', 'disk', 'server']
  const newer = processWith(file, steps, 'disk')
  const starting = newer.start()
  await watching.end({ no: former.engine.incarnation, as: 'dead', now: Date.now() })
  await starting
  await make(newer.engine, 'one')
  await expect.poll(() => newer.called).toEqual(['address', 'disk'])
  await newer.engine.stop()
  // It has registered anew, and found what it cannot carry on.
  await expect.poll(async () => (await watching.workers(Date.now())).length).toBeGreaterThan(2)
  const again = processWith(file, steps)
  await again.start()
  await expect.poll(() => statusOf(again.engine, 'one')).toBe('Ready')
  expect([again.called, former.called]).toEqual([['disk', 'server'], []])
})

test('what one with other steps has left while this one waited for it stops the start', async () => {
  const file = newFile()
  const former = await started(file, ['disk', 'server'], 'server')
  const newer = processWith(file, ['address', 'disk', 'server'])
  const starting = newer.start().then(
    () => null,
    (error: unknown) => error,
  )
  await expect.poll(async () => (await former.store.records({ kind: 'steps', after: '', limit: 10 })).length).toBe(2)
  await make(former.engine, 'one')
  await expect.poll(() => former.called).toEqual(['disk', 'server'])
  await former.engine.stop()
  expect(await starting).toMatchObject({ code: 'lifecycle_missing' })
  expect(newer.called).toEqual([])
})
