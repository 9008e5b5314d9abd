// Lists of resources by what people filter by: the numbers first, from the index that promises the fewest, then the states.
import type { SQLInputValue } from 'node:sqlite'
import type { No } from '../../decision/state.ts'
import type { ListQuery } from '../store.ts'
import { toText } from '../codec.ts'
import type { Connection } from './connection.ts'
import type { Shapes } from './shapes.ts'

/** Numbers of at most `limit` resources that fit, in order. Inside a reading transaction. */
export function listNumbers(connection: Connection, shapes: Shapes, query: ListQuery): No[] {
  const { type, status, tenant, parent, name, after, limit } = query
  const some = type === undefined && status === undefined ? null : shapes.among(type, status).map((shape) => shape.id)
  if (limit <= 0 || some?.length === 0) return []
  const filters: string[] = []
  const values: SQLInputValue[] = []
  const filter = (sql: string, value: SQLInputValue) => {
    filters.push(sql)
    values.push(value)
  }
  if (tenant !== undefined) filter('r.tenant = ?', toText(tenant))
  if (parent !== undefined) filter('r.parent = ?', parent)
  if (name !== undefined) filter('r.name = ?', toText(name))
  /**
   * `cross join` keeps the order of the tables. The page is cut by the number in the first, `lead`, which comes in order from
   * its index: by that of another table everything would be sorted first.
   */
  const numbers = (lead: string, tables: string, ...conditions: readonly string[]) => {
    const where = [...filters, ...conditions, `${lead}.no > ?`].join(' and ')
    const sql = `select ${lead}.no from ${tables} where ${where} order by ${lead}.no limit ?`
    return (connection.prepare(sql).all(...values, after, limit) as unknown as [number][]).map(([no]) => no)
  }
  const isOf = (shape: string) => (some === null ? 'true' : `${shape} in (${some.join()})`)
  const resting = (lead: string) => `not exists (select 1 from live where live.no = ${lead}.no)`
  const fromResource = (index: string, condition: string) =>
    numbers(
      'r',
      `resource r indexed by ${index} cross join settled s on s.no = r.no`,
      condition,
      resting('r'),
      isOf('s.shape'),
    )
  const withResource = (lead: string) => (filters.length === 0 ? '' : `cross join resource r on r.no = ${lead}.no`)
  const found = [numbers('l', `live l ${withResource('l')}`, isOf('l.shape'))]
  if (parent !== undefined) {
    for (const terminal of [0, 1]) found.push(fromResource('resource_family', `r.terminal = ${terminal}`))
  } else if (name !== undefined) {
    found.push(fromResource('resource_name', 'r.name is not null'))
  } else if (tenant !== undefined && tenant !== 'default') {
    found.push(fromResource('resource_tenant', `r.tenant <> 'default'`))
  } else if (some !== null) {
    for (const id of some) {
      const tables = `settled s indexed by settled_shape ${withResource('s')}`
      found.push(numbers('s', tables, `s.shape = ${id}`, resting('s')))
    }
  } else {
    found.push(numbers('s', `settled s ${withResource('s')}`, resting('s')))
  }
  return found
    .flat()
    .sort((a, b) => a - b)
    .slice(0, limit)
}
