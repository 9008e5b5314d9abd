// States as they are selected, and how the rows become resources and events again.
import type { EndedRun, KeyRecord, Resource, StoredEvent } from '../../decision/state.ts'
import { endedRunOf } from '../codec.ts'
import { readable } from '../readable.ts'
import { stateOf } from '../state-row.ts'
import type { StoredRun } from '../store.ts'
import { Chunk } from './event-log.ts'
import type { Row } from './pipeline.ts'
import type { Shapes } from './shapes.ts'
import { fromStored, fromText } from './texts.ts'

/** The columns of a state, as every reader selects them from r (resource), s (state) and c (commit). */
export const stateColumns = `r.no, r.id, r.parent, r.tenant, r.name, r.created, r.properties, r.links, s.shape, s.revision, s.epoch, s.since,
  case when s.seq = 0 then 0 else coalesce(c.n + s.seq, 0) end, s.extra, s.owner, s.due, s.overdue, s.run, s.rest`
/** To be joined after s or after r. */
export const joinState = 'join state s on s.no = r.no left join commit c on c.batch = s.batch'
export const joinResource = 'join resource r on r.no = s.no left join commit c on c.batch = s.batch'

/** States of these numbers, in order. The numbers are found first, each by the index that is meant for it. */
export const statesOf = (numbers: string, order = 'f.no') =>
  `with f as materialized (${numbers}) select ${stateColumns} from f join state s on s.no = f.no ${joinResource} order by ${order}`

/** Above every number of a resource. */
export const noEnd = '9223372036854775807'

/**
 * Of all rows with one value in a column, those between two numbers; to be selected `inOrderOf` the same column. Only the index of
 * (column, no) fits both. Asked for `column = value and no > after order by no`, the planner takes, with some statistics, the index of
 * numbers and looks for the value: where nothing has it, past every row of the table.
 */
export const having = (column: string, value: string, after: string, before = noEnd) =>
  `(${column}, ${noBeside(column)}) > (${value}, ${after}) and (${column}, ${noBeside(column)}) < (${value}, ${before})`
export const inOrderOf = (column: string) => `order by ${column}, ${noBeside(column)}`
/** The number in the same table, as the index has it: `t.shape` has `t.no` beside it, `t.owner` has `(t.no + 0)` (see migrations.ts). */
const noBeside = (column: string) =>
  column.endsWith('owner') ? `(${column.replace(/\w+$/, 'no')} + 0)` : column.replace(/\w+$/, 'no')

/**
 * Whoever may own something that is under way, as `o` of a `with recursive`: all workers that are written down, nobody (0 and -1), and
 * owners that are not `known`, found by the index between those. It has the dead entry of every run that has ended since it was
 * vacuumed, under the worker that owned it: looked for from the first on, the next who owns something is behind all of them.
 */
export const ownersOfLive = `k(owner, next) as (
    select owner, lead(owner, 1, ${noEnd}) over (order by owner)
    from (select no from worker union all values (-1::int8), (0::int8)) w(owner)
  ), o(owner, next, known) as (
    select owner, next, true from k
    union all
    select u.owner, o.next, false from o cross join lateral
      (select t.owner from live t where t.owner > o.owner and t.owner < o.next order by t.owner limit 1) u
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
export async function knowing(ids: Iterable<number>, shapes: Shapes): Promise<void> {
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

/** From the columns no and body; null: it is damaged. */
export function endOfRow(no: string | null, body: string | null): EndedRun | null {
  const [list] = readable<[number, ...unknown[]]>([body])
  return Array.isArray(list) && list.length > 0 ? endedRunOf(Number(no), list[0], list.slice(1)) : null
}

/** From rows of no, body and n. */
export function runsOf(rows: readonly Row[]): StoredRun[] {
  const found: StoredRun[] = []
  for (const [no, body, n] of rows) {
    const run = endOfRow(no!, body!)
    if (run !== null) found.push({ ...run, n: Number(n) })
  }
  return found
}

/** From the columns hash, no, begun and at. */
export function keyRecordOf(key: string, [hash, no, begun, at]: Row): KeyRecord {
  return { key, hash: fromText(hash!), no: Number(no), begun: Number(begun), at: Number(at) }
}
