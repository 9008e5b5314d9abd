// Inserts of many rows at a time: a statement costs more than a row.
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Connection } from './connection.ts'

const together = 16

export class Rows {
  private readonly one: StatementSync
  private readonly many: StatementSync
  private readonly width: number

  /**
   * `into` is a table and its columns, `otherwise` what to do about a row that is there already. `or fail`, since an insert of several rows that may abort keeps a copy of every page it
   * touches in order to undo itself alone; that makes it slower than single rows. Whoever uses this undoes the transaction.
   */
  constructor(connection: Connection, into: string, width: number, otherwise = '') {
    const row = `(${Array<string>(width).fill('?').join()})`
    this.width = width
    this.one = connection.prepare(`insert or fail into ${into} values ${row} ${otherwise}`)
    this.many = connection.prepare(
      `insert or fail into ${into} values ${Array<string>(together).fill(row).join()} ${otherwise}`,
    )
  }

  insert(values: readonly SQLInputValue[]): void {
    const { width } = this
    let at = 0
    for (; at + width * together <= values.length; at += width * together)
      this.many.run(...values.slice(at, at + width * together))
    for (; at < values.length; at += width) this.one.run(...values.slice(at, at + width))
  }
}
