// A real engine with Blazar's drivers on a world, for the tests of this folder: in memory, or with files and processes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine, type Engine } from 'homeostat'
import { openSqliteStore } from 'homeostat/sqlite'
import { createMemoryStore, seededRandom, systemClock } from 'homeostat/testing'
import { createSimulatedWorld, openLocalWorld, type World } from 'homeostat/worlds'
import { blazar, createDrivers, createWorldBackend, type Backend } from './index.ts'

type BlazarEngine = Engine<typeof blazar>

export interface Scene {
  readonly world: World
  readonly engine: BlazarEngine
  readonly client: ReturnType<BlazarEngine['client']>
  /** Waits until the lease has no run, or stands in this status. */
  readonly settled: (id: string, status?: string) => Promise<string>
  /** Of what really exists: kind, size in MiB, power. */
  readonly truth: () => Promise<string[]>
  readonly reservations: (id: string) => Promise<readonly { readonly id: string; readonly status: string }[]>
  /** Lease, reservations, start event, end event. */
  readonly seen: (id: string) => Promise<string>
  readonly close: () => Promise<void>
}

const openings = {
  simulated: () => ({
    world: createSimulatedWorld({ clock: systemClock, random: seededRandom(1) }),
    store: createMemoryStore(),
    end: async () => {},
  }),
  local: () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-blazar-'))
    const world = openLocalWorld({ directory: join(folder, 'world') })
    const store = openSqliteStore({ file: join(folder, 'store.db') })
    const end = async () => {
      await world.destroyEverything()
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    }
    return { world, store, end }
  },
}
export type Ground = keyof typeof openings
export const grounds = Object.keys(openings) as Ground[]

export async function openScene(ground: Ground, more: Partial<Backend> = {}): Promise<Scene> {
  const { world, store, end } = openings[ground]()
  const engine = createEngine({
    store,
    lifecycles: blazar,
    drivers: createDrivers({ ...createWorldBackend(world), ...more }),
    options: { pollMs: 500, healEveryMs: 500, sweepEveryMs: 300, inventoryEveryMs: 300, strayGraceMs: 300 },
  })
  await engine.start()
  const childrenOf = async (id: string) => {
    const { no } = (await engine.get('blazar.lease', id))!
    const { resources } = await engine.list({ limit: 1_000, after: 0 })
    return resources.filter(({ parent }) => parent === no)
  }
  const scene: Scene = {
    world,
    engine,
    client: engine.client('ann'),
    async settled(id, status) {
      for (let n = 0; n < 4_000; n++) {
        const lease = await engine.get('blazar.lease', id)
        if (lease !== null && lease.run === null && (status === undefined || lease.status === status))
          return lease.status
        await pause(20)
      }
      throw new Error(`${id} never settled: ${JSON.stringify(await engine.get('blazar.lease', id))}`)
    },
    async truth() {
      return (await world.truth()).map(({ kind, sizeBytes, power }) => `${kind} ${(sizeBytes ?? 0) / 2 ** 20} ${power}`)
    },
    async reservations(id) {
      return (await childrenOf(id)).filter(({ type }) => type === 'blazar.reservation')
    },
    async seen(id) {
      const children = await childrenOf(id)
      const event = (type: string) => children.find((one) => one.properties['eventType'] === `${type}_lease`)?.status
      const reservations = children.filter(({ type }) => type === 'blazar.reservation').map(({ status }) => status)
      const { status } = (await engine.get('blazar.lease', id))!
      return [status, reservations.join(' '), event('start'), event('end')].join(' | ')
    },
    async close() {
      await engine.stop()
      await end()
    },
  }
  return scene
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

/** Dates counted from now. */
export const dates = (start: number, end: number) => ({ startDate: Date.now() + start, endDate: Date.now() + end })
