// Incarnations and their leases: one row each, renewed by one small update. Whether a process lives is seen by a lock that its session
// holds: the server drops it with the connection, so that a process that died is noticed at once, not when its lease has run out.
import type { Millis } from '../../base/clock.ts'
import { blockOf } from '../../base/number-blocks.ts'
import { systemRandom } from '../../base/random.ts'
import type { Incarnation, No } from '../../decision/state.ts'
import type { WorkerRow } from '../store.ts'
import { translating } from './failures.ts'
import type { Row, Step } from './pipeline.ts'
import type { ServerClock } from './server-clock.ts'
import type { Session } from './session.ts'
import { ownersOfLive } from './states.ts'
import { fromText, numbersOf, toText } from './texts.ts'
import type { Statements, Wire } from './wire.ts'
import type { Wires } from './wires.ts'

/** Null as the time means: the server's own. */
const now = (parameter: number) =>
  `coalesce($${parameter}::float8, floor(extract(epoch from clock_timestamp()) * 1000)::float8)`

export const workerStatements = {
  /** Those who own something and are not written down. */
  strangers: `with recursive ${ownersOfLive} select owner from o where not known`,
  newest: 'select coalesce(max(no), 0) from resource',
  /** A higher number than any that was given, also to one that is known only by what it numbered: $5. */
  register: `with c as (update counter set value = greatest(value, $5::int8, (select coalesce(max(no), 0) from worker)) + 1 where name = 'incarnation'
      returning value), t as (select ${now(3)} as now)
    insert into worker (no, name, started, beat, lease, state, lock)
    select c.value, $1::text, t.now, t.now, t.now + $2::float8, 'live', $4::int8 from c, t returning no`,
  beat: `with t as (select ${now(3)} as now) update worker w set beat = t.now, lease = t.now + $2::float8 from t
    where w.no = $1::int8 and w.state = 'live' and w.lease > t.now returning 1`,
  end: `with t as (select ${now(3)} as now) update worker w set state = $2::text from t
    where w.no = $1::int8 and w.state = 'live' and ($2::text <> 'expired' or w.lease <= t.now) returning 1`,
  workers: `with t as (select ${now(1)} as now),
    held as (select (classid::int8 << 32) | objid::int8 as lock from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
      and database = (select oid from pg_database where datname = current_database()))
    select w.no, w.name, w.started, w.beat, w.lease, case when w.state <> 'live' then w.state
      when not exists (select 1 from held where held.lock = w.lock) then 'dead' when w.lease <= t.now then 'expired' else 'live' end, t.now
    from worker w, t order by w.no`,
  /**
   * Parameters: now, the most, now for leases, for how long, who asks. It is given what it lacks to an even share of all that is owned or
   * waits, a part at a time, and a few in any case, or one where it has more than its share: others may be slow. Nothing is counted for one that is alone.
   */
  offer: `with t as (select ${now(3)} as now),
    alive as materialized (select greatest(1, count(*)) as workers from worker w, t where w.state = 'live' and w.lease > t.now),
    found as (select (select count(*) from (select 1 from live where owner = 0 limit 8000) w) as waiting,
      (select count(*) from (select 1 from live where owner > 0 limit 8000) o) as owned,
      (select count(*) from (select 1 from live where owner = $5::int8 limit 8000) m) as mine, workers from alive),
    share as (select greatest(case when mine * workers > waiting + owned then 1 else 4 end, least(greatest(16, waiting / (4 * workers)), (waiting + owned) / workers - mine)) as most from found),
    picked as (select s.no from live s, t where s.owner = 0 and s.due <= $1::float8 and (s.offered is null or s.offered <= t.now)
        and not s.shape = any($6::int4[]) and not s.no = any($7::int8[])
      order by s.lane, s.no limit least($2::int8, case when (select workers from alive) > 1 then (select most from share) else $2::int8 end)
      for update of s skip locked)
    update live s set offered = t.now + $4::float8 from picked, t where s.no = picked.no returning s.no`,
  forget: `delete from worker w using unnest($1::int8[]) v(no) where w.no = v.no and w.state <> 'live'
    and not exists (select 1 from live s where s.owner = w.no)`,
} as const satisfies Statements

/** Who is offered a run and does not claim it within this time has lost it to the next who asks. */
const offeredForMs = 1_000

interface OfferAsk {
  readonly now: Millis
  readonly limit: number
  readonly owner: Incarnation
  readonly foreign: readonly number[]
  readonly except: readonly No[]
}

export interface WorkersParts {
  /** For beats, and for the locks. */
  readonly session: Session
  /** For what must survive a fail-over: a number must never be given twice. */
  readonly wires: Wires
  /** Undefined: times are given. */
  readonly clock: ServerClock | undefined
}

export class Workers {
  private readonly parts: WorkersParts

  constructor(parts: WorkersParts) {
    this.parts = parts
  }

  async register(worker: { name: string; leaseMs: number; now: Millis }): Promise<Incarnation> {
    const lock = systemRandom.below(2 ** 52) + 1
    // Locked first: nobody may see the row of a process without its lock.
    await this.parts.session.hold(lock)
    try {
      const [newest] = await this.ask('newest', [])
      const highest = blockOf(Number(newest![0]))
      const [row] = await this.ask('register', [
        toText(worker.name),
        String(worker.leaseMs),
        this.time(worker.now),
        String(lock),
        String(highest),
      ])
      return Number(row![0])
    } catch (error) {
      await this.parts.session.release(lock).catch(() => {})
      throw error
    }
  }

  async beat(worker: { no: Incarnation; leaseMs: number; now: Millis }): Promise<boolean> {
    const values = [String(worker.no), String(worker.leaseMs), this.time(worker.now)]
    return (await this.ask('beat', values)).length === 1
  }

  async end(worker: { no: Incarnation; as: 'ended' | 'dead' | 'expired'; now: Millis }): Promise<boolean> {
    return (await this.ask('end', [String(worker.no), worker.as, this.time(worker.now)])).length === 1
  }

  async all(at: Millis): Promise<readonly WorkerRow[]> {
    const rows = new Map<Incarnation, WorkerRow>()
    const { clock } = this.parts
    const asked = clock?.monotonic() ?? 0
    // Owners first: whoever owns something has registered before. Each statement sees what is committed when it begins.
    const [strangers, found = []] = await this.askAll([
      { name: 'strangers', values: [] },
      { name: 'workers', values: [this.time(at)] },
    ])
    if (found.length > 0) clock?.heard(Number(found[0]![6]), asked, clock.monotonic())
    for (const [no, name, started, beat, lease, state] of found) {
      rows.set(Number(no), {
        no: Number(no),
        name: fromText(name!),
        startedAt: Number(started),
        beatAt: Number(beat),
        leaseUntil: Number(lease),
        state: state as WorkerRow['state'],
      })
    }
    for (const [owner] of strangers) {
      const no = Number(owner)
      if (!rows.has(no)) rows.set(no, { no, name: '', startedAt: 0, beatAt: 0, leaseUntil: 0, state: 'dead' })
    }
    return [...rows.values()].sort((a, b) => a.no - b.no)
  }

  /** The numbers of waiting runs that are this worker's to claim for a moment; none of these shapes and numbers. */
  async offer({ now: at, limit, owner, foreign, except }: OfferAsk): Promise<No[]> {
    const whom = [String(offeredForMs), String(owner), numbersOf(foreign), numbersOf(except)]
    const values = [String(at), String(limit), this.time(at), ...whom]
    const rows = await this.ask('offer', values)
    return rows.map(([no]) => Number(no))
  }

  async forget(nos: readonly Incarnation[]): Promise<void> {
    await this.ask('forget', [numbersOf(nos)])
  }

  private time(given: Millis): string | null {
    return this.parts.clock === undefined ? String(given) : null
  }

  private async ask(name: keyof typeof workerStatements, values: readonly (string | null)[]): Promise<readonly Row[]> {
    const [rows] = await this.askAll([{ name, values }], name === 'register' || name === 'end')
    return rows
  }

  /** The first list of rows is there in any case. */
  private async askAll(
    steps: readonly Step[],
    isDurable = false,
  ): Promise<readonly [readonly Row[], ...(readonly Row[])[]]> {
    const { session, wires } = this.parts
    const asking = (wire: Wire) => wire.run(steps)
    const found = await translating(() => (isDurable ? wires.use(asking) : session.use(asking)))
    return found as readonly [readonly Row[], ...(readonly Row[])[]]
  }
}
