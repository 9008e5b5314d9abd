// Lists of resources by what people filter by: each from the index that promises the fewest, in the order of their numbers.
import type { Resource } from '../../decision/state.ts'
import type { ListQuery } from '../store.ts'
import { translated } from './failures.ts'
import type { Shapes } from './shapes.ts'
import { joinResource, joinState, ownersOfLive, resourcesOf, stateColumns } from './states.ts'
import { textsFrom, textsOf, toText } from './texts.ts'
import type { Wires } from './wires.ts'

export async function listResources(wires: Wires, shapes: Shapes, query: ListQuery): Promise<readonly Resource[]> {
  if (query.limit <= 0) return []
  try {
    const { sql, values } = listSql(query)
    return await resourcesOf(await wires.use((wire) => wire.prepared(sql, values)), shapes)
  } catch (error) {
    throw translated(error)
  }
}

function listSql(query: ListQuery): { sql: string; values: (string | number)[] } {
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
  const filters: string[] = []
  if (tenant !== undefined) filters.push(`r.tenant = ${value(toText(tenant), 'text')}`)
  if (parent !== undefined) filters.push(`r.parent = ${value(parent, 'int8')} and r.parent is not null`)
  if (name !== undefined) filters.push(`r.name = ${value(toText(name), 'text')} and r.name is not null`)
  const where = (...more: readonly string[]) => [...filters, ...more].join(' and ')
  // The tenant that most have is in no index: then nearly everything fits.
  const isResource = filters.length > 0 && !(filters.length === 1 && tenant === 'default')
  if (isResource) {
    if (tenant !== undefined && tenant !== 'default') filters.push(`r.tenant <> 'default'`)
    const shape = ids === null ? [] : [`s.shape = any(${ids})`]
    return {
      sql: `select ${stateColumns} from resource r ${joinState} where ${where(...shape, `r.no > ${from}`)} order by r.no limit ${most}`,
      values,
    }
  }
  if (ids === null) {
    return {
      sql: `select ${stateColumns} from state s ${joinResource} where ${where(`s.no > ${from}`)} order by s.no limit ${most}`,
      values,
    }
  }
  const withResource = filters.length === 0 ? '' : 'join resource r on r.no = t.no'
  // Each part is cut to the limit by its own index before they are put together: what is at rest by its shape, the rest by its owner.
  const sql = `with recursive ${ownersOfLive}, f as materialized (
      select p.no from unnest(${ids}) v(id) cross join lateral (select t.no from state t ${withResource}
        where ${where('t.settled = v.id', 't.settled is not null', `t.no > ${from}`)} order by t.no limit ${most}) p
      union all
      select p.no from o cross join lateral (select t.no from state t ${withResource}
        where ${where('t.owner = o.owner', 't.owner is not null', `t.shape = any(${ids})`, `t.no > ${from}`)} order by t.no limit ${most}) p
    ), cut as (select no from f order by no limit ${most})
    select ${stateColumns} from cut join state s on s.no = cut.no ${joinResource} order by cut.no`
  return { sql, values }
}
