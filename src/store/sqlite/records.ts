// Records and the journal: small facts beside resources, written in the commits of batches.
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Json } from '../../base/json.ts'
import { chainHash, chainStart } from '../chain.ts'
import type { JournalEntry, RecordChange, RecordName, StoredRecord } from '../store.ts'
import { fromText, toText } from './codec.ts'
import type { Connection } from './connection.ts'
import { widths } from './sheet.ts'

export class RecordWriter {
  private readonly insert: StatementSync
  private readonly update: StatementSync
  private readonly remove: StatementSync
  private readonly lastEntry: StatementSync
  private readonly append: StatementSync

  constructor(connection: Connection) {
    this.insert = connection.prepare('insert into record (kind, key, version, value) values (?, ?, 1, ?)')
    this.update = connection.prepare(
      'update record set version = version + 1, value = ? where kind = ? and key = ? and version = ?',
    )
    this.remove = connection.prepare('delete from record where kind = ? and key = ? and version = ?')
    this.lastEntry = connection.prepare('select n, hash from journal where n = (select max(n) from journal)')
    this.append = connection.prepare('insert into journal (n, value, hash) values (?, ?, ?)')
  }

  /** Inside a transaction. False: a record is not at the version that was expected. */
  write(values: readonly SQLInputValue[]): boolean {
    for (let at = 0; at < values.length; at += widths.records) {
      const [kind, key, from, to] = values.slice(at, at + widths.records) as [string, string, number, string | null]
      if (to !== null && from === 0) this.insert.run(kind, key, to)
      else if (to !== null && this.update.run(to, kind, key, from).changes !== 1) return false
      else if (to === null && this.remove.run(kind, key, from).changes !== (from === 0 ? 0 : 1)) return false
    }
    return true
  }

  /** Inside a transaction: the chain is continued from where it stands. */
  journal(values: readonly SQLInputValue[]): void {
    if (values.length === 0) return
    let [n, hash] = (this.lastEntry.get() as unknown as [number, string] | undefined) ?? [0, chainStart]
    for (const text of values as readonly string[]) {
      n++
      hash = chainHash(hash, n, JSON.parse(text) as Json)
      this.append.run(n, text, hash)
    }
  }
}

export class RecordReader {
  private readonly connection: Connection
  private readonly one: StatementSync
  private readonly many: StatementSync
  private readonly entries: StatementSync

  constructor(connection: Connection) {
    this.connection = connection
    this.one = connection.prepare('select version, value from record where kind = ? and key = ?')
    this.many = connection.prepare(
      'select key, version, value from record where kind = ? and key > ? order by key limit ?',
    )
    this.entries = connection.prepare('select n, value, hash from journal where n > ? order by n limit ?')
  }

  record(kind: string, key: string): StoredRecord | null {
    const row = this.connection.patiently(() => this.one.get(toText(kind), toText(key)))
    if (row === undefined) return null
    const [version, value] = row as unknown as [number, string]
    return { kind, key, value: JSON.parse(value) as Json, version }
  }

  records({ kind, after, limit }: { kind: string; after: string; limit: number }): readonly StoredRecord[] {
    const rows = this.connection.patiently(() => this.many.all(toText(kind), toText(after), limit))
    return (rows as unknown as [string, number, string][]).map(([key, version, value]) => ({
      kind,
      key: fromText(key),
      value: JSON.parse(value) as Json,
      version,
    }))
  }

  journal(after: number, limit: number): readonly JournalEntry[] {
    const rows = this.connection.patiently(() => this.entries.all(after, limit))
    return (rows as unknown as [number, string, string][]).map(([n, value, hash]) => ({
      n,
      value: JSON.parse(value) as Json,
      hash,
    }))
  }

  /** The records that are not at the version that a change names. */
  conflictsOf(changes: readonly RecordChange[]): readonly RecordName[] {
    return changes
      .filter(({ kind, key, from }) => (this.record(kind, key)?.version ?? 0) !== from)
      .map(({ kind, key }) => ({ kind, key }))
  }
}
