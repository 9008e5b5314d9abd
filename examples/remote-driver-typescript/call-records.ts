// call-records.ts: what the driver was asked for, on disk: the epoch of each resource, and every call by its key.
import { DatabaseSync } from 'node:sqlite'

/** A call as it comes over the wire, as far as this driver reads it. */
export interface GivenCall {
  readonly kind: string
  readonly function: string
  readonly key: string
  readonly epoch: number
  readonly attempt: number
  readonly run: string
  readonly name: string | null
  readonly input: unknown
  readonly resource: { readonly type: string; readonly id: string; readonly properties: { readonly sizeMb: number } }
  readonly ledger: readonly { readonly kind: string; readonly name: string }[]
  readonly complete: { readonly url: string; readonly token: string } | null
}

interface Row {
  readonly key: string
  readonly attempt: number
  readonly state: 'working' | 'done' | 'cancelled'
  readonly call: string
  readonly answer: string | null
}

const resourceOf = ({ resource }: GivenCall) => `${resource.type}/${resource.id}`

export class CallRecords {
  readonly #db: DatabaseSync

  constructor(file: string) {
    this.#db = new DatabaseSync(file)
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS epochs (resource TEXT PRIMARY KEY, epoch INTEGER NOT NULL);
      CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, resource TEXT NOT NULL, run TEXT NOT NULL, kind TEXT NOT NULL,
        attempt INTEGER NOT NULL, state TEXT NOT NULL, call TEXT NOT NULL, answer TEXT, told INTEGER NOT NULL DEFAULT 0);`)
  }

  /** Refuses a call of an owner that lost its turn: a later one has called already. Else remembers its epoch. */
  stale(call: GivenCall): object | null {
    const resource = resourceOf(call)
    const row = this.#db.prepare('SELECT epoch FROM epochs WHERE resource = ?').get(resource) as
      | { epoch: number }
      | undefined
    if (row !== undefined && call.epoch < row.epoch) return { kind: 'stale', epoch: row.epoch }
    this.#db
      .prepare('INSERT INTO epochs VALUES (?, ?) ON CONFLICT DO UPDATE SET epoch = excluded.epoch')
      .run(resource, call.epoch)
    return null
  }

  /** What was answered to this call before, or why it is not done any more; null: it is to be done. */
  answerOf({ key, attempt }: GivenCall): object | null {
    const row = this.row(key)
    if (row?.state === 'done') return JSON.parse(row.answer!) as object
    if (row?.state === 'cancelled' && attempt <= row.attempt)
      return { kind: 'failed', code: 'cancelled', reason: 'this attempt was cancelled' }
    return null
  }

  row(key: string): Row | undefined {
    return this.#db.prepare('SELECT key, attempt, state, call, answer FROM calls WHERE key = ?').get(key) as
      | Row
      | undefined
  }

  /** Work at the same resource that this call ends: all but that of the same run and kind. */
  othersAtWork(call: GivenCall): string[] {
    const rows = this.#db
      .prepare(
        `SELECT key FROM calls WHERE resource = ? AND state = 'working' AND key != ? AND NOT (run = ? AND kind = ?)`,
      )
      .all(resourceOf(call), call.key, call.run, call.kind)
    return rows.map(({ key }) => key as string)
  }

  begin(call: GivenCall): void {
    const { key, run, kind, attempt } = call
    this.#db
      .prepare(
        `INSERT INTO calls (key, resource, run, kind, attempt, state, call) VALUES (?, ?, ?, ?, ?, 'working', ?)
         ON CONFLICT DO UPDATE SET attempt = excluded.attempt, call = excluded.call, state = 'working'`,
      )
      .run(key, resourceOf(call), run, kind, attempt, JSON.stringify(call))
  }

  end(key: string, answer: object, isTold: boolean): void {
    this.#db
      .prepare(`UPDATE calls SET state = 'done', answer = ?, told = ? WHERE key = ?`)
      .run(JSON.stringify(answer), isTold ? 1 : 0, key)
  }

  markTold(key: string): void {
    this.#db.prepare('UPDATE calls SET told = 1 WHERE key = ?').run(key)
  }

  markCancelled(key: string): void {
    this.#db.prepare(`UPDATE calls SET state = 'cancelled' WHERE key = ?`).run(key)
  }

  forget(key: string): void {
    this.#db.prepare('DELETE FROM calls WHERE key = ?').run(key)
  }

  /** True: there is work to stop. A cancel that overtook its call is remembered, so that the call is refused when it comes. */
  cancel(call: GivenCall): boolean {
    const row = this.row(call.key)
    if (row === undefined) {
      this.#db
        .prepare(
          `INSERT INTO calls (key, resource, run, kind, attempt, state, call) VALUES (?, ?, '', '', ?, 'cancelled', '{}')`,
        )
        .run(call.key, resourceOf(call), call.attempt)
      return false
    }
    if (row.state !== 'working' || row.attempt > call.attempt) return false
    this.markCancelled(call.key)
    return true
  }

  /** What a process before this one left: ends that were not told, and work that was not finished. */
  left(): Row[] {
    const rows = this.#db.prepare('SELECT key, attempt, state, call, answer FROM calls WHERE told = 0').all()
    return rows as unknown as Row[]
  }
}
