// Trying declarations out before they are served: simulated under faults, measured with drivers that answer at once.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { Terminal } from './terminal.ts'

// A machine that others use too takes its time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const terminal = Terminal.clone()
afterAll(() => terminal.close())

test('simulate runs every module of the config under faults, and tells one seed', async () => {
  const said = await terminal.homeostat('simulate --seconds 1 --json')
  expect(said.exit, said.err).toBe(0)
  const { modules, failure } = JSON.parse(said.out) as {
    readonly modules: readonly { readonly name: string; readonly schedules: number; readonly commits: number }[]
    readonly failure: unknown
  }
  expect(failure).toBeNull()
  expect(modules.map(({ name }) => name)).toEqual(['blazar', 'opensds', 'ovc', 'sahara'])
  for (const { name, schedules, commits } of modules) expect(Math.min(schedules, commits), name).toBeGreaterThan(0)
  const told = await terminal.homeostat('simulate --seed 7')
  expect(told).toMatchObject({ exit: 0, err: '' })
  expect(told.out).toContain('Every promise was kept.')
})

test('a declaration whose invented values are all refused is said to be untried', async () => {
  writeFileSync(join(terminal.folder, 'strict.config.ts'), strict)
  const said = await terminal.homeostat('simulate --seconds 1 --config strict.config.ts')
  expect(said.exit, said.err).toBe(0)
  expect(said.out).toContain('Nothing came to pass in shop')
})

test('bench measures a type with invented properties, or with those that are given', async () => {
  const invented = await terminal.homeostat('bench volume --seconds 1 --in-flight 10 --json')
  expect(invented.exit, invented.err).toBe(0)
  const { done, ends } = JSON.parse(invented.out) as { readonly done: number; readonly ends: Record<string, number> }
  expect(done).toBeGreaterThan(0)
  expect(ends).toEqual({ Available: done })
  const given = await terminal.homeostat('bench lease startDate=now+1h endDate=now+2h degraded=false --seconds 1')
  expect(given.exit, given.err).toBe(0)
  expect(given.out).toContain('blazar.lease create:')
})

test('what cannot be measured is refused with the way out', async () => {
  const lines = [
    'bench lease',
    'bench clutser',
    'bench volume --seconds 0',
    'bench --store x.db',
    'simulate --seconds x',
  ]
  const told = await Promise.all(lines.map((line) => terminal.homeostat(line)))
  expect(told.map(({ exit }) => exit)).toEqual([2, 4, 2, 2, 2])
  const meant = ['name=value', 'sahara.cluster', 'above 0', 'Leave --store out', 'a number']
  for (const [i, words] of meant.entries()) expect(told[i]!.err).toContain(words)
})

const strict = `
import { resourceType } from './src/index.ts'
import { defineConfig, defineModule } from './src/config.ts'
import { z } from 'zod'
const gate = resourceType('shop.gate', {
  properties: z.object({ code: z.string().regex(/^[0-9]{12}$/) }),
  statuses: { stable: { Open: 'Open.' }, transitional: { Making: 'Being made.' }, failed: { Broken: 'Not made.' }, terminal: { Gone: 'Gone.' } },
})
const gates = gate.lifecycle({
  operations: {
    create: { from: [], to: 'Open', onFailure: 'Broken', steps: { make: { during: 'Making' } } },
    delete: { from: ['*'], to: 'Gone', onFailure: 'Broken', steps: {} },
  },
  heal: { Making: { resume: true, unowned: { status: 'Broken' } } },
})
export default defineConfig({ modules: [defineModule({ lifecycles: { gates }, drivers: { gates: { make: async () => {} } } })] })
`
