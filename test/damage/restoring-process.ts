// Restores a back-up and dies on the way: `restoring-process.ts <back-up> <store> <aside> <n>` kills itself at its n-th call that
// changes files. Says how many there were when it came through.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'

const [from, file, aside, last] = process.argv.slice(2) as [string, string, string, string]
let calls = 0
const counted =
  <A extends unknown[], R>(work: (...given: A) => R) =>
  (...given: A): R => {
    if (++calls === Number(last)) process.kill(process.pid, 'SIGKILL')
    return work(...given)
  }
fs.openSync = counted(fs.openSync)
fs.renameSync = counted(fs.renameSync)
syncBuiltinESMExports()
const exec = Reflect.get(DatabaseSync.prototype, 'exec') as (this: DatabaseSync, sql: string) => void
const close = Reflect.get(DatabaseSync.prototype, 'close') as (this: DatabaseSync) => void
DatabaseSync.prototype.exec = function (sql) {
  counted(() => exec.call(this, sql))()
}
DatabaseSync.prototype.close = function () {
  counted(() => close.call(this))()
}

const { restoreSqlite } = await import('../../src/store/sqlite/back-up.ts')
await restoreSqlite(from, file, aside)
process.stdout.write(`${calls}`)
