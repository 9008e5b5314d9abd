// Back-ups of a store in a file: taken while it is in use, and put in place under a new system epoch, so that nobody who worked on the
// store that is replaced can write to it or to the real world any more.
import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { HomeostatError } from '../../base/errors.ts'
import { epochLeap, type BackedUp } from '../back-up.ts'
import { translated } from './connection.ts'
import { mustHaveWholeLog } from './log-damage.ts'
import { mustNotBeNewer, storeSchema, versionOf } from './migrations.ts'
import { latestEvents } from './turns.ts'

/** Copies a store as it is at one moment. Others go on writing meanwhile. */
export async function backUpSqlite(file: string, to: string): Promise<BackedUp> {
  if (!existsSync(file)) throw new HomeostatError('store_unavailable', `There is no store ${file}.`)
  // Ours before it is SQLite's, so that nobody else can read it. What is there is never written over.
  closeSync(openSync(to, 'wx', 0o600))
  const source = new DatabaseSync(file, { readOnly: true })
  try {
    mustNotBeNewer(versionOf(source), storeSchema)
    await backup(source, to, { rate: 1_000 })
    return lookThrough(to)
  } catch (error) {
    rmSync(to, { force: true })
    throw translated(error, file)
  } finally {
    source.close()
  }
}

/**
 * Puts a back-up in place of a store that nobody uses, and raises every epoch. What is there is moved aside, if a name is given for that.
 * Cut off at any moment it leaves the store as it was, or none: then nobody opens an empty one, and it can be done again.
 */
export async function restoreSqlite(from: string, file: string, aside?: string): Promise<BackedUp> {
  if (!existsSync(from)) throw new HomeostatError('store_unavailable', `There is no back-up ${from}.`)
  if (existsSync(file) && aside === undefined) throw new HomeostatError('already_exists', `${file} is there already.`)
  const copy = restoredFile(file)
  // Of one that was cut off.
  removeParts(copy)
  const source = new DatabaseSync(from, { readOnly: true })
  try {
    closeSync(openSync(copy, 'wx', 0o600))
    await backup(source, copy)
    const found = lookThrough(copy)
    const systemEpoch = raiseEpochs(copy)
    // The log of a store that is gone would be taken for one of this.
    moveParts(file, aside ?? `${file}.before`)
    renameSync(copy, file)
    return { ...found, systemEpoch }
  } catch (error) {
    removeParts(copy)
    throw translated(error, from)
  } finally {
    source.close()
  }
}

/** Where a back-up is made ready before it takes the place of a store. */
const restoredFile = (file: string): string => `${file}.restored`

/** A restore that was cut off after it had moved the store aside: an empty one in its place would look as if all were lost. */
export function mustNotBeHalfRestored(file: string): void {
  if (existsSync(file) || !existsSync(restoredFile(file))) return
  throw new HomeostatError(
    'store_unavailable',
    `${file} is not there: a restore was cut off before it had put it in place. Run homeostat restore again.`,
  )
}

/** A store, its log, leases and locks. The store itself comes first: without it nobody takes the rest for a whole. */
function moveParts(file: string, to: string): void {
  const folder = dirname(file)
  const parts = readdirSync(folder).filter(
    (name) => name.startsWith(basename(file)) && /^(-wal|-shm|\.worker.*)?$/.test(name.slice(basename(file).length)),
  )
  for (const name of parts.sort()) renameSync(join(folder, name), `${to}${name.slice(basename(file).length)}`)
}

function removeParts(file: string): void {
  for (const rest of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${rest}`, { force: true })
}

function raiseEpochs(file: string): number {
  const db = new DatabaseSync(file)
  try {
    db.exec(`
      begin immediate;
      update settled set epoch = epoch + ${epochLeap};
      update live set epoch = epoch + ${epochLeap};
      update feed set incarnations = incarnations + ${epochLeap};
      insert into setting values ('systemEpoch', '1') on conflict (name) do update set value = cast(value as integer) + 1;
      commit;
      pragma wal_checkpoint(truncate);`)
    return systemEpochOf(db)
  } finally {
    db.close()
  }
}

const systemEpochOf = (db: DatabaseSync): number =>
  numberIn(db, "select cast(value as integer) from setting where name = 'systemEpoch'")

const numberIn = (db: DatabaseSync, sql: string): number =>
  Number(Object.values(db.prepare(sql).get() ?? { none: 0 })[0])

/** Throws when it is damaged or not a store. */
export function lookThrough(file: string): BackedUp {
  mustHaveWholeLog(file)
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const version = versionOf(db)
    mustNotBeNewer(version, storeSchema)
    const verdict = String(db.prepare('pragma integrity_check').get()!['integrity_check'])
    if (version === 0 || verdict !== 'ok')
      throw new HomeostatError('store_corrupt', `${file} is ${version === 0 ? 'not a store' : `damaged: ${verdict}`}.`)
    return {
      resources: numberIn(db, 'select count(*) from resource'),
      events: numberIn(db, `select events ${latestEvents}`),
      systemEpoch: systemEpochOf(db),
    }
  } catch (error) {
    throw translated(error, file)
  } finally {
    db.close()
  }
}
