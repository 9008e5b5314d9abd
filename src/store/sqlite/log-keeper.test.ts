// The log of a busy store is begun anew although its writer never rests, and nothing of it is lost.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Connection } from './connection.ts'
import { LogKeeper } from './log-keeper.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeostat-log-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a log that has become long is begun anew beside a writer that goes on', async () => {
  const file = join(folder, 'store.db')
  const writer = new Connection({ file, readonly: false, synchronous: 'normal', patienceMs: 5_000, checkpointPages: 0 })
  writer.db.exec('create table row (no integer primary key, text text) strict')
  const keeper = new LogKeeper(writer, { file, patienceMs: 5_000 }, 100)
  const insert = writer.prepare('insert into row (text) values (?)')
  const look = new Connection({ file, readonly: true, synchronous: 'normal', patienceMs: 5_000 })
  let written = 0
  let longest = 0
  for (let pages = 0; pages >= longest; await turn()) {
    longest = pages
    // So many in one turn that the thread always finds some that were not there when it began.
    for (let commits = 0; commits < 70 && pages >= longest; commits++, written++) {
      writer.writing(() => insert.run('x'.repeat(3_000)))
      keeper.committed()
      // Copies nothing, only tells.
      pages = logPages(look)
      if (pages > longest) longest = pages
    }
  }
  expect(longest).toBeGreaterThanOrEqual(100)
  keeper.stop()
  look.close()
  writer.close()
  const again = new Connection({ file, readonly: true, synchronous: 'normal', patienceMs: 5_000 })
  expect(again.db.prepare('select count(*) as n from row').get()!['n']).toBe(written)
  expect(again.db.prepare('pragma integrity_check').get()!['integrity_check']).toBe('ok')
  again.close()
})

const logPages = (connection: Connection): number =>
  Number(Object.values(connection.db.prepare('pragma wal_checkpoint(noop)').get()!)[1])
