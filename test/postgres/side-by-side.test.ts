// Processes with different declarations on one PostgreSQL: who does not know a type, or an operation of it, holds up nobody who does.
import { createEngine, resourceType } from 'homeostat'
import { openPostgresStore } from 'homeostat/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
let schemas = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

const typeNamed = (name: string) =>
  resourceType(name, {
    properties: z.object({}),
    statuses: {
      stable: { Ready: 'Works.' },
      transitional: { Working: 'At work.' },
      failed: { Bad: 'Broken.' },
      terminal: { Gone: 'Removed.' },
    },
  })
const box = typeNamed('beside.box')
const operations = {
  create: { from: [], steps: { make: { during: 'Working' } }, to: 'Ready', onFailure: 'Bad' },
  delete: { from: ['*'], steps: {}, to: 'Gone', onFailure: 'Bad' },
} as const
const heal = { Working: { resume: true, unowned: { status: 'Bad' } } } as const
const polish = { from: ['Ready'], steps: { rub: { during: 'Working' } }, to: 'Ready', onFailure: 'Ready' } as const
const boxes = box.lifecycle({ operations: { ...operations, polish }, heal })
const formerBoxes = box.lifecycle({ operations, heal })
const notes = typeNamed('beside.note').lifecycle({ operations, heal })

const slowly = () => new Promise<void>((resolve) => setTimeout(resolve, 50))

test.each([
  ['the type', { note: notes }],
  ['the operation', { box: formerBoxes }],
])('one that does not know %s leaves its runs to one who does, which has little room', async (_what, lifecycles) => {
  const schema = `beside_${++schemas}`
  const open = () => openPostgresStore({ url: server.url, schema, durability: 'none' })
  const engine = createEngine({
    store: await open(),
    lifecycles: { box: boxes },
    drivers: { box: { make: async () => {}, rub: slowly } },
    options: { runs: 2 },
  })
  await engine.start()
  const drivers = { note: { make: slowly }, box: { make: slowly } }
  const stranger = createEngine({ store: await open(), lifecycles, drivers })
  await stranger.start()
  const client = engine.client('ann')
  const ids = Array.from({ length: 30 }, (_, n) => `b-${n}`)
  for (const id of ids) {
    const { run } = await client.box.create({ id, properties: {} })
    await engine.waitForRun(run.id, { timeoutMs: 30_000 })
  }
  // One after the other, so that most of them find no room and wait.
  const runs: string[] = []
  for (const id of ids) runs.push((await client.box.polish(id)).run!.id)
  const ends = await Promise.all(runs.map((run) => engine.waitForRun(run, { timeoutMs: 30_000 })))
  expect(ends.filter(({ isOver }) => !isOver)).toEqual([])
  await stranger.stop()
  await engine.stop()
})
