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
  const filters: string[] = []
  const values: SQLInputValue[] = []
  const filter = (sql: string, value: SQLInputValue) => {
    filters.push(sql)
    values.push(value)
  }
  if (tenant !== undefined) filter('r.tenant = ?', toText(tenant))
  if (parent !== undefined) filter('r.parent = ?', parent)
  if (name !== undefined) filter('r.name = ?', toText(name))
  const numbers = (sql: string, more: readonly SQLInputValue[]) => {
    const where = [...filters, 'r.no > ?'].join(' and ')
    const rows = connection.prepare(`${sql} and ${where} order by r.no limit ?`).all(...more, ...values, after, limit)
    return (rows as unknown as [number][]).map(([no]) => no)
  }
  const resting = 'not exists (select 1 from live l where l.no = r.no)'
  const isOf = (column: string) => (some === null ? 'true' : `${column} in (${some.join()})`)
  const found = [numbers(`select r.no from live l cross join resource r on r.no = l.no where ${isOf('l.shape')}`, [])]
  if (parent !== undefined) {
    for (const terminal of [0, 1]) {
      const index = `select r.no from resource r indexed by resource_family where r.terminal = ?`
      found.push(numbers(`${index} and r.settled is not null and ${resting} and ${isOf('r.settled')}`, [terminal]))
    }
  } else if (name !== undefined || (tenant !== undefined && tenant !== '')) {
    const index = name !== undefined ? `resource_name where r.name is not null` : `resource_tenant where r.tenant <> ''`
    found.push(
      numbers(
        `select r.no from resource r indexed by ${index} and r.settled is not null and ${resting} and ${isOf('r.settled')}`,
        [],
      ),
    )
  } else if (some !== null) {
    for (const id of some) {
      found.push(
        numbers(`select r.no from resource r indexed by resource_settled where r.settled = ? and ${resting}`, [id]),
      )
    }
  } else {
    found.push(numbers(`select r.no from resource r where r.settled is not null and ${resting}`, []))
  }
  return found
    .flat()
    .sort((a, b) => a - b)
    .slice(0, limit)
}
