// Understands a batch: what it comes to, as a sheet of values, when the feed stands where it does.
import type { StatementSync } from 'node:sqlite'
import { assert } from '../../base/assert.ts'
import type { No, Resource } from '../../decision/state.ts'
import type { Batch, Write } from '../store.ts'
import { endOf, toText } from './codec.ts'
import type { Connection } from './connection.ts'
import { kindCodes } from './logs.ts'
import type { Places } from './places.ts'
import type { Shapes } from './shapes.ts'
import { emptySheet, type Sheet } from './sheet.ts'
import type { Heads } from './turns.ts'

/** How many latest ended runs are remembered by resource. */
const remembered = 20_000

export interface Plan {
  readonly sheet: Sheet
  /** Where the feed stands before and after. */
  readonly from: Heads
  readonly to: Heads
  /** The number of the latest event of each written resource, in the order of the writes. */
  readonly lasts: readonly number[]
}

export class Planner {
  private readonly shapes: Shapes
  private readonly places: Places
  private readonly readEnded: StatementSync
  private readonly lastEnded = new Map<No, number>()

  constructor(parts: { readonly connection: Connection; readonly shapes: Shapes; readonly places: Places }) {
    this.shapes = parts.shapes
    this.places = parts.places
    this.readEnded = parts.connection.prepare(
      'select ended from live where no = ?1 union all select ended from settled where no = ?1 limit 1',
    )
  }

  /** `careful` trusts nothing and looks where each state really is: only inside a transaction. */
  plan(batch: Batch, from: Heads, careful: boolean): Plan {
    const sheet = emptySheet(batch.guards)
    this.places.sheet = sheet
    const lasts = this.writeEvents(batch, from, sheet)
    const ended = batch.ended.length === 0 ? null : this.writeEnds(batch, from, sheet)
    const { writes } = batch
    for (let i = 0; i < writes.length; i++) {
      const { before, after } = writes[i]!
      if (before === null) {
        this.places.create(after, lasts[i]!, ended?.get(after.no) ?? 0)
        if (this.lastEnded.size < remembered) this.lastEnded.set(after.no, 0)
      } else {
        assert(
          before.no === after.no && before.type === after.type && before.id === after.id,
          `resource ${after.no} changed its name`,
        )
        this.places.change(before, after, lasts[i]!, ended?.get(after.no) ?? null, careful)
      }
    }
    // What has ended is seldom asked again: the map stays as small as what is under way.
    if (ended !== null) for (const no of ended.keys()) this.lastEnded.delete(no)
    for (const { key, hash, no, begun, at } of batch.keys) sheet.keys.push(toText(key), toText(hash), no, begun, at)
    for (const result of batch.late) sheet.late.push(result.no, JSON.stringify(result))
    for (const incident of batch.incidents) sheet.incidents.push(incident.no, incident.kind, JSON.stringify(incident))
    for (const { kind, key, from: version, to } of batch.records ?? [])
      sheet.records.push(toText(kind), toText(key), version, to === null ? null : JSON.stringify(to))
    for (const value of batch.journal ?? []) sheet.journal.push(JSON.stringify(value))
    const to = {
      events: from.events + batch.events.length,
      runs: from.runs + batch.ended.length,
      commits: from.commits + 1,
    }
    return { sheet, from, to, lasts }
  }

  /** A plan was not carried out, or others have written: what is remembered may not be so. */
  forget(): void {
    this.lastEnded.clear()
  }

  private writeEvents(batch: Batch, from: Heads, sheet: Sheet): number[] {
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
      const text = detail === null ? null : JSON.stringify(detail)
      sheet.events.push(++n, at, no, lasts[place]!, kindCodes[kind], was, is, revision, epoch, begun, by, text)
      lasts[place] = n
    }
    return lasts
  }

  /** Answers the number of the latest ended run by resource. */
  private writeEnds(batch: Batch, from: Heads, sheet: Sheet): Map<No, number> {
    const ends = new Map<No, number>()
    let n = from.runs
    for (const run of batch.ended) {
      const prev = ends.get(run.no) ?? this.lastEnded.get(run.no) ?? this.storedEnd(run.no)
      sheet.runs.push(++n, run.endedAt, run.no, prev, endOf(run))
      ends.set(run.no, n)
    }
    return ends
  }

  private storedEnd(no: No): number {
    return (this.readEnded.get(no) as unknown as [number] | undefined)?.[0] ?? 0
  }
}

/** Where a resource is among the writes. Events usually come in the same order, one for each: looking ahead by one is enough. */
function placeFinder(writes: readonly Write[]): (no: No) => number {
  let at = 0
  let places: Map<No, number> | null = null
  return (no) => {
    if (writes[at]?.after.no === no) return at
    if (writes[at + 1]?.after.no === no) return ++at
    places ??= new Map(writes.map(({ after }: { after: Resource }, place) => [after.no, place]))
    const place = places.get(no)
    assert(place !== undefined, `an event of resource ${no}, which the batch does not write`)
    at = place
    return place
  }
}
