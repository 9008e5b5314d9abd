// Append-only lists in chunks: many entries in one row of JSON text, found again by number. Events and ended runs are such lists.
// An entry is an array; log-writer.ts says how the text is made.
import type { StatementSync } from 'node:sqlite'
import { assert } from '../../base/assert.ts'
import type { EndedRun, No, StoredEvent } from '../../decision/state.ts'
import { endedRunOf } from '../codec.ts'
import { readable } from '../readable.ts'
import { detailAt, isChunk, type EventEntry } from '../event-entry.ts'
import { kindWords } from '../event-kinds.ts'
import type { Connection } from './connection.ts'
import type { Shapes } from './shapes.ts'

class Log {
  private readonly last: StatementSync
  private readonly from: StatementSync

  constructor(connection: Connection, table: 'event' | 'run') {
    this.last = connection.prepare(`select first, body from ${table} where first <= ? order by first desc limit 1`)
    this.from = connection.prepare(`select first, body from ${table} where first >= ? order by first`)
  }

  protected chunkWith(n: number): Chunk | null {
    const row = this.last.get(n) as unknown as ChunkRow | undefined
    if (row === undefined) return null
    const chunk = parsed(row)
    return n < chunk.first + chunk.entries.length || chunk.isDamaged ? chunk : null
  }

  protected *chunksFrom(n: number): Generator<Chunk> {
    const row = this.last.get(n) as unknown as ChunkRow | undefined
    for (const next of this.from.iterate(row?.[0] ?? n)) yield parsed(next as unknown as ChunkRow)
  }
}

type ChunkRow = [first: number, body: string]
type Entry = [at: number, no: number, prev: number, ...unknown[]]
interface Chunk {
  readonly first: number
  readonly at: number
  readonly no: number
  readonly texts: readonly string[]
  readonly entries: readonly Entry[]
  /** How many entries it has is not known. */
  readonly isDamaged?: true
}

/** One that something has damaged counts as empty: what is before and after it can still be read. */
function parsed([first, body]: ChunkRow): Chunk {
  const [list] = readable<[number, number, string[], ...Entry[]]>([body])
  if (!isChunk(list)) return { first, at: 0, no: 0, texts: [], entries: [], isDamaged: true }
  const [at, no, texts, ...entries] = list
  return { first, at, no, texts, entries }
}

const has = ({ first, entries }: Chunk, n: number): boolean => n >= first && n < first + entries.length

export class EventLog extends Log {
  private readonly shapes: Shapes

  constructor(connection: Connection, shapes: Shapes) {
    super(connection, 'event')
    this.shapes = shapes
  }

  /** From the newest at or before `n` backwards along the chain of one resource. */
  *chain(n: number): Generator<StoredEvent> {
    let chunk: Chunk | null = null
    while (n > 0) {
      if (chunk === null || n < chunk.first) chunk = this.chunkWith(n)
      // Retention has cut the chain here.
      if (chunk === null) return
      if (!has(chunk, n)) return
      const event = this.eventOf(chunk, n)
      yield event
      n = event.prev
    }
  }

  find(n: number): StoredEvent | null {
    const chunk = this.chunkWith(n)
    return chunk === null || !has(chunk, n) ? null : this.eventOf(chunk, n)
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

  /** From `n` on, chunk by chunk: of which resource each event is, and the event itself for whoever wants it. */
  *entriesFrom(n: number): Generator<readonly { readonly n: number; readonly no: No; event(): StoredEvent }[]> {
    for (const chunk of this.chunksFrom(n)) {
      const found = chunk.entries.map((entry, index) => ({
        n: chunk.first + index,
        no: chunk.no + entry[1],
        event: () => this.eventOf(chunk, chunk.first + index),
      }))
      yield found.filter((one) => one.n >= n)
    }
  }

  private eventOf(chunk: Chunk, n: number): StoredEvent {
    const entries = chunk.entries as readonly EventEntry[]
    const place = n - chunk.first
    const entry = entries[place]
    assert(entry, `no event ${n} in its chunk`)
    const [at, no, back, kind, from, to, revision, epoch, begun, by] = entry
    return {
      no: chunk.no + no,
      at: chunk.at + at,
      kind: kindWords[kind]!,
      from: this.shapes.get(from).status,
      to: this.shapes.get(to).status,
      revision,
      epoch,
      begun,
      by: chunk.texts[by]!,
      detail: detailAt(entries, place),
      n,
      prev: back === 0 ? 0 : n - back,
    }
  }
}

export class RunLog extends Log {
  constructor(connection: Connection) {
    super(connection, 'run')
  }

  find(n: number): FoundRun | null {
    const chunk = this.chunkWith(n)
    return chunk === null || !has(chunk, n) ? null : runIn(chunk, n)
  }

  /** Chunk by chunk from `n` backwards, the newest first. */
  *back(n: number): Generator<readonly FoundRun[]> {
    for (let chunk = this.chunkWith(n); chunk !== null; chunk = this.chunkWith(chunk.first - 1)) {
      const found: FoundRun[] = []
      for (let at = Math.min(n, chunk.first + chunk.entries.length - 1); at >= chunk.first; at--)
        found.push(runIn(chunk, at))
      yield found
    }
  }
}

export interface FoundRun {
  readonly n: number
  readonly run: EndedRun
  /** The number of the resource's run before it; 0: none. */
  readonly prev: number
}

function runIn(chunk: Chunk, n: number): FoundRun {
  const [at, no, back, ...end] = chunk.entries[n - chunk.first]!
  return { n, run: endedRunOf(chunk.no + no, chunk.at + at, end), prev: back === 0 ? 0 : n - back }
}
