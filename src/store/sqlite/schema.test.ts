// The schema: what the migrations make is written down, and what this program does not know is refused.
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteStore } from '../../sqlite.ts'
import { sampleBatch, sampleKinds, sampleResource } from '../../testing/store-samples.ts'
import { mustBeSound } from './connection.ts'
import { storeSchema } from './migrations.ts'

let folder = ''
let file = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
  file = join(folder, 'store.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

async function make(): Promise<void> {
  const store = openSqliteStore({ file })
  await store.useKinds(sampleKinds)
  await store.commit(
    sampleBatch(Array.from({ length: 200 }, (_, no) => ({ before: null, after: sampleResource(no + 1) }))),
  )
  await store.close()
}

test('migrations from zero give the committed schema', async () => {
  await make()
  const dump = ['store.db', 'store.db.workers'].map((name) => {
    const db = new DatabaseSync(join(folder, name), { readOnly: true })
    const rows = db.prepare(`select sql from sqlite_schema where sql is not null order by name`).all()
    db.close()
    return `-- ${name}\n${rows.map((row) => `${String(row['sql'])};\n`).join('')}`
  })
  const committed = new URL('./schema.sql', import.meta.url)
  if (process.env['UPDATE_SCHEMA']) writeFileSync(committed, dump.join('\n'))
  expect(dump.join('\n')).toBe(readFileSync(committed, 'utf8'))
})

test('a store can be opened again, also only to look', async () => {
  await make()
  const store = openSqliteStore({ file, readonly: true })
  expect((await store.list({ limit: 1000, after: 0 })).length).toBe(200)
  expect(() => store.commit(sampleBatch([{ before: null, after: sampleResource(999) }]))).toThrow(
    expect.objectContaining({ code: 'store_unavailable' }),
  )
  await store.close()
  expect(statSync(file).mode & 0o077).toBe(0)
})

test.each([0, 200])('a store of the schema before goes on where its feed stood, at event %i', async (events) => {
  const db = new DatabaseSync(file)
  db.exec(storeSchema.migrations.slice(0, 2).join('\n'))
  db.exec('pragma user_version = 2')
  db.exec(`update feed set events = ${events}, runs = 7, commits = 30, incarnations = 4, writer = 9`)
  const entries = Array.from({ length: events }, () => '[0,0,0,0,1,1,1,1,1,0]').join()
  if (events > 0) db.prepare('insert into event values (1, ?)').run(`[5,1,["tester"],${entries}]`)
  db.close()
  const store = openSqliteStore({ file })
  await store.useKinds(sampleKinds)
  const answer = await store.commit(sampleBatch([{ before: null, after: sampleResource(999) }]))
  expect(answer).toEqual({ committed: true, first: events + 1 })
  expect(await store.register({ name: 'next', leaseMs: 1_000, now: 1 })).toBe(5)
  await store.close()
})

test('a newer schema is refused', async () => {
  await make()
  for (const [name, message] of [
    ['store.db.workers', /file of workers has schema 99/],
    ['store.db', /store has schema 99/],
  ] as const) {
    const db = new DatabaseSync(join(folder, name))
    db.exec('pragma user_version = 99')
    db.close()
    expect(() => openSqliteStore({ file })).toThrow(
      expect.objectContaining({ code: 'schema_newer', message: expect.stringMatching(message) }),
    )
  }
})

test('a SQLite that can lose data is refused', () => {
  for (const version of ['3.40.1', '3.51.2', '3.52.0', '2.99.99']) {
    expect(() => mustBeSound(version)).toThrow(expect.objectContaining({ code: 'sqlite_too_old' }))
  }
  for (const version of ['3.51.3', '3.52.1', '3.53.4', '4.0.0']) mustBeSound(version)
})

test('damage is seen at opening: not a database, cut short, a feed that does not fit', async () => {
  const corrupt = expect.objectContaining({
    code: 'store_corrupt',
    message: expect.stringContaining('restore a back-up'),
  })
  writeFileSync(file, 'this is no database, whatever its name says. '.repeat(100))
  expect(() => openSqliteStore({ file })).toThrow(corrupt)
  rmSync(file)
  await make()
  const db = new DatabaseSync(file)
  db.exec('update event set events = 0')
  expect(() => openSqliteStore({ file })).toThrow(corrupt)
  db.exec('update event set events = 200')
  db.close()
  await openSqliteStore({ file }).close()
  truncateSync(file, statSync(file).size - 3 * 4096)
  expect(() => openSqliteStore({ file })).toThrow(corrupt)
})
