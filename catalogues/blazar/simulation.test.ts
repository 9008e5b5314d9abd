// Every operation of a lease in the simulation: a crash before and after every commit, a pause past the lease of the worker, a lost
// reply of every call, and a delete at every point. All promises are judged, table 1.4 at every commit; everything settles.
import {
  beginning,
  explore,
  hurried,
  outsideMicrotasks,
  Simulator,
  systematic,
  type Scenario,
  type ScriptLine,
} from 'homeostat/testing'
import { expect, test } from 'vitest'
import { blazar } from './index.ts'

const seconds = (n: number) => beginning + n * 1_000

const lease = (start: number, end: number, reservations: number): ScriptLine => ({
  at: 100,
  ask: () => ({
    kind: 'requestOperation',
    type: 'blazar.lease',
    id: 'l',
    operation: 'create',
    create: { properties: { startDate: seconds(start), endDate: seconds(end) } },
    input: {
      reservations: Array.from({ length: reservations }, () => ({ resourceType: 'host' })),
      beforeEndDate: seconds(end - 1),
    },
    by: 'someone',
  }),
})

const operate = (at: number, operation: string, input?: object): ScriptLine => ({
  at: at * 1_000,
  ask: () => ({ kind: 'requestOperation', type: 'blazar.lease', id: 'l', operation, input, by: 'someone' }),
})

const lifecycles = Object.values(blazar).map(hurried)
const scripts: Readonly<Record<string, readonly ScriptLine[]>> = {
  'started, updated, announced and ended by its events, deleted': [
    lease(2, 9, 1),
    operate(4, 'update', { endDate: seconds(8) }),
    operate(16, 'delete'),
  ],
  'started, ended and deleted by hand, with two reservations': [
    lease(600, 1_200, 2),
    operate(1, 'start'),
    operate(2, 'end'),
    operate(3, 'delete'),
    operate(3.01, 'delete'),
  ],
}

test.each(Object.entries(scripts))(
  '%s: whatever strikes wherever, it settles and leaves nothing',
  async (name, script) => {
    const scenario: Scenario = { name, lifecycles, script }
    const simulator = new Simulator(scenario)
    const all = await outsideMicrotasks(() => systematic(simulator, false))
    expect(all.length).toBeGreaterThan(50)
    for (const conditions of all) {
      const { violation } = await outsideMicrotasks(() => explore(simulator, conditions))
      expect([conditions.strikes, violation?.text]).toEqual([conditions.strikes, undefined])
    }
  },
)
