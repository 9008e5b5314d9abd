// Inserts of many rows at a time: a statement costs more than a row.
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Connection } from './connection.ts'
import type { Values } from './values.ts'

const together = 16

export class Rows {
  private readonly one: StatementSync
  private readonly many: StatementSync

  /**
   * `into` is a table and its columns, `otherwise` what to do about a row that is there already. `or fail`, since an insert of several rows that may abort keeps a copy of every page it
   * touches in order to undo itself alone; that makes it slower than single rows. Whoever uses this undoes the transaction.
   */
  constructor(connection: Connection, into: string, width: number, otherwise = '') {
    const row = `(${Array<string>(width).fill('?').join()})`
    this.one = connection.prepare(`insert or fail into ${into} values ${row} ${otherwise}`)
    this.many = connection.prepare(
      `insert or fail into ${into} values ${Array<string>(together).fill(row).join()} ${otherwise}`,
    )
  }

  insert(values: Values): void {
    if (values.length === 0) return
    const rows = values.reader()
    while (rows.left >= together) this.many.run(...rows.take(together))
    while (rows.left > 0) this.one.run(...rows.take(1))
  }

  insertOne(row: readonly SQLInputValue[]): void {
    this.one.run(...row)
  }
}
