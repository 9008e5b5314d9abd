// One connection to one SQLite file: how it is opened, how a writer waits for its turn, and what SQLite's errors mean.
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { HomeostatError } from '../../base/errors.ts'

/** SQLite's primary result codes. */
const busy = 5
const corrupt = 11
const constraint = 19
const notADatabase = 26

const primaryCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0

export const isBusy = (error: unknown): boolean => primaryCode(error) === busy
export const isConstraint = (error: unknown): boolean => primaryCode(error) === constraint

/** Beside a store: who works on it. */
export const workersFile = (file: string): string => `${file}.workers`
const holdsLeasesAlone = (file: string): boolean => file.endsWith(workersFile(''))

/** What the callers of a store are told of an error of SQLite. */
export function translated(error: unknown, file: string): unknown {
  const code = primaryCode(error)
  if (code === 0) return error
  const why = (error as Error).message
  if (code === corrupt || code === notADatabase) {
    return new HomeostatError(
      'store_corrupt',
      `${file} is damaged (${why}). Stop all processes and ${holdsLeasesAlone(file) ? 'remove it: it only tells who works on the store, and is made anew' : 'restore a back-up'}.`,
      { cause: error },
    )
  }
  return new HomeostatError('store_unavailable', `${file} does not answer (${why}).`, { cause: error })
}

/**
 * Versions before 3.51.3 can corrupt a file in WAL mode when two connections reset the log at once; 3.52.0 was withdrawn.
 */
export function mustBeSound(version: string): void {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const number = major * 1_000_000 + minor * 1_000 + patch
  if (number >= 3_051_003 && number !== 3_052_000) return
  throw new HomeostatError(
    'sqlite_too_old',
    `SQLite ${version} can corrupt a store that several connections use. Run Node 24.21 or newer, which brings a sound one.`,
    { details: { found: version, needed: '3.51.3 or newer, not 3.52.0' } },
  )
}

const sleeper = new Int32Array(new SharedArrayBuffer(4))
/** Blocks the thread: only for waits that are shorter than a turn of the event loop is worth. */
export const pause = (ms: number) => void Atomics.wait(sleeper, 0, 0, ms)

/** How long one try waits inside SQLite. Short, since SQLite's own waiting grows to 100 ms and lets a fast writer starve others. */
const tryMs = 1
/** What a writer leaves to others between two of its transactions, when there are others: more than their pause between tries. */
const courtesyMs = 0.3
const betweenTriesMs = 0.15
const usualCacheKiB = 32_000
/** Pages that change in every commit are copied back to the file more seldom than by default. */
const usualCheckpointPages = 4000
/** For how many transactions others are remembered. */
const rememberOthers = 20

/**
 * Created by us rather than by SQLite, so that nobody else can read it; its log inherits the mode. A file that is there must not
 * even be opened: closing it again would drop the locks that other connections of this process hold on it (POSIX), and the next
 * process to close its own would take itself for the last one and remove the log under us.
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

export interface ConnectionOptions {
  readonly file: string
  readonly readonly: boolean
  readonly synchronous: 'full' | 'normal'
  /** How long to wait for other writers before giving up. */
  readonly patienceMs: number
  readonly cacheKiB?: number
  /** The log is copied back to the file by the commit that makes it so long; 0: by no commit. */
  readonly checkpointPages?: number
}

export class Connection {
  readonly file: string
  readonly db: DatabaseSync
  private readonly patienceMs: number
  private readonly beginImmediate: StatementSync
  private readonly beginRead: StatementSync
  private readonly endCommit: StatementSync
  private readonly endRollback: StatementSync
  private readonly dataVersion: StatementSync
  private readonly copyLog: StatementSync
  private seen = 0
  private others = 0

  constructor(options: ConnectionOptions) {
    const { file, readonly, synchronous, patienceMs } = options
    const { cacheKiB = usualCacheKiB, checkpointPages = usualCheckpointPages } = options
    this.file = file
    this.patienceMs = patienceMs
    if (!readonly) createPrivately(file)
    this.db = new DatabaseSync(file, { readOnly: readonly, timeout: tryMs })
    try {
      this.patiently(() => {
        const version = this.db.prepare('select sqlite_version() as version').get()!['version']
        mustBeSound(String(version))
        const mode = readonly ? 'wal' : this.db.prepare('pragma journal_mode = wal').get()!['journal_mode']
        if (mode !== 'wal')
          throw new HomeostatError('store_unavailable', `${file} lies where SQLite cannot keep a log beside it.`)
        // A batch may touch more pages than the usual cache holds, and a page written early may have to be written again.
        this.db
          .exec(`pragma synchronous = ${synchronous}; pragma trusted_schema = off; pragma cache_size = -${cacheKiB};
          pragma cache_spill = off; pragma wal_autocheckpoint = ${checkpointPages}`)
      })
      this.beginImmediate = this.db.prepare('begin immediate')
      this.beginRead = this.db.prepare('begin')
      this.endCommit = this.db.prepare('commit')
      this.endRollback = this.db.prepare('rollback')
      this.dataVersion = this.prepare('pragma data_version')
      this.copyLog = this.prepare('pragma wal_checkpoint(passive)')
      this.seen = this.version()
    } catch (error) {
      this.db.close()
      throw translated(error, file)
    }
  }

  /** Rows come as arrays. */
  prepare(sql: string): StatementSync {
    const statement = this.db.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }

  /** Changes when, and only when, another connection has committed to the file. */
  version(): number {
    return this.dataVersion.get()![0] as unknown as number
  }

  /** As it was when the latest writing transaction began: while that lasts, nobody can change it. */
  get versionSeen(): number {
    return this.seen
  }

  /** Takes the write lock, in turn with other processes. */
  begin(): void {
    if (this.others > 0) {
      this.others--
      if (this.version() === this.seen) pause(courtesyMs)
    }
    this.patiently(() => this.beginImmediate.run())
    const version = this.version()
    if (version !== this.seen) this.others = rememberOthers
    this.seen = version
  }

  commit(): void {
    this.endCommit.run()
  }

  rollback(): void {
    if (this.db.isTransaction) this.endRollback.run()
  }

  /** A transaction that writes, whole or not at all. */
  writing<T>(work: () => T): T {
    this.begin()
    try {
      const result = work()
      this.commit()
      return result
    } catch (error) {
      this.rollback()
      throw error
    }
  }

  /** Everything read inside is of one moment. */
  reading<T>(work: () => T): T {
    this.patiently(() => this.beginRead.run())
    try {
      return this.patiently(work)
    } finally {
      this.endRollback.run()
    }
  }

  /**
   * Copies the log to the file, as far as nobody still reads what is there; answers how many pages the log has. Writers go on meanwhile.
   * Where it fails (a full disk) the log still has everything, and the next try may succeed: as in SQLite's own, nobody is told.
   */
  checkpoint(): number {
    try {
      return (this.copyLog.get() as unknown as [busy: number, pages: number])[1]
    } catch {
      return 0
    }
  }

  /** Tries again while another holds a lock, until patience ends. */
  patiently<T>(work: () => T): T {
    for (let waitedMs = 0; ; waitedMs += tryMs + betweenTriesMs) {
      try {
        return work()
      } catch (error) {
        if (!isBusy(error) || waitedMs >= this.patienceMs) throw error
        this.others = rememberOthers
        pause(betweenTriesMs)
      }
    }
  }

  close(): void {
    if (this.db.isOpen) this.db.close()
  }
}

/** The only column of rows. */
export const numbers = (rows: unknown): number[] => (rows as [number][]).map(([number]) => number)

/** A value of a list in a column, or of an object in it; null where the text is damaged: `->>` would let the whole statement fail. */
export const valueIn = (column: string, place: number | string): string =>
  `case when json_valid(${column}) then ${column} ->> ${typeof place === 'number' ? place : `'${place}'`} end`
