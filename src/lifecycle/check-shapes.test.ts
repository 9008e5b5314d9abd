// Node runs declarations that were never compiled: whatever stands behind a word, the check tells it and does not break.
import { describe, expect, test } from 'vitest'
import { records, zones } from '../../test/lifecycle/every-word.ts'
import { checkLifecycles } from './check-lifecycle.ts'
import type { AnyLifecycle } from './lifecycle.ts'

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
  [
    'operations.delete.onFailure',
    { previous: true, undo: true },
    'dns.record.operations.delete.onFailure: undo beside `previous` would not be looked at',
  ],
  ['operations.delete.to', { status: {} }, 'dns.record.operations.delete.to.status: {} is no status'],
  [
    'heal.Hiding',
    { like: 'Removing', status: 'Live' },
    'dns.record.heal.Hiding: status beside `like` would not be looked at',
  ],
])('%s = %j is told', (path, other, words) => {
  const faults = checkLifecycles([zones, misshapen(records, path.split('.'), other)])
  expect(faults.map((one) => `${one.path}: ${one.fault}`)).toContain(words)
})

test('properties without a schema are told', () => {
  const resource = { ...(records.resource as object), properties: { size: 'number' } }
  const faults = checkLifecycles([zones, { ...records, resource } as AnyLifecycle])
  expect(faults[0]).toMatchObject({ path: 'dns.record.properties', fault: 'is no schema' })
})

// These compile: one of the words would be looked at, the other not.
test.each([
  [{ exists: true, every: ['Live'] }, 'says exists and every of it at once, and only one of them would be looked at'],
  [{ some: ['Live'], none: ['Lost'] }, 'says some and none of it at once, and only one of them would be looked at'],
  [{ exists: 'no' }, '"no" is neither true nor false'],
  [{}, 'records is a relation to many'],
])('of related resources %j is told', (is, fault) => {
  const path = ['operations', 'publish', 'requires', '0', 'records']
  expect(checkLifecycles([misshapen(zones, path, is), records])).toMatchObject([{ severity: 'error', fault }])
})

test('what a relation leads to is not judged where the relation is unknown', () => {
  const path = ['operations', 'publish', 'onFailure', 'move']
  const faults = checkLifecycles([misshapen(zones, path, { record: { from: ['Live'], to: 'Stale' } }), records])
  expect(faults.filter(({ severity }) => severity === 'error')).toMatchObject([
    { fault: "'record' is no relation of dns.zone", suggestion: "Did you mean 'records'?" },
  ])
})

test.each([
  ['only', { says: 'some' }, "'test' is missing"],
  ['form', ['Live'], "'form' is no word here"],
])('%s in a move is told', (word, other, fault) => {
  const path = ['operations', 'publish', 'onFailure', 'move', 'records', word]
  expect(checkLifecycles([misshapen(zones, path, other), records])).toMatchObject([{ severity: 'error', fault }])
})

test('a misspelt word about related resources is told', () => {
  const path = ['operations', 'publish', 'requires', '0', 'records']
  const faults = checkLifecycles([misshapen(zones, path, { evry: ['Live'] }), records])
  expect(faults).toMatchObject([{ fault: "'evry' is no word here", suggestion: "Did you mean 'every'?" }])
})
