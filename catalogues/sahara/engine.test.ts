// The whole life of clusters through a real engine, on the simulated and on the local world; what really exists is compared with
// what the records say after every act.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, TerminalError } from 'homeostat'
import { createMemoryStore, seededRandom, systemClock } from 'homeostat/testing'
import { createSimulatedWorld, openLocalWorld, type World } from 'homeostat/worlds'
import { afterEach, describe, expect, test } from 'vitest'
import { createDrivers, createWorldBackend, sahara, type Job } from './index.ts'

type AnyWorld = World & { destroyEverything?(): Promise<void> }
const worlds: readonly (readonly [string, () => AnyWorld])[] = [
  ['simulated', () => createSimulatedWorld({ clock: systemClock, random: seededRandom(1) })],
  ['local', () => openLocalWorld({ directory: mkdtempSync(join(tmpdir(), 'homeostat-sahara-')) })],
]

const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const type = 'sahara.cluster'

interface Options {
  readonly trusted?: () => boolean
  readonly jobs?: readonly Job[]
  readonly jobStatus?: (job: Job) => string
}

async function cloud(open: () => AnyWorld, options: Options = {}) {
  const world = open()
  const backend = createWorldBackend(world, {
    ...options,
    judge: ({ w = 0 }) => {
      if (w > 4) throw new TerminalError('QuotaException', `Quota exceeded for instances: ${w} of 4`)
    },
    hasTrust: options.trusted ?? (() => true),
  })
  const engine = createEngine({
    store: createMemoryStore(),
    lifecycles: sahara,
    drivers: createDrivers(backend),
    options: { healEveryMs: 200, sweepEveryMs: 200, inventoryEveryMs: 200, strayGraceMs: 0, pollMs: 200 },
  })
  await engine.start()
  endings.push(async () => {
    await world.faults.clear()
    await engine.stop()
    await world.destroyEverything?.()
  })
  const client = engine.client('ann')
  const settled = async (id: string, timeoutMs = 20_000) => {
    const [run] = await engine.runsOf(type, id)
    await engine.waitForRun(run!.id, { timeoutMs })
    const found = (await engine.get(type, id))!
    return `${found.status} ${found.description}`.trim()
  }
  /** Names of the machines that really run. */
  const running = async () =>
    (await world.truth()).filter(({ kind, power }) => kind === 'instance' && power === 'running').map(partOf)
  /** Each instance on record has its machine, each machine its record and, through its stack, a ledger. */
  const agree = async () => {
    const { resources } = await engine.list({ limit: 1_000 })
    const recorded = resources.filter((one) => one.type === 'sahara.instance' && one.status !== 'gone')
    const machines = (await world.truth()).filter(({ kind }) => kind === 'instance')
    expect(new Set(machines.map(({ properties }) => properties['instance']))).toEqual(
      new Set(recorded.map(({ id }) => id)),
    )
    expect(machines).toHaveLength(recorded.length)
    expect(await world.leaks(resources.flatMap(({ ledger }) => ledger.map(({ name }) => name)))).toEqual([])
  }
  return { world, engine, client, settled, running, agree }
}

const partOf = ({ name }: { readonly name: string }) => name.split('/')[4]!
const until = async (isSo: () => Promise<boolean>, ms = 40_000) => {
  for (const end = Date.now() + ms; Date.now() < end; await new Promise((go) => setTimeout(go, 20)))
    if (await isSo()) return
  throw new Error('it never came to be')
}

describe.each(worlds)('Sahara on the %s world', (_name, open) => {
  test('2.2, 2.3, 2.5: created, scaled up, down and both at once, deleted; replies are lost on the way, nothing is left', async () => {
    const { world, client, settled, running, agree } = await cloud(open)
    await world.faults.set({ does: 'lostReply', on: { verb: 'create', kind: 'instance' }, times: 1 })
    await world.faults.set({ does: 'garbage', on: { step: 'awaitBoot', verb: 'list' }, times: 1 })
    await client.cluster.create({ id: 'c', properties: { counts: { w: 2, m: 1 } } })
    expect(await settled('c')).toBe('Active')
    expect(await running()).toEqual(['m-001', 'w-001', 'w-002'])
    await agree()

    await client.cluster.scale('c', { counts: { w: 3 } })
    expect(await settled('c')).toBe('Active')
    await client.cluster.scale('c', { counts: { w: 1, m: 2 }, instances: ['w-001'] })
    expect(await settled('c')).toBe('Active')
    expect(await running()).toEqual(['m-001', 'w-002', 'm-002'])
    await agree()

    await client.cluster.delete('c')
    expect(await settled('c')).toBe('gone')
    expect(await world.truth()).toEqual([])
  })

  test('2.2, 2.3: what fails is answered by its stage, and the machines follow', async () => {
    const { world, client, settled, running, agree } = await cloud(open)
    await client.cluster.create({ id: 'c', properties: { counts: { w: 9 } } })
    expect(await settled('c')).toBe(
      'Error Creating cluster failed for the following reason(s): Quota exceeded for instances: 9 of 4',
    )
    const fail = { does: 'fail', terminal: true, message: 'error1', times: 1 } as const
    await world.faults.set({ ...fail, on: { step: 'configure', verb: 'update' } })
    await client.cluster.create({ id: 'd', properties: { counts: { w: 2 } } })
    expect(await settled('d')).toBe('Error Creating cluster failed for the following reason(s): error1')
    expect(await world.truth()).toEqual([])

    await client.cluster.create({ id: 'e', properties: { counts: { w: 2, m: 1 } } })
    expect(await settled('e')).toBe('Active')
    await client.cluster.scale('e', { counts: { w: 5 } })
    expect(await settled('e')).toMatch(/^Active Scaling cluster failed .* Quota exceeded/)
    await world.faults.set({ ...fail, on: { step: 'addInstances', verb: 'start' } })
    await client.cluster.scale('e', { counts: { w: 1, m: 2 } })
    expect(await settled('e')).toBe('Active Scaling cluster failed for the following reason(s): error1')
    expect(await running()).toEqual(['m-001', 'w-001'])
    await agree()

    await world.faults.set({ ...fail, on: { step: 'configureNew', verb: 'update' } })
    await client.cluster.scale('e', { counts: { m: 2 } })
    expect(await settled('e')).toBe('Error Scaling cluster failed for the following reason(s): error1')
    expect(await running()).toEqual(['m-001', 'w-001', 'm-002'])
    await agree()
  })

  test('0.5: a delete that hangs is forced; what was abandoned is an orphan, and the sweeper destroys it', async () => {
    const { world, engine, client, settled } = await cloud(open)
    await client.cluster.create({ id: 'c', properties: { counts: { w: 2 } } })
    expect(await settled('c')).toBe('Active')
    const { id } = await world.faults.set({ does: 'hang', on: { verb: 'destroy' } })
    await client.cluster.delete('c')
    const { steps } = engine.plans.get(type)!.operations.get('delete')!
    const at = steps.findIndex(({ name }) => name === 'terminateInstances')
    await until(async () => (await engine.get(type, 'c'))?.run?.step === at)
    await engine.operate(type, 'c', 'delete', { by: 'ann', force: true, reason: 'it hangs' })
    expect((await engine.get(type, 'c'))!.status).toBe('Force Deleting')
    expect(await settled('c')).toMatch(/^gone Forced: it hangs/)
    expect((await engine.orphans()).map(({ entry }) => entry.kind)).toEqual(['machine'])
    expect((await world.truth()).length).toBeGreaterThan(0)
    await world.faults.clear(id)
    await until(async () => (await world.truth()).length === 0 && (await engine.orphans()).length === 0)
  })

  test('2.4: delete in the middle of a creation wins, and a machine that comes late does not stay', async () => {
    const { world, client, settled } = await cloud(open)
    await world.faults.set({ does: 'slow', ms: 300, on: { step: 'spawn', verb: 'create', kind: 'instance' } })
    await client.cluster.create({ id: 'c', properties: { counts: { w: 3 } } })
    await until(async () => (await world.truth()).length > 0)
    await client.cluster.delete('c')
    expect(await settled('c')).toBe('gone')
    await new Promise((go) => setTimeout(go, 400))
    expect(await world.truth()).toEqual([])
  })

  test('0.4, 0.6: imported in the middle, clusters and instances are healed by what is really there', async () => {
    const { engine } = await cloud(open)
    const place = { kind: 'importResource', by: 'importer', properties: { counts: { w: 1 } } } as const
    await engine.submit({ ...place, type, id: 'c', status: 'Configuring' })
    await engine.submit({ ...place, type, id: 'd', status: 'Deleting' })
    await engine.submit({ ...place, type, id: 'a', status: 'Active' })
    const parent = { no: (await engine.get(type, 'a'))!.no }
    const properties = { group: 'w', index: 0 }
    const instance = { ...place, type: 'sahara.instance', id: 'i', status: 'Deleting', parent, properties }
    await engine.submit(instance)
    const is = async (of: string, id: string) => (await engine.get(of, id))?.status
    await until(async () => (await is('sahara.instance', 'i')) === 'gone')
    await until(async () => (await is(type, 'c')) === 'Error' && (await is(type, 'd')) === 'gone')
  })

  test('6 of the issue: what exists and nobody owns is found and destroyed', async () => {
    const { world, engine } = await cloud(open)
    const guard = { key: 'k', epoch: 1, resource: `${type}/lost`, signal: new AbortController().signal }
    await world.create({ kind: 'stack', name: `${type}/lost/machine/1` }, guard)
    await world.create({ kind: 'instance', name: `${type}/lost/machine/1/w-001` }, guard)
    await until(async () => (await world.truth()).length === 0)
    expect(engine.strays).toEqual([])
  })
})

test('2.6: a transient cluster without trust waits for termination, and goes when there is one', async () => {
  let isTrusted = false
  const { engine, client, settled } = await cloud(worlds[0]![1], { trusted: () => isTrusted })
  await client.cluster.create({ id: 'c', properties: { counts: {}, hasTrust: false } })
  expect(await settled('c')).toBe('Active')
  await client.cluster.expire('c')
  await until(async () => (await engine.get(type, 'c'))?.run?.dueAt !== 0)
  expect((await engine.get(type, 'c'))!.status).toBe('AwaitingTermination')
  isTrusted = true
  const { no } = (await engine.get(type, 'c'))!
  expect(await engine.submit({ kind: 'retryRun', no, by: 'ann' })).toMatchObject({ accepted: true })
  expect(await settled('c')).toBe('gone')
})

test('2.5: before its cluster goes, each job is asked how it stands; what is unfinished then is KILLED, all are detached', async () => {
  const jobs: Job[] = [
    { cluster: 'c', status: 'RUNNING' },
    { cluster: 'c', status: 'RUNNING' },
    { cluster: 'other', status: 'RUNNING' },
  ]
  // The first has ended meanwhile, and nobody had looked.
  const jobStatus = (job: Job) => (job === jobs[0] ? 'SUCCEEDED' : job.status)
  const { world, client, settled } = await cloud(worlds[0]![1], { jobs, jobStatus })
  await client.cluster.create({ id: 'c', properties: { counts: { w: 1 } } })
  expect(await settled('c')).toBe('Active')
  for (const step of ['refreshJobs', 'detachJobs', 'deleteTrust'])
    await world.faults.set({ does: 'fail', on: { step }, times: 1 })
  await client.cluster.delete('c')
  expect(await settled('c')).toBe('gone')
  expect(jobs).toEqual([
    { cluster: null, status: 'SUCCEEDED' },
    { cluster: null, status: 'KILLED' },
    { cluster: 'other', status: 'RUNNING' },
  ])
})
