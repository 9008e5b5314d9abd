// Table 4.3 of the specification as data: what is found stuck, what the probe says, where it is put, and what is attempted then.
import type { Kind, Put } from './cloud-table.ts'

const off = { properties: { enabled: false } }
export const onMachine = { links: { machine: 'm' } }
const powers = ['running', 'halted', 'paused', 'missing', 'unknown'] as const
const landed = { running: 'RUNNING', halted: 'HALTED', paused: 'PAUSED', missing: 'ERROR', unknown: 'HALTED' } as const
const askedOfPower =
  'STOPPING STARTING REBOOTING RESETTING PAUSING RESUMING MIGRATING ADDING_DISK ATTACHING_DISK DETACHING_DISK DELETING_DISK CHANGING_DISK_LIMITS CLONING RESIZING CREATING_TEMPLATE'.split(
    ' ',
  )

/** row, kind, stuck in, as it is, the probe's answer, the status set, the property set, the follow-up. */
export type Row = readonly [string, Kind, string, Put, string, string, Readonly<Record<string, unknown>>, string]
export const rows: readonly Row[] = [
  ['A1', 'account', 'DISABLING', {}, '', 'CONFIRMED', { enabled: true }, 'disable'],
  ['A2', 'account', 'ENABLING', {}, '', 'DISABLED', { enabled: false }, 'enable'],
  ['A3', 'account', 'DELETING', {}, '', 'CONFIRMED', {}, 'delete'],
  ['A3', 'account', 'DELETING', off, '', 'DISABLED', {}, 'delete'],
  ['A4', 'account', 'RESTORING', {}, '', 'DELETED', {}, 'restore'],
  ['A5', 'account', 'DESTROYING', {}, '', 'DESTROYED', {}, ''],
  ['A6', 'account', 'UPDATING', {}, '', 'CONFIRMED', {}, ''],
  ['A6', 'account', 'UPDATING', off, '', 'DISABLED', {}, ''],
  ['C1', 'cloudspace', 'DEPLOYING', {}, '', 'DESTROYED', {}, ''],
  ['C2', 'cloudspace', 'DESTROYING', {}, '', 'DESTROYED', {}, ''],
  ['C3', 'cloudspace', 'DISABLING', {}, '', 'DEPLOYED', { enabled: true }, 'disable'],
  ['C4', 'cloudspace', 'ENABLING', {}, '', 'DISABLED', { enabled: false }, 'enable'],
  ['C5', 'cloudspace', 'DELETING', off, '', 'DISABLED', {}, 'delete'],
  ['C6', 'cloudspace', 'DELETING', {}, '', 'PAUSED', {}, 'delete'],
  ['C7', 'cloudspace', 'UPDATING', {}, '', 'DEPLOYED', {}, ''],
  ['C8', 'cloudspace', 'UPDATING', off, '', 'DISABLED', {}, ''],
  ['C9', 'cloudspace', 'RESTORING', {}, '', 'DELETED', {}, 'restore'],
  ...['PAUSING', 'RESUMING', 'RESETTING', 'MIGRATING'].flatMap((status): Row[] => [
    ['C10', 'cloudspace', status, {}, 'up', 'DEPLOYED', {}, ''],
    ['C10', 'cloudspace', status, {}, 'down', 'PAUSED', {}, ''],
    ['C10', 'cloudspace', status, {}, 'unknown', 'PAUSED', {}, ''],
  ]),
  ['M1', 'machine', 'DEPLOYING', {}, '', 'DESTROYED', {}, ''],
  ['M2', 'machine', 'DESTROYING', {}, '', 'DESTROYED', {}, ''],
  ...askedOfPower.flatMap((status) =>
    powers.map((power): Row => {
      const set = power === 'unknown' ? { verified: false } : power === 'halted' ? { verified: true } : {}
      return ['M3', 'machine', status, {}, power, landed[power], set, '']
    }),
  ),
  ['M4', 'machine', 'DELETING', {}, '', 'HALTED', {}, 'delete'],
  ['M5', 'machine', 'RESTORING', {}, '', 'DELETED', {}, 'restore'],
  ['D2', 'disk', 'DELETING_DETACHED_DISK', {}, '', 'DELETED', {}, ''],
  ['D2', 'disk', 'DESTROYING_DETACHED_DISK', {}, '', 'TOBEDESTROYED', {}, ''],
  ['D3', 'disk', 'RESTORING_DETACHED_DISK', {}, '', 'CREATED', {}, ''],
  ...['ATTACHING', 'DETACHING', 'RESIZING'].flatMap((status): Row[] => [
    ['D4', 'disk', status, onMachine, '', 'ASSIGNED', {}, ''],
    ['D4b', 'disk', status, {}, '', 'CREATED', {}, ''],
  ]),
  ['not covered by the seed', 'disk', 'CREATING', {}, '', 'TOBEDESTROYED', {}, ''],
  ['not covered by the seed', 'disk', 'ASSIGNING', onMachine, '', 'TOBEDESTROYED', {}, ''],
  ['I1', 'image', 'CREATING', {}, '', 'DESTROYED', {}, ''],
  ['I2', 'image', 'RESTORING', {}, '', 'DELETED', {}, 'restore'],
  ['I3', 'image', 'DELETING', {}, '', 'CREATED', {}, 'delete'],
  ['I3', 'image', 'DELETING', off, '', 'DISABLED', {}, 'delete'],
  ['I4', 'image', 'DESTROYING', {}, '', 'DESTROYED', {}, ''],
  ...['DISABLING', 'ENABLING'].flatMap((status): Row[] => [
    ['not covered by the seed', 'image', status, {}, '', 'CREATED', {}, ''],
    ['not covered by the seed', 'image', status, off, '', 'DISABLED', {}, ''],
  ]),
  ['N1', 'node', 'DEACTIVATING', {}, '', 'ENABLED', {}, 'maintain'],
  ['N2', 'node', 'ENABLING', {}, '', 'MAINTENANCE', {}, 'enable'],
  ['N3', 'node', 'DECOMMISSIONING', {}, '', 'MAINTENANCE', {}, 'decommission'],
  ['not covered by the seed', 'node', 'UPDATING', {}, '', 'ENABLED', {}, ''],
]
