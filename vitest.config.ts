// One configuration for every test; `homeostat` means the sources here, as it does for Node with --conditions=source.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const source = (file: string) => fileURLToPath(new URL(`./src/${file}`, import.meta.url))

/** Those that take longest begin first: none of them is left over at the end, when nothing else is to be done beside it. */
const longest = [
  'test/crash/killed-at-commits',
  'test/crash/killed-under-load',
  'test/cli/commands',
  'test/console/live',
  'test/console/copies',
  'test/faults/campaign',
  'test/cli/serve',
  'test/console/pages',
  'test/ovc/simulated',
  'test/conformance/sqlite',
  'test/conformance/postgres',
  'test/server/killed',
  'test/crash/killed-in-calls',
  'test/console/access',
  'test/cli/flow',
  'src/decision/decide',
  'test/simulation/planted-bugs',
  'test/simulation/systematic',
].map((name) => fileURLToPath(new URL(`./${name}.test.ts`, import.meta.url)))

/** Those that keep to themselves share the modules that they load; those that start processes have one of their own. */
const inside = ['src/**/*.test.ts', 'catalogues/**/*.test.ts']
const processes = ['catalogues/*/killed.test.ts', 'src/worlds/local-world.test.ts']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.indexOf(moduleId)
      return at === -1 ? longest.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^homeostat$/, replacement: source('index.ts') },
      { find: /^homeostat\/(.+)$/, replacement: `${source('')}$1.ts` },
    ],
  },
  test: {
    projects: [
      { extends: true, test: { name: 'together', include: inside, exclude: processes, isolate: false } },
      {
        extends: true,
        test: { name: 'apart', include: ['test/**/*.test.ts', ...processes], globalSetup: ['test/console/browser.ts'] },
      },
    ],
    // Many tests wait for processes, not for the processor: on the two cores of our machines, two at a time left a quarter of them unused.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Processes that tests start find what others have compiled, in the place where the command line keeps it: half of their start.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What must become true may take its time on a busy machine.
    expect: { poll: { timeout: 30_000 } },
  },
})
