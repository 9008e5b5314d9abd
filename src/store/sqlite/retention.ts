// Old history goes: whole chunks of events and ended runs, late results and keys, a few in each transaction, so that nobody waits for long. The file
// does not become smaller, but what is free in it is used again.
import { nextTurn, systemClock, type Millis } from '../../base/clock.ts'
import { retentionSkewMs, type Removed, type Retention } from '../store.ts'
import { valueIn, type Connection } from './connection.ts'

const rowsAtOnce = 200

export interface RetentionParts {
  readonly connection: Connection
  /** A writing transaction that other handles notice. */
  readonly change: <T>(work: () => T) => T
}

export async function removeHistory(parts: RetentionParts, wanted: Retention): Promise<Removed> {
  const { connection } = parts
  // The second value of a run is when it was accepted: codec.ts.
  const oldest = connection.prepare(`select min(coalesce(${valueIn('run', 1)}, since)) from live where run is not null`)
  const [live] = connection.patiently(() => oldest.get()) as unknown as [number | null]
  const before = Math.min(wanted.before, live === null ? Infinity : live - retentionSkewMs)
  return {
    events: await removeChunks(parts, 'event', before, wanted.signal),
    runs: await removeChunks(parts, 'run', before, wanted.signal),
    keys: wanted.keysBefore === undefined ? 0 : await removeKeys(parts, wanted.keysBefore, wanted.signal),
    late: await removeLate(parts, before, wanted.signal),
  }
}

type ChunkRow = readonly [first: number, at: Millis]

/** The newest chunk always stays: numbers go on from it. */
async function removeChunks(
  parts: RetentionParts,
  table: 'event' | 'run',
  before: Millis,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { connection, change } = parts
  // A chunk is of one commit and begins with its time.
  const oldest = connection.prepare(
    `select first, cast(substr(body, 2, instr(body, ',') - 2) as real) from ${table} order by first limit ${rowsAtOnce + 1}`,
  )
  const remove = connection.prepare(`delete from ${table} where first < ?`)
  for (let removed = 0; ;) {
    const rows = connection.patiently(() => oldest.all()) as unknown as ChunkRow[]
    const kept = rows.findIndex(([, at], index) => at >= before || index === rows.length - 1)
    if (kept <= 0 || signal?.aborted) return removed
    const upTo = rows[kept]![0]
    change(() => remove.run(upTo))
    // The first row of a file has the number 0, and no events.
    removed += upTo - Math.max(1, rows[0]![0])
    await aTurn()
  }
}

async function removeKeys(
  { connection, change }: RetentionParts,
  before: Millis,
  signal: AbortSignal | undefined,
): Promise<number> {
  const find = connection.prepare(`select key from key where at < ? limit ${rowsAtOnce}`)
  const remove = connection.prepare('delete from key where key = ?')
  for (let removed = 0; ;) {
    const keys = connection.patiently(() => find.all(before)) as unknown as [string][]
    if (keys.length === 0 || signal?.aborted) return removed
    change(() => {
      for (const [key] of keys) remove.run(key)
    })
    removed += keys.length
    await aTurn()
  }
}

/** The oldest first, up to the first that is young enough: by what clocks differ, some go a little later. */
async function removeLate(
  { connection, change }: RetentionParts,
  before: Millis,
  signal: AbortSignal | undefined,
): Promise<number> {
  const oldest = connection.prepare(`select id, ${valueIn('body', 'at')} from late order by id limit ${rowsAtOnce}`)
  const remove = connection.prepare('delete from late where id <= ?')
  for (let removed = 0; ;) {
    const rows = connection.patiently(() => oldest.all()) as unknown as [id: number, at: Millis][]
    const kept = rows.findIndex(([, at]) => at >= before)
    const old = kept < 0 ? rows : rows.slice(0, kept)
    if (old.length === 0 || signal?.aborted) return removed
    change(() => remove.run(old.at(-1)![0]))
    removed += old.length
    await aTurn()
  }
}

const aTurn = () => nextTurn(systemClock)
