// Table 4.2 of the specification as data: every transition with its failure, and a cloud in which it can be taken.
import { CloudTable, type Kind, type Put } from './cloud-table.ts'

/** kind, operation, from, via, to, after a failure; then what stands around it. */
export type Row = readonly [Kind, string, string, string, string, string, { input?: unknown; put?: Put }?]

const machine = { disk: { links: { machine: 'm' } } }
export const rows: readonly Row[] = [
  ['account', 'update', 'CONFIRMED', 'UPDATING', 'CONFIRMED', 'CONFIRMED', { input: { name: 'new' } }],
  ['account', 'disable', 'CONFIRMED', 'DISABLING', 'DISABLED', 'CONFIRMED'],
  ['account', 'enable', 'DISABLED', 'ENABLING', 'CONFIRMED', 'CONFIRMED'],
  ['account', 'delete', 'CONFIRMED', 'DELETING', 'DELETED', 'CONFIRMED'],
  ['account', 'delete', 'DISABLED', 'DELETING', 'DELETED', 'DISABLED'],
  ['account', 'restore', 'DELETED', 'RESTORING', 'CONFIRMED', 'DELETED'],
  ['account', 'destroy', 'CONFIRMED', 'DESTROYING', 'DESTROYED', 'CONFIRMED'],
  ['account', 'destroy', 'DISABLED', 'DESTROYING', 'DESTROYED', 'DISABLED'],
  ['account', 'destroy', 'DELETED', 'DESTROYING', 'DESTROYED', 'DELETED'],

  ['cloudspace', 'deploy', 'VIRTUAL', 'DEPLOYING', 'DEPLOYED', 'VIRTUAL'],
  ['cloudspace', 'disable', 'DEPLOYED', 'DISABLING', 'DISABLED', 'DEPLOYED'],
  ['cloudspace', 'pause', 'DEPLOYED', 'PAUSING', 'PAUSED', 'DEPLOYED'],
  ['cloudspace', 'reset', 'DEPLOYED', 'RESETTING', 'DEPLOYED', 'PAUSED'],
  ['cloudspace', 'reset', 'PAUSED', 'RESETTING', 'DEPLOYED', 'PAUSED'],
  ['cloudspace', 'update', 'DEPLOYED', 'UPDATING', 'DEPLOYED', 'DEPLOYED', { input: { name: 'new' } }],
  ['cloudspace', 'migrate', 'DEPLOYED', 'MIGRATING', 'DEPLOYED', 'DEPLOYED', { input: { node: 'n2' } }],
  ['cloudspace', 'enable', 'DISABLED', 'ENABLING', 'DEPLOYED', 'PAUSED', { put: { properties: { enabled: false } } }],
  ['cloudspace', 'resume', 'PAUSED', 'RESUMING', 'DEPLOYED', 'PAUSED'],
  ...['DEPLOYED', 'DISABLED', 'PAUSED', 'VIRTUAL'].map((from): Row => [
    'cloudspace',
    'delete',
    from,
    'DELETING',
    'DELETED',
    from,
  ]),
  // The firewall's end is not waited for: a failed one is left to the sweeper.
  ...['DEPLOYED', 'DISABLED', 'PAUSED', 'VIRTUAL', 'DELETED'].map((from): Row => [
    'cloudspace',
    'destroy',
    from,
    'DESTROYING',
    'DESTROYED',
    'DESTROYED',
  ]),
  ['cloudspace', 'restore', 'DELETED', 'RESTORING', 'DEPLOYED', 'DELETED'],

  ['machine', 'deploy', 'VIRTUAL', 'DEPLOYING', 'RUNNING', 'DESTROYED'],
  ['machine', 'pause', 'RUNNING', 'PAUSING', 'PAUSED', 'RUNNING'],
  ['machine', 'resume', 'PAUSED', 'RESUMING', 'RUNNING', 'PAUSED'],
  ['machine', 'start', 'HALTED', 'STARTING', 'RUNNING', 'HALTED'],
  ['machine', 'restart', 'HALTED', 'STARTING', 'RUNNING', 'HALTED', { put: { properties: { restart: true } } }],
  ...['RUNNING', 'PAUSED'].flatMap((from): Row[] => [
    ['machine', 'stop', from, 'STOPPING', 'HALTED', from],
    ['machine', 'reboot', from, 'REBOOTING', 'RUNNING', from],
    ['machine', 'reset', from, 'RESETTING', 'RUNNING', from],
  ]),
  ...['RUNNING', 'PAUSED', 'HALTED'].flatMap((from): Row[] => [
    ['machine', 'limitDisk', from, 'CHANGING_DISK_LIMITS', from, from, { input: { disk: 'd', iops: 100 } }],
    ['machine', 'resize', from, 'RESIZING', from, from, { input: { memory: 1024 } }],
    ['machine', 'migrate', from, 'MIGRATING', from, from, { input: { node: 'n2' } }],
  ]),
  ...['VIRTUAL', 'RUNNING', 'PAUSED', 'HALTED'].map((from): Row => [
    'machine',
    'delete',
    from,
    'DELETING',
    'DELETED',
    from,
  ]),
  ...['VIRTUAL', 'RUNNING', 'PAUSED', 'HALTED', 'DELETED', 'ERROR'].map((from): Row => [
    'machine',
    'destroy',
    from,
    'DESTROYING',
    'DESTROYED',
    'DESTROYED',
  ]),
  ['machine', 'restore', 'DELETED', 'RESTORING', 'HALTED', 'DELETED'],

  ['disk', 'build', 'MODELED', 'CREATING', 'CREATED', 'MODELED'],
  ['disk', 'buildOn', 'MODELED', 'ASSIGNING', 'ASSIGNED', 'TOBEDESTROYED', { put: machine.disk }],
  ['disk', 'attach', 'CREATED', 'ATTACHING', 'ASSIGNED', 'CREATED', { input: { machine: 'm' } }],
  ['disk', 'detach', 'ASSIGNED', 'DETACHING', 'CREATED', 'ASSIGNED', { put: machine.disk }],
  ['disk', 'resize', 'CREATED', 'RESIZING', 'CREATED', 'CREATED', { input: { size: 20 } }],
  ['disk', 'resize', 'ASSIGNED', 'RESIZING', 'ASSIGNED', 'ASSIGNED', { input: { size: 20 }, put: machine.disk }],
  ['disk', 'settle', 'CREATED', 'RESIZING', 'CREATED', 'CREATED'],
  ['disk', 'settle', 'ASSIGNED', 'RESIZING', 'ASSIGNED', 'ASSIGNED', { put: machine.disk }],
  ['disk', 'delete', 'CREATED', 'DELETING_DETACHED_DISK', 'DELETED', 'CREATED'],
  ['disk', 'delete', 'ASSIGNED', 'DELETING_ATTACHED_DISK', 'TOBEDELETED', 'ASSIGNED', { put: machine.disk }],
  ['disk', 'destroy', 'CREATED', 'DESTROYING_DETACHED_DISK', 'DESTROYED', 'TOBEDESTROYED'],
  ['disk', 'destroy', 'DELETED', 'DESTROYING_DETACHED_DISK', 'DESTROYED', 'TOBEDESTROYED'],
  ['disk', 'destroy', 'MODELED', 'DESTROYING_DETACHED_DISK', 'DESTROYED', 'TOBEDESTROYED'],
  ['disk', 'destroy', 'ASSIGNED', 'DESTROYING_ATTACHED_DISK', 'DESTROYED', 'ASSIGNED', { put: machine.disk }],
  ['disk', 'destroy', 'TOBEDELETED', 'DESTROYING_ATTACHED_DISK', 'DESTROYED', 'TOBEDELETED', { put: machine.disk }],
  ['disk', 'restore', 'TOBEDELETED', 'RESTORING_ATTACHED_DISK', 'ASSIGNED', 'TOBEDELETED', { put: machine.disk }], // D5
  ['disk', 'restore', 'DELETED', 'RESTORING_DETACHED_DISK', 'CREATED', 'DELETED'], // D5
  ['disk', 'sweep', 'TOBEDESTROYED', 'DESTROYING_DETACHED_DISK', 'DESTROYED', 'TOBEDESTROYED'],

  ['image', 'build', 'VIRTUAL', 'CREATING', 'CREATED', 'VIRTUAL'],
  ['image', 'disable', 'CREATED', 'DISABLING', 'DISABLED', 'CREATED'],
  ['image', 'enable', 'DISABLED', 'ENABLING', 'CREATED', 'DISABLED'],
  ...['CREATED', 'DISABLED'].map((from): Row => ['image', 'delete', from, 'DELETING', 'DELETED', from]),
  ...['CREATED', 'DISABLED', 'DELETED', 'VIRTUAL'].map((from): Row => [
    'image',
    'destroy',
    from,
    'DESTROYING',
    'DESTROYED',
    from,
  ]),
  ['image', 'restore', 'DELETED', 'RESTORING', 'CREATED', 'DELETED'],

  ['node', 'maintain', 'ENABLED', 'DEACTIVATING', 'MAINTENANCE', 'ENABLED'],
  ['node', 'enable', 'MAINTENANCE', 'ENABLING', 'ENABLED', 'MAINTENANCE'],
  ['node', 'enable', 'ERROR', 'ENABLING', 'ENABLED', 'ERROR'],
  ['node', 'update', 'ENABLED', 'UPDATING', 'ENABLED', 'ENABLED'],
  ['node', 'decommission', 'ENABLED', 'DECOMMISSIONING', 'DECOMMISSIONED', 'ENABLED'],
  ['node', 'decommission', 'MAINTENANCE', 'DECOMMISSIONING', 'DECOMMISSIONED', 'MAINTENANCE'],
]

/** The resource `ovc.<kind>/x` in the status, and around it all that its operations need. */
export function at(kind: Kind, status: string, put: Put = {}): { t: CloudTable; x: string } {
  const t = new CloudTable()
  const x = `ovc.${kind}/x`
  if (kind === 'disk') t.put('machine', 'm', 'RUNNING')
  t.put(kind, 'x', status, put)
  if (kind === 'machine') t.put('disk', 'd', 'ASSIGNED', { links: { machine: 'x' } })
  // Something below, so that account operations take time: an image for deletes, a space that is paused or to be paused.
  if (kind === 'account' && status !== 'DESTROYED') {
    t.put('image', 'below', 'CREATED', { parent: x })
    t.put('cloudspace', 'space', status === 'DISABLED' ? 'PAUSED' : 'DEPLOYED', { parent: x })
  }
  return { t, x }
}
