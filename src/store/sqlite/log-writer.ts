// The writing side of the append-only lists of logs.ts: entries of a sheet become rows of JSON text, many to a row. The text is
// built by hand, since it is most of what a step writes.
import type { StatementSync } from 'node:sqlite'
import type { Connection } from './connection.ts'
import { Quoted, Times } from '../row-texts.ts'
import { again, type Values } from './values.ts'

/** Mostly everything in a chunk was done by one worker. */
const names = new Quoted()
const times = new Times()

/** Two such rows fit a page. */
const chunkLength = 1900

/**
 * A chunk's text is `[at,no,[texts],[...],[...]]`: times and numbers of resources in its entries count from `at` and `no`,
 * texts that repeat (who did it) are named by their place. 0 for the detail of an event: that of the one before it that has any.
 */
abstract class LogWriter {
  private readonly insert: StatementSync
  private readonly insertLast: StatementSync
  private body = ''
  private first = 0
  private at = 0
  private no = 0
  private texts: string[] = []
  private text = ''
  private place = 0

  /** `ofLast` are columns that only the last row of a sheet has. */
  constructor(connection: Connection, table: 'event' | 'run', ofLast: readonly string[] = []) {
    this.insert = connection.prepare(`insert into ${table} (first, body) values (?, ?)`)
    const columns = ['first', 'body', ...ofLast]
    this.insertLast = connection.prepare(
      `insert into ${table} (${columns.join()}) values (${columns.map(() => '?').join()})`,
    )
  }

  /** All entries of a sheet. */
  write(values: Values, ...ofLast: readonly number[]): void {
    if (values.length === 0) return
    // What a sheet that failed has left is forgotten.
    this.reset()
    this.writeAll(values)
    this.insertLast.run(this.first, this.chunk, ...ofLast)
  }

  protected abstract writeAll(values: Values): void

  /** Called before an entry's fields are made: from here on its chunk is known. */
  protected open(n: number, at: number, no: number): void {
    // A fraction of a millisecond may not survive the difference: then it begins its own chunk.
    if (this.body.length > chunkLength || this.at + (at - this.at) !== at) this.flush()
    if (this.body !== '') return
    this.first = n
    this.at = at
    this.no = no
  }

  /** The chunk has no entry yet. */
  protected get isNew(): boolean {
    return this.body === ''
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
    if (this.texts.length > 0) this.texts = []
  }

  private get chunk(): string {
    const { texts } = this
    const named = texts.length === 1 ? `[${names.of(texts[0]!)}]` : JSON.stringify(texts)
    return `[${times.of(this.at)},${this.no},${named}${this.body}]`
  }

  private flush(): void {
    if (this.body === '') return
    this.insert.run(this.first, this.chunk)
    this.reset()
  }
}

export class EventWriter extends LogWriter {
  constructor(connection: Connection) {
    super(connection, 'event', ['events', 'runs', 'commits', 'writer'])
  }

  protected writeAll({ numbers, texts, length, width }: Values): void {
    let text = 0
    let by = ''
    let detail = ''
    for (let i = 0; i < length; i += width) {
      const n = numbers[i]!
      const at = numbers[i + 1]!
      const no = numbers[i + 2]!
      this.open(n, at, no)
      if (this.isNew) detail = ''
      // Kind, status before and after, revision, epoch, begun.
      let fields = `${numbers[i + 4]},${numbers[i + 5]},${numbers[i + 6]},${numbers[i + 7]},${numbers[i + 8]},${numbers[i + 9]}`
      if (numbers[i + 10] !== again) by = texts[text++]!
      fields += `,${this.placeOf(by)}`
      if (!Number.isNaN(numbers[i + 11])) {
        const isSame = texts[text] === detail
        detail = texts[text++]!
        fields += isSame ? ',0' : `,${detail}`
      }
      this.append(n, at, no, numbers[i + 3]!, fields)
    }
  }
}

export class RunWriter extends LogWriter {
  constructor(connection: Connection) {
    super(connection, 'run')
  }

  protected writeAll({ numbers, texts, length, width }: Values): void {
    for (let i = 0; i < length; i += width) {
      const n = numbers[i]!
      const at = numbers[i + 1]!
      const no = numbers[i + 2]!
      this.open(n, at, no)
      this.append(n, at, no, numbers[i + 3]!, texts[i / width]!)
    }
  }
}
