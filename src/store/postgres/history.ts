// Where history is kept and for how long: partitions are made ahead of the events that go there, and dropped or emptied when all in
// them is older than wanted. What a live run has written stays.
import { systemClock, type Millis } from '../../base/clock.ts'
import type { LateResult } from '../../decision/state.ts'
import { retentionSkewMs, type Removed, type Retention } from '../store.ts'
import type { Chunk } from './event-log.ts'
import { chunkOf } from './states.ts'
import type { Wire } from './wire.ts'

/** Events of one partition, and how many of them are left when the next is made. */
const partitionEvents = 4_000_000
const madeAhead = 1_000_000
/** One process at a time. */
const historyLock = 0x4869_7374
const rowsAtOnce = 2_000
/** There is time to make a partition: whoever has just begun has other things to do. */
const unhurriedMs = 1_000

export class History {
  private readonly open: () => Promise<Wire>
  private readonly log: (line: string) => void
  /** The last partition ends before this number. */
  private until = 0
  private isMaking = false
  private cancel = () => {}
  private readonly atWork = new Set<Wire>()

  constructor(open: () => Promise<Wire>, log: (line: string) => void) {
    this.open = open
    this.log = log
  }

  /** Called with the number of the latest event now and then: makes the next partition in time. */
  reached(n: number): void {
    if (n + madeAhead < this.until || this.isMaking) return
    this.isMaking = true
    this.cancel = systemClock.after(unhurriedMs, () => {
      this.alone((wire) => this.ensure(wire))
        .catch((error: unknown) => this.log(`could not make a partition for events: ${(error as Error).message}`))
        .finally(() => (this.isMaking = false))
    })
  }

  /** What is under way is undone: it is done again by whoever is next. */
  close(): void {
    this.cancel()
    for (const wire of this.atWork) wire.cut()
  }

  /** On a connection for just this: it may take long, and commits go on meanwhile. */
  private async alone<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    const wire = await this.open()
    this.atWork.add(wire)
    try {
      return await work(wire)
    } finally {
      this.atWork.delete(wire)
      await wire.close()
    }
  }

  private async ensure(wire: Wire): Promise<void> {
    await wire.transaction(async () => {
      await wire.query(`select pg_advisory_xact_lock(${historyLock})`)
      // What went to the rest stays there: the next partition begins above it.
      const [row] = await wire.query(`select events, (select coalesce(max(first), 0) from event_rest) from feed`)
      const lowest = Number(row![1]) > 0 ? Math.max(Number(row![0]), Number(row![1])) + madeAhead : 0
      let end = Math.max(lowest, ...(await partitionsOf(wire)).map((part) => part.to))
      while (end < Number(row![0]) + 2 * madeAhead) {
        const to = end + partitionEvents
        const name = `event_from_${end}`
        await wire.query(`create table ${name} (like event including all)`)
        await wire.query(`alter table event attach partition ${name} for values from (${end}) to (${to})`)
        end = to
      }
      this.until = end
    })
  }

  /** Removes what is older; answers how much. While another process is at it, there is nothing to do here. */
  remove(wanted: Retention): Promise<Removed> {
    return this.alone(async (wire) => {
      const [mine] = await wire.query(`select pg_try_advisory_lock(${historyLock})::int`)
      if (Number(mine![0]) === 0) return { events: 0, runs: 0, keys: 0, late: 0 }
      try {
        return await this.removeAlone(wire, wanted)
      } finally {
        if (wire.isOpen) await wire.query(`select pg_advisory_unlock(${historyLock})`)
      }
    })
  }

  private async removeAlone(wire: Wire, wanted: Retention): Promise<Removed> {
    const oldest = `select min(substring(run from '^\\[[^,]*,([0-9.]+)')::float8) from live where owner >= 0`
    const live = (await wire.query(oldest))[0]![0]
    const before = Math.min(wanted.before, live == null ? Infinity : Number(live) - retentionSkewMs)
    const cut = await firstSince(wire, before)
    const remove: RowRemover = (table, condition, value) => deleteRows(wire, table, condition, value, wanted.signal)
    return {
      events: await removeEvents(wire, cut, remove),
      runs: await remove('run', `substring(body from '^\\[([0-9.]+)')::float8 < $1::float8`, before),
      keys: wanted.keysBefore === undefined ? 0 : await remove('key', 'at < $1::float8', wanted.keysBefore),
      late: await removeLate(wire, before, wanted.signal),
    }
  }
}

async function partitionsOf(wire: Wire): Promise<{ readonly name: string; readonly to: number }[]> {
  const rows =
    await wire.query(`select c.relname, substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''?([0-9]+)')
    from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'event'::regclass`)
  return rows.filter(([, to]) => to !== null).map(([name, to]) => ({ name: name!, to: Number(to) }))
}

/** The number of the first event of the first chunk that is not older; found by halving, since times grow with numbers. */
async function firstSince(wire: Wire, before: Millis): Promise<number> {
  const [ends] = await wire.query('select coalesce(min(first), 0), coalesce(max(first), 0) from event')
  let [low, high] = [Number(ends![0]), Number(ends![1])]
  const chunkAt = async (n: number): Promise<Chunk> => {
    const rows = await wire.query('select first, body from event where first <= $1::int8 order by first desc limit 1', [
      n,
    ])
    return chunkOf(rows[0]!)
  }
  if (high === 0) return 0
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    const chunk = await chunkAt(middle)
    if (chunk.since < before) low = Math.max(chunk.end, middle + 1)
    else high = chunk.first
  }
  return low
}

/** Whole partitions where nothing is left to keep, and rows of the one that is cut. */
async function removeEvents(wire: Wire, cut: number, remove: RowRemover): Promise<number> {
  const [[oldest] = ['0']] = await wire.query('select coalesce(min(first), 0) from event')
  if (Number(oldest) >= cut) return 0
  for (const { name, to } of await partitionsOf(wire)) if (to <= cut) await wire.query(`drop table ${name}`)
  await remove('event', 'first < $1::int8', cut)
  await remove('commit', `n < $1::int8 and at < now() - interval '1 hour'`, cut)
  return cut - Number(oldest)
}

type RowRemover = (table: string, condition: string, value: number) => Promise<number>

/** A few at a time: nobody has to wait for long. */
async function deleteRows(
  wire: Wire,
  table: string,
  condition: string,
  value: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  for (let removed = 0; ;) {
    const old = `select tableoid, ctid from ${table} where ${condition} limit ${rowsAtOnce}`
    const rows = await wire.query(
      `with old as (${old}) delete from ${table} t using old where t.tableoid = old.tableoid and t.ctid = old.ctid returning 1`,
      [value],
    )
    removed += rows.length
    if (rows.length < rowsAtOnce || signal?.aborted) return removed
  }
}

/** The oldest first, up to the first that is young enough: by what clocks differ, some go a little later. */
async function removeLate(wire: Wire, before: Millis, signal: AbortSignal | undefined): Promise<number> {
  for (let removed = 0; ;) {
    const rows = await wire.query(`select id, body from late order by id limit ${rowsAtOnce}`)
    const kept = rows.findIndex(([, body]) => (JSON.parse(body!) as LateResult).at >= before)
    const old = kept < 0 ? rows : rows.slice(0, kept)
    if (old.length === 0 || signal?.aborted) return removed
    await wire.query('delete from late where id <= $1::int8', [old.at(-1)![0]!])
    removed += old.length
  }
}
