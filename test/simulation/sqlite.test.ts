// The same simulations on the real SQLite store: several handles on one file stand for several processes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { outsideMicrotasks } from '../../src/testing/microtasks.ts'
import type { ProcessStore } from '../../src/testing/simulated-process.ts'
import { Simulator, type Scenario } from '../../src/testing/simulation.ts'
import { boxesAndItems, lab, readme } from './scenarios.ts'

const seeds = 12
const folder = mkdtempSync(join(tmpdir(), 'homeostat-simulation-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0

/** A file that several handles can open; closing a handle is what the death of its process looks like. */
function createFile(): { open(): ProcessStore; close(): void } {
  const file = join(folder, `${files++}.db`)
  const open: ProcessStore[] = []
  return {
    open() {
      const store: ProcessStore = openSqliteStore({ file })
      let isClosed = false
      store.crash = () => {
        if (!isClosed) void store.close()
        isClosed = true
      }
      open.push(store)
      return store
    },
    close() {
      for (const store of open) store.crash!()
    },
  }
}

test.each([readme, lab, boxesAndItems].map((scenario) => [scenario.name, scenario] as const))(
  '%s keeps its promises on SQLite',
  async (_, scenario: Scenario) => {
    for (let seed = 0; seed < seeds; seed++) {
      const file = createFile()
      const simulator = new Simulator(
        { ...scenario, setting: { isFar: false, skewMs: 0 } },
        { createEngine, createStore: () => file },
      )
      const { violation, commits } = await outsideMicrotasks(() => simulator.run({ seed, isSwarm: true }))
      file.close()
      expect(violation, `seed ${seed}`).toBeNull()
      expect(commits).toBeGreaterThan(0)
    }
  },
)
