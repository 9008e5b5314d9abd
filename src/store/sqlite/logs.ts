// Append-only lists in chunks: many entries in one row of JSON text, found again by number. Events and ended runs are such lists.
// An entry is an array; the text is built by hand, since it is most of what a step writes.
import type { StatementSync } from 'node:sqlite'
import { assert } from '../../base/assert.ts'
import type { EndedRun, Event, StoredEvent } from '../../decision/state.ts'
import { endedRunOf, endOf, Quoted } from './codec.ts'
import type { Connection } from './connection.ts'
import type { Shapes } from './shapes.ts'

/** Two such rows fit a page. */
const chunkLength = 1900

/** A chunk's text is `[at,[...],[...]]`: times in it count from `at`. */
class Log {
  private readonly insert: StatementSync
  private readonly last: StatementSync
  private readonly from: StatementSync
  private body = ''
  private first = 0
  private at = 0

  constructor(connection: Connection, table: 'event' | 'run') {
    this.insert = connection.prepare(`insert into ${table} (first, body) values (?, ?)`)
    this.last = connection.prepare(`select first, body from ${table} where first <= ? order by first desc limit 1`)
    this.from = connection.prepare(`select first, body from ${table} where first >= ? order by first`)
  }

  /** `fields` is the entry without its brackets and its time. */
  protected append(n: number, at: number, fields: string): void {
    // A fraction of a millisecond may not survive the difference: then it begins its own chunk.
    if (this.at + (at - this.at) !== at) this.flush()
    if (this.body === '') {
      this.first = n
      this.at = at
      this.body = `[${at}`
    }
    this.body += `,[${at - this.at},${fields}]`
    if (this.body.length > chunkLength) this.flush()
  }

  /** At the end of a batch. */
  flush(): void {
    if (this.body === '') return
    const body = `${this.body}]`
    this.body = ''
    this.insert.run(this.first, body)
  }

  /** After a failed transaction. */
  drop(): void {
    this.body = ''
  }

  protected chunkWith(n: number): Chunk | null {
    const row = this.last.get(n) as unknown as ChunkRow | undefined
    if (row === undefined) return null
    const chunk = parsed(row)
    return n < chunk.first + chunk.entries.length ? chunk : null
  }

  protected *chunksFrom(n: number): Generator<Chunk> {
    const row = this.last.get(n) as unknown as ChunkRow | undefined
    for (const next of this.from.iterate(row?.[0] ?? n)) yield parsed(next as unknown as ChunkRow)
  }
}

type ChunkRow = [first: number, body: string]
type Entry = [at: number, ...unknown[]]
interface Chunk {
  readonly first: number
  readonly at: number
  readonly entries: readonly Entry[]
}

function parsed([first, body]: ChunkRow): Chunk {
  const [at, ...entries] = JSON.parse(body) as [number, ...Entry[]]
  return { first, at, entries }
}

export class EventLog extends Log {
  private readonly shapes: Shapes
  private readonly by = new Quoted()

  constructor(connection: Connection, shapes: Shapes) {
    super(connection, 'event')
    this.shapes = shapes
  }

  /** The type is the resource's: an event names only statuses. */
  write(event: Event, n: number, prev: number, type: string): void {
    const from = this.shapes.of(type, event.from).id
    const to = event.to === event.from ? from : this.shapes.of(type, event.to).id
    const { no, at, kind, revision, epoch, begun, by, detail } = event
    let fields = `${prev},${no},"${kind}",${from},${to},${revision},${epoch},${begun},${this.by.of(by)}`
    if (detail !== null) fields += `,${JSON.stringify(detail)}`
    this.append(n, at, fields)
  }

  /** From the newest at or before `n` backwards along the chain of one resource. */
  *chain(n: number): Generator<StoredEvent> {
    let chunk: Chunk | null = null
    while (n > 0) {
      if (chunk === null || n < chunk.first) chunk = this.chunkWith(n)
      // Retention has cut the chain here.
      if (chunk === null) return
      const event = this.eventOf(chunk, n)
      yield event
      n = event.prev
    }
  }

  find(n: number): StoredEvent | null {
    const chunk = this.chunkWith(n)
    return chunk === null ? null : this.eventOf(chunk, n)
  }

  after(n: number, limit: number): StoredEvent[] {
    const found: StoredEvent[] = []
    if (limit <= 0) return found
    for (const chunk of this.chunksFrom(n + 1)) {
      for (let next = Math.max(n + 1, chunk.first); next < chunk.first + chunk.entries.length; next++) {
        found.push(this.eventOf(chunk, next))
        if (found.length === limit) return found
      }
    }
    return found
  }

  private eventOf(chunk: Chunk, n: number): StoredEvent {
    const entry = chunk.entries[n - chunk.first]
    assert(entry, `no event ${n} in its chunk`)
    const [at, prev, no, kind, from, to, revision, epoch, begun, by, detail] = entry as EventEntry
    return {
      no,
      at: chunk.at + at,
      kind,
      from: this.shapes.get(from).status,
      to: this.shapes.get(to).status,
      revision,
      epoch,
      begun,
      by,
      detail: detail ?? null,
      n,
      prev,
    }
  }
}

type EventEntry = [
  at: number,
  prev: number,
  no: number,
  kind: Event['kind'],
  from: number,
  to: number,
  revision: number,
  epoch: number,
  begun: number,
  by: string,
  detail?: Event['detail'],
]

export class RunLog extends Log {
  constructor(connection: Connection) {
    super(connection, 'run')
  }

  write(run: EndedRun, n: number, prev: number): void {
    this.append(n, run.endedAt, `${prev},${run.no},${endOf(run)}`)
  }

  find(n: number): { readonly run: EndedRun; readonly prev: number } | null {
    const chunk = this.chunkWith(n)
    if (chunk === null) return null
    const [at, prev, no, ...end] = chunk.entries[n - chunk.first] as [number, number, number, ...unknown[]]
    return { run: endedRunOf(no, chunk.at + at, end), prev }
  }
}
