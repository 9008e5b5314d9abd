// Every operation and every healing row in the simulation: a crash before and after every commit, a pause past the lease of the
// worker, a lost reply of every call, and a delete at every point. All promises are judged, table 1.4 at every commit; everything
// settles. What is declared and in no story makes the last two tests fail.
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

/** The resource monitor sees that something is missing. */
const report = (at: number): ScriptLine => ({
  at: at * 1_000,
  ask: ({ states }) => {
    const found = [...states.values()].find(({ type }) => type === 'blazar.reservation')
    if (found === undefined) return null
    const input = { missingResources: true, resourcesChanged: false }
    return { kind: 'requestOperation', type: found.type, no: found.no, operation: 'report', input, by: 'the monitor' }
  },
})

const found = (type: string, id: string, status: string, properties: object, parent?: string): ScriptLine => ({
  at: 100,
  ask: () => ({
    kind: 'importResource',
    type: `blazar.${type}`,
    id,
    status,
    properties,
    by: 'someone',
    ...(parent === undefined ? {} : { parent: { type: 'blazar.lease', id: parent } }),
  }),
})

/** As a power cut leaves it, with the events that table 1.4 asks for. */
const stuck = (status: string, reservation: string, start: string, end: string, due = 600): ScriptLine[] => {
  const events = { start_lease: [start, due], end_lease: [end, due + 600] } as const
  return [
    found('lease', status, status, { startDate: seconds(due), endDate: seconds(due + 600) }),
    found('reservation', `${status} r`, reservation, { resourceType: 'host' }, status),
    ...Object.entries(events).map(([eventType, [is, at]]) =>
      found('event', `${status} ${eventType}`, is, { eventType, time: seconds(at) }, status),
    ),
  ]
}

const lifecycles = Object.values(blazar).map(hurried)
const scripts: Readonly<Record<string, readonly ScriptLine[]>> = {
  'started, updated, announced and ended by its events, deleted': [
    lease(2, 9, 1),
    report(3),
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
  'an event that can do nothing gives up': [...stuck('ERROR', 'error', 'UNDONE', 'UNDONE', 2), report(30)],
  'found in every transitional status': [
    ...stuck('CREATING', 'pending', 'UNDONE', 'UNDONE'),
    ...stuck('STARTING', 'pending', 'IN_PROGRESS', 'UNDONE'),
    ...stuck('UPDATING', 'active', 'DONE', 'UNDONE'),
    ...stuck('TERMINATING', 'active', 'DONE', 'IN_PROGRESS'),
    ...stuck('DELETING', 'active', 'DONE', 'UNDONE'),
    ...stuck('ACTIVE', 'active', 'DONE', 'IN_PROGRESS'),
  ],
}

const { plans } = new Simulator({ name: 'blazar', lifecycles })
const succeeded = new Set<string>()
const healed = new Set<string>()

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
    const quiet = await outsideMicrotasks(() => simulator.run({ seed: 0, choices: {} }))
    for (const one of quiet.succeeded) succeeded.add(one)
    for (const one of quiet.healed) healed.add(one)
  },
)

test('every operation that is declared ends well in one of the stories above', () => {
  const declared = plans.all.flatMap(({ type, operations }) => [...operations.keys()].map((name) => `${type}.${name}`))
  expect(declared.filter((one) => !succeeded.has(one))).toEqual([])
})

test('in every status that has a healing row, something was healed in one of the stories above', () => {
  const declared = plans.all.flatMap(({ type, heal }) => [...heal.keys()].map((status) => `${type} ${status}`))
  expect(declared.filter((one) => !healed.has(one))).toEqual([])
})
