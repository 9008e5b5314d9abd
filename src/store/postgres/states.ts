// States as they are selected, and how the rows become resources and events again.
import type { EndedRun, KeyRecord, Resource, StoredEvent } from '../../decision/state.ts'
import { endedRunOf, stateOf } from '../codec.ts'
import { Chunk } from './event-log.ts'
import type { Row } from './pipeline.ts'
import type { Shapes } from './shapes.ts'
import { fromStored, fromText } from './texts.ts'

/** The columns of a state, as every reader selects them from r (resource), s (state) and c (commit). */
export const stateColumns = `r.no, r.id, r.parent, r.tenant, r.name, r.created, r.properties, r.links, s.shape, s.revision, s.epoch, s.since,
  case when s.seq = 0 then 0 else coalesce(c.n + s.seq, 0) end, s.extra, s.owner, s.due, s.overdue, s.run, s.rest`
export const stateWidth = 19
/** To be joined after s or after r. */
export const joinState = 'join state s on s.no = r.no left join commit c on c.batch = s.batch'
export const joinResource = 'join resource r on r.no = s.no left join commit c on c.batch = s.batch'

/**
 * Whoever owns something that is under way, as `o` of a `with recursive`; one of them is null. From one to the next by the index: there
 * are few, and what they own may be very much.
 */
export const ownersOfLive = `o(owner) as (
    (select owner from state where owner is not null order by owner limit 1)
    union all
    select (select t.owner from state t where t.owner > o.owner and t.owner is not null order by t.owner limit 1) from o where o.owner is not null
  )`

const number = (text: string | null) => (text === null ? null : Number(text))
const stored = (text: string | null) => (text === null ? null : fromStored(text))

/** `from`: where the columns of the state begin in the row. */
function resourceOf(row: Row, from: number, shapes: Shapes): Resource {
  const at = (i: number) => row[from + i]!
  const columns = [
    Number(at(0)),
    stored(at(1)),
    number(at(2)),
    stored(at(3)),
    stored(at(4)),
    Number(at(5)),
    at(6),
    at(7),
    Number(at(8)),
    Number(at(9)),
    Number(at(10)),
    Number(at(11)),
    Number(at(12)),
    at(13),
    number(at(14)),
    number(at(15)),
    number(at(16)),
    at(17),
    at(18),
  ]
  return stateOf(columns, shapes)
}

/** Another process may have written shapes down that were never seen here. */
async function knowing(ids: Iterable<number>, shapes: Shapes): Promise<void> {
  for (const id of ids) {
    if (shapes.has(id)) continue
    await shapes.reload()
    return
  }
}

export async function resourcesOf(rows: readonly Row[], shapes: Shapes, from = 0): Promise<Resource[]> {
  await knowing(
    rows.map((row) => Number(row[from + 8])),
    shapes,
  )
  return rows.map((row) => resourceOf(row, from, shapes))
}

export async function eventsIn(
  chunks: readonly Chunk[],
  shapes: Shapes,
  pick: (chunk: Chunk) => readonly number[],
): Promise<StoredEvent[]> {
  await knowing(
    chunks.flatMap((chunk) => chunk.shapeIds()),
    shapes,
  )
  return chunks.flatMap((chunk) => pick(chunk).map((n) => chunk.event(n, shapes)))
}

export const chunkOf = (row: Row): Chunk => new Chunk(row[0]!, row[1]!)

/** From the columns no and body. */
export function endOfRow(no: string | null, body: string | null): EndedRun {
  const [endedAt, ...list] = JSON.parse(body!) as [number, ...unknown[]]
  return endedRunOf(Number(no), endedAt, list)
}

/** From the columns hash, no, begun and at. */
export function keyRecordOf(key: string, [hash, no, begun, at]: Row): KeyRecord {
  return { key, hash: fromText(hash!), no: Number(no), begun: Number(begun), at: Number(at) }
}
