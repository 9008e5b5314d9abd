// For the crash test: an engine on a SQLite file and a local world in one folder, as the killed process and its successor use it.
import { createEngine } from 'homeostat'
import { openSqliteStore } from 'homeostat/sqlite'
import { openLocalWorld } from 'homeostat/worlds'
import { createDrivers, createWorldBackend, sahara } from './index.ts'

export function openCloud(folder: string) {
  const world = openLocalWorld({ directory: `${folder}/world` })
  const store = openSqliteStore({ file: `${folder}/homeostat.db` })
  const engine = createEngine({
    store,
    lifecycles: sahara,
    drivers: createDrivers(createWorldBackend(world)),
    options: { leaseMs: 1_500, healEveryMs: 200, sweepEveryMs: 200, inventoryEveryMs: 500, strayGraceMs: 500 },
  })
  return { world, store, engine }
}
