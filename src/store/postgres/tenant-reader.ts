// Questions that are asked for one tenant. What is of others is left out where it is found: by a join with `resource`, or, in the
// chunks of events, before an entry is made out.
import type { Millis } from '../../base/clock.ts'
import { unreachable } from '../../base/assert.ts'
import type { No, StoredEvent } from '../../decision/state.ts'
import type { StoredRun, TenantEvents, TenantEventsQuery, WorkCriterion } from '../store.ts'
import type { Row } from './pipeline.ts'
import type { Shapes } from './shapes.ts'
import { chunkOf, eventsIn, having, inOrderOf, runsOf, statesOf } from './states.ts'
import { numbersOf, toText } from './texts.ts'
import type { Statements, Wire } from './wire.ts'

const isMine = (parameter: number, table = 'live') =>
  `exists (select 1 from resource o where o.no = ${table}.no and o.tenant = $${parameter}::text)`

/** The last of these ended runs of all are looked through; then those of the tenant's own resources are asked for. */
const runsLooked = 2_000
/** Chunks of events that are read at a time: a chunk has some twenty. */
const chunksAtOnce = 50

export const tenantStatements = {
  ownedByOf: statesOf(`select p.no from unnest($1::int8[]) v(owner) cross join lateral
    (select no from live where ${having('owner', 'v.owner', '$2::int8')} and ${isMine(4)} ${inOrderOf('owner')} limit $3::int8) p
    order by p.no limit $3::int8`),
  waitingOf: statesOf(
    `select no from live where ${having('owner', '0', '$2::int8')} and due <= $1::float8 and ${isMine(4)}
    ${inOrderOf('owner')} limit $3::int8`,
  ),
  withoutRunOf:
    statesOf(`select t.no from live t join shape on shape.id = t.shape where ${having('t.owner', '-1', '$1::int8')}
    and shape.kind = 'transitional' and ${isMine(3, 't')} ${inOrderOf('t.owner')} limit $2::int8`),
  overdueOf: statesOf(`select no from (select no, overdue from live offset 0) l
    where overdue <= $1::float8 and no > $2::int8 and ${isMine(4, 'l')} order by no limit $3::int8`),
  timersOf: statesOf(
    `select no, wake from state where wake <= $1::float8 and wake is not null and ${isMine(3, 'state')} order by wake, no limit $2::int8`,
    'f.wake, f.no',
  ),
  orphansOf: statesOf(
    `select no from state where orphans and no > $1::int8 and ${isMine(3, 'state')} order by no limit $2::int8`,
  ),
  mine: 'select no from resource where no = any($1::int8[]) and tenant = $2::text',
  countsOf: `select s.shape, count(*) from resource r join state s on s.no = r.no
    where r.tenant = $1::text and r.tenant <> 'default' group by s.shape`,
  /** The tenant that most have is in no index: then nearly everything fits. */
  countsOfDefault: `select s.shape, count(*) from resource r join state s on s.no = r.no where r.tenant = 'default' group by s.shape`,
  runsAmong: `select u.no, u.body, u.n from run u join resource r on r.no = u.no
    where r.tenant = $1::text and u.n <= $2::int8 and u.n > $3::int8 order by u.n desc limit $4::int8`,
  runsOfOwn: `select u.no, u.body, u.n from resource r cross join lateral
    (select no, body, n from run where run.no = r.no and n <= $2::int8 order by n desc limit $3::int8) u
    where r.tenant = $1::text and r.tenant <> 'default' order by u.n desc limit $3::int8`,
  incidentsOf: `select i.id, i.body from incident i join resource r on r.no = i.no
    where r.tenant = $1::text and i.id < $2::int8 order by i.id desc limit $3::int8`,
  /** A text that PostgreSQL cannot hold is no name of a tenant: such a record is of none. */
  recordsOf: `select key, version, value from record where kind = $1::text and key > $2::text
    and case when value ~ '(^|[^\\\\])(\\\\\\\\)*\\\\u(0000|[dD][89a-fA-F])' then false else value::json ->> 'tenant' = $4::text end
    order by key limit $3::int8`,
} as const satisfies Statements

type Ask = (name: keyof typeof tenantStatements, values: readonly (string | number)[]) => Promise<readonly Row[]>

/** The rows of states. */
export function workOf(
  ask: Ask,
  query: WorkCriterion,
  { tenant, now, after, limit }: { tenant: string; now: Millis; after: No; limit: number },
): Promise<readonly Row[]> {
  const text = toText(tenant)
  switch (query.work) {
    case 'ownedBy':
      return ask('ownedByOf', [numbersOf(query.owners), after, limit, text])
    case 'waiting':
      return ask('waitingOf', [now, after, limit, text])
    case 'overdue':
      return ask('overdueOf', [now, after, limit, text])
    case 'withoutRun':
      return ask('withoutRunOf', [after, limit, text])
    case 'orphans':
      return ask('orphansOf', [after, limit, text])
    case 'timers':
      return ask('timersOf', [now, limit, text])
    default:
      return unreachable(query)
  }
}

export async function eventsOf(wire: Wire, shapes: Shapes, query: TenantEventsQuery): Promise<TenantEvents> {
  const { tenant, after, limit, look } = query
  const found: StoredEvent[] = []
  let looked = after
  let left = look
  const answer = () => ({ events: found, looked })
  if (limit <= 0) return answer()
  for (;;) {
    const [rows] = await wire.run([{ name: 'chunksFrom', values: [String(looked + 1), String(chunksAtOnce)] }])
    const chunks = rows!.map(chunkOf).filter((chunk) => chunk.end > looked + 1)
    if (chunks.length === 0) return answer()
    const nos = new Set(chunks.flatMap((chunk) => chunk.nos()))
    const [mine] = await wire.run([{ name: 'mine', values: [numbersOf([...nos]), toText(tenant)] }])
    const own = new Set(mine!.map(([no]) => Number(no)))
    for (const chunk of chunks) {
      const among = chunk.nos()
      const wanted: number[] = []
      let isOver = false
      for (let n = Math.max(chunk.first, looked + 1); n < chunk.end && !isOver; n++) {
        if (left-- <= 0) isOver = true
        else {
          if (own.has(among[n - chunk.first]!)) wanted.push(n)
          looked = n
          isOver = found.length + wanted.length === limit
        }
      }
      found.push(...(await eventsIn([chunk], shapes, () => wanted)))
      if (isOver) return answer()
    }
  }
}

/** Newest first, from the number `from` backwards. */
export async function endedRunsOf(
  ask: Ask,
  tenant: string,
  from: number,
  limit: number,
): Promise<readonly StoredRun[]> {
  const text = toText(tenant)
  const found: StoredRun[] = []
  // What is the default's are nearly all: they are found by going back, and further back.
  let size = runsLooked
  for (let to = from; to > 0 && found.length < limit; to -= size, size *= 2) {
    if (size > runsLooked && tenant !== 'default') return runsOf(await ask('runsOfOwn', [text, from, limit]))
    found.push(...runsOf(await ask('runsAmong', [text, to, to - size, limit - found.length])))
  }
  return found
}
