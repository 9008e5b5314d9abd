// The PostgreSQL store against the promises of the port, on a real server; each test has a schema of its own.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { storeConformance } from '../../src/testing/store-conformance.ts'
import { startPostgres, type PostgresServer } from '../postgres/server.ts'

let server: PostgresServer
let schemas = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

storeConformance({
  name: 'postgres',
  test,
  expect,
  create() {
    const schema = `conformance_${++schemas}`
    const open = new Set<Store>()
    return {
      async open() {
        const store = await openPostgresStore({ url: server.url, schema, durability: 'none', clock: 'given' })
        open.add(store)
        return store
      },
      async crash(store) {
        open.delete(store)
        await store.close()
      },
      async remove() {
        for (const store of open) await store.close()
      },
    }
  },
})
