// The whole life of a cloud through a real engine: on the simulated world with its faults, and on the local one with real
// processes and files.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSimulatedWorld, openLocalWorld, type World } from 'homeostat/worlds'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { seededRandom } from '../../src/base/random.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import { EngineCloud } from './engine-cloud.ts'

const simulated = () => createSimulatedWorld({ clock: systemClock, random: seededRandom(1) })
const worlds: readonly (readonly [string, () => World & { destroyEverything?(): Promise<void> }])[] = [
  ['simulated', simulated],
  ['local', () => openLocalWorld({ directory: mkdtempSync(join(tmpdir(), 'homeostat-ovc-')) })],
]

async function inCloud(
  world: World & { destroyEverything?(): Promise<void> },
  play: (cloud: EngineCloud) => Promise<void>,
  options: ConstructorParameters<typeof EngineCloud>[2] = {},
): Promise<void> {
  const cloud = new EngineCloud(createMemoryStore(), world, options)
  await cloud.engine.start()
  try {
    await cloud.make('node n1')
    await cloud.make('node n2')
    await cloud.make('account a')
    await cloud.make('cloudspace c', { parent: 'a' })
    expect(await cloud.ask('cloudspace c', 'deploy')).toBe('DEPLOYED')
    await play(cloud)
  } finally {
    await cloud.engine.stop()
    await world.destroyEverything?.()
  }
}

const gone = async (cloud: EngineCloud): Promise<void> => {
  for (let looks = 0; looks < 2_000 && (await things(cloud)).length > 0; looks++)
    await new Promise((resolve) => setTimeout(resolve, 20))
  expect(await things(cloud)).toEqual([])
}
const things = async (cloud: EngineCloud) =>
  (await cloud.world.truth()).filter(({ kind }) => kind !== 'hypervisor').map(({ name }) => name)

describe.each(worlds)('on the %s world', (_name, open) => {
  test('what exists and nobody owns is found in the inventory of each type and destroyed; what is owned stays', async () => {
    const play = async (cloud: EngineCloud) => {
      const owned = await things(cloud)
      expect(owned).toHaveLength(1)
      for (const [type, kind] of [
        ['cloudspace', 'firewall'],
        ['machine', 'machine'],
        ['disk', 'disk'],
        ['image', 'image'],
      ]) {
        const by = { key: 'k', epoch: 1, resource: `ovc.${type}/lost`, signal: new AbortController().signal }
        const thing = { kind: kind!, name: `ovc.${type}/lost/${kind}/1`, sizeBytes: 2 ** 20 }
        await cloud.world.create(thing, by)
      }
      expect(await things(cloud)).toHaveLength(5)
      for (let looks = 0; looks < 2_000 && (await things(cloud)).length > 1; looks++)
        await new Promise((resolve) => setTimeout(resolve, 20))
      expect(await things(cloud)).toEqual(owned)
      expect(await cloud.disagreements()).toEqual([])
    }
    await inCloud(open(), play, { inventoryEveryMs: 200, strayGraceMs: 0 })
  }, 120_000)

  test('decision 0.9: a loose disk whose storage is gone is only a model, and can be built again', async () => {
    await inCloud(open(), async (cloud) => {
      await cloud.make('disk d', { parent: 'a' })
      const { no, ledger } = (await cloud.engine.get('ovc.disk', 'd'))!
      await cloud.world.destroy(ledger[0]!.name, { key: 'thief', signal: new AbortController().signal })
      // As a resize that was cut leaves it.
      await cloud.engine.submit({ kind: 'setStatus', no, status: 'RESIZING', reason: 'a test', by: 'test' })
      for (let looks = 0; looks < 2_000 && (await cloud.status('disk d')) !== 'MODELED'; looks++)
        await new Promise((resolve) => setTimeout(resolve, 20))
      expect((await cloud.engine.get('ovc.disk', 'd'))!).toMatchObject({
        status: 'MODELED',
        properties: { loose: false },
      })
      expect(await cloud.ask('disk d', 'build')).toBe('CREATED')
    })
  }, 120_000)

  test('machines, disks, clones and images live, and records and world agree after every operation', async () => {
    await inCloud(open(), async (cloud) => {
      const step = async (name: Parameters<EngineCloud['ask']>[0], operation: string, to: string, input?: unknown) => {
        expect([name, operation, await cloud.ask(name, operation, input)]).toEqual([name, operation, to])
        expect(await cloud.disagreements()).toEqual([])
      }
      expect(await cloud.make('image i', { parent: 'a' })).toBe('CREATED')
      await cloud.make('machine m', { parent: 'c', links: { node: 'n1', image: 'i' } })
      await step('machine m', 'deploy', 'RUNNING')
      await step('machine m', 'pause', 'PAUSED')
      await step('machine m', 'resume', 'RUNNING')
      await step('machine m', 'reboot', 'RUNNING')
      await step('machine m', 'reset', 'RUNNING')
      await step('machine m', 'resize', 'RUNNING', { memory: 1024 })
      await step('machine m', 'migrate', 'RUNNING', { node: 'n2' })
      expect(await cloud.make('disk d', { parent: 'a' })).toBe('CREATED')
      await step('disk d', 'attach', 'ASSIGNED', { machine: 'm' })
      await step('disk d', 'resize', 'ASSIGNED', { size: 3 })
      await step('machine m', 'limitDisk', 'RUNNING', { disk: 'd', iops: 100 })
      await step('disk d', 'detach', 'CREATED')
      await step('disk d', 'delete', 'DELETED')
      await step('disk d', 'restore', 'CREATED')
      await step('disk d', 'attach', 'ASSIGNED', { machine: 'm' })
      expect(await cloud.make('disk e', { parent: 'a', operation: 'createOn', links: { machine: 'm' } })).toBe(
        'ASSIGNED',
      )
      expect((await cloud.world.list({ kind: 'machine' }))[0]!.links).toHaveLength(2)
      await step('disk e', 'destroy', 'DESTROYED')
      await step('machine m', 'stop', 'HALTED')

      await cloud.make('machine k', { parent: 'c', links: { original: 'm' } })
      await step('machine k', 'deploy', 'RUNNING')
      expect(await cloud.make('image t', { parent: 'a', links: { source: 'm' } })).toBe('CREATED')
      const contents = (await cloud.world.truth()).filter(({ content }) => content !== null)
      const of = (part: string) => contents.find(({ name }) => name.includes(part))!.content
      expect(of('ovc.machine/k')).toBe(of('ovc.image/i'))
      expect(of('ovc.image/t')).toBe(of('ovc.image/i'))
      expect(await cloud.disagreements()).toEqual([])

      await step('machine k', 'destroy', 'DESTROYED')
      await step('machine m', 'start', 'RUNNING')
      await step('machine m', 'delete', 'DELETED')
      expect(await cloud.status('disk d')).toBe('TOBEDELETED')
      await step('machine m', 'restore', 'HALTED')
      expect(await cloud.status('disk d')).toBe('ASSIGNED')
      await step('image t', 'disable', 'DISABLED')
      await step('image t', 'enable', 'CREATED')
      await step('image t', 'delete', 'DELETED')
      await step('image t', 'destroy', 'DESTROYED')
      await step('machine m', 'destroy', 'DESTROYED')
      expect(await cloud.status('disk d')).toBe('DESTROYED')
    })
  }, 30_000)

  test('cloudspaces and accounts are paused, disabled, binned, restored and destroyed with all that is in them', async () => {
    await inCloud(open(), async (cloud) => {
      await cloud.make('machine m', { parent: 'c' })
      await cloud.ask('machine m', 'deploy')
      await cloud.make('disk d', { parent: 'a', operation: 'createOn', links: { machine: 'm' } })
      expect(await cloud.ask('account a', 'disable', { reason: 'unpaid' })).toBe('DISABLED')
      expect([await cloud.status('cloudspace c'), await cloud.status('machine m')]).toEqual(['PAUSED', 'HALTED'])
      expect(await cloud.disagreements()).toEqual([])
      expect(await cloud.ask('account a', 'enable')).toBe('CONFIRMED')
      expect([await cloud.status('cloudspace c'), await cloud.status('machine m')]).toEqual(['DEPLOYED', 'HALTED'])
      expect(await cloud.ask('machine m', 'start')).toBe('RUNNING')
      expect(await cloud.ask('cloudspace c', 'reset')).toBe('DEPLOYED')
      expect(await cloud.ask('cloudspace c', 'disable')).toBe('DISABLED')
      expect(await cloud.ask('cloudspace c', 'enable')).toBe('DEPLOYED')
      expect(await cloud.disagreements()).toEqual([])
      expect(await cloud.ask('account a', 'delete', { reason: 'over' })).toBe('DELETED')
      expect([await cloud.status('cloudspace c'), await cloud.status('machine m')]).toEqual(['DELETED', 'DELETED'])
      await expect(cloud.ask('cloudspace c', 'restore')).rejects.toThrow('Cannot restore ovc.cloudspace c')
      expect(await cloud.ask('account a', 'restore')).toBe('CONFIRMED')
      expect(await cloud.ask('cloudspace c', 'restore')).toBe('DEPLOYED')
      expect(await cloud.ask('machine m', 'restore')).toBe('HALTED')
      expect(await cloud.disagreements()).toEqual([])
      expect(await cloud.ask('account a', 'destroy')).toBe('DESTROYED')
      await gone(cloud)
    })
  }, 30_000)
})

describe('on the simulated world', () => {
  test('a node is emptied, maintained, enabled and taken away; node and stack change in the same commits', async () => {
    await inCloud(simulated(), async (cloud) => {
      for (const id of ['m1', 'm2']) {
        await cloud.make(`machine ${id}`, { parent: 'c', links: { node: 'n1' } })
        await cloud.ask(`machine ${id}`, 'deploy')
      }
      await cloud.ask('machine m2', 'pause')
      expect(await cloud.ask('node n1', 'maintain')).toBe('MAINTENANCE')
      expect([await cloud.status('machine m1'), await cloud.status('machine m2')]).toEqual(['RUNNING', 'PAUSED'])
      await expect(cloud.ask('machine m1', 'migrate', { node: 'n1' })).rejects.toThrow('destination')
      expect(await cloud.ask('node n1', 'enable')).toBe('ENABLED')
      expect(await cloud.ask('node n2', 'maintain', { machines: 'stop' })).toBe('MAINTENANCE')
      expect(await cloud.ask('node n2', 'enable')).toBe('ENABLED')
      expect([await cloud.status('machine m1'), await cloud.status('machine m2')]).toEqual(['RUNNING', 'RUNNING'])
      expect(await cloud.ask('node n2', 'update')).toBe('ENABLED')
      expect(await cloud.ask('node n2', 'decommission')).toBe('DECOMMISSIONED')
      expect(await cloud.status('stack n2')).toBe('DECOMMISSIONED')
      expect((await cloud.engine.related('ovc.machine', 'm1'))['node']).toMatchObject([{ id: 'n1' }])
      // The last one has nobody to give its machines to.
      expect(await cloud.ask('node n1', 'decommission')).toBe('ENABLED')
      expect((await cloud.engine.get('ovc.node', 'n1'))?.description).toContain('no other node has room')
      expect(await cloud.disagreements()).toEqual([])
      const changes = async (type: string) =>
        (await cloud.engine.history(type, 'n2')).filter(({ from, to }) => from !== to).map(({ to, at }) => [to, at])
      expect(await changes('ovc.stack')).toEqual(await changes('ovc.node'))
    })
  }, 120_000)

  test('G5: a cascade waits for what is busy below it, and then takes it along', async () => {
    const world = simulated()
    await inCloud(world, async (cloud) => {
      await cloud.make('machine m', { parent: 'c' })
      await cloud.ask('machine m', 'deploy')
      await world.faults.set({ does: 'slow', ms: 600, on: { step: 'rebootMachine' }, times: 1 })
      await cloud.begin('machine m', 'reboot')
      expect(await cloud.ask('account a', 'disable')).toBe('DISABLED')
      expect([await cloud.status('cloudspace c'), await cloud.status('machine m')]).toEqual(['PAUSED', 'HALTED'])
      expect(await cloud.disagreements()).toEqual([])
    })
  }, 120_000)

  test('what runs, fails or vanishes behind our back is found by the probes of healing', async () => {
    const world = simulated()
    await inCloud(world, async (cloud) => {
      await cloud.make('machine m', { parent: 'c' })
      await cloud.ask('machine m', 'deploy')
      const { no } = (await cloud.engine.get('ovc.machine', 'm'))!
      const by = { key: 'somebody', epoch: 1_000_000, resource: 'somebody/else', signal: new AbortController().signal }
      const [{ name } = { name: '' }] = await world.list({ kind: 'machine' })
      for (const [act, to] of [
        [() => world.pause(name, by), 'PAUSED'],
        [() => world.stop(name, by), 'HALTED'],
        [() => world.destroy(name, by), 'ERROR'],
      ] as const) {
        await act()
        await cloud.engine.submit({ kind: 'setStatus', no, status: 'REBOOTING', reason: 'a test', by: 'test' })
        for (let looks = 0; looks < 2_000 && (await cloud.status('machine m')) === 'REBOOTING'; looks++)
          await new Promise((resolve) => setTimeout(resolve, 20))
        expect(await cloud.status('machine m')).toBe(to)
      }
    })
  }, 120_000)

  test('steps that only change the books can be broken like any other, and leave everything as it was', async () => {
    const world = simulated()
    await inCloud(world, async (cloud) => {
      expect(await cloud.make('disk d', { parent: 'a' })).toBe('CREATED')
      for (const [name, operation, step, status, input] of [
        ['account a', 'update', 'saveAccount', 'CONFIRMED', { name: 'new' }],
        ['cloudspace c', 'update', 'saveCloudspace', 'DEPLOYED', { name: 'new' }],
        ['disk d', 'delete', 'binDisk', 'CREATED', {}],
      ] as const) {
        await world.faults.set({ does: 'fail', terminal: true, message: 'the books are closed', on: { step } })
        expect(await cloud.ask(name, operation, input)).toBe(status)
        const [kind, id] = name.split(' ') as [string, string]
        expect((await cloud.engine.explain(`ovc.${kind}`, id)).because.join(' ')).toContain('the books are closed')
      }
    })
  }, 120_000)

  test('lost replies, failures and nonsense do nothing twice and leave nothing behind', async () => {
    const world = simulated()
    await inCloud(world, async (cloud) => {
      for (const verb of ['create', 'link'] as const)
        await world.faults.set({ does: 'lostReply', on: { verb, type: 'ovc.machine' }, times: 1 })
      await world.faults.set({ does: 'fail', on: { step: 'createDisk' }, times: 1 })
      await cloud.make('machine m', { parent: 'c' })
      expect(await cloud.ask('machine m', 'deploy')).toBe('RUNNING')
      expect(await cloud.make('disk d', { parent: 'a' })).toBe('CREATED')
      expect(await cloud.ask('disk d', 'attach', { machine: 'm' })).toBe('ASSIGNED')
      expect(await cloud.disagreements()).toEqual([])

      await world.faults.set({ does: 'fail', terminal: true, on: { step: 'deployMachine', verb: 'start' } })
      await cloud.make('machine broken', { parent: 'c' })
      expect(await cloud.ask('machine broken', 'deploy')).toBe('DESTROYED')
      await world.faults.clear()
      expect(await cloud.disagreements()).toEqual([])

      // The firewall cannot be destroyed: the space is, and the sweeper does the rest.
      await world.faults.set({ does: 'fail', terminal: true, on: { step: 'destroyFirewall' } })
      expect(await cloud.ask('cloudspace c', 'destroy', { withMachines: true })).toBe('DESTROYED')
      await gone(cloud)
    })
  }, 120_000)
})
