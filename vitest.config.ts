// One configuration for every test; `homeostat` means the sources here, as it does for Node with --conditions=source.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (file: string) => fileURLToPath(new URL(`./src/${file}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^homeostat$/, replacement: source('index.ts') },
      { find: /^homeostat\/(.+)$/, replacement: `${source('')}$1.ts` },
    ],
  },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'catalogues/**/*.test.ts'],
    // Most tests wait for processes, not for the processor.
    maxWorkers: 2,
    // Processes that tests start find what others have compiled, in the place where the command line keeps it: half of their start.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What must become true may take its time on a busy machine.
    expect: { poll: { timeout: 30_000 } },
  },
})
