// Step completions, most of what a busy store writes: updated many rows at a time.
import type { StatementSync } from 'node:sqlite'
import type { Connection } from './connection.ts'
import { columns } from './sheet.ts'
import type { Values } from './values.ts'

const together = 20
const width = columns.steps.length
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
  write(values: Values): boolean {
    if (values.length === 0) return true
    const rows = values.reader()
    if (rows.left >= together) this.mark.run()
    while (rows.left >= together) {
      const { changes, lastInsertRowid } = this.many.run(...rows.take(together))
      if (changes !== together || lastInsertRowid !== nobody) return false
    }
    while (rows.left > 0) if (this.one.run(...rows.take(1)).changes !== 1) return false
    return true
  }
}
