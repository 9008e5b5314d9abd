// A byte of SQLite's log that the disk has changed, at every kind of place of every frame. SQLite takes what it cannot read for the end of
// the log: either nothing that was acknowledged is missing, but for the last commit, which may as well have been torn, or nobody starts.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { backUpSqlite, lookThrough, restoreSqlite } from '../../src/store/sqlite/back-up.ts'
import { mustBeReadToTheEnd } from '../../src/store/sqlite/log-damage.ts'
import { driverOf, shelves, things } from './shelves.ts'

const headBytes = 32
const frameHeadBytes = 24
const pageBytes = 4096
const frameBytes = frameHeadBytes + pageBytes

let folder: string
let file: string
let log: Buffer
let acknowledged: string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-log-'))
  const store = openSqliteStore({ file: join(folder, 'whole.db') })
  const engine = createEngine({
    store,
    lifecycles: { shelf: shelves, thing: things },
    drivers: { shelf: {}, thing: driverOf(false, new Set()) },
  })
  await engine.start()
  acknowledged = []
  for (let n = 1; n <= 10; n++) {
    await engine.client('me').shelf.create({ properties: { label: `shelf ${n}` } })
    acknowledged.push(`shelf ${n}`)
  }
  // As a power cut would find them: nobody has closed it.
  for (const part of ['', '-wal']) copyFileSync(join(folder, `whole.db${part}`), join(folder, `cut.db${part}`))
  log = readFileSync(join(folder, 'cut.db-wal'))
  await engine.stop()
  await store.close()
  file = join(folder, 'some.db')
})
afterAll(() => rmSync(folder, { recursive: true }))

function lay(changed: Buffer): void {
  for (const part of ['', '-wal', '-shm']) rmSync(`${file}${part}`, { force: true })
  copyFileSync(join(folder, 'cut.db'), file)
  writeFileSync(`${file}-wal`, changed)
}

/** What is there; or what the start is refused with. */
async function found(): Promise<string[] | string> {
  try {
    const store = openSqliteStore({ file })
    const resources = await store.list({ limit: 100, after: 0 })
    await store.close()
    return resources.map(({ properties }) => properties['label'] as string)
  } catch (error) {
    return String(error)
  }
}

const places = {
  'page number': 1,
  'end of a transaction': 7,
  'mark of the log': 9,
  checksum: 17,
  'first of the page': frameHeadBytes,
  'middle of the page': frameHeadBytes + 2_000,
  'last of the page': frameBytes - 1,
}

test.each(Object.entries(places))(
  '%s of any frame: at most the last commit is missing, or nobody starts',
  async (_, place) => {
    const frames = (log.length - headBytes) / frameBytes
    expect(frames).toBeGreaterThan(20)
    let refused = 0
    for (let frame = 0; frame < frames; frame++) {
      const changed = Buffer.from(log)
      changed[headBytes + frame * frameBytes + place]! ^= 1
      lay(changed)
      const there = await found()
      if (typeof there === 'string') {
        refused++
        expect(await found(), 'asked again').toBe(there)
        expect(there).toMatch(
          /some\.db-wal is damaged: frame \d+ cannot be read, and \d+ commits from there on are lost/,
        )
      } else {
        expect(there, `byte ${place} of frame ${frame}`).toEqual(acknowledged.slice(0, there.length))
        expect(there.length, `byte ${place} of frame ${frame}`).toBeGreaterThanOrEqual(acknowledged.length - 1)
      }
    }
    expect(refused).toBeGreaterThan(frames / 2)
  },
)

test('its head: nobody starts', async () => {
  for (let place = 0; place < headBytes; place++) {
    const changed = Buffer.from(log)
    changed[place]! ^= 1
    lay(changed)
    expect(await found(), `byte ${place}`).toContain('some.db-wal is damaged')
  }
})

test('a log that has begun anew over an older one is not taken for a damaged one', async () => {
  lay(log)
  const store = openSqliteStore({ file })
  const other = new DatabaseSync(file)
  expect(other.prepare('pragma wal_checkpoint(restart)').get()).toMatchObject({ busy: 0 })
  other.exec('update feed set incarnations = incarnations + 1')
  expect(Number(other.prepare('pragma wal_checkpoint(noop)').get()!['log'])).toBeLessThan(5)
  expect(await found()).toEqual(acknowledged)
  other.close()
  await store.close()
})

test('nor is one of which a writer has said that it begins anew, and has not written yet', () => {
  lay(log)
  const known = (sql: string) => (sql.includes('page_size') ? [pageBytes] : [0, 0, 0])
  const connection = { file, prepare: (sql: string) => ({ get: () => known(sql) }) as unknown as StatementSync }
  expect(() => mustBeReadToTheEnd(connection)).not.toThrow()
})

test('the way out that is told: what can be read, in a back-up, put in its place', async () => {
  const changed = Buffer.from(log)
  changed[Math.floor(log.length / 2)]! ^= 1
  lay(changed)
  expect(await found()).toContain('homeostat backup')
  expect(() => lookThrough(file)).toThrow('some.db-wal is damaged')
  const kept = join(folder, 'kept')
  await backUpSqlite(file, kept)
  await restoreSqlite(kept, file, join(folder, 'damaged.db'))
  const there = await found()
  expect(there).toEqual(acknowledged.slice(0, there.length))
  expect(there.length).toBeGreaterThan(0)
})

test('a log that ends in the middle of its last frame, or has none, opens', async () => {
  lay(log)
  expect(await found()).toEqual(acknowledged)
  lay(log)
  truncateSync(`${file}-wal`, log.length - 1_000)
  expect(await found()).toEqual(acknowledged.slice(0, -1))
})
