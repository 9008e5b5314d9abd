// Node runs declarations that were never compiled: whatever stands behind a word, the check tells it and does not break.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { checkLifecycles } from './check-lifecycle.ts'
import { resourceType, type AnyLifecycle } from './lifecycle.ts'

const zone = resourceType('dns.zone', {
  properties: z.object({ origin: z.string(), until: z.number().optional() }),
  statuses: {
    stable: { Serving: 'Answers.', Drifted: 'Its file is gone.' },
    transitional: { Creating: 'Being made.', Publishing: 'Being sent out.', Deleting: 'Being removed.' },
    failed: { Broken: 'Delete it.' },
    terminal: { Gone: 'Removed.' },
  },
})
const record = resourceType('dns.record', {
  properties: z.object({ value: z.string() }),
  statuses: {
    stable: { Live: 'In the zone.', Stale: 'Not sent out.' },
    transitional: { Removing: 'Being removed.' },
    failed: { Lost: 'Nobody knows.' },
    terminal: { Gone: 'Removed.' },
  },
})

/** With nearly every word of the language. */
const zones = zone.relations({ records: { children: record } }).lifecycle({
  probes: { zoneFile: ['there', 'absent'] },
  operations: {
    create: {
      from: [],
      input: z.object({ values: z.array(z.string()).default([]) }),
      steps: {
        makeFile: {
          during: {
            status: 'Creating',
            add: { records: { status: 'Live', each: ({ input }) => input.values.map((value) => ({ value })) } },
          },
          creates: 'file',
          undo: 'removeFile',
          probe: 'zoneFile',
          retry: { times: 2, first: '1s' },
        },
      },
      to: [{ when: { origin: 'example' }, status: 'Drifted' }, { status: 'Serving' }],
      onFailure: [
        { code: ['quota'], status: 'Broken' },
        { undo: true, status: 'Broken' },
      ],
    },
    publish: {
      from: ['Serving', 'Drifted'],
      requires: [{ records: { some: ['Live', 'Stale'] } }, { says: 'it is early', test: ({ now }) => now > 0 }],
      steps: { push: { during: 'Publishing', forEach: { records: { in: ['Stale'], done: 'Live' } } } },
      to: 'Serving',
      onFailure: { status: 'Drifted', move: { records: { from: ['Live'], to: 'Stale' } } },
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      steps: {
        drop: { during: 'Deleting', ask: { records: { operation: 'delete', in: ['Live', 'Stale', 'Lost'] } } },
        removeFile: { during: 'Deleting', destroys: 'file' },
      },
      to: 'Gone',
      onFailure: { again: '10s' },
    },
  },
  drift: {
    Serving: { every: '1m', probe: { zoneFile: { there: 'Serving', absent: 'Drifted', unknown: { again: '1m' } } } },
  },
  timers: { expire: { in: ['Serving'], when: { origin: ['a', 'b'] }, at: 'until', ask: 'delete', again: '1m' } },
  rules: { quiet: { says: 'nothing is lost', holds: { Serving: [{ records: { none: ['Lost'] } }] } } },
  heal: {
    Creating: {
      resume: true,
      unowned: [{ when: { records: { exists: true } }, status: 'Drifted' }, { status: 'Broken' }],
    },
    Publishing: { probe: { zoneFile: { there: 'Serving', absent: { status: 'Drifted' }, unknown: 'Broken' } } },
    Deleting: { attempt: 'delete' },
  },
})
const records = record.relations({ zone: { parent: zone } }).lifecycle({
  begins: ['Live'],
  moves: [
    { from: ['Live'], to: 'Stale', by: 'zone' },
    { from: ['Stale'], to: 'Live', by: 'zone' },
  ],
  operations: {
    delete: {
      from: ['*'],
      steps: { removeRecord: { during: 'Removing' } },
      to: 'Gone',
      onFailure: 'Lost',
    },
  },
  heal: {
    Removing: { withOwner: { zone: ['Deleting'] }, otherwise: { attempt: 'delete' }, unowned: { status: 'Lost' } },
  },
})

type Body = Readonly<Record<string, unknown>>
const isPlain = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !('~standard' in value)

function* pathsIn(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (path.length > 0) yield path
  if (isPlain(value)) for (const name of Object.keys(value)) yield* pathsIn(value[name], [...path, name])
}

function put(value: unknown, [name, ...rest]: readonly string[], other: unknown): unknown {
  if (name === undefined) return other
  const copy = (Array.isArray(value) ? [...value] : { ...(value as Body) }) as Record<string, unknown>
  copy[name] = put(copy[name], rest, other)
  return copy
}

const misshapen = (lifecycle: AnyLifecycle, path: readonly string[], other: unknown): AnyLifecycle =>
  ({ ...lifecycle, body: put(lifecycle.body, path, other) }) as AnyLifecycle

const others = [null, undefined, 7, 'nonsense', true, [], {}, [null], [7], ['x'], { x: null }, { x: 7 }, () => 1]

test('the declarations have no faults as they are', () => {
  expect(checkLifecycles([zones, records])).toEqual([])
})

describe.each([
  ['zones', zones as AnyLifecycle],
  ['records', records as AnyLifecycle],
])('%s, with something else behind a word', (name, lifecycle) => {
  test.each(Object.keys(lifecycle.body).map((word) => [word]))('%s: the check breaks nowhere', (word) => {
    const set = (changed: AnyLifecycle) => (name === 'zones' ? [changed, records] : [zones, changed])
    for (const path of pathsIn((lifecycle.body as unknown as Body)[word], [word])) {
      for (const other of others) {
        const check = () => checkLifecycles(set(misshapen(lifecycle, path, other)))
        expect(check, `${path.join('.')} = ${JSON.stringify(other)}`).not.toThrow()
      }
    }
  })
})

test.each([
  ['moves', {}, 'dns.record.moves: {} is no list'],
  ['operations.delete.from', 'Live', "dns.record.operations.delete.from: 'Live' is no list"],
  [
    'operations.delete.steps.removeRecord.deadline',
    5,
    'dns.record.operations.delete.steps.removeRecord.deadline: 5 is no text',
  ],
  ['operations.delete.input', { x: 1 }, 'dns.record.operations.delete.input: is no schema'],
  ['operations.delete.ifBusy', 'premept', "dns.record.operations.delete.ifBusy: 'premept' is none of its words"],
  ['operations.delete.ifTerminal', true, 'dns.record.operations.delete.ifTerminal: true is none of its words'],
  [
    'operations.delete.steps.removeRecord.ifForced',
    'leave',
    "dns.record.operations.delete.steps.removeRecord.ifForced: 'leave' is none of its words",
  ],
  [
    'operations.delete.steps.removeRecord.ask',
    { zone: { operation: 'delete', failed: 'go on' } },
    "dns.record.operations.delete.steps.removeRecord.ask.zone.failed: 'go on' is none of its words",
  ],
  [
    'operations.delete.onFailure',
    { undo: 'true', status: 'Lost' },
    "dns.record.operations.delete.onFailure.undo: 'true' is not true",
  ],
  ['heal.Removing.resume', false, 'dns.record.heal.Removing.resume: false is not true'],
])('%s = %j is told', (path, other, words) => {
  const faults = checkLifecycles([zones, misshapen(records, path.split('.'), other)])
  expect(faults.map((one) => `${one.path}: ${one.fault}`)).toContain(words)
})

test('properties without a schema are told', () => {
  const resource = { ...(records.resource as object), properties: { size: 'number' } }
  const faults = checkLifecycles([zones, { ...records, resource } as AnyLifecycle])
  expect(faults[0]).toMatchObject({ path: 'dns.record.properties', fault: 'is no schema' })
})

test('a misspelt word about related resources is told', () => {
  const path = ['operations', 'publish', 'requires', '0', 'records']
  const faults = checkLifecycles([misshapen(zones, path, { evry: ['Live'] }), records])
  expect(faults).toMatchObject([{ fault: "'evry' is no word here", suggestion: "Did you mean 'every'?" }])
})
