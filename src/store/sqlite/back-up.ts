// Back-ups of a store in a file: taken while it is in use, and put in place under a new system epoch, so that nobody who worked on the
// store that is replaced can write to it or to the real world any more.
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { HomeostatError } from '../../base/errors.ts'
import { epochLeap, type BackedUp } from '../back-up.ts'
import { translated } from './connection.ts'
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

/** Puts a back-up in place of a store that nobody uses, and raises every epoch. The file must not be there. */
export async function restoreSqlite(from: string, file: string): Promise<BackedUp> {
  if (!existsSync(from)) throw new HomeostatError('store_unavailable', `There is no back-up ${from}.`)
  if (existsSync(file)) throw new HomeostatError('already_exists', `${file} is there already.`)
  lookThrough(from)
  const source = new DatabaseSync(from, { readOnly: true })
  try {
    closeSync(openSync(file, 'wx', 0o600))
    await backup(source, file)
    raiseEpochs(file)
    return lookThrough(file)
  } catch (error) {
    for (const rest of ['', '-wal', '-shm']) rmSync(`${file}${rest}`, { force: true })
    throw translated(error, from)
  } finally {
    source.close()
  }
}

function raiseEpochs(file: string): void {
  const db = new DatabaseSync(file)
  try {
    db.exec(`
      begin immediate;
      update settled set epoch = epoch + ${epochLeap};
      update live set epoch = epoch + ${epochLeap};
      update feed set incarnations = incarnations + ${epochLeap};
      insert into setting values ('systemEpoch', '1') on conflict (name) do update set value = cast(value as integer) + 1;
      commit;`)
  } finally {
    db.close()
  }
}

/** Throws when it is damaged or not a store. */
export function lookThrough(file: string): BackedUp {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const version = versionOf(db)
    mustNotBeNewer(version, storeSchema)
    const verdict = String(db.prepare('pragma integrity_check').get()!['integrity_check'])
    if (version === 0 || verdict !== 'ok')
      throw new HomeostatError('store_corrupt', `${file} is ${version === 0 ? 'not a store' : `damaged: ${verdict}`}.`)
    const number = (sql: string) => Number(Object.values(db.prepare(sql).get() ?? { none: 0 })[0])
    return {
      resources: number('select count(*) from resource'),
      events: number(`select events ${latestEvents}`),
      systemEpoch: number("select cast(value as integer) from setting where name = 'systemEpoch'"),
    }
  } catch (error) {
    throw translated(error, file)
  } finally {
    db.close()
  }
}
