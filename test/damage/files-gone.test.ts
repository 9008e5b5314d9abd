// Files of a store that are removed, replaced, or not yet in their place: nothing is acknowledged that would be lost, and nobody takes
// an empty store, or half of one, for the whole.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { backUpSqlite, restoreSqlite } from '../../src/store/sqlite/back-up.ts'
import { driverOf, shelves, things } from './shelves.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-files-'))
  file = join(folder, 'some.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

async function begin() {
  const store = openSqliteStore({ file })
  const engine = createEngine({
    store,
    lifecycles: { shelf: shelves, thing: things },
    drivers: { shelf: {}, thing: driverOf(false, new Set()) },
    options: { healEveryMs: 50, pollMs: 50 },
  })
  await engine.start()
  const me = engine.client('me')
  return {
    engine,
    make: (label: string) => me.shelf.create({ properties: { label } }).then(({ resource }) => resource.id),
    /** What a question is refused with; '' when it is answered. */
    refusal: () => engine.list({ limit: 1 }).then(() => '', String),
    end: async () => {
      await engine.stop()
      await store.close()
    },
  }
}

test.each(['', '-wal', '-shm'])('while some.db%s is away, nothing is acknowledged or shown', async (part) => {
  const { engine, make, refusal, end } = await begin()
  const before = await make('before')
  renameSync(`${file}${part}`, join(folder, 'elsewhere'))
  await expect.poll(refusal, { timeout: 20_000 }).toContain(`some.db${part} was removed while it was in use`)
  let isAcknowledged = false
  const meanwhile = make('meanwhile').finally(() => (isAcknowledged = true))
  await expect.poll(() => engine.health().door.storeErrors, { timeout: 20_000 }).toBeGreaterThan(1)
  await expect.poll(() => engine.health().isReady, { timeout: 20_000 }).toBe(false)
  expect(isAcknowledged).toBe(false)

  renameSync(join(folder, 'elsewhere'), `${file}${part}`)
  const after = await meanwhile
  await expect.poll(() => engine.health().isReady, { timeout: 20_000 }).toBe(true)
  for (const id of [before, after]) expect(await engine.get('damage.shelf', id)).toMatchObject({ status: 'Open' })
  await end()
})

test('whoever has the store open that another one has replaced accepts nothing more, and does no harm when it ends', async () => {
  const old = await begin()
  await old.make('before')
  const kept = join(folder, 'kept')
  await backUpSqlite(file, kept)
  await restoreSqlite(kept, file, `${file}.aside`)
  const { make, engine, end } = await begin()
  await expect.poll(old.refusal, { timeout: 20_000 }).toContain('some.db was replaced while it was in use')
  const id = await make('after')
  await old.end()
  await make('later')
  await end()
  const again = await begin()
  expect((await again.engine.list({})).resources.map(({ properties }) => properties['label'])).toEqual([
    'before',
    'after',
    'later',
  ])
  expect(await again.engine.get('damage.shelf', id)).toMatchObject({ status: 'Open' })
  expect(engine.incarnation).toBeGreaterThan(1_000_000)
  await again.end()
})

test('damaged leases are told as such: they are removed, no back-up is needed, and nothing is lost', async () => {
  const first = await begin()
  await first.make('before')
  await first.end()
  writeFileSync(`${file}.workers`, 'no database at all'.repeat(500))
  expect(() => openSqliteStore({ file })).toThrow(
    /some\.db\.workers is damaged \(.*\)\. Stop all processes and remove it/,
  )
  rmSync(`${file}.workers`)
  const second = await begin()
  await second.make('after')
  expect((await second.engine.list({})).resources).toHaveLength(2)
  expect(second.engine.incarnation).toBeGreaterThan(first.engine.incarnation)
  await second.end()
})

test('a restore that is cut off at any moment leaves the store as it was, or none and says so; done again it is whole', async () => {
  const first = await begin()
  await first.make('kept')
  const kept = join(folder, 'kept')
  await backUpSqlite(file, kept)
  await first.make('since')
  // Not closed: its log is what a killed process leaves.
  for (const part of ['', '-wal', '-shm']) copyFileSync(`${file}${part}`, join(folder, `original${part}`))
  await first.end()

  const restore = (killedAt: number) =>
    spawnSync(
      process.execPath,
      [
        '--conditions=source',
        join(import.meta.dirname, 'restoring-process.ts'),
        kept,
        file,
        `${file}.aside`,
        `${killedAt}`,
      ],
      { encoding: 'utf8' },
    )
  const lay = () => {
    execFileSync('find', [folder, '-name', 'some.db*', '-delete'])
    for (const part of ['', '-wal', '-shm']) copyFileSync(join(folder, `original${part}`), `${file}${part}`)
  }
  lay()
  const whole = restore(0)
  expect(whole).toMatchObject({ status: 0, stderr: '' })
  const calls = Number(whole.stdout)
  expect(calls).toBeGreaterThan(5)
  expect(await resourcesIn(file)).toEqual({ resources: 1, systemEpoch: 1 })

  const left = new Set<string>()
  for (let call = 1; call <= calls; call++) {
    lay()
    expect(restore(call).signal).toBe('SIGKILL')
    if (existsSync(file)) {
      const found = await resourcesIn(file)
      left.add(JSON.stringify(found))
      expect([
        { resources: 2, systemEpoch: 0 },
        { resources: 1, systemEpoch: 1 },
      ]).toContainEqual(found)
    } else {
      left.add('none')
      expect(() => openSqliteStore({ file })).toThrow('a restore was cut off')
      await restoreSqlite(kept, file, `${file}.again`)
      expect(await resourcesIn(file)).toEqual({ resources: 1, systemEpoch: 1 })
    }
  }
  expect([...left]).toEqual(expect.arrayContaining(['{"resources":2,"systemEpoch":0}', 'none']))
})

async function resourcesIn(store: string) {
  await openSqliteStore({ file: store }).close()
  const db = new DatabaseSync(store, { readOnly: true })
  const { resources } = db.prepare('select count(*) as resources from resource').get()!
  const epoch = db.prepare("select cast(value as integer) as epoch from setting where name = 'systemEpoch'").get()
  db.close()
  return { resources, systemEpoch: epoch?.['epoch'] ?? 0 }
}
