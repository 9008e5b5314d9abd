// The four systems on PostgreSQL and a local world, and what is begun on each for a kill to find it in the middle.
// As a program: node catalogue-site.ts <system> <folder> <url> <schema> begins everything, says so, and waits to be killed.
import { createEngine, type Engine } from 'homeostat'
import { openPostgresStore } from 'homeostat/postgres'
import { openLocalWorld, type World } from 'homeostat/worlds'
import * as blazar from '../../catalogues/blazar/index.ts'
import * as opensds from '../../catalogues/opensds/index.ts'
import * as sahara from '../../catalogues/sahara/index.ts'
import type { Store } from '../../src/store/store.ts'
import { EngineCloud } from '../ovc/engine-cloud.ts'

export const systems = ['opensds', 'sahara', 'blazar', 'ovc'] as const
export type System = (typeof systems)[number]

export interface Site {
  readonly engine: Engine
  readonly world: ReturnType<typeof openLocalWorld>
  readonly store: Store
  /** Begins a mix of operations on what it has made before. */
  begin(): Promise<void>
}

const options = { leaseMs: 1_500, healEveryMs: 200, sweepEveryMs: 200, inventoryEveryMs: 500, strayGraceMs: 500 }
const ids = Array.from({ length: 6 }, (_, n) => n)

type Opened = Pick<Site, 'engine' | 'begin'>

const openings: Readonly<Record<System, (store: Store, world: World, slowly: () => Promise<void>) => Opened>> = {
  opensds(store, world, slowly) {
    const drivers = opensds.createDrivers(opensds.createWorldBackend(world))
    const engine = createEngine({ store, lifecycles: opensds.opensds, drivers, options })
    const { volume, snapshot, attachment } = engine.client('ann')
    return {
      engine: engine as unknown as Engine,
      async begin() {
        await Promise.all(
          ids.map(async (n) => {
            const { run } = await volume.create({ id: `v${n}`, properties: { size: 1 } })
            await engine.waitForRun(run.id, { timeoutMs: 30_000 })
          }),
        )
        await slowly()
        await Promise.all([
          ...ids.slice(0, 2).map((n) => volume.extend(`v${n}`, { size: 3 })),
          ...ids
            .slice(2, 4)
            .map((n) => attachment.create({ id: `a${n}`, parent: `v${n}`, properties: { hostId: 'h' } })),
          snapshot.create({ id: 's4', parent: 'v4', properties: {} }),
          volume.delete('v5'),
          ...ids.map((n) => volume.create({ id: `w${n}`, properties: { size: 1 } })),
        ])
      },
    }
  },
  sahara(store, world, slowly) {
    const drivers = sahara.createDrivers(sahara.createWorldBackend(world))
    const engine = createEngine({ store, lifecycles: sahara.sahara, drivers, options })
    const { cluster } = engine.client('ann')
    const create = (id: string) => cluster.create({ id, properties: { counts: { w: 1, m: 1 } } })
    return {
      engine: engine as unknown as Engine,
      async begin() {
        const made = await Promise.all(['a', 'b'].map(create))
        for (const { run } of made) await engine.waitForRun(run.id, { timeoutMs: 30_000 })
        await slowly()
        await Promise.all([
          cluster.scale('a', { counts: { w: 2, m: 1 } }),
          cluster.delete('b'),
          create('c'),
          create('d'),
        ])
      },
    }
  },
  blazar(store, world, slowly) {
    const drivers = blazar.createDrivers(blazar.createWorldBackend(world))
    const engine = createEngine({ store, lifecycles: blazar.blazar, drivers, options: { ...options, pollMs: 300 } })
    const { lease } = engine.client('ann')
    return {
      engine: engine as unknown as Engine,
      async begin() {
        await slowly()
        await Promise.all(
          ids.map((n) => {
            const startDate = Date.now() + 400 + 200 * n
            const properties = { startDate, endDate: startDate + 86_400_000 }
            const input = { reservations: [{ resourceType: 'host' }], minutesBeforeEndLease: 0 }
            return lease.create({ id: `l${n}`, properties }, input)
          }),
        )
      },
    }
  },
  ovc(store, world, slowly) {
    const cloud = new EngineCloud(store, world, options)
    return {
      engine: cloud.engine as unknown as Engine,
      async begin() {
        await cloud.make('node n1')
        await cloud.make('account a')
        await cloud.make('cloudspace c', { parent: 'a' })
        await cloud.ask('cloudspace c', 'deploy')
        await slowly()
        await Promise.all([
          ...ids.map((n) => cloud.beginMaking(`machine m${n}`, { parent: 'c', links: { node: 'n1' } })),
          ...ids.map((n) => cloud.beginMaking(`disk d${n}`, { parent: 'a' })),
          ...ids.map((n) => cloud.beginMaking(`image i${n}`, { parent: 'a' })),
        ])
      },
    }
  },
}

export async function openSite(system: System, folder: string, url: string, schema: string): Promise<Site> {
  const world = openLocalWorld({ directory: `${folder}/world` })
  const store = await openPostgresStore({ url, schema, durability: 'none' })
  const slowly = () => world.faults.set({ does: 'slow', ms: 1_500, rate: 0.8 })
  return { world, store, ...openings[system](store, world, async () => void (await slowly())) }
}

if (process.argv[1] === import.meta.filename) {
  const [system, folder, url, schema] = process.argv.slice(2) as [System, string, string, string]
  const site = await openSite(system, folder, url, schema)
  await site.engine.start()
  await site.begin()
  process.stdout.write('begun\n')
  setInterval(() => {}, 1_000)
}
