// How a driver stands on a world: every step passes its guard on, and repeating it does no harm. The same driver on both worlds.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, type Driver } from 'homeostat'
import { createSimulatedWorld, guardOf, openLocalWorld, sweeperOf, type World } from 'homeostat/worlds'
import { describe, expect, test } from 'vitest'
import { databases } from '../../examples/database.ts'
import { systemClock } from '../base/clock.ts'
import { seededRandom } from '../base/random.ts'
import { createMemoryStore } from '../store/memory-store.ts'

const gb = 2 ** 30

/** A database is a disk, and a server that is a part of it. */
const driverOn = (world: World): Driver<typeof databases> => {
  const diskOf = ({ ledger }: { readonly ledger: readonly { readonly name: string }[] }) => ledger[0]?.name ?? ''
  const serverOf = (call: Parameters<typeof diskOf>[0]) => `${diskOf(call)}/server`
  return {
    async makeDisk(call) {
      const sizeBytes = call.resource.properties.sizeGb * gb
      await world.create({ kind: 'disk', name: call.name!, sizeBytes }, guardOf(call, 'makeDisk'))
    },
    async startServer(call) {
      const guard = guardOf(call, 'startServer')
      await world.create({ kind: 'server', name: serverOf(call), links: [diskOf(call)] }, guard)
      await world.start(serverOf(call), guard)
    },
    async growDisk(call) {
      await world.resize(diskOf(call), call.input.sizeGb * gb, guardOf(call, 'growDisk'))
    },
    async stopServer(call) {
      await world.stop(serverOf(call), guardOf(call, 'stopServer'))
    },
    async removeDisk(call) {
      for (const { name } of call.ledger) await world.destroy(name, guardOf(call, 'removeDisk'))
    },
    sweeper: sweeperOf(world, 'shop.database'),
  }
}

const worlds: readonly (readonly [string, () => World & { destroyEverything?(): Promise<void> }])[] = [
  ['simulated', () => createSimulatedWorld({ clock: systemClock, random: seededRandom(1) })],
  ['local', () => openLocalWorld({ directory: mkdtempSync(join(tmpdir(), 'homeostat-world-')) })],
]

describe.each(worlds)('a driver on the %s world', (_name, open) => {
  test('makes what is asked for, whatever is set against it, and leaves nothing behind', async () => {
    const world = open()
    const engine = createEngine({
      store: createMemoryStore(),
      lifecycles: { database: databases },
      drivers: { database: driverOn(world) },
    })
    await engine.start()
    const shop = engine.client('me')
    const settled = async (id: string) => {
      const [run] = await engine.runsOf('shop.database', id)
      await engine.waitForRun(run!.id, { timeoutMs: 30_000 })
      return (await shop.database.get(id))?.status
    }
    const seen = async () => (await world.truth()).map(({ kind, sizeBytes, power }) => [kind, sizeBytes, power])
    try {
      await world.faults.set({ does: 'lostReply', on: { verb: 'create', kind: 'disk' }, times: 1 })
      await world.faults.set({ does: 'fail', on: { step: 'startServer', verb: 'start' }, times: 1 })
      await shop.database.create({ id: 'orders', properties: { sizeGb: 10 } })
      expect(await settled('orders')).toBe('Ready')
      expect(await seen()).toEqual([
        ['disk', 10 * gb, 'stopped'],
        ['server', null, 'running'],
      ])

      await shop.database.grow('orders', { sizeGb: 30 })
      expect(await settled('orders')).toBe('Ready')
      expect((await seen())[0]).toEqual(['disk', 30 * gb, 'stopped'])

      await shop.database.delete('orders')
      expect(await settled('orders')).toBe('Gone')

      await world.faults.set({ does: 'fail', terminal: true, on: { type: 'shop.database', verb: 'start' } })
      await shop.database.create({ id: 'broken', properties: { sizeGb: 1 } })
      expect(await settled('broken')).toBe('Broken')
      expect(await world.leaks([])).toEqual([])
    } finally {
      await engine.stop()
      await world.destroyEverything?.()
    }
  })
})
