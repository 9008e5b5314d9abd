// Lists of resources by what people filter by: the numbers first, from the index that promises the fewest, then the states.
import type { SQLInputValue } from 'node:sqlite'
import type { No } from '../../decision/state.ts'
import type { ListQuery } from '../store.ts'
import { toText } from './codec.ts'
import type { Connection } from './connection.ts'
import type { Shapes } from './shapes.ts'

/** Numbers of at most `limit` resources that fit, in order. Inside a reading transaction. */
export function listNumbers(connection: Connection, shapes: Shapes, query: ListQuery): No[] {
  const { type, status, tenant, parent, name, after, limit } = query
  const some = type === undefined && status === undefined ? null : shapes.among(type, status).map((shape) => shape.id)
  if (limit <= 0 || some?.length === 0) return []
  const filters = ['r.no > ?']
  const values: SQLInputValue[] = [after]
  const filter = (sql: string, value: SQLInputValue) => {
    filters.push(sql)
    values.push(value)
  }
  if (tenant !== undefined) filter('r.tenant = ?', toText(tenant))
  if (parent !== undefined) filter('r.parent = ?', parent)
  if (name !== undefined) filter('r.name = ?', toText(name))
  /** `cross join` keeps the order of the tables: the first is the one with the index. */
  const numbers = (tables: string, ...conditions: readonly string[]) => {
    const sql = `select r.no from ${tables} where ${[...filters, ...conditions].join(' and ')} order by r.no limit ?`
    return (connection.prepare(sql).all(...values, limit) as unknown as [number][]).map(([no]) => no)
  }
  const isOf = (shape: string) => (some === null ? 'true' : `${shape} in (${some.join()})`)
  const resting = 'not exists (select 1 from live where live.no = r.no)'
  const settled = 'cross join settled s on s.no = r.no'
  const found = [numbers('live l cross join resource r on r.no = l.no', isOf('l.shape'))]
  if (parent !== undefined) {
    for (const terminal of [0, 1]) {
      found.push(
        numbers(
          `resource r indexed by resource_family ${settled}`,
          `r.terminal = ${terminal}`,
          resting,
          isOf('s.shape'),
        ),
      )
    }
  } else if (name !== undefined) {
    found.push(
      numbers(`resource r indexed by resource_name ${settled}`, 'r.name is not null', resting, isOf('s.shape')),
    )
  } else if (tenant !== undefined && tenant !== '') {
    found.push(numbers(`resource r indexed by resource_tenant ${settled}`, `r.tenant <> ''`, resting, isOf('s.shape')))
  } else if (some !== null) {
    for (const id of some) {
      const where = `settled s indexed by settled_shape cross join resource r on r.no = s.no`
      found.push(numbers(where, `s.shape = ${id}`, `s.no > ${after}`, resting))
    }
  } else {
    found.push(numbers(`settled s cross join resource r on r.no = s.no`, `s.no > ${after}`, resting))
  }
  return found
    .flat()
    .sort((a, b) => a - b)
    .slice(0, limit)
}
