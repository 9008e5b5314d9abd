// The SQLite store against the promises of the port: as it is used, and with every commit made by its thread.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { storeConformance } from '../../src/testing/store-conformance.ts'

for (const thread of ['auto', 'always'] as const) {
  storeConformance({
    name: thread === 'auto' ? 'sqlite' : 'sqlite with a thread',
    test,
    expect,
    create() {
      const folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
      const open = new Set<Store>()
      return {
        open() {
          const store = openSqliteStore({ file: join(folder, 'store.db'), thread })
          open.add(store)
          return store
        },
        async crash(store) {
          open.delete(store)
          await store.close()
        },
        async remove() {
          for (const store of open) await store.close()
          rmSync(folder, { recursive: true })
        },
      }
    },
  })
}
