// The whole life of volumes, snapshots and attachments through a real engine, on the simulated world and on the real one: files of
// the asked size, processes for attachments, and faults set against them.
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from 'homeostat'
import { createMemoryStore, seededRandom, systemClock } from 'homeostat/testing'
import { createSimulatedWorld, openLocalWorld, type World } from 'homeostat/worlds'
import { afterEach, describe, expect, test } from 'vitest'
import { disagreements } from './agreement.ts'
import { createDrivers, createWorldBackend, opensds, type WorldBackendOptions } from './index.ts'

const gb = 2 ** 30
const simulated = (): World => createSimulatedWorld({ clock: systemClock, random: seededRandom(7) })
const local = () => openLocalWorld({ directory: mkdtempSync(join(tmpdir(), 'homeostat-opensds-')) })

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function siteOn(world: World & { destroyEverything?(): Promise<void> }, options: WorldBackendOptions = {}) {
  const backend = createWorldBackend(world, options)
  const engine = createEngine({ store: createMemoryStore(), lifecycles: opensds, drivers: createDrivers(backend) })
  await engine.start()
  closing.push(async () => {
    await engine.stop()
    await world.destroyEverything?.()
  })
  const client = engine.client('ann')
  const ended = async (asked: Promise<{ readonly run: { readonly id: string } | null }>) => {
    const { run } = await asked
    return engine.waitForRun(run!.id, { timeoutMs: 30_000 })
  }
  return {
    world,
    engine,
    client,
    volume: (id: string, properties: { size: number; multiAttach?: boolean; zone?: string }, source?: string) =>
      ended(client.volume.create({ id, properties, ...(source === undefined ? {} : { links: { source } }) })),
    extend: (id: string, size: number) => ended(client.volume.extend(id, { size })),
    reset: (id: string) => ended(client.volume.reset(id)),
    deleteVolume: (id: string) => ended(client.volume.delete(id)),
    snapshot: (id: string, parent: string) => ended(client.snapshot.create({ id, parent, properties: {} })),
    deleteSnapshot: (id: string) => ended(client.snapshot.delete(id)),
    attach: (id: string, parent: string, hostId = `host-${id}`) =>
      ended(client.attachment.create({ id, parent, properties: { hostId } })),
    detach: (id: string) => ended(client.attachment.delete(id)),
    why: async (type: string, id: string) => (await engine.get(`opensds.${type}`, id))?.description,
    status: async (type: 'volume' | 'snapshot' | 'attachment', id: string) => (await client[type].get(id))?.status,
    things: async () => (await world.truth()).map(({ kind, sizeBytes }) => [kind, sizeBytes && sizeBytes / gb]),
  }
}

describe.each([
  ['simulated', simulated],
  ['local', local],
])('on the %s world', (which, open) => {
  test('controller_test.go: the good way of each operation, and nothing is left at the end', async () => {
    const site = await siteOn(open())
    await site.volume('v', { size: 2, multiAttach: true })
    await site.extend('v', 5)
    await site.attach('a', 'v')
    await site.attach('b', 'v')
    await site.snapshot('s', 'v')
    await site.volume('w', { size: 6 }, 's')
    expect(await disagreements(site.engine, site.world)).toEqual([])
    expect(await site.things()).toEqual([
      ['link', null],
      ['link', null],
      ['snapshot', 5],
      ['volume', 5],
      ['volume', 6],
    ])
    const truth = await site.world.truth()
    const [, , snapshot, volume, copy] = truth
    expect([snapshot?.content, copy?.content]).toEqual([volume?.content, volume?.content])
    if (which === 'local') {
      const pids = truth.filter(({ kind }) => kind === 'link').map(({ pid }) => pid!)
      expect(pids.map((pid) => process.kill(pid, 0))).toEqual([true, true])
      expect(statSync(join(volume!.path!, 'data')).size).toBe(5 * gb)
    }

    await site.detach('a')
    expect(await site.status('volume', 'v')).toBe('InUse')
    await site.detach('b')
    expect(await site.status('volume', 'v')).toBe('Available')
    await site.deleteSnapshot('s')
    await site.deleteVolume('v')
    await site.deleteVolume('w')
    expect(await disagreements(site.engine, site.world)).toEqual([])
    expect(await site.things()).toEqual([])
  })

  test('a lost reply is asked about, not repeated blindly; what failed once is tried again', async () => {
    const site = await siteOn(open())
    for (const verb of ['create', 'resize', 'copy', 'start'] as const)
      await site.world.faults.set({ does: 'lostReply', on: { verb }, times: 1 })
    await site.volume('v', { size: 1 })
    await site.extend('v', 3)
    await site.snapshot('s', 'v')
    await site.attach('a', 'v')
    expect((await site.world.faults.list()).map(({ left }) => left)).toEqual([0, 0, 0, 0])
    expect(await disagreements(site.engine, site.world)).toEqual([])
    expect((await site.things()).length).toBe(3)

    await site.world.faults.clear()
    await site.world.faults.set({ does: 'fail', on: { step: 'detach', verb: 'destroy' }, times: 1 })
    await site.world.faults.set({ does: 'lostReply', on: { step: 'deleteSnapshot', verb: 'destroy' }, times: 1 })
    await site.world.faults.set({ does: 'lostReply', on: { step: 'deleteVolume', verb: 'destroy' }, times: 1 })
    await site.detach('a')
    await site.deleteSnapshot('s')
    await site.deleteVolume('v')
    expect((await site.world.faults.list()).map(({ left }) => left)).toEqual([0, 0, 0])
    expect(await disagreements(site.engine, site.world)).toEqual([])
    expect(await site.things()).toEqual([])
  })
})

test('the check of agreement sees what differs: a dead process, another size, a thing of nobody', async () => {
  const site = await siteOn(local())
  await site.volume('v', { size: 1 })
  await site.attach('a', 'v')
  const [link, volume] = await site.world.truth()
  process.kill(link!.pid!, 'SIGKILL')
  const guard = { key: 'k', epoch: 99, resource: 'opensds.volume/v', signal: new AbortController().signal }
  await site.world.resize(volume!.name, 2 * gb, guard)
  await site.world.create({ kind: 'volume', name: 'opensds.volume/x/volume/1', sizeBytes: gb }, guard)
  await expect
    .poll(() => disagreements(site.engine, site.world))
    .toEqual([
      'opensds.volume/x/volume/1 is in no ledger',
      `opensds.volume v (InUse) has 1 GB, its file ${2 * gb} bytes`,
      'opensds.attachment a (Attached) is stopped',
    ])
})

describe('failures, on the simulated world', () => {
  const refuse = (site: Awaited<ReturnType<typeof siteOn>>, step: string) =>
    site.world.faults.set({ does: 'fail', terminal: true, message: 'no such luck', on: { step } })

  test('each step that fails leads to the error status of its action, and each has a way out', async () => {
    const site = await siteOn(simulated())
    await site.volume('v', { size: 1 })
    await refuse(site, 'checkCapacity')
    await site.extend('v', 2)
    expect(await site.status('volume', 'v')).toBe('Available')
    expect(await site.why('volume', 'v')).toContain('no such luck')
    await site.world.faults.clear()
    for (const step of [
      'createVolume',
      'growVolume',
      'takeSnapshot',
      'attach',
      'detach',
      'deleteVolume',
      'deleteSnapshot',
    ])
      await refuse(site, step)
    await site.volume('w', { size: 1 })
    await site.extend('v', 2)
    expect([await site.status('volume', 'w'), await site.status('volume', 'v')]).toEqual(['Error', 'ErrorExtending'])
    await site.reset('v')
    await site.snapshot('s', 'v')
    await site.attach('a', 'v')
    expect(await site.status('volume', 'v')).toBe('Available')
    expect(await site.status('snapshot', 's')).toBe('Error')
    expect(await site.status('attachment', 'a')).toBe('ErrorAttaching')
    await site.deleteSnapshot('s')
    await site.detach('a')
    await site.deleteVolume('w')
    expect(await site.status('snapshot', 's')).toBe('ErrorDeleting')
    expect(await site.status('attachment', 'a')).toBe('ErrorDetaching')
    expect([await site.status('volume', 'w'), await site.status('volume', 'v')]).toEqual(['ErrorDeleting', 'InUse'])
    expect(await site.why('volume', 'w')).toContain('no such luck')

    await site.world.faults.clear()
    await site.detach('a')
    await site.deleteSnapshot('s')
    await site.deleteVolume('v')
    await site.deleteVolume('w')
    expect(await disagreements(site.engine, site.world)).toEqual([])
    expect(await site.things()).toEqual([])
  })

  test('3.2: no room. A creation comes to Error; an extension is back in Available, untouched', async () => {
    const site = await siteOn(simulated(), { capacity: 10 })
    await site.volume('v', { size: 6 })
    await site.volume('w', { size: 5 })
    await site.extend('v', 11)
    expect([await site.status('volume', 'w'), await site.status('volume', 'v')]).toEqual(['Error', 'Available'])
    expect(await site.why('volume', 'v')).toBe('extend failed: there is no room for 11 GB: 0 of 10 GB are used')
    expect(await site.things()).toEqual([['volume', 6]])
  })

  test('3.2: the host must exist and reach the zone of the volume', async () => {
    const site = await siteOn(simulated(), { hosts: { h1: { zones: ['south'] }, h2: { zones: ['north'] } } })
    await site.volume('v', { size: 1, zone: 'north' })
    await site.attach('a', 'v', 'nobody')
    await site.attach('b', 'v', 'h1')
    expect(await site.why('attachment', 'a')).toBe('create failed: there is no host nobody')
    expect(await site.why('attachment', 'b')).toBe('create failed: host h1 does not reach zone north')
    await site.attach('c', 'v', 'h2')
    expect([await site.status('attachment', 'c'), await site.status('volume', 'v')]).toEqual(['Attached', 'InUse'])
  })

  test('3.3: two ask at the same moment: one is answered with the transitional status, the other is refused', async () => {
    const site = await siteOn(simulated())
    await site.volume('v', { size: 1, multiAttach: true })
    const asked = await Promise.allSettled(
      ['a', 'b'].map((id) => site.client.attachment.create({ id, parent: 'v', properties: { hostId: id } })),
    )
    const [first, second] = asked
    expect(first).toMatchObject({ status: 'fulfilled', value: { resource: { status: 'Attaching' } } })
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'requirement_not_met' } })
  })

  test('what a failed attaching left connected keeps a second host away until it is deleted', async () => {
    const site = await siteOn(simulated())
    await site.volume('v', { size: 1 })
    await site.world.faults.set({ does: 'fail', terminal: true, on: { step: 'attach', verb: 'start' }, times: 1 })
    await site.attach('a', 'v')
    await site.attach('b', 'v')
    expect(await site.why('attachment', 'b')).toContain('still connected by opensds.attachment/a')
    await site.detach('a')
    await site.detach('b')
    await site.attach('c', 'v')
    expect(await site.status('volume', 'v')).toBe('InUse')
    expect(await disagreements(site.engine, site.world)).toEqual([])
  })

  test('an enlargement that happened after all is taken as it is: nothing is ever made smaller', async () => {
    const site = await siteOn(simulated())
    await site.volume('v', { size: 1 })
    await refuse(site, 'growVolume')
    await site.extend('v', 5)
    expect(await site.status('volume', 'v')).toBe('ErrorExtending')
    await site.world.faults.clear()
    // Nobody heard of it.
    const { epoch } = (await site.engine.get('opensds.volume', 'v'))!
    const guard = { key: 'late', epoch, resource: 'opensds.volume/v', signal: new AbortController().signal }
    await site.world.resize((await site.world.truth())[0]!.name, 5 * gb, guard)
    await site.extend('v', 3)
    expect((await site.client.volume.get('v'))?.properties.size).toBe(5)
    expect(await disagreements(site.engine, site.world)).toEqual([])
  })

  test('an enlargement that the backend calls done and is not is a failure', async () => {
    const world = simulated()
    const backend = createWorldBackend(world)
    const lazy = { growVolume: async () => 1, sweeper: () => ({ destroy: async () => {} }) }
    const drivers = createDrivers(Object.assign(Object.create(backend) as typeof backend, lazy))
    const call = {
      resource: { id: 'v', type: 'opensds.volume', status: 'Extending', properties: { size: 1 } },
      input: { size: 5 },
      key: 'k',
      epoch: 1,
      signal: new AbortController().signal,
    } as unknown as Parameters<typeof drivers.volume.growVolume>[0]
    await expect(drivers.volume.growVolume(call)).rejects.toThrow('it has 1 GB, not 5')
  })

  test('the sweeper finds what nobody owns: its inventory is what exists for the type', async () => {
    const site = await siteOn(simulated())
    await site.volume('v', { size: 1 })
    await site.attach('a', 'v')
    const drivers = createDrivers(createWorldBackend(site.world))
    const inventories = await Promise.all(
      [drivers.volume, drivers.snapshot, drivers.attachment].map((driver) => driver.sweeper!.inventory!()),
    )
    expect(inventories.map((found) => found.map(({ kind }) => kind))).toEqual([['volume'], [], ['link']])
    const [link] = inventories[2]!
    await drivers.attachment.sweeper!.destroy({
      kind: link!.kind,
      name: link!.name,
      ref: null,
      key: 'sweep',
      signal: new AbortController().signal,
    })
    expect(await site.things()).toEqual([['volume', 1]])
  })
})
