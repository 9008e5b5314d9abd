// Events that retention has removed, on SQLite; on PostgreSQL: test/postgres/history.test.ts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openSqliteStore } from '../../src/sqlite.ts'
import { removedEventsAreTold } from './removed-events.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
afterAll(() => rmSync(folder, { recursive: true }))

removedEventsAreTold(async () => openSqliteStore({ file: join(folder, 'removed.db') }))
