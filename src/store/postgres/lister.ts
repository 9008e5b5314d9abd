// Lists of resources by what people filter by: each from the index that promises the fewest, in the order of their numbers.
import type { Resource } from '../../decision/state.ts'
import type { ListQuery } from '../store.ts'
import { translating } from './failures.ts'
import type { Shapes } from './shapes.ts'
import { having, inOrderOf, joinState, noEnd, ownersOfLive, resourcesOf, stateColumns } from './states.ts'
import { textsFrom, textsOf, toText } from './texts.ts'
import type { Wires } from './wires.ts'

export async function listResources(wires: Wires, shapes: Shapes, query: ListQuery): Promise<readonly Resource[]> {
  if (query.limit <= 0) return []
  const { sql, values } = listSql(query)
  const rows = await translating(() => wires.use((wire) => wire.prepared(sql, values)))
  return resourcesOf(rows, shapes)
}

interface Sql {
  readonly sql: string
  readonly values: readonly (string | number)[]
}

export function listSql(query: ListQuery): Sql {
  const { type, status, tenant, parent, name, after, limit } = query
  const values: (string | number)[] = []
  const value = (given: string | number, sqlType: string) => `$${values.push(given)}::${sqlType}`
  const from = value(after, 'int8')
  const most = value(limit, 'int8')
  const meant: string[] = []
  if (type !== undefined) meant.push(`type = ${value(type, 'text')}`)
  if (status !== undefined) {
    // A text that is empty stands for itself only behind a character that is cut off again.
    values.push(textsFrom(status.map((one) => `=${one}`)))
    meant.push(`'=' || status = any(${textsOf(values.length)})`)
  }
  // Asked of the server: others may have written shapes down that were never seen here.
  const ids = meant.length === 0 ? null : `array(select id from shape where ${meant.join(' and ')})`
  const filters = new Map<string, string>()
  if (tenant !== undefined) filters.set('r.tenant', value(toText(tenant), 'text'))
  if (parent !== undefined) filters.set('r.parent', value(parent, 'int8'))
  if (name !== undefined) filters.set('r.name', value(toText(name), 'text'))
  const isOfDefault = tenant === 'default'
  const parts = { ids, filters, from, most }
  // The tenant that most have is in no index: then nearly everything fits.
  if (filters.size > 0 && !(filters.size === 1 && isOfDefault)) return { sql: byResource(parts, isOfDefault), values }
  return { sql: ids === null ? byNumber(parts) : byShape(parts, ids), values }
}

interface Parts {
  /** An array of shapes that are asked for; null: all. */
  readonly ids: string | null
  /** By column: the parameter that it must equal. */
  readonly filters: ReadonlyMap<string, string>
  readonly from: string
  readonly most: string
}

const equal = (filters: ReadonlyMap<string, string>, except?: string): string[] =>
  [...filters].filter(([column]) => column !== except).map(([column, given]) => `${column} = ${given}`)

function byNumber({ filters, from, most }: Parts): string {
  const where = [...equal(filters), `r.no > ${from}`].join(' and ')
  return `select ${stateColumns} from resource r ${joinState} where ${where} order by r.no limit ${most}`
}

function byResource({ ids, filters, from, most }: Parts, isOfDefault: boolean): string {
  const [parent, name] = [filters.has('r.parent'), filters.has('r.name')]
  const column = name ? 'r.name' : parent ? 'r.parent' : 'r.tenant'
  // Which of two promises fewer the planner knows, and few have both: they are found first. By `+ 0` the index of numbers is none that it
  // can choose.
  const isOfTwo = parent && name
  const where = [
    ...equal(filters, isOfTwo ? undefined : column),
    ...(isOfTwo ? [`r.no + 0 > ${from}`] : [having(column, filters.get(column)!, from)]),
    // What the indexes leave out.
    ...(parent ? ['r.parent is not null'] : []),
    ...(name ? ['r.name is not null'] : []),
    ...(filters.has('r.tenant') && !isOfDefault ? [`r.tenant <> 'default'`] : []),
    ...(ids === null || isOfTwo ? [] : [`s.shape = any(${ids})`]),
  ].join(' and ')
  const ofShapes = ids === null ? '' : ` where s.shape = any(${ids})`
  if (!isOfTwo)
    return `select ${stateColumns} from resource r ${joinState} where ${where} ${inOrderOf(column)} limit ${most}`
  return `with f as materialized (select r.no from resource r where ${where})
    select ${stateColumns} from f join resource r on r.no = f.no ${joinState}${ofShapes} order by f.no limit ${most}`
}

/**
 * Each part is cut to the limit by its own index before they are put together: what is at rest by its shape, the rest by its owner. In the
 * index by owner the dead entries of many runs may lie before a live one. So nobody looks in it further than to the last of a full page, nor
 * for more than there can be: of all that have these shapes, which the tally knows, those that were found at rest are none.
 */
function byShape({ filters, from, most }: Parts, ids: string): string {
  const among = (table: 'live' | 'settled') =>
    `select t.no from ${table} t ${filters.size === 0 ? '' : 'join resource r on r.no = t.no'} where`
  const where = (...more: readonly string[]) => [...equal(filters), ...more].join(' and ')
  return `with recursive ${ownersOfLive}, resting as materialized (
      select p.no from unnest(${ids}) v(id) cross join lateral (${among('settled')}
        ${where(having('t.shape', 'v.id', from), 't.away is null')} ${inOrderOf('t.shape')} limit ${most}) p
      order by p.no limit ${most}
    ), bound as materialized (
      select case when count(*) < ${most} then ${noEnd} else max(no) end as last,
        greatest(0, (select coalesce(sum(count), 0)::int8 from tally where shape = any(${ids})) - count(*)) as most from resting
    ), moving as materialized (
      select p.no from o cross join lateral (${among('live')}
        ${where(having('t.owner', 'o.owner', from, '(select last from bound)'), `t.shape = any(${ids})`)}
        ${inOrderOf('t.owner')} limit ${most}) p limit (select most from bound)
    ), cut as (select no from (select no from resting union all select no from moving) f order by no limit ${most})
    select ${stateColumns} from cut join resource r on r.no = cut.no ${joinState} order by cut.no`
}
