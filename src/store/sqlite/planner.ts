// Understands a batch: what it comes to, as a sheet of values, when the feed stands where it does.
import type { StatementSync } from 'node:sqlite'
import { Defect } from '../../base/assert.ts'
import { NumberMap } from '../../base/number-map.ts'
import type { No } from '../../decision/state.ts'
import { placeFinder } from '../event-places.ts'
import type { Batch } from '../store.ts'
import { endOf, toText } from '../codec.ts'
import type { Connection } from './connection.ts'
import { kindCodes } from '../event-kinds.ts'
import type { Places } from './places.ts'
import type { Shapes } from './shapes.ts'
import { clear, emptySheet, type Sheet } from './sheet.ts'
import type { Heads } from './turns.ts'

/** A resource that was made by a run has had none before it. */
const firstBegun = 1

export interface Plan {
  /** Only until the next batch is planned: it is used again. */
  readonly sheet: Sheet
  /** Where the feed stands before and after. */
  readonly from: Heads
  readonly to: Heads
  /** The number of the latest event of each written resource, in the order of the writes. */
  readonly lasts: readonly number[]
  /** What lingered among the live and is moved on. */
  readonly moved: readonly No[] | null
}

export class Planner {
  private readonly shapes: Shapes
  private readonly places: Places
  private readonly readEnded: StatementSync
  private readonly sheet = emptySheet()
  private readonly ends = new NumberMap<number>()

  constructor(parts: { readonly connection: Connection; readonly shapes: Shapes; readonly places: Places }) {
    this.shapes = parts.shapes
    this.places = parts.places
    this.readEnded = parts.connection.prepare(
      'select ended from live where no = ?1 union all select ended from settled where no = ?1 limit 1',
    )
  }

  /**
   * `careful` trusts nothing and looks where each state really is: only inside a transaction. `mayLinger`: what comes to rest may stay
   * among the live until it is moved together with others.
   */
  plan(batch: Batch, from: Heads, { careful = false, mayLinger = false } = {}): Plan {
    const { sheet } = this
    clear(sheet, batch.guards)
    this.places.sheet = sheet
    this.places.mayLinger = mayLinger
    const lasts = this.writeEvents(batch, from, sheet)
    const ended = batch.ended.length === 0 ? null : this.writeEnds(batch, from, sheet)
    const { writes } = batch
    for (let i = 0; i < writes.length; i++) {
      const { before, after } = writes[i]!
      if (before === null) {
        this.places.create(after, lasts[i]!, ended?.get(after.no) ?? 0)
      } else {
        if (before.no !== after.no || before.type !== after.type || before.id !== after.id)
          throw new Defect(`resource ${after.no} changed its name`)
        this.places.change(before, after, lasts[i]!, ended?.get(after.no) ?? null, careful)
      }
    }
    const moved = this.places.moveOn()
    writeBeside(batch, sheet)
    const to = {
      events: from.events + batch.events.length,
      runs: from.runs + batch.ended.length,
      commits: from.commits + 1,
    }
    return { sheet, from, to, lasts, moved }
  }

  /** What it plans is in the store. */
  committed({ moved }: Plan): void {
    if (moved !== null) this.places.lingering.moved(moved)
  }

  private writeEvents(batch: Batch, from: Heads, { events }: Sheet): number[] {
    const { writes } = batch
    const lasts = writes.map(({ before }) => before?.last ?? 0)
    const find = placeFinder(writes)
    let n = from.events
    for (const event of batch.events) {
      const place = find(event.no)
      const { no, at, kind, revision, epoch, begun, by, detail } = event
      // The type is the resource's: an event names only statuses.
      const { type } = writes[place]!.after
      const was = this.shapes.of(type, event.from).id
      const is = event.to === event.from ? was : this.shapes.of(type, event.to).id
      events.row()
      events.number(++n)
      events.number(at)
      events.number(no)
      events.number(lasts[place]!)
      events.number(kindCodes[kind])
      events.number(was)
      events.number(is)
      events.number(revision)
      events.number(epoch)
      events.number(begun)
      events.repeatable(by)
      events.textOrNull(detail === null ? null : JSON.stringify(detail))
      lasts[place] = n
    }
    return lasts
  }

  /** Answers the number of the latest ended run by resource. */
  private writeEnds(batch: Batch, from: Heads, { runs }: Sheet): NumberMap<number> {
    const { ends } = this
    ends.clear()
    let n = from.runs
    for (const run of batch.ended) {
      const prev = ends.get(run.no) ?? (run.begun === firstBegun ? 0 : this.storedEnd(run.no))
      runs.row()
      runs.number(++n)
      runs.number(run.endedAt)
      runs.number(run.no)
      runs.number(prev)
      runs.text(endOf(run))
      ends.set(run.no, n)
    }
    return ends
  }

  private storedEnd(no: No): number {
    return (this.readEnded.get(no) as unknown as [number] | undefined)?.[0] ?? 0
  }
}

/** What belongs to no state: keys, evidence, records, the journal. */
function writeBeside(batch: Batch, { keys, late, incidents, records, journal }: Sheet): void {
  for (const { key, hash, no, begun, at } of batch.keys) {
    keys.row()
    keys.text(toText(key))
    keys.text(toText(hash))
    keys.number(no)
    keys.number(begun)
    keys.number(at)
  }
  for (const result of batch.late) {
    late.row()
    late.number(result.no)
    late.text(JSON.stringify(result))
  }
  for (const incident of batch.incidents) {
    incidents.row()
    incidents.number(incident.no)
    incidents.text(incident.kind)
    incidents.text(JSON.stringify(incident))
  }
  for (const { kind, key, from, to } of batch.records ?? []) {
    records.row()
    records.text(toText(kind))
    records.text(toText(key))
    records.number(from)
    records.textOrNull(to === null ? null : JSON.stringify(to))
  }
  for (const value of batch.journal ?? []) {
    journal.row()
    journal.text(JSON.stringify(value))
  }
}
