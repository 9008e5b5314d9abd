// The four systems on PostgreSQL: a process is killed with SIGKILL in the middle of mixed operations; the next one brings everything to
// rest, and what really exists is what the ledgers say.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootOf } from 'homeostat/worlds'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSite, systems, type Site, type System } from './catalogue-site.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

/** Runs the program until everything is begun, and kills it. */
async function killedInTheMiddle(system: System, folder: string): Promise<void> {
  const program = join(import.meta.dirname, 'catalogue-site.ts')
  const child = spawn(process.execPath, ['--conditions=source', program, system, folder, server.url, system], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)))
  let said = ''
  for await (const text of child.stdout) {
    said += String(text)
    if (said.includes('begun')) break
  }
  child.kill('SIGKILL')
  expect(await ended).toBe('SIGKILL')
}

/** What is not at rest, and what exists without a record; empty when all is well. */
async function unrest({ engine, world, store }: Site): Promise<string[]> {
  const resources = await store.list({ limit: 1_000, after: 0 })
  const named = new Set(resources.flatMap(({ ledger }) => ledger.map(({ name }) => name)))
  const strays = (await world.truth()).filter(({ name }) => !named.has(rootOf(name)))
  const soon = Date.now() + 500
  return [
    ...resources
      .filter(({ type, status, run }) => run !== null || engine.plans.kindOf(type, status) === 'transitional')
      .map(({ id, status }) => `${id} is ${status}`),
    ...resources
      .filter(({ ledger }) =>
        ledger.some(({ state }) => state === 'meant' || state === 'orphaned' || state === 'sweeping'),
      )
      .map(({ id, ledger }) => `${id} has ${ledger.map(({ state }) => state).join()}`),
    ...resources.filter(({ timers }) => Object.values(timers).some((due) => due < soon)).map(({ id }) => `${id} waits`),
    ...strays.map(({ name }) => `${name} is in no ledger`),
  ]
}

test.each(systems)(
  '%s: killed in the middle, everything comes to rest and the world agrees',
  { timeout: 240_000 },
  async (system) => {
    const folder = mkdtempSync(join(tmpdir(), 'homeostat-pg-catalogue-'))
    await killedInTheMiddle(system, folder)
    const site = await openSite(system, folder, server.url, system)
    try {
      await site.world.faults.clear()
      const caught = (await unrest(site)).length
      expect(caught).toBeGreaterThan(0)
      await site.engine.start()
      let wrong = ['not looked yet']
      const until = performance.now() + 120_000
      while (wrong.length > 0 && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        wrong = await unrest(site)
      }
      expect(wrong).toEqual([])
      // The history tells that somebody took over.
      const kinds = new Set((await site.store.events(0, 10_000)).map(({ kind }) => kind))
      expect([...kinds].some((kind) => kind === 'resumed' || kind === 'healed')).toBe(true)
    } finally {
      await site.engine.stop()
      await site.store.close()
      await site.world.destroyEverything()
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
