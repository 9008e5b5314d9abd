// What is served: the database's lifecycle with its driver, on a world of real files and processes in the data folder.
import { join } from 'node:path'
import { defineConfig, defineModule } from 'homeostat/config'
import { openLocalWorld } from 'homeostat/worlds'
import { createDriver } from './driver.ts'
import { databases } from './database.ts'

export default defineConfig(({ data }) => {
  const world = openLocalWorld({ directory: join(data, 'world') })
  return {
    modules: [defineModule({ lifecycles: { database: databases }, drivers: { database: createDriver(world) } })],
    // In development mode they can be broken on purpose: homeostat fault set fail --step startServer
    worlds: [world],
    // A file; or a PostgreSQL database, for workers on many machines: 'postgres://homeostat@db.internal/homeostat'
    store: join(data, 'homeostat.db'),
  }
})
