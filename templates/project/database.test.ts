// The lifecycle on a real world and a real store, in a folder of its own: made, grown, broken on purpose, removed.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { checkLifecycles, createEngine } from 'homeostat'
import { openSqliteStore } from 'homeostat/sqlite'
import { openLocalWorld } from 'homeostat/worlds'
import { databases } from './database.ts'
import { createDriver } from './driver.ts'

const folder = mkdtempSync(join(tmpdir(), 'database-'))
const world = openLocalWorld({ directory: join(folder, 'world') })
const store = openSqliteStore({ file: join(folder, 'homeostat.db') })
const engine = createEngine({ store, lifecycles: { database: databases }, drivers: { database: createDriver(world) } })
const { database } = engine.client('test')

before(() => engine.start())
after(async () => {
  await engine.stop()
  await store.close()
  await world.destroyEverything()
  rmSync(folder, { recursive: true, force: true })
})

const ended = async ({ run }: { readonly run: { readonly id: string } | null }) =>
  (await engine.waitForRun(run!.id, { timeoutMs: 60_000 })).state

test('the declaration has no faults', () => {
  assert.deepEqual(checkLifecycles([databases]), [])
})

test('a database is made and grown: its disk is there, and its server runs', async () => {
  assert.equal(await ended(await database.create({ id: 'orders', properties: { sizeGb: 1 } })), 'succeeded')
  assert.equal(await ended(await database.grow('orders', { sizeGb: 2 })), 'succeeded')
  const [disk] = await world.truth()
  assert.equal(disk?.sizeBytes, 2 * 2 ** 30)
  assert.equal(disk?.power, 'running')
})

test('what fails is undone: no disk is left', async () => {
  await world.faults.set({ does: 'fail', on: { step: 'startServer' }, terminal: true })
  assert.equal(await ended(await database.create({ id: 'users', properties: { sizeGb: 1 } })), 'failed')
  await world.faults.clear()
  assert.equal((await database.get('users'))?.status, 'Broken')
  assert.equal((await world.truth()).length, 1)
})

test('a database that is deleted leaves nothing behind', async () => {
  assert.equal(await ended(await database.delete('orders')), 'succeeded')
  assert.deepEqual(await world.truth(), [])
})
