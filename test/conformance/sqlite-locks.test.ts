// A process that opens a file twice keeps the locks of its first connection. POSIX drops them all when any descriptor of the
// file is closed, so nothing here may open a database file beside SQLite.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../src/sqlite.ts'

/** The kernel's own list: does this process hold a lock on the file? */
const holdsLock = (file: string): boolean =>
  readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .some((line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(file).ino} `))

test.runIf(process.platform === 'linux')('opening a file once more drops no lock of the first connection', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-locks-'))
  const file = join(folder, 'store.db')
  const files = [file, `${file}.workers`]
  const first = openSqliteStore({ file })
  expect(files.map(holdsLock)).toEqual([true, true])
  const second = openSqliteStore({ file })
  expect(files.map(holdsLock)).toEqual([true, true])
  void second.close()
  void first.close()
  rmSync(folder, { recursive: true, force: true })
})
