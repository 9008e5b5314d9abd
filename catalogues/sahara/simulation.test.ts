// Every operation of Sahara under simulation: a crash before and after every commit, pauses past the lease, lost, late and hanging
// replies at every call, and a delete at every point. Everything settles, the rules hold at every commit, nothing leaks.
// What is declared and in no story makes the last two tests fail.
import { explore, hurried, outsideMicrotasks, Simulator, swarm, systematic } from 'homeostat/testing'
import type { Conditions, Scenario, ScriptLine } from 'homeostat/testing'
import { expect, test } from 'vitest'
import { sahara } from './index.ts'
import { planOf, type Member } from './scaling.ts'

const type = 'sahara.cluster'

const scenario: Scenario = {
  name: 'sahara',
  lifecycles: Object.values(sahara).map(hurried),
  properties: {
    [type]: ({ stream }) => ({
      counts: { m: 1, w: 1 + stream.below(2) },
      isTransient: stream.below(4) === 0,
      isProtected: stream.below(8) === 0,
      hasTrust: stream.below(4) !== 0,
      cleanUpIncomplete: stream.below(4) === 0,
    }),
  },
  inputs: {
    [`${type}.scale`]: ({ stream }) => ({ counts: { m: stream.below(3), w: stream.below(4) } }),
    [`${type}.update`]: ({ stream }) => ({ isProtected: stream.below(8) === 0, isTransient: stream.below(2) === 0 }),
  },
  results: {
    [`${type}.planScaling`]: (call) => {
      const { instances } = call['related'] as { instances: readonly Member[] }
      const { counts, instances: named } = call['input'] as { counts: Record<string, number>; instances: string[] }
      return planOf(instances, counts, named)
    },
  },
}

const create = (properties: Record<string, unknown> = {}): ScriptLine => ({
  at: 100,
  ask: () => ({
    kind: 'requestOperation',
    type,
    id: 'c',
    operation: 'create',
    create: { properties: { counts: { m: 1, w: 2 }, ...properties } },
    by: 'ann',
  }),
})
const operate = (at: number, operation: string, more: Record<string, unknown> = {}): ScriptLine => ({
  at: at * 1_000,
  ask: () => ({ kind: 'requestOperation', type, id: 'c', operation, by: 'ann', ...more }),
})

const scripts: Record<string, readonly ScriptLine[]> = {
  'scale both ways at once': [create(), operate(3, 'scale', { input: { counts: { m: 2, w: 1 } } })],
  'expire without trust': [create({ hasTrust: false }), operate(3, 'expire')],
  'update, then force delete': [
    create(),
    operate(3, 'update', { input: { unfinishedJobs: 1 } }),
    operate(4, 'delete', { force: true, reason: 'now' }),
  ],
  delete: [create(), operate(3, 'delete')],
}

const { plans } = new Simulator(scenario)

const found = (of: string, id: string, status: string, properties: object, parent?: string): ScriptLine => ({
  at: 100,
  ask: () => ({
    kind: 'importResource',
    type: of,
    id,
    status,
    properties,
    by: 'someone',
    ...(parent === undefined ? {} : { parent: { type, id: parent } }),
  }),
})
const transitional = (of: string): string[] =>
  [...plans.get(of)!.kinds].filter(([, kind]) => kind === 'transitional').map(([status]) => status)

/** One of each status that nobody carries out, and instances left in the middle by a cluster at rest. */
const powerCut: readonly ScriptLine[] = [
  ...transitional(type).map((status) => found(type, status, status, { counts: { w: 1 } })),
  found(type, 'at rest', 'Active', { counts: { w: 1 } }),
  ...transitional('sahara.instance').map((status, index) =>
    found('sahara.instance', status, status, { group: 'w', index }, 'at rest'),
  ),
]

async function violations(simulator: Simulator, all: readonly Conditions[]): Promise<string[]> {
  const found: string[] = []
  for (const conditions of all) {
    const { violation } = await outsideMicrotasks(() => explore(simulator, conditions))
    if (violation !== null) found.push(`${JSON.stringify(conditions)}: ${violation.promise} ${violation.text}`)
  }
  return found
}

const stories = { ...scripts, 'found in every transitional status': powerCut }
const succeeded = new Set<string>()
const healed = new Set<string>()

test.each(Object.entries(stories))('issue 3: %s, struck at every commit and every call', async (_name, script) => {
  const simulator = new Simulator({ ...scenario, script })
  const all = await outsideMicrotasks(() => systematic(simulator, false))
  expect(all.length).toBeGreaterThan(100)
  expect(await violations(simulator, all)).toEqual([])
  const quiet = await outsideMicrotasks(() => simulator.run({ seed: 0, choices: {} }))
  for (const one of quiet.succeeded) succeeded.add(one)
  for (const one of quiet.healed) healed.add(one)
})

test('every operation that is declared ends well in one of the stories above', () => {
  const declared = plans.all.flatMap((plan) => [...plan.operations.keys()].map((name) => `${plan.type}.${name}`))
  expect(declared.filter((one) => !succeeded.has(one))).toEqual([])
})

test('in every status that has a healing row, something was healed in one of the stories above', () => {
  const declared = plans.all.flatMap((plan) => [...plan.heal.keys()].map((status) => `${plan.type} ${status}`))
  expect(declared.filter((one) => !healed.has(one))).toEqual([])
})

test('issue 3: whatever is asked, in a storm of faults', async () => {
  const seeds = Array.from({ length: 40 }, (_, seed) => swarm(1_000 + seed))
  expect(await violations(new Simulator(scenario), seeds)).toEqual([])
})
