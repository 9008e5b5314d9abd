// The writing side of the append-only lists of logs.ts: entries of a sheet become rows of JSON text, many to a row. The text is
// built by hand, since it is most of what a step writes.
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Connection } from './connection.ts'
import { widths } from './sheet.ts'

/** Two such rows fit a page. */
const chunkLength = 1900

/**
 * A chunk's text is `[at,no,[texts],[...],[...]]`: times and numbers of resources in its entries count from `at` and `no`,
 * texts that repeat (who did it) are named by their place.
 */
abstract class LogWriter {
  private readonly insert: StatementSync
  private body = ''
  private first = 0
  private at = 0
  private no = 0
  private readonly texts: string[] = []
  private text = ''
  private place = 0

  constructor(connection: Connection, table: 'event' | 'run') {
    this.insert = connection.prepare(`insert into ${table} (first, body) values (?, ?)`)
  }

  /** All entries of a sheet. */
  write(values: readonly SQLInputValue[]): void {
    // What a sheet that failed has left is forgotten.
    this.reset()
    this.writeAll(values)
    this.flush()
  }

  protected abstract writeAll(values: readonly SQLInputValue[]): void

  /** Called before an entry's fields are made: from here on its chunk is known. */
  protected open(n: number, at: number, no: number): void {
    // A fraction of a millisecond may not survive the difference: then it begins its own chunk.
    if (this.body.length > chunkLength || this.at + (at - this.at) !== at) this.flush()
    if (this.body !== '') return
    this.first = n
    this.at = at
    this.no = no
  }

  /** `fields` is the entry without its brackets, its time, its resource and the event or end before it. */
  protected append(n: number, at: number, no: number, prev: number, fields: string): void {
    this.body += `,[${at - this.at},${no - this.no},${prev === 0 ? 0 : n - prev},${fields}]`
  }

  /** The place of a text that repeats among those of the chunk. */
  protected placeOf(text: string): number {
    if (text === this.text && this.texts.length > 0) return this.place
    const at = this.texts.indexOf(text)
    this.place = at >= 0 ? at : this.texts.push(text) - 1
    this.text = text
    return this.place
  }

  private reset(): void {
    this.body = ''
    this.texts.length = 0
  }

  private flush(): void {
    if (this.body === '') return
    this.insert.run(this.first, `[${this.at},${this.no},${JSON.stringify(this.texts)}${this.body}]`)
    this.reset()
  }
}

type EventRow = readonly [
  n: number,
  at: number,
  no: number,
  prev: number,
  kind: number,
  from: number,
  to: number,
  revision: number,
  epoch: number,
  begun: number,
  by: string,
  detail: string | null,
]

export class EventWriter extends LogWriter {
  constructor(connection: Connection) {
    super(connection, 'event')
  }

  protected writeAll(values: readonly SQLInputValue[]): void {
    for (let i = 0; i < values.length; i += widths.events) {
      const row = values.slice(i, i + widths.events) as unknown as EventRow
      const [n, at, no, prev, kind, from, to, revision, epoch, begun, by, detail] = row
      this.open(n, at, no)
      const fields = `${kind},${from},${to},${revision},${epoch},${begun},${this.placeOf(by)}`
      this.append(n, at, no, prev, detail === null ? fields : `${fields},${detail}`)
    }
  }
}

type RunRow = readonly [n: number, at: number, no: number, prev: number, end: string]

export class RunWriter extends LogWriter {
  constructor(connection: Connection) {
    super(connection, 'run')
  }

  protected writeAll(values: readonly SQLInputValue[]): void {
    for (let i = 0; i < values.length; i += widths.runs) {
      const [n, at, no, prev, end] = values.slice(i, i + widths.runs) as unknown as RunRow
      this.open(n, at, no)
      this.append(n, at, no, prev, end)
    }
  }
}
