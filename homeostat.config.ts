// What `npm start` serves: the four systems of catalogues/, with backends on this machine (a machine is a process, a volume a file) in
// the data folder. `homeostat init` writes a smaller one for lifecycles of your own.
import { join } from 'node:path'
import { defineConfig, defineModule } from 'homeostat/config'
import { openLocalWorld } from 'homeostat/worlds'
import * as blazar from './catalogues/blazar/index.ts'
import * as opensds from './catalogues/opensds/index.ts'
import { createDrivers as createOvcDrivers } from './catalogues/ovc/driver.ts'
import { ovc } from './catalogues/ovc/index.ts'
import { createWorldBackend as createOvcBackend } from './catalogues/ovc/world-backend.ts'
import * as sahara from './catalogues/sahara/index.ts'
import { livingFleet } from './scripts/demo-fleet.ts'

export default defineConfig(({ data }) => {
  const world = openLocalWorld({ directory: join(data, 'world') })
  return {
    modules: [
      defineModule({
        lifecycles: blazar.blazar,
        drivers: blazar.createDrivers(blazar.createWorldBackend(world)),
        inventions: {
          // Leases begin and end within the time that is simulated.
          properties: {
            'blazar.lease': ({ stream, now }) => {
              const startDate = now + 500 + stream.below(20_000)
              return { startDate, endDate: startDate + 3_000 + stream.below(30_000), degraded: false }
            },
          },
        },
      }),
      defineModule({ lifecycles: opensds.opensds, drivers: opensds.createDrivers(opensds.createWorldBackend(world)) }),
      defineModule({
        lifecycles: ovc,
        drivers: createOvcDrivers(createOvcBackend(world, { nodes: ['n1', 'n2', 'n3'] })),
      }),
      defineModule({ lifecycles: sahara.sahara, drivers: sahara.createDrivers(sahara.createWorldBackend(world)) }),
    ],
    worlds: [world],
    engine: {
      // A newcomer should not have to wait for healing.
      leaseMs: 5_000,
      healEveryMs: 2_000,
      // What a forced delete leaves of a cluster is listed and not destroyed by itself: there may be data on it. A person sweeps it.
      sweep: { 'sahara.cluster': 'list' },
    },
    demo: (engine, signal) => livingFleet(engine, world, signal),
  }
})
