// Lists of resources by what people filter by: each from the index that promises the fewest, in the order of their numbers.
import type { Resource } from '../../decision/state.ts'
import type { ListQuery } from '../store.ts'
import { translated } from './failures.ts'
import type { Shapes } from './shapes.ts'
import { joinResource, joinState, resourcesOf, stateColumns } from './states.ts'
import { numbersOf, toText } from './texts.ts'
import type { Wires } from './wires.ts'

export async function listResources(wires: Wires, shapes: Shapes, query: ListQuery): Promise<readonly Resource[]> {
  try {
    const isKnown = query.type === undefined && query.status === undefined
    // Others may have written shapes down that were never seen here.
    if (!isKnown) await shapes.reload()
    const some = isKnown ? null : shapes.among(query.type, query.status).map((shape) => shape.id)
    if (query.limit <= 0 || some?.length === 0) return []
    const { sql, values } = listSql(query, some)
    return await resourcesOf(await wires.use((wire) => wire.query(sql, values)), shapes)
  } catch (error) {
    throw translated(error)
  }
}

function listSql(query: ListQuery, shapes: readonly number[] | null): { sql: string; values: (string | number)[] } {
  const { tenant, parent, name, after, limit } = query
  const values: (string | number)[] = []
  const value = (given: string | number, type: string) => `$${values.push(given)}::${type}`
  const from = value(after, 'int8')
  const most = value(limit, 'int8')
  const ids = shapes === null ? null : value(numbersOf(shapes), 'int4[]')
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
  // Each part is cut to the limit by its own index before they are put together.
  const sql = `with f as materialized (
      select p.no from unnest(${ids}) v(id) cross join lateral (select t.no from state t ${withResource}
        where ${where('t.settled = v.id', 't.settled is not null', `t.no > ${from}`)} order by t.no limit ${most}) p
      union all
      select p.no from (select t.no, t.shape from state t ${withResource}
        where ${where('t.owner >= -1', 't.owner is not null', `t.no > ${from}`)} offset 0) p where p.shape = any(${ids})
    ), cut as (select no from f order by no limit ${most})
    select ${stateColumns} from cut join state s on s.no = cut.no ${joinResource} order by cut.no`
  return { sql, values }
}
