// Step completions, most of what a busy store writes: updated many rows at a time.
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Connection } from './connection.ts'
import { widths } from './sheet.ts'

const together = 20
const width = widths.steps
/** No row has this number. */
const nobody = -1

/**
 * SQLite can update several rows by different values in one fast statement only as an insert that turns into an update where
 * the row exists. A row that is gone would then be inserted; that is seen by the connection's last inserted rowid, which such
 * an update leaves alone: it is set to a number that no row has before, and must still be that after.
 */
export class Steps {
  private readonly one: StatementSync
  private readonly many: StatementSync
  private readonly mark: StatementSync

  constructor(connection: Connection) {
    connection.db.exec('create temp table mark (no integer primary key)')
    this.mark = connection.prepare(`insert or replace into temp.mark (no) values (${nobody})`)
    this.one =
      connection.prepare(`update or fail live set shape = ?2, revision = ?3, since = ?5, last = ?6, due = ?8, overdue = ?9, rest = ?10
      where no = ?1 and revision = ?7 and epoch = ?4`)
    const row = `(${Array<string>(width).fill('?').join()})`
    // The revision that is expected travels in the column `ended`, which a step does not change.
    this.many =
      connection.prepare(`insert or fail into live (no, shape, revision, epoch, since, last, ended, due, overdue, rest)
      values ${Array<string>(together).fill(row).join()} on conflict (no) do update set shape = excluded.shape,
      revision = excluded.revision, since = excluded.since, last = excluded.last, due = excluded.due, overdue = excluded.overdue,
      rest = excluded.rest where live.revision = excluded.ended and live.epoch = excluded.epoch`)
  }

  /** False when a row was not as expected: the transaction must be undone. */
  write(values: readonly SQLInputValue[]): boolean {
    let at = 0
    if (values.length >= together * width) this.mark.run()
    for (; at + together * width <= values.length; at += together * width) {
      const { changes, lastInsertRowid } = this.many.run(...values.slice(at, at + together * width))
      if (changes !== together || lastInsertRowid !== nobody) return false
    }
    for (; at < values.length; at += width)
      if (this.one.run(...values.slice(at, at + width)).changes !== 1) return false
    return true
  }
}
