// Every operation of the catalogue in simulation: a crash, a pause past the lease, a lost reply, a delete and every other fault at
// every commit and every driver call. Everything settles, the rules hold at every commit, nothing leaks: the simulator judges.
// What is declared and in no story makes the last two tests fail.
import { hurried, outsideMicrotasks, Simulator, systematic, type ScriptLine } from 'homeostat/testing'
import { expect, test } from 'vitest'
import { opensds } from './index.ts'

type Asked = Extract<Exclude<ReturnType<ScriptLine['ask']>, null>, { kind: 'requestOperation' }>

let at = 0
/** Asked one after the other, so far apart that each has ended. */
const ask = (type: string, id: string, operation: string, more: Partial<Asked> = {}, afterMs = 1_000): ScriptLine => {
  at += afterMs
  return {
    at,
    ask: () => ({ kind: 'requestOperation', type: `opensds.${type}`, id, operation, by: 'someone', ...more }),
  }
}
const found = (type: string, id: string, status: string, properties: object, under?: string): ScriptLine => {
  const parent = under === undefined ? {} : { parent: { type: 'opensds.volume', id: under } }
  return {
    at: ++at,
    ask: () => ({ kind: 'importResource', type: `opensds.${type}`, id, status, properties, by: 'someone', ...parent }),
  }
}
const under = (id: string, properties: object = {}): Partial<Asked> => ({
  create: { parent: { type: 'opensds.volume', id }, properties },
})

const scripts: readonly (readonly [string, () => readonly ScriptLine[]])[] = [
  [
    'a shared volume, two detached at once',
    () => [
      ask('volume', 'v', 'create', { create: { properties: { size: 1, multiAttach: true } } }),
      ask('attachment', 'a', 'create', under('v', { hostId: 'h1' })),
      ask('attachment', 'b', 'create', under('v', { hostId: 'h2' })),
      ask('attachment', 'a', 'delete'),
      ask('attachment', 'b', 'delete', {}, 3),
    ],
  ],
  [
    'a snapshot, a volume made from it, an extension, a reset',
    () => [
      found('volume', 'v', 'ErrorExtending', { size: 1 }),
      ask('volume', 'v', 'reset'),
      ask('volume', 'v', 'extend', { input: { size: 9 } }),
      ask('snapshot', 's', 'create', under('v')),
      ask('volume', 'w', 'create', { create: { properties: { size: 9 }, links: { source: 's' } } }),
      ask('snapshot', 's', 'delete'),
      ask('volume', 'v', 'delete'),
    ],
  ],
  [
    'what comes in in every transitional status',
    () => [
      ...['Creating', 'Extending', 'Deleting', 'Attaching', 'Detaching'].map((status) =>
        found('volume', status, status, { size: 1, multiAttach: true }),
      ),
      // Without attachments: healed by themselves, not with them.
      found('volume', 'alone', 'Attaching', { size: 1 }),
      found('volume', 'left', 'Detaching', { size: 1 }),
      found('attachment', 'a', 'Attaching', { hostId: 'h' }, 'Attaching'),
      found('attachment', 'b', 'Detaching', { hostId: 'h' }, 'Detaching'),
      found('attachment', 'c', 'Detaching', { hostId: 'i' }, 'Detaching'),
      found('snapshot', 's', 'Creating', { size: 1 }, 'Attaching'),
      found('snapshot', 't', 'Deleting', { size: 1 }, 'Detaching'),
    ],
  ],
]

const lifecycles = Object.values(opensds).map(hurried)
const { plans } = new Simulator({ name: 'opensds', lifecycles })
const succeeded = new Set<string>()
const healed = new Set<string>()

test.each(scripts)('%s: whatever strikes at whichever commit or call', async (name, lines) => {
  at = 0
  const simulator = new Simulator({ name, lifecycles, script: lines() })
  const all = await outsideMicrotasks(() => systematic(simulator, false))
  expect(all.length).toBeGreaterThan(100)
  for (const conditions of all) {
    const { violation } = await outsideMicrotasks(() => simulator.run(conditions))
    if (violation !== null)
      throw new Error(`${JSON.stringify(conditions.strikes)}: ${violation.promise}: ${violation.text}`)
  }
  const quiet = await outsideMicrotasks(() => simulator.run({ seed: 0, choices: {} }))
  for (const one of quiet.succeeded) succeeded.add(one)
  for (const one of quiet.healed) healed.add(one)
})

test('every operation that is declared ends well in one of the stories above', () => {
  const declared = plans.all.flatMap(({ type, operations }) => [...operations.keys()].map((name) => `${type}.${name}`))
  expect(declared.filter((one) => !succeeded.has(one))).toEqual([])
})

test('in every status that has a healing row, something was healed in one of the stories above', () => {
  const declared = plans.all.flatMap(({ type, heal }) => [...heal.keys()].map((status) => `${type} ${status}`))
  expect(declared.filter((one) => !healed.has(one))).toEqual([])
})
