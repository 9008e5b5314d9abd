// A store that was restored from a back-up again and again: every restore leaps over what may have been numbered since the back-up was taken.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { openPostgresStore } from '../../src/postgres.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { raisePostgresEpochs } from '../../src/store/postgres/restored.ts'
import { backUpSqlite, restoreSqlite } from '../../src/store/sqlite/back-up.ts'
import type { Store } from '../../src/store/store.ts'
import { startPostgres } from '../postgres/server.ts'
import { driverOf, shelves, things } from './shelves.ts'

const restores = 5

/** As somebody would work on it between two restores. */
async function work(store: Store): Promise<number> {
  const lifecycles = { shelf: shelves, thing: things }
  const drivers = { shelf: {}, thing: driverOf(false, new Set()) }
  const engine = createEngine({ store, lifecycles, drivers })
  await engine.start()
  const me = engine.client('me')
  const made = await Promise.all([1, 2, 3].map(() => me.shelf.create({ properties: { label: 'made' } })))
  for (const { resource } of made)
    expect(await engine.get('damage.shelf', resource.id)).toMatchObject({ status: 'Open' })
  const { resources } = await engine.list({ limit: 500 })
  expect(new Set(resources.map(({ id }) => id)).size).toBe(resources.length)
  await engine.stop()
  await store.close()
  return resources.length
}

test('on SQLite all that is made after the last restore has numbers of its own', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-restored-'))
  const fileOf = (n: number) => join(folder, `${n}.db`)
  expect(await work(openSqliteStore({ file: fileOf(0) }))).toBe(3)
  for (let n = 1; n <= restores; n++) {
    await backUpSqlite(fileOf(n - 1), join(folder, `${n}.kept`))
    await restoreSqlite(join(folder, `${n}.kept`), fileOf(n))
    expect(await work(openSqliteStore({ file: fileOf(n) })), `after ${n} restores`).toBe(3 * (n + 1))
  }
  rmSync(folder, { recursive: true })
})

test('on PostgreSQL too, and its commits are told apart', async () => {
  const server = await startPostgres()
  const open = () => openPostgresStore({ url: server.url, durability: 'none' })
  expect(await work(await open())).toBe(3)
  for (let n = 1; n <= restores; n++) {
    await raisePostgresEpochs({ url: server.url })
    expect(await work(await open()), `after ${n} restores`).toBe(3 * (n + 1))
  }
  await server.remove()
})
