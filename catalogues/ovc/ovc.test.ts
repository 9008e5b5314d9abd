// OpenvCloud's declarations against table 4.3 of the specification, row by row.
import { checkLifecycles, edgesOf, lifecycleJson } from 'homeostat'
import { expect, test } from 'vitest'
import { ovc } from './index.ts'

const set = Object.values(ovc)

test('check finds nothing', () => {
  expect(checkLifecycles(set)).toEqual([])
})

const probed = 'RUNNING HALTED PAUSED'
test.each([
  ['A1', 'account', 'DISABLING', 'CONFIRMED', 'disable'],
  ['A2', 'account', 'ENABLING', 'DISABLED', 'enable'],
  ['A3', 'account', 'DELETING', 'CONFIRMED DISABLED', 'delete'],
  ['A4', 'account', 'RESTORING', 'DELETED', 'restore'],
  ['A5', 'account', 'DESTROYING', 'DESTROYED', ''],
  ['A6', 'account', 'UPDATING', 'CONFIRMED DISABLED', ''],
  ['C1', 'cloudspace', 'DEPLOYING', 'DESTROYED', ''],
  ['C2', 'cloudspace', 'DESTROYING', 'DESTROYED', ''],
  ['C3', 'cloudspace', 'DISABLING', 'DEPLOYED', 'disable'],
  ['C4', 'cloudspace', 'ENABLING', 'DISABLED', 'enable'],
  ['C5, C6', 'cloudspace', 'DELETING', 'DISABLED PAUSED', 'delete'],
  ['C7, C8', 'cloudspace', 'UPDATING', 'DISABLED DEPLOYED', ''],
  ['C9', 'cloudspace', 'RESTORING', 'DELETED', 'restore'],
  ...['PAUSING', 'RESUMING', 'RESETTING', 'MIGRATING'].map((status) => [
    'C10',
    'cloudspace',
    status,
    'DEPLOYED PAUSED',
    '',
  ]),
  ['M1', 'machine', 'DEPLOYING', 'DESTROYED', ''],
  ['M2', 'machine', 'DESTROYING', 'DESTROYED', ''],
  ...['STOPPING', 'STARTING', 'REBOOTING', 'RESETTING', 'PAUSING', 'RESUMING'].map((status) => [
    'M3',
    'machine',
    status,
    probed,
    '',
  ]),
  ...['ADDING_DISK', 'ATTACHING_DISK', 'DETACHING_DISK', 'DELETING_DISK', 'CHANGING_DISK_LIMITS'].map((status) => [
    'M3',
    'machine',
    status,
    probed,
    '',
  ]),
  ...['CLONING', 'RESIZING', 'CREATING_TEMPLATE', 'MIGRATING'].map((status) => ['M3', 'machine', status, probed, '']),
  ['M4', 'machine', 'DELETING', 'HALTED', 'delete'],
  ['M5', 'machine', 'RESTORING', 'DELETED', 'restore'],
  ...['DELETING', 'DESTROYING', 'RESTORING'].map((word) => [
    'D1',
    'disk',
    `${word}_ATTACHED_DISK`,
    'ASSIGNED TOBEDELETED TOBEDESTROYED',
    '',
  ]),
  ['D2', 'disk', 'DELETING_DETACHED_DISK', 'DELETED', ''],
  ['D2', 'disk', 'DESTROYING_DETACHED_DISK', 'TOBEDESTROYED', ''],
  ['D3', 'disk', 'RESTORING_DETACHED_DISK', 'CREATED', ''],
  ...['ATTACHING', 'DETACHING', 'RESIZING'].map((status) => ['D4, D4b', 'disk', status, 'ASSIGNED CREATED', '']),
  ['I1', 'image', 'CREATING', 'DESTROYED', ''],
  ['I2', 'image', 'RESTORING', 'DELETED', 'restore'],
  ['I3', 'image', 'DELETING', 'DISABLED CREATED', 'delete'],
  ['I4', 'image', 'DESTROYING', 'DESTROYED', ''],
  ['N1', 'node', 'DEACTIVATING', 'ENABLED', 'maintain'],
  ['N2', 'node', 'ENABLING', 'MAINTENANCE', 'enable'],
  ['N3', 'node', 'DECOMMISSIONING', 'ENABLED MAINTENANCE', 'decommission'],
] as [string, keyof typeof ovc, string, string, string][])(
  '%s: a %s stuck in %s lands in %s, then %s',
  (_, name, status, to, attempt) => {
    const lifecycle = ovc[name]
    const healed = edgesOf(lifecycle, set).filter(({ kind, from }) => kind === 'heal' && from === status)
    expect(new Set(healed.map((edge) => edge.to))).toEqual(new Set(to.split(' ')))
    const row = JSON.stringify((lifecycleJson(lifecycle)['heal'] as Record<string, unknown>)[status])
    expect(new Set([...row.matchAll(/"attempt":"(\w+)"/g)].map((match) => match[1]))).toEqual(
      new Set(attempt ? [attempt] : []),
    )
  },
)

test('a node and its stack stand in the same statuses', () => {
  const reached = (name: 'node' | 'stack') =>
    new Set(
      edgesOf(ovc[name], set)
        .filter(({ kind }) => kind !== 'heal')
        .map(({ to }) => to),
    )
  expect(reached('stack')).toEqual(reached('node'))
})
