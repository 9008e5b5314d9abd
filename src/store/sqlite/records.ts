// Records and the journal: small facts beside resources, written in the commits of batches.
import type { StatementSync } from 'node:sqlite'
import type { Json } from '../../base/json.ts'
import { chainHash, chainStart } from '../chain.ts'
import type { JournalEntry, RecordChange, RecordName, RecordsQuery, StoredRecord } from '../store.ts'
import { fromText, toText } from '../codec.ts'
import { recordValue } from '../readable.ts'
import { valueIn, type Connection } from './connection.ts'
import type { Values } from './values.ts'

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
  write(values: Values): boolean {
    for (const rows = values.reader(); rows.left > 0;) {
      const [kind, key, from, to] = rows.take(1) as [string, string, number, string | null]
      if (to !== null && from === 0) this.insert.run(kind, key, to)
      else if (to !== null && this.update.run(to, kind, key, from).changes !== 1) return false
      else if (to === null && this.remove.run(kind, key, from).changes !== (from === 0 ? 0 : 1)) return false
    }
    return true
  }

  /** Inside a transaction that has looked at the versions. */
  writeAll(changes: readonly RecordChange[], entries: readonly Json[]): void {
    for (const { kind, key, from, to } of changes) {
      const [ofKind, ofKey] = [toText(kind), toText(key)]
      if (to === null) this.remove.run(ofKind, ofKey, from)
      else if (from === 0) this.insert.run(ofKind, ofKey, JSON.stringify(to))
      else this.update.run(JSON.stringify(to), ofKind, ofKey, from)
    }
    this.journal(entries.map((entry) => JSON.stringify(entry)))
  }

  /** Inside a transaction: the chain is continued from where it stands. */
  journal(texts: readonly string[]): void {
    if (texts.length === 0) return
    let [n, hash] = (this.lastEntry.get() as unknown as [number, string] | undefined) ?? [0, chainStart]
    for (const text of texts) {
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
  private readonly manyOf: StatementSync
  private readonly entries: StatementSync
  private readonly length: StatementSync

  constructor(connection: Connection) {
    this.connection = connection
    this.one = connection.prepare('select version, value from record where kind = ? and key = ?')
    this.many = connection.prepare(
      'select key, version, value from record where kind = ? and key > ? order by key limit ?',
    )
    this.manyOf = connection.prepare(
      `select key, version, value from record where kind = ?1 and key > ?2 and ${valueIn('value', 'tenant')} = ?4 order by key limit ?3`,
    )
    this.entries = connection.prepare('select n, value, hash from journal where n > ? order by n limit ?')
    this.length = connection.prepare('select coalesce(max(n), 0) from journal')
  }

  record(kind: string, key: string): StoredRecord | null {
    const row = this.connection.patiently(() => this.one.get(toText(kind), toText(key)))
    if (row === undefined) return null
    const [version, value] = row as unknown as [number, string]
    return { kind, key, value: recordValue(value), version }
  }

  records({ kind, tenant, after, limit }: RecordsQuery): readonly StoredRecord[] {
    const rows = this.connection.patiently(() =>
      tenant === undefined
        ? this.many.all(toText(kind), toText(after), limit)
        : this.manyOf.all(toText(kind), toText(after), limit, tenant),
    )
    return (rows as unknown as [string, number, string][]).map(([key, version, value]) => ({
      kind,
      key: fromText(key),
      value: recordValue(value),
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

  journalLength(): number {
    return (this.connection.patiently(() => this.length.get()) as unknown as [number])[0]
  }

  /** The records that are not at the version that a change names. */
  conflictsOf(changes: readonly RecordChange[]): readonly RecordName[] {
    return changes
      .filter(({ kind, key, from }) => (this.record(kind, key)?.version ?? 0) !== from)
      .map(({ kind, key }) => ({ kind, key }))
  }
}
