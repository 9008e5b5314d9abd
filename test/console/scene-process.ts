// What the console is tested against: clusters, volumes and leases of the catalogues, and tapes, on a SQLite file and a local world, served with the
// built console on a port that it is given. A real process, so that it can be killed.
import { flushCompileCache } from 'node:module'
import { createEngine } from 'homeostat'
import { createServer } from 'homeostat/server'
import { openSqliteStore } from 'homeostat/sqlite'
import { openLocalWorld } from 'homeostat/worlds'
import * as blazar from '../../catalogues/blazar/index.ts'
import * as opensds from '../../catalogues/opensds/index.ts'
import * as sahara from '../../catalogues/sahara/index.ts'
import { createTapeDriver, tapes } from './tape.ts'
import { devSwitches } from '../../src/cli/dev-mode.ts'

export interface SceneSettings {
  readonly folder: string
  readonly port: number
  readonly console: string
  readonly adminToken: string
  readonly withoutTapes?: boolean
}

const { folder, port, console, adminToken, withoutTapes = false } = JSON.parse(process.argv[2]!) as SceneSettings
const world = openLocalWorld({ directory: `${folder}/world` })
const engine = createEngine({
  store: openSqliteStore({ file: `${folder}/homeostat.db` }),
  lifecycles: { ...sahara.sahara, ...opensds.opensds, ...blazar.blazar, ...(withoutTapes ? {} : { tape: tapes }) },
  drivers: {
    ...sahara.createDrivers(sahara.createWorldBackend(world)),
    ...opensds.createDrivers(opensds.createWorldBackend(world, { capacity: 10_000 })),
    ...blazar.createDrivers(blazar.createWorldBackend(world)),
    ...(withoutTapes ? {} : { tape: createTapeDriver() }),
  },
  options: {
    name: 'scene',
    leaseMs: 3_000,
    healEveryMs: 300,
    overdueSlackMs: 500,
    // What is left behind stays in the list until somebody decides.
    sweep: { 'opensds.volume': 'list', 'sahara.cluster': 'list' },
  },
})
await engine.start()
const server = createServer({
  engine,
  port,
  adminToken,
  console,
  version: '0.1.0',
  rate: { perSecond: 100_000, burst: 100_000 },
  webhooks: { privateAddresses: true, firstWaitMs: 10, tries: 2 },
  secretKeys: ['key-for-secrets-of-the-scene-0123456789'],
  // The switches of `npm start` itself.
  dev: devSwitches([world]),
})
const url = await server.start()
// It never ends in order: what it has compiled is kept for the next one now.
flushCompileCache()
process.send?.({ url, ticket: await server.newTicket() })
process.on('disconnect', () => process.exit(0))
