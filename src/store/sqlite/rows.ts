// Inserts that are gathered and written many rows at a time: a statement costs more than a row.
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Connection } from './connection.ts'

const together = 16

export class Rows {
  private readonly one: StatementSync
  private readonly many: StatementSync
  private readonly width: number
  /** Push as many values as a row has columns, then call `added`. */
  values: SQLInputValue[] = []

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

  added(): void {
    if (this.values.length < this.width * together) return
    const full = this.values
    this.values = []
    this.many.run(...full)
  }

  flush(): void {
    const left = this.values
    if (left.length === 0) return
    this.values = []
    for (let at = 0; at < left.length; at += this.width) this.one.run(...left.slice(at, at + this.width))
  }

  /** After a failed transaction. */
  drop(): void {
    if (this.values.length > 0) this.values = []
  }
}
