// Incarnations and their leases, in a file of their own, and the lock by which others see that a process is gone: it is held
// on a small file for as long as the process lives, and the operating system drops it with the process.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Millis } from '../../base/clock.ts'
import { HomeostatError } from '../../base/errors.ts'
import type { Incarnation } from '../../decision/state.ts'
import type { WorkerRow } from '../store.ts'
import { fromText, toText } from '../codec.ts'
import { Connection, isBusy, translated, workersFile } from './connection.ts'
import { migrate, workersSchema } from './migrations.ts'

const lockFile = (file: string, no: Incarnation) => `${file}.worker-${no}`

/** The incarnations whose processes are alive, in any process but this one. */
export function liveWorkers(file: string): Incarnation[] {
  const start = lockFile(basename(file), 0).slice(0, -1)
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length)))
    .map((name) => Number(name.slice(start.length)))
    .filter((no) => isLocked(lockFile(file, no)))
    .sort((a, b) => a - b)
}

/** A lease that ends at t is over at t: a beat at t comes too late. */
export const beatSql = `update worker set beat = ?, lease = ? where no = ? and state = 'live' and lease > ?`

export class Workers {
  private readonly file: string
  private readonly connection: Connection
  private readonly insert: StatementSync
  private readonly renew: StatementSync
  private readonly finish: StatementSync
  private readonly rows: StatementSync
  private readonly remove: StatementSync
  private readonly highestRow: StatementSync
  private readonly locks = new Map<Incarnation, DatabaseSync>()

  constructor(options: { readonly file: string; readonly patienceMs: number }) {
    this.file = options.file
    // A lease need not survive the machine: after a power cut every process is gone.
    this.connection = new Connection({
      ...options,
      file: workersFile(options.file),
      readonly: false,
      synchronous: 'normal',
    })
    this.connection.writing(() => migrate(this.connection.db, workersSchema))
    this.insert = this.connection.prepare(
      `insert into worker (no, name, started, beat, lease, state) values (?, ?, ?, ?, ?, 'live')`,
    )
    this.renew = this.connection.prepare(beatSql)
    this.finish = this.connection.prepare(
      `update worker set state = ?1 where no = ?2 and state = 'live' and (?1 <> 'expired' or lease <= ?3)`,
    )
    this.rows = this.connection.prepare('select no, name, started, beat, lease, state from worker order by no')
    this.highestRow = this.connection.prepare('select coalesce(max(no), 0) from worker')
    this.remove = this.connection.prepare(`delete from worker where no = ? and state <> 'live'`)
  }

  /** The highest number here: a store restored from a back-up may be behind. */
  highest(): Incarnation {
    return this.named(() => this.connection.patiently(() => this.highestRow.get() as unknown as [number])[0])
  }

  /** The lock comes first: a row without its lock would look dead. */
  register({ no, name, leaseMs, now }: { no: Incarnation; name: string; leaseMs: number; now: Millis }): void {
    this.locks.set(no, lockedFile(lockFile(this.file, no)))
    this.write(() => this.insert.run(no, toText(name), now, now, now + leaseMs))
  }

  beat({ no, leaseMs, now }: { no: Incarnation; leaseMs: number; now: Millis }): boolean {
    return this.write(() => this.renew.run(now, now + leaseMs, no, now)).changes === 1
  }

  end({ no, as, now }: { no: Incarnation; as: 'ended' | 'dead' | 'expired'; now: Millis }): boolean {
    return this.write(() => this.finish.run(as, no, now)).changes === 1
  }

  all(now: Millis): WorkerRow[] {
    const rows = this.named(() => this.connection.patiently(() => this.rows.all())) as unknown as [
      number,
      string,
      number,
      number,
      number,
      WorkerRow['state'],
    ][]
    return rows.map(([no, name, startedAt, beatAt, leaseUntil, stored]) => {
      const found = stored !== 'live' ? stored : !this.isAlive(no) ? 'dead' : leaseUntil <= now ? 'expired' : 'live'
      return { no, name: fromText(name), startedAt, beatAt, leaseUntil, state: found }
    })
  }

  forget(nos: readonly Incarnation[]): void {
    for (const no of nos) {
      if (this.write(() => this.remove.run(no)).changes === 1) this.unlock(no)
    }
  }

  close(): void {
    // Closing drops the locks: whoever was not ended is dead now. Its row stays, so the file must too.
    for (const lock of this.locks.values()) lock.close()
    this.locks.clear()
    this.connection.close()
  }

  private isAlive(no: Incarnation): boolean {
    return this.locks.has(no) || isLocked(lockFile(this.file, no))
  }

  private unlock(no: Incarnation): void {
    this.locks.get(no)?.close()
    this.locks.delete(no)
    // A process that was killed leaves the journal of its lock behind.
    for (const file of [lockFile(this.file, no), `${lockFile(this.file, no)}-journal`]) rmSync(file, { force: true })
  }

  private write<T>(work: () => T): T {
    return this.named(() => this.connection.writing(work))
  }

  /** It is this file that fails, and not the store. */
  private named<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw translated(error, this.connection.file)
    }
  }
}

/**
 * Only SQLite may open such a file: a file lock of POSIX is lost when the process closes any descriptor of the file, and
 * SQLite takes care of that for its own.
 */
function lockedFile(file: string): DatabaseSync {
  const lock = new DatabaseSync(file, { timeout: 1000 })
  try {
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    throw new HomeostatError('store_unavailable', `${file} is locked by another process.`, { cause: error })
  }
}

function isLocked(file: string): boolean {
  if (!existsSync(file)) return false
  let probe: DatabaseSync | null = null
  try {
    probe = new DatabaseSync(file, { readOnly: true, timeout: 0 })
    probe.prepare('select count(*) from sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    // Forgotten, and removed, by another process just now.
    if (!existsSync(file)) return false
    throw error
  } finally {
    probe?.close()
  }
}
