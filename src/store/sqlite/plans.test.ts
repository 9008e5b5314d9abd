// No question walks through a table that grows: SQLite's own plans are looked at.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openSqliteStore } from '../../sqlite.ts'
import { sampleBatch, sampleKinds, sampleResource } from '../../testing/store-samples.ts'
import type { Store } from '../store.ts'
import { Connection } from './connection.ts'

let folder = ''
let store: Store
const plans = new Map<string, string[]>()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (this: Connection, sql: string) {
    if (/^\s*(select|insert|update|delete)/.test(sql)) {
      const values = Array.from({ length: (sql.match(/\?(?!\d)/g) ?? []).length || 3 }, () => 1)
      const rows = this.db.prepare(`explain query plan ${sql}`).all(...values.slice(0, parametersOf(sql)))
      plans.set(
        sql,
        rows.map((row) => String(row['detail'])),
      )
    }
    const statement = this.db.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  })
  store = openSqliteStore({ file: join(folder, 'store.db') })
  await store.useKinds(sampleKinds)
  await store.commit(sampleBatch([{ before: null, after: sampleResource(1, { name: 'x', parent: 1 }) }]))
  for (const query of [
    {},
    { type: 'volume' },
    { status: ['available'] },
    { tenant: 'acme' },
    { tenant: '', type: 'volume' },
    { parent: 1 },
    { name: 'x' },
  ]) {
    await store.list({ limit: 5, after: 0, ...query })
  }
  spy.mockRestore()
})

afterAll(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

/** How many values a statement takes: the highest number, or how many question marks. */
function parametersOf(sql: string): number {
  const numbered = [...sql.matchAll(/\?(\d+)/g)].map((match) => Number(match[1]))
  return Math.max(0, ...numbered) || (sql.match(/\?/g) ?? []).length
}

const small =
  /SCAN (l|live|shape|feed|incident|worker|json_each|pragma_\w+|\(subquery-\d+\)|\d+-ROW VALUES CLAUSE|CONSTANT ROW)\b|SCAN \(|SCAN \d|SCAN CONSTANT/
/** What is cut to the limit before, what is live, the statuses of one tenant, to be counted, the few incidents of one resource. */
const sortable = /limit \?2\)|from live|resource_tenant .*group by 1|incident where no/s
/** Of the whole, as asked: the statuses are counted through their index. */
const counting = /group by shape/

test('no statement walks through or sorts a table that grows', () => {
  expect(plans.size).toBeGreaterThan(50)
  const slow: string[] = []
  for (const [sql, details] of plans) {
    for (const detail of details) {
      const walks = detail.startsWith('SCAN') && !small.test(detail) && !counting.test(sql)
      const sorts = detail.includes('TEMP B-TREE') && !sortable.test(sql)
      if (walks || sorts) slow.push(`${detail}: ${sql}`)
    }
  }
  expect(slow).toEqual([])
})

test('a planted walk is seen', () => {
  expect(small.test('SCAN resource')).toBe(false)
  expect(small.test('SCAN settled USING COVERING INDEX settled_shape')).toBe(false)
  expect(small.test('SCAN live')).toBe(true)
})
