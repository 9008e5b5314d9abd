// A real engine process is killed with SIGKILL in the middle of fifty mixed operations on the real world. The next engine brings
// everything to rest, and real files and processes agree exactly with the records.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { allResources, disagreements } from './agreement.ts'
import { openSite } from './engine-process.ts'

/** Runs the program until it is killed, when so many operations have ended. Answers the runs that it had accepted. */
async function killedAfter(folder: string, ended: number): Promise<readonly string[]> {
  const program = join(import.meta.dirname, 'engine-process.ts')
  const child = spawn(process.execPath, ['--conditions=source', program, folder, String(ended)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  const accepted: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, run] = line.split(' ')
    if (what === 'accepted') accepted.push(run!)
  }
  expect(await exit).toBe('SIGKILL')
  return accepted
}

test.each([8, 20, 33])(
  'kill -9 after %i of 50 operations: everything comes to rest and agrees',
  async (ended) => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-opensds-'))
    const { world, store, engine } = openSite(folder)
    try {
      const accepted = await killedAfter(folder, ended)
      expect(accepted.length).toBeGreaterThan(ended)
      await world.faults.clear()
      const before = await engine.list({ limit: 1_000 })
      const caught = before.resources.filter(({ run }) => run !== null)
      expect(caught.length).toBeGreaterThan(0)

      await engine.start()
      for (const run of accepted) {
        const view = await engine.waitForRun(run, { timeoutMs: 60_000 })
        expect([run, view.state]).toEqual([run, 'succeeded'])
      }
      for (let n = 0; n < 800 && (await disagreements(engine, world)).length > 0; n++) await sleep(50)
      expect(await disagreements(engine, world)).toEqual([])
      expect((await allResources(engine)).map(({ status }) => status).filter((one) => one.startsWith('Error'))).toEqual(
        [],
      )
      // The history tells what was healed.
      for (const { type, id } of caught)
        expect((await engine.history(type, id)).map(({ kind }) => kind)).toContain('resumed')
      expect(await engine.incidents()).toEqual([])
    } finally {
      await engine.stop()
      await store.close()
      await world.destroyEverything()
      rmSync(folder, { recursive: true, force: true })
    }
  },
  180_000,
)
