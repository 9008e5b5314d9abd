// Events in chunks of a JSON text, many in one row. When a chunk is written its number is not known yet, so that nothing in it depends
// on that: the event before is named by its number when it is older than the commit, else by how far back it is.
import type { Event, StoredEvent } from '../../decision/state.ts'
import { detailAt, isChunk, type EventEntry } from '../event-entry.ts'
import { kindCodes, kindWords } from '../event-kinds.ts'
import { readable } from '../readable.ts'
import type { Shapes } from './shapes.ts'
import type { Columns } from './sheet.ts'

/** Below the size at which PostgreSQL would compress it and put it elsewhere. */
const chunkLength = 1800

/**
 * A chunk's text is `[at,no,[texts],[...],[...]]`: times and numbers of resources in its entries count from `at` and `no`, texts that
 * repeat (who did it) are named by their place. 0 for the detail of an event: that of the one before it that has any.
 */
export class EventWriter {
  private readonly shapes: Shapes
  private readonly into: Columns
  private body = ''
  private first = 0
  private at = 0
  private no = 0
  private texts: string[] = []
  /** The latest event of this chunk, and what its entry says from the kind on, without the detail: entries in a row are much alike. */
  private latest: Event | null = null
  private latestType = ''
  private latestFields = ''
  /** The latest detail of this chunk: many in a row are the same. */
  private latestDetail = ''

  constructor(shapes: Shapes, into: Columns) {
    this.shapes = shapes
    this.into = into
  }

  /** `place` counts from 1 in the commit; `prev` is a number, or negative: so many events ago in this commit; 0: none. */
  write(event: Event, place: number, prev: number, type: string): void {
    const { no, at, detail } = event
    // A fraction of a millisecond may not survive the difference: then it begins its own chunk.
    if (this.body.length > chunkLength || this.at + (at - this.at) !== at) this.flush()
    if (this.body === '') {
      this.first = place
      this.at = at
      this.no = no
    }
    this.body += `,[${at - this.at},${no - this.no},${prev},${this.fieldsOf(event, type)}${this.endOf(detail)}]`
  }

  private endOf(detail: Event['detail']): string {
    if (detail === null) return ''
    const text = JSON.stringify(detail)
    if (text === this.latestDetail) return ',0'
    this.latestDetail = text
    return `,${text}`
  }

  private fieldsOf(event: Event, type: string): string {
    const { kind, revision, epoch, begun, by } = event
    const { latest } = this
    const isAlike =
      latest !== null &&
      latest.kind === kind &&
      latest.revision === revision &&
      latest.begun === begun &&
      latest.from === event.from &&
      latest.to === event.to &&
      latest.epoch === epoch &&
      latest.by === by &&
      this.latestType === type
    if (isAlike) return this.latestFields
    const from = this.shapes.of(type, event.from).id
    const to = event.to === event.from ? from : this.shapes.of(type, event.to).id
    this.latestFields = `${kindCodes[kind]},${from},${to},${revision},${epoch},${begun},${this.placeOf(by)}`
    this.latest = event
    this.latestType = type
    return this.latestFields
  }

  flush(): void {
    if (this.body === '') return
    this.into.push(this.first, `[${this.at},${this.no},${JSON.stringify(this.texts)}${this.body}]`)
    this.body = ''
    this.texts = []
    this.latest = null
    this.latestDetail = ''
  }

  private placeOf(text: string): number {
    const at = this.texts.indexOf(text)
    return at >= 0 ? at : this.texts.push(text) - 1
  }
}

export class Chunk {
  readonly first: number
  private readonly at: number
  private readonly no: number
  private readonly texts: readonly string[]
  private readonly entries: readonly EventEntry[]

  constructor(first: string, body: string) {
    const [list] = readable([body])
    // One that something has damaged counts as empty: what is before and after it can still be read.
    const [at, no, texts, ...entries] = (isChunk(list) ? list : [0, 0, []]) as [
      number,
      number,
      string[],
      ...EventEntry[],
    ]
    this.first = Number(first)
    this.at = at
    this.no = no
    this.texts = texts
    this.entries = entries
  }

  get end(): number {
    return this.first + this.entries.length
  }

  has(n: number): boolean {
    return n >= this.first && n < this.end
  }

  /** When its first event happened. */
  get since(): number {
    return this.at
  }

  /** Of which resource each of its events is. */
  nos(): number[] {
    return this.entries.map((entry) => this.no + entry[1])
  }

  /** The numbers of the shapes it names. */
  shapeIds(): number[] {
    return this.entries.flatMap((entry) => [entry[4], entry[5]])
  }

  event(n: number, shapes: Shapes): StoredEvent {
    const place = n - this.first
    const [at, no, prev, kind, from, to, revision, epoch, begun, by] = this.entries[place]!
    return {
      no: this.no + no,
      at: this.at + at,
      kind: kindWords[kind]!,
      from: shapes.get(from).status,
      to: shapes.get(to).status,
      revision,
      epoch,
      begun,
      by: this.texts[by]!,
      detail: detailAt(this.entries, place),
      n,
      prev: prev < 0 ? n + prev : prev,
    }
  }
}
