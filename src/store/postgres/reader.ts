// Every question but those of decisions: work, counts, history, the feed, and what is kept beside resources.
import { unreachable } from '../../base/assert.ts'
import type { Millis } from '../../base/clock.ts'
import type { Json } from '../../base/json.ts'
import type { Incident, LateResult, No, Resource, StoredEvent } from '../../decision/state.ts'
import type {
  IncidentsQuery,
  JournalEntry,
  OfTenant,
  RecordsQuery,
  RunsQuery,
  StatusCount,
  StoredIncident,
  StoredRecord,
  StoredRun,
  TenantEvents,
  TenantEventsQuery,
  WorkQuery,
} from '../store.ts'
import { readable, recordValue } from '../readable.ts'
import { byTypeAndStatus } from '../shape.ts'
import type { Chunk } from './event-log.ts'
import { translating } from './failures.ts'
import type { Row } from './pipeline.ts'
import type { Shapes } from './shapes.ts'
import { chunkOf, eventsIn, having, inOrderOf, knowing, resourcesOf, runsOf, statesOf } from './states.ts'
import { endedRunsOf, eventsOf, tenantStatements, workOf } from './tenant-reader.ts'
import { fromText, numbersOf, toText } from './texts.ts'
import type { Statements, Wire } from './wire.ts'
import type { Wires } from './wires.ts'

export const readStatements = {
  ownedBy: statesOf(`select p.no from unnest($1::int8[]) v(owner) cross join lateral
    (select no from live where ${having('owner', 'v.owner', '$2::int8')} ${inOrderOf('owner')} limit $3::int8) p
    order by p.no limit $3::int8`),
  waiting: statesOf(
    `select no from live where ${having('owner', '0', '$2::int8')} and due <= $1::float8 ${inOrderOf('owner')} limit $3::int8`,
  ),
  withoutRun:
    statesOf(`select t.no from live t join shape on shape.id = t.shape where ${having('t.owner', '-1', '$1::int8')}
    and shape.kind = 'transitional' ${inOrderOf('t.owner')} limit $2::int8`),
  overdue: statesOf(`select no from (select no, overdue from live offset 0) l
    where overdue <= $1::float8 and no > $2::int8 order by no limit $3::int8`),
  timers: statesOf(
    'select no, wake from state where wake <= $1::float8 and wake is not null order by wake, no limit $2::int8',
    'f.wake, f.no',
  ),
  orphans: statesOf('select no from state where orphans and no > $1::int8 order by no limit $2::int8'),
  counts: 'select shape, count from tally where count <> 0',
  liveShapes: `select shape, substring(run from '^\\[[^,]*,[^,]*,("(?:[^"\\\\]|\\\\.)*")'), substring(rest from '^\\[(\\d+)'), count(*)
    from live group by 1, 2, 3`,
  lastOf:
    'select case when s.seq = 0 then 0 else coalesce(c.n + s.seq, 0) end from state s left join commit c on c.batch = s.batch where s.no = $1::int8',
  chunkWith: 'select first, body from event where first <= $1::int8 order by first desc limit 1',
  chunksFrom: `select first, body from event
    where first >= coalesce((select first from event where first <= $1::int8 order by first desc limit 1), 0) order by first limit $2::int8`,
  runHead: 'select runs from feed',
  endedOf: 'select no, body, n from run where no = $1::int8 and n <= $2::int8 order by n desc limit $3::int8',
  endedLast:
    'select no, body, n from run where n > $1::int8 - $2::int8 and n <= $1::int8 order by n desc limit $2::int8',
  late: 'select body from late where no = $1::int8 order by id',
  openIncidents: 'select id, body from incident where id < $1::int8 order by id desc limit $2::int8',
  incidentsAt: 'select id, body from incident where no = $1::int8 and id < $2::int8 order by id desc limit $3::int8',
  tenantAt: 'select 1 from resource where no = $1::int8 and tenant = $2::text',
  setting: 'select value from setting where name = $1::text',
  record: 'select version, value from record where kind = $1::text and key = $2::text',
  records:
    'select key, version, value from record where kind = $1::text and key > $2::text order by key limit $3::int8',
  journalAfter: 'select n, value, hash from journal where n > $1::int8 order by n limit $2::int8',
  journalLength: 'select coalesce(max(n), 0) from journal',
  ...tenantStatements,
} as const satisfies Statements

type Name = keyof typeof readStatements

export class Reader {
  private readonly wires: Wires
  private readonly shapes: Shapes

  constructor(wires: Wires, shapes: Shapes) {
    this.wires = wires
    this.shapes = shapes
  }

  async workFor(query: WorkQuery, now: Millis, limit: number, after: No): Promise<readonly Resource[]> {
    const { tenant } = query
    if (tenant !== undefined)
      return resourcesOf(await workOf(this.ask, query, { tenant, now, after, limit }), this.shapes)
    switch (query.work) {
      case 'ownedBy':
        return this.states('ownedBy', numbersOf(query.owners), after, limit)
      case 'waiting':
      case 'overdue':
        return this.states(query.work, now, after, limit)
      case 'withoutRun':
      case 'orphans':
        return this.states(query.work, after, limit)
      case 'timers':
        return this.states('timers', now, limit)
      default:
        return unreachable(query)
    }
  }

  async counts({ tenant }: OfTenant): Promise<readonly StatusCount[]> {
    const rows = await (tenant === undefined
      ? this.rows('counts')
      : tenant === 'default'
        ? this.rows('countsOfDefault')
        : this.rows('countsOf', toText(tenant)))
    await this.knowingShapes(rows)
    const found = rows.map(([id, count]) => {
      const { type, status } = this.shapes.get(Number(id))
      return { type, status, count: Number(count) }
    })
    return found.filter(({ status }) => status !== '').sort(byTypeAndStatus)
  }

  async liveShapes() {
    const rows = await this.rows('liveShapes')
    await this.knowingShapes(rows)
    return rows.map(([id, operation, step, count]) => {
      const { type, status } = this.shapes.get(Number(id))
      return {
        type,
        status,
        operation: operation == null ? '' : (JSON.parse(operation) as string),
        step: step == null ? -1 : Number(step),
        count: Number(count),
      }
    })
  }

  /** Of rows that begin with one. */
  private knowingShapes(rows: readonly Row[]): Promise<void> {
    return knowing(
      rows.map(([shape]) => Number(shape)),
      this.shapes,
    )
  }

  /** Along the chain of one resource, from the newest backwards: as many look-ups as there are chunks on the way. */
  history(no: No, before: number | null, limit: number): Promise<readonly StoredEvent[]> {
    return this.use(async (wire) => {
      const page: StoredEvent[] = []
      if (limit <= 0) return page
      const known = before === null ? null : await this.eventAt(wire, before, null)
      let n = known?.event.no === no ? known.event.prev : await this.lastOf(wire, no)
      let chunk = known?.chunk ?? null
      while (n > 0 && page.length < limit) {
        const found = await this.eventAt(wire, n, chunk)
        // Retention has cut the chain here.
        if (found === null) break
        if (before === null || n < before) page.push(found.event)
        chunk = found.chunk
        n = found.event.prev
      }
      return page
    })
  }

  async eventsAfter(n: number, limit: number): Promise<readonly StoredEvent[]> {
    if (limit <= 0) return []
    // A chunk has at least one event, and the first chunk may end before the first that is wanted.
    const chunks = (await this.rows('chunksFrom', n + 1, limit + 1)).map(chunkOf)
    let left = limit
    return eventsIn(chunks, this.shapes, (chunk) => {
      const wanted: number[] = []
      for (let next = Math.max(n + 1, chunk.first); next < chunk.end && left > 0; next++, left--) wanted.push(next)
      return wanted
    })
  }

  tenantEvents(query: TenantEventsQuery): Promise<TenantEvents> {
    return this.use((wire) => eventsOf(wire, this.shapes, query))
  }

  async endedRuns({ no, tenant, before = Infinity, limit }: RunsQuery): Promise<readonly StoredRun[]> {
    const [head] = await this.rows('runHead')
    const from = Math.min(before - 1, Number(head![0]))
    if (no === undefined)
      return tenant === undefined
        ? runsOf(await this.rows('endedLast', from, limit))
        : endedRunsOf(this.ask, tenant, from, limit)
    if (tenant !== undefined && !(await this.isOf(no, tenant))) return []
    return runsOf(await this.rows('endedOf', no, from, limit))
  }

  async lateResults(no: No): Promise<readonly LateResult[]> {
    return readable<LateResult>((await this.rows('late', no)).map(([body]) => body))
  }

  async incidents({
    no,
    tenant,
    before = Number.MAX_SAFE_INTEGER,
    limit,
  }: IncidentsQuery): Promise<readonly StoredIncident[]> {
    if (no !== undefined && tenant !== undefined && !(await this.isOf(no, tenant))) return []
    const rows = await (no !== undefined
      ? this.rows('incidentsAt', no, before, limit)
      : tenant === undefined
        ? this.rows('openIncidents', before, limit)
        : this.rows('incidentsOf', toText(tenant), before, limit))
    return rows.flatMap(([n, body]) => readable<Incident>([body]).map((incident) => ({ ...incident, n: Number(n) })))
  }

  private async isOf(no: No, tenant: string): Promise<boolean> {
    return (await this.rows('tenantAt', no, toText(tenant))).length > 0
  }

  async setting(name: string): Promise<Json> {
    const [row] = await this.rows('setting', toText(name))
    return row === undefined ? null : (JSON.parse(row[0]!) as Json)
  }

  async record(kind: string, key: string): Promise<StoredRecord | null> {
    const [row] = await this.rows('record', toText(kind), toText(key))
    return row === undefined ? null : { kind, key, value: recordValue(row[1]!), version: Number(row[0]) }
  }

  async records({ kind, tenant, after, limit }: RecordsQuery): Promise<readonly StoredRecord[]> {
    // No key is empty: everything is above ''.
    const values = [toText(kind), after === '' ? '' : toText(after), limit]
    const rows = await (tenant === undefined
      ? this.rows('records', ...values)
      : this.rows('recordsOf', ...values, tenant))
    return rows.map(([key, version, value]) => ({
      kind,
      key: fromText(key!),
      value: recordValue(value!),
      version: Number(version),
    }))
  }

  async journal(after: number, limit: number): Promise<readonly JournalEntry[]> {
    const rows = await this.rows('journalAfter', after, limit)
    return rows.map(([n, value, hash]) => ({ n: Number(n), value: JSON.parse(value!) as Json, hash: hash! }))
  }

  async journalLength(): Promise<number> {
    const [row] = await this.rows('journalLength')
    return Number(row![0])
  }

  private async lastOf(wire: Wire, no: No): Promise<number> {
    const [rows] = await wire.run([{ name: 'lastOf', values: [String(no)] }])
    return Number(rows![0]?.[0] ?? 0)
  }

  private async eventAt(
    wire: Wire,
    n: number,
    near: Chunk | null,
  ): Promise<{ readonly chunk: Chunk; readonly event: StoredEvent } | null> {
    let chunk = near
    if (chunk === null || !chunk.has(n)) {
      const [rows] = await wire.run([{ name: 'chunkWith', values: [String(n)] }])
      chunk = rows!.length === 0 ? null : chunkOf(rows![0]!)
      if (chunk === null || !chunk.has(n)) return null
    }
    const [event] = await eventsIn([chunk], this.shapes, () => [n])
    return { chunk, event: event! }
  }

  private async states(name: Name, ...values: readonly (string | number)[]): Promise<Resource[]> {
    return resourcesOf(await this.rows(name, ...values), this.shapes)
  }

  private async rows(name: Name, ...values: readonly (string | number)[]): Promise<readonly Row[]> {
    const [rows] = await this.use((wire) => wire.run([{ name, values: values.map(String) }]))
    return rows!
  }

  private readonly ask = (name: Name, values: readonly (string | number)[]) => this.rows(name, ...values)

  private use<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    return translating(() => this.wires.use(work))
  }
}
