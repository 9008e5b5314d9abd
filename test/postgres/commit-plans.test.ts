// What a commit changes it finds by number, one look for each row, whatever the planner has seen of a table that is empty at one moment and
// full at the next.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore, type PostgresStore } from '../../src/postgres.ts'
import { addressOf } from '../../src/store/postgres/address.ts'
import { openMs } from '../../src/store/postgres/connections.ts'
import { Form, type Part } from '../../src/store/postgres/sheet.ts'
import { commitSettings, commitStatements } from '../../src/store/postgres/statements.ts'
import { Wire } from '../../src/store/postgres/wire.ts'
import { startPostgres, type PostgresServer } from './server.ts'

const schema = 'plans'
const crowd = 1_000

let server: PostgresServer
let store: PostgresStore
let wire: Wire

beforeAll(async () => {
  server = await startPostgres({ settings: { autovacuum: 'off' } })
  store = await openPostgresStore({ url: server.url, schema, durability: 'none' })
  const settings = { ...commitSettings, search_path: schema }
  wire = await Wire.open({ address: addressOf({ url: server.url }), openMs, settings, statements: {} })
})
afterAll(async () => {
  await wire.close()
  await store.close()
  await server.remove()
})

type Table = 'live' | 'settled'
const fill: Readonly<Record<Table, string>> = {
  live: `insert into live (no, owner, epoch, revision, shape, batch, seq, since)
    select i, 1 + i % 3, 1, 1, 1, 1, 0, 1000 from generate_series(1, ${crowd}) i`,
  settled: `insert into settled (no, epoch, revision, shape, batch, seq, since)
    select i, 1, 1, 1 + i % 3, 1, 0, 1000 from generate_series(1, ${crowd}) i`,
}
const momentsOf = (name: Table): Readonly<Record<string, readonly string[]>> => ({
  'nothing was ever there': [],
  'it is full for the first time': [fill[name]],
  'it was looked at when it was full': [`analyze ${name}`],
  'it is empty, and was full when it was looked at': [`delete from ${name}`],
  'it is full again': [`vacuum ${name}`, fill[name]],
  'it was looked at when it was empty, and is full': [`delete from ${name}`, `vacuum analyze ${name}`, fill[name]],
})

interface Plan {
  readonly 'Index Name'?: string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}
const indexesOf = (plan: Plan): string[] => [
  ...(plan['Relation Name'] !== undefined && plan['Index Name'] !== undefined ? [plan['Index Name']] : []),
  ...(plan.Plans ?? []).flatMap(indexesOf),
]

const parts = {
  live: ['steps', 'ledgerSteps', 'changes', 'firstEnds', 'ends'],
  settled: ['begins', 'rests'],
} as const satisfies Record<Table, readonly Part[]>
let statements = 0

/** The indexes by which a statement of many rows finds what it changes, planned as a connection that commits plans it. */
async function indexesIn(part: (typeof parts)[Table][number]): Promise<string[]> {
  const name = `statement_${++statements}`
  const form = new Form({ [part]: 1 })
  await wire.query(`prepare ${name} as ${commitStatements.textOf(part, form)}`)
  // The batch and the number of rows come after the columns.
  const values = ["'{1,2}'", ...Array.from({ length: form.widthOf(part) + 1 }, () => 'null')]
  const [row] = await wire.query(`explain (format json) execute ${name}(${values.join()})`)
  const [{ Plan: plan }] = JSON.parse(row![0]!) as [{ Plan: Plan }]
  return indexesOf(plan)
}

test.each(['live', 'settled'] as const)('each row of %s is found by the index of numbers', async (name) => {
  const found: Record<string, unknown> = {}
  const expected: Record<string, unknown> = {}
  for (const [moment, changes] of Object.entries(momentsOf(name))) {
    for (const sql of changes) await wire.query(sql)
    for (const part of parts[name]) {
      found[`${part}: ${moment}`] = await indexesIn(part)
      expected[`${part}: ${moment}`] = [`${name}_pkey`]
    }
  }
  expect(found).toEqual(expected)
})
