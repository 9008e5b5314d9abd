// A process that gives its lease up while a renewal is under way: the store takes the renewal, the process no longer counts on it. What
// it owned must not be kept by a heartbeat that nobody lives by.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { openPostgresStore } from '../../src/postgres.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import type { Heartbeat, Store } from '../../src/store/store.ts'
import { driverOf, shelves, things } from '../damage/shelves.ts'
import { startPostgres } from '../postgres/server.ts'

/** The same store; the first heartbeat goes on, and is not believed from the moment that is asked for. */
function doubting(store: Store): { readonly store: Store; readonly doubt: () => void } {
  let isDoubted = false
  let beats = 0
  const doubted = Object.create(store) as Store
  doubted.keepBeating = (worker) => {
    const isFirst = ++beats === 1
    const real: Heartbeat = store.keepBeating!(worker)
    return { ...real, lastRenewalAgeMs: () => (isFirst && isDoubted ? Infinity : real.lastRenewalAgeMs()) }
  }
  return { store: doubted, doubt: () => void (isDoubted = true) }
}

async function survives(real: Store): Promise<void> {
  const { store, doubt } = doubting(real)
  let mayHang = true
  const parts = new Set<string>()
  const hanging = driverOf(true, parts)
  const going = driverOf(false, parts)
  const paint: typeof hanging.paint = (call) => (mayHang ? hanging.paint(call) : going.paint(call))
  const engine = createEngine({
    store,
    lifecycles: { shelf: shelves, thing: things },
    drivers: { shelf: {}, thing: { ...hanging, paint } },
    options: { leaseMs: 2_000, healEveryMs: 100, pollMs: 100, stopPatienceMs: 50 },
  })
  await engine.start()
  const me = engine.client('me')
  await me.shelf.create({ id: 'top', properties: { label: 'top' } })
  const { resource } = await me.thing.create({ id: 'one', parent: 'top', properties: { size: 1, hangs: true } })
  const found = async () => (await engine.get('damage.thing', resource.id))!
  const first = engine.incarnation
  await expect.poll(async () => (await found()).run?.step, { timeout: 30_000 }).toBe(1)
  mayHang = false
  doubt()
  await expect.poll(async () => (await found()).status, { timeout: 30_000 }).toBe('Ready')
  expect(engine.incarnation).toBeGreaterThan(first)
  await engine.stop()
  await real.close()
}

test('on SQLite: its next incarnation takes over from the former', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-given-up-'))
  await survives(openSqliteStore({ file: join(folder, 'some.db') }))
  rmSync(folder, { recursive: true })
})

test('on PostgreSQL, too', async () => {
  const server = await startPostgres()
  await survives(await openPostgresStore({ url: server.url, durability: 'none' }))
  await server.remove()
})
