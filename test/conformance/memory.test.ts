// The memory store against the promises of the port.
import { expect, test } from 'vitest'
import { createMemoryBackend, type MemoryStore } from '../../src/store/memory-store.ts'
import { storeConformance } from '../../src/testing/store-conformance.ts'

storeConformance({
  name: 'memory',
  test,
  expect,
  create() {
    const backend = createMemoryBackend()
    return {
      open: () => backend.open(),
      crash: (store) => (store as MemoryStore).crash(),
      remove() {},
    }
  },
})
