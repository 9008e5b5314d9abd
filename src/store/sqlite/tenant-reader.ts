// Questions that are asked for one tenant. What is of others is left out where it is found: by a join with `resource`, or, in the
// chunks of events and ended runs, before an entry is made out. Inside a reading transaction of the caller.
import type { StatementSync } from 'node:sqlite'
import type { No, StoredEvent } from '../../decision/state.ts'
import type { StoredRun, TenantEvents, TenantEventsQuery } from '../store.ts'
import { toText } from '../codec.ts'
import { numbers, type Connection } from './connection.ts'
import type { EventLog, FoundRun, RunLog } from './logs.ts'

/** So many ended runs of all are looked through; then those of the tenant's own resources are asked for one by one. */
const runsLooked = 2_000

const standing = 'left join live l on l.no = r.no left join settled s on s.no = r.no where r.tenant = ?1'
const ownRows = `resource r indexed by resource_tenant ${standing} and r.tenant <> 'default'`
const allRows = `resource r ${standing}`
const shapesSql = (rows: string) => `select coalesce(l.shape, s.shape), count(*) from ${rows} group by 1`
const endsSql = (rows: string) => `select coalesce(l.ended, s.ended) from ${rows} and coalesce(l.ended, s.ended) > 0`

export class TenantReader {
  private readonly connection: Connection
  private readonly events: EventLog
  private readonly runs: RunLog
  private readonly mine: StatementSync
  private readonly shapes: StatementSync
  private readonly ends: StatementSync
  private readonly openIncidents: StatementSync

  constructor(parts: { readonly connection: Connection; readonly events: EventLog; readonly runs: RunLog }) {
    this.connection = parts.connection
    this.events = parts.events
    this.runs = parts.runs
    const prepare = (sql: string) => parts.connection.prepare(sql)
    this.mine = prepare('select no from resource where no in (select value from json_each(?1)) and tenant = ?2')
    this.shapes = prepare(shapesSql(ownRows))
    this.ends = prepare(endsSql(ownRows))
    this.openIncidents = prepare(
      `select incident.id, incident.body from incident cross join resource r on r.no = incident.no
        where r.tenant = ?1 and incident.id < ?2 order by incident.id desc limit ?3`,
    )
  }

  /** How many of its resources are of each shape. */
  counts(tenant: string): readonly (readonly [shape: number, count: number])[] {
    // The usual one is in no index: where there are no others, everything is of it.
    const statement = tenant === 'default' ? this.connection.prepare(shapesSql(allRows)) : this.shapes
    return statement.all(toText(tenant)) as unknown as [number, number][]
  }

  eventsOf({ tenant, after, limit, look }: TenantEventsQuery): TenantEvents {
    const found: StoredEvent[] = []
    let looked = after
    let left = look
    if (limit <= 0) return { events: found, looked }
    for (const chunk of this.events.entriesFrom(after + 1)) {
      const mine = this.amongst(chunk, tenant)
      for (const entry of chunk) {
        if (left-- <= 0) return { events: found, looked }
        if (mine.has(entry.no)) found.push(entry.event())
        looked = entry.n
        if (found.length === limit) return { events: found, looked }
      }
    }
    return { events: found, looked }
  }

  /** Newest first, from the number `from` backwards. */
  endedRuns(tenant: string, from: number, limit: number): readonly StoredRun[] {
    const found: FoundRun[] = []
    let left = runsLooked
    for (const chunk of this.runs.back(from)) {
      const mine = this.amongst(
        chunk.map(({ run }) => run),
        tenant,
      )
      found.push(...chunk.filter(({ run }) => mine.has(run.no)))
      left -= chunk.length
      if (found.length >= limit || left <= 0) break
    }
    const isThrough = found.length >= limit || left > 0
    const all = isThrough ? found.slice(0, limit) : this.ownRuns(tenant, from, limit)
    return all.map(({ n, run }) => ({ ...run, n }))
  }

  /** By the latest ended run of each of its resources, and from there along their chains: others' runs are not looked at. */
  private ownRuns(tenant: string, from: number, limit: number): readonly FoundRun[] {
    const ends = tenant === 'default' ? this.connection.prepare(endsSql(allRows)) : this.ends
    const heads: FoundRun[] = []
    for (const head of numbers(ends.all(toText(tenant)))) {
      let run = this.runs.find(head)
      while (run !== null && run.n > from) run = this.runs.find(run.prev)
      if (run !== null) heads.push(run)
    }
    const found: FoundRun[] = []
    heads.sort((a, b) => a.n - b.n)
    for (let newest = heads.pop(); newest !== undefined && found.length < limit; newest = heads.pop()) {
      found.push(newest)
      const next = newest.prev === 0 ? null : this.runs.find(newest.prev)
      if (next !== null) heads.splice(heads.findLastIndex(({ n }) => n < next.n) + 1, 0, next)
    }
    return found
  }

  /** Rows of open incidents. */
  incidents(tenant: string, before: number, limit: number): readonly unknown[] {
    return this.openIncidents.all(toText(tenant), before, limit)
  }

  private amongst(entries: readonly { readonly no: No }[], tenant: string): ReadonlySet<No> {
    const nos = JSON.stringify([...new Set(entries.map(({ no }) => no))])
    return new Set(numbers(this.mine.all(nos, toText(tenant))))
  }
}
