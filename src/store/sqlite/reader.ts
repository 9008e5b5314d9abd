// Every question to the store. A row of `live` rules over its row in `settled`, so each looks at both; answers that take
// several statements are read in one transaction.
import type { StatementSync } from 'node:sqlite'
import { unreachable } from '../../base/assert.ts'
import type { Millis } from '../../base/clock.ts'
import type { Json } from '../../base/json.ts'
import type { Ask } from '../../decision/situation.ts'
import type {
  EndedRun,
  Incarnation,
  Incident,
  KeyRecord,
  LateResult,
  No,
  Resource,
  StoredEvent,
} from '../../decision/state.ts'
import type {
  Answer,
  IncidentsQuery,
  OfTenant,
  RunsQuery,
  StatusCount,
  StoredIncident,
  StoredRun,
  TenantEvents,
  TenantEventsQuery,
  WorkQuery,
} from '../store.ts'
import { readable } from '../readable.ts'
import { byTypeAndStatus } from '../shape.ts'
import { fromText, toText } from '../codec.ts'
import { stateColumns, stateOf, stateTables, typed } from '../state-row.ts'
import { numbers, valueIn, type Connection } from './connection.ts'
import { atRest } from './lingering.ts'
import type { EventLog, FoundRun, RunLog } from './logs.ts'
import type { Shapes } from './shapes.ts'
import { latestEvents } from './turns.ts'
import { TenantReader } from './tenant-reader.ts'
import type { Verifier } from './verifier.ts'
import { WorkFinder } from './work-finder.ts'

export interface ReaderParts {
  readonly connection: Connection
  readonly shapes: Shapes
  readonly events: EventLog
  readonly runs: RunLog
  readonly verifier: Verifier
}

export class Reader {
  private readonly parts: ReaderParts
  private readonly state: StatementSync
  private readonly key: StatementSync
  private readonly ended: StatementSync
  private readonly last: StatementSync
  private readonly owners: StatementSync
  private readonly work: WorkFinder
  private readonly workOfTenant: WorkFinder
  private readonly settledCounts: StatementSync
  private readonly liveCounts: StatementSync
  private readonly shapesOfLive: StatementSync
  private readonly late: StatementSync
  private readonly openIncidents: StatementSync
  private readonly incidentsOf: StatementSync
  private readonly runHead: StatementSync
  private readonly readSetting: StatementSync
  private readonly ofTenant: TenantReader

  constructor(parts: ReaderParts) {
    this.parts = parts
    this.ofTenant = new TenantReader(parts)
    const prepare = (sql: string) => parts.connection.prepare(sql)
    this.state = prepare(`select ${stateColumns} from ${stateTables} where r.no = ?`)
    this.key = prepare('select hash, no, begun, at from key where key = ?')
    this.ended = prepare(
      'select ended from live where no = ?1 union all select ended from settled where no = ?1 limit 1',
    )
    this.last = prepare('select last from live where no = ?1 union all select last from settled where no = ?1 limit 1')
    this.owners = prepare('select distinct owner from live where owner > 0')
    this.work = new WorkFinder(parts.connection, { ofTenant: false })
    this.workOfTenant = new WorkFinder(parts.connection, { ofTenant: true })
    this.settledCounts = prepare('select shape, count(*) from settled group by shape')
    this.liveCounts = prepare(
      'select s.shape, l.shape, count(*) from live l left join settled s using (no) group by 1, 2',
    )
    this.shapesOfLive = prepare(
      `select shape, ${valueIn('run', 2)}, ${valueIn('rest', 0)}, count(*) from live
        where owner is not ${atRest} group by 1, 2, 3`,
    )
    this.late = prepare('select body from late where no = ? order by id')
    this.openIncidents = prepare('select id, body from incident where id < ? order by id desc limit ?')
    this.incidentsOf = prepare('select id, body from incident where no = ? and id < ? order by id desc limit ?')
    this.runHead = prepare(`select runs ${latestEvents}`)
    this.readSetting = prepare('select value from setting where name = ?')
  }

  load(asks: readonly Ask[]): readonly Answer[] {
    const only = asks.length === 1 ? asks[0]! : null
    if (only !== null && (only.ask === 'resource' || only.ask === 'key'))
      return [this.parts.connection.patiently(() => this.answer(only))]
    return this.parts.connection.reading(() => asks.map((ask) => this.answer(ask)))
  }

  resource(no: No): Resource | null {
    const row = this.state.get(no)
    return row === undefined ? null : stateOf(row, this.parts.shapes)
  }

  /** A number that a damaged index names, and that nothing has, is left out. */
  all(nos: readonly No[]): Resource[] {
    return nos.map((no) => this.resource(no)).filter((one) => one !== null)
  }

  workFor(query: WorkQuery, now: Millis, limit: number, after: No): readonly Resource[] {
    return this.parts.connection.reading(() => {
      const { tenant } = query
      const finder = tenant === undefined ? this.work : this.workOfTenant
      const found = finder.find(query, { tenant, now, after, limit })
      return 'nos' in found ? this.all(found.nos) : found.rows.map((row) => stateOf(row, this.parts.shapes))
    })
  }

  ownersOfLive(): Incarnation[] {
    return this.parts.connection.patiently(() => numbers(this.owners.all()))
  }

  counts({ tenant }: OfTenant): readonly StatusCount[] {
    const counts = new Map<number, number>()
    const add = (shape: number | null, count: number) => {
      if (shape !== null) counts.set(shape, (counts.get(shape) ?? 0) + count)
    }
    this.parts.connection.reading(() => {
      if (tenant !== undefined) {
        for (const [shape, count] of this.ofTenant.counts(tenant)) add(shape, count)
        return
      }
      for (const [shape, count] of this.settledCounts.all() as unknown as [number, number][]) add(shape, count)
      for (const [base, shape, count] of this.liveCounts.all() as unknown as [number | null, number, number][]) {
        add(base, -count)
        add(shape, count)
      }
    })
    const named: StatusCount[] = []
    for (const [id, count] of counts) {
      const { type, status } = this.parts.shapes.get(id)
      if (count > 0 && status !== '') named.push({ type, status, count })
    }
    return named.sort(byTypeAndStatus)
  }

  liveShapes() {
    const rows = this.parts.connection.patiently(() => this.shapesOfLive.all()) as unknown as [
      number,
      unknown,
      unknown,
      number,
    ][]
    return rows.map(([id, operation, step, count]) => {
      const { type, status } = this.parts.shapes.get(id)
      // What is of another kind is damaged: whoever reads the row is told.
      return {
        type,
        status,
        operation: typeof operation === 'string' ? operation : '',
        step: typeof step === 'number' ? step : -1,
        count,
      }
    })
  }

  history(no: No, before: number | null, limit: number): readonly StoredEvent[] {
    return this.parts.connection.reading(() => {
      const { events } = this.parts
      const page: StoredEvent[] = []
      if (limit <= 0) return page
      // A page usually goes on at an event of the same resource: its chain leads on from there.
      const known = before === null ? null : events.find(before)
      const start = known?.no === no ? known.prev : ((this.last.get(no) as unknown as [number] | undefined)?.[0] ?? 0)
      for (const event of events.chain(start)) {
        if (before === null || event.n < before) page.push(event)
        if (page.length === limit) break
      }
      return page
    })
  }

  eventsAfter(n: number, limit: number): readonly StoredEvent[] {
    return this.parts.connection.reading(() => this.parts.events.after(n, limit))
  }

  tenantEvents(query: TenantEventsQuery): TenantEvents {
    return this.parts.connection.reading(() => this.ofTenant.eventsOf(query))
  }

  endedRuns({ no, tenant, before = Infinity, limit }: RunsQuery): readonly StoredRun[] {
    return this.parts.connection.reading(() => {
      const head = Math.min(before - 1, numbers(this.runHead.all())[0]!)
      if (no === undefined && tenant !== undefined) return this.ofTenant.endedRuns(tenant, head, limit)
      if (tenant !== undefined && this.resource(no!)?.tenant !== tenant) return []
      const found: StoredRun[] = []
      for (const { n, run } of no === undefined ? this.allRuns(head) : this.runsOf(no)) {
        if (found.length >= limit) break
        if (n <= head) found.push({ ...run, n })
      }
      return found
    })
  }

  private *allRuns(head: number): Generator<FoundRun> {
    for (const chunk of this.parts.runs.back(head)) yield* chunk
  }

  /** Along the chain of one resource. */
  private *runsOf(no: No): Generator<FoundRun> {
    for (let entry = this.parts.runs.find(this.latestEnd(no)); entry !== null; entry = this.parts.runs.find(entry.prev))
      yield entry
  }

  lateResults(no: No): readonly LateResult[] {
    const rows = this.parts.connection.patiently(() => this.late.all(no))
    return readable<LateResult>(rows.map(textOf))
  }

  incidents(query: IncidentsQuery): readonly StoredIncident[] {
    const rows = this.parts.connection.patiently(() => this.incidentRows(query)) as readonly [number, string][]
    return rows.flatMap(([n, body]) => readable<Incident>([body]).map((incident) => ({ ...incident, n })))
  }

  private incidentRows({ no, tenant, before = Number.MAX_SAFE_INTEGER, limit }: IncidentsQuery): readonly unknown[] {
    if (no === undefined)
      return tenant === undefined
        ? this.openIncidents.all(before, limit)
        : this.ofTenant.incidents(tenant, before, limit)
    if (tenant !== undefined && this.resource(no)?.tenant !== tenant) return []
    return this.incidentsOf.all(no, before, limit)
  }

  setting(name: string): Json {
    const row = this.parts.connection.patiently(() => this.readSetting.get(toText(name)))
    return row === undefined ? null : (JSON.parse(textOf(row)) as Json)
  }

  private answer(ask: Ask): Answer {
    const { verifier } = this.parts
    switch (ask.ask) {
      case 'resource':
        return this.resource(ask.no)
      case 'named': {
        const no = verifier.holder(ask.type, ask.id)
        const found = no === null ? null : typed(this.resource(no), ask.type)
        // The list of names may be damaged: nobody is given another's resource.
        return found?.id === ask.id ? found : null
      }
      case 'children':
        return this.all(verifier.children(ask.no))
      case 'linkedBy':
        return this.all(verifier.linkedBy(ask.no, ask.link))
      case 'key':
        return this.keyRecord(ask.key)
      case 'endedRun':
        return this.endedRun(ask.no, ask.begun)
      default:
        return unreachable(ask)
    }
  }

  private keyRecord(key: string): KeyRecord | null {
    const row = this.key.get(toText(key)) as unknown as [string, number, number, number] | undefined
    if (row === undefined) return null
    const [hash, no, begun, at] = row
    return { key, hash: fromText(hash), no, begun, at }
  }

  private endedRun(no: No, begun: number): EndedRun | null {
    for (const { run } of this.runsOf(no)) if (run.begun === begun) return run
    return null
  }

  private latestEnd(no: No): number {
    return (this.ended.get(no) as unknown as [number] | undefined)?.[0] ?? 0
  }
}

const textOf = (row: unknown): string => (row as [string])[0]
