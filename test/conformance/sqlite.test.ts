// The SQLite store against the promises of the port.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { storeConformance } from '../../src/testing/store-conformance.ts'

storeConformance({
  name: 'sqlite',
  test,
  expect,
  create() {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
    const open = new Set<Store>()
    return {
      open() {
        const store = openSqliteStore({ file: join(folder, 'store.db') })
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
