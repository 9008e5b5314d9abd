// The worker process in one file, for tests that start it hundreds of times: it loads in half of the time that its modules take one by
// one. Each module still finds what lies beside it, such as the threads, in the sources.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'vite'
import { afterAll, beforeAll } from 'vitest'
import { startFrom } from './worker-handle.ts'

const source = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** All workers that the tests of this file start are started from it. */
export function bundleWorker(): void {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-worker-'))
  beforeAll(async () => {
    await build({
      configFile: false,
      logLevel: 'warn',
      root: folder,
      resolve: { alias: [{ find: /^homeostat$/, replacement: source('../../src/index.ts') }] },
      ssr: { noExternal: true },
      build: { ssr: source('./worker-process.ts'), outDir: folder, target: 'esnext', minify: false },
      plugins: [{ name: 'keep-places', transform: keepPlaces }],
    })
    startFrom(join(folder, 'worker-process.mjs'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))
}

function keepPlaces(code: string, id: string): string | null {
  if (!code.includes('import.meta.')) return null
  return code
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
}
