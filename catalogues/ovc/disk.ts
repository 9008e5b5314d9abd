// A disk, attached to a machine or not. Heal rows are named D1..D5 as in spec 4.3.
import { previous } from 'homeostat'
import { z } from 'zod'
import { bin, reason } from './recycle-bin.ts'
import { account, disk, machine } from './resource-types.ts'

/** Note D1: the machine is not in the matching transition. */
const byMachine = [
  { when: { machine: ['RUNNING', 'HALTED', 'PAUSED'] }, status: 'ASSIGNED' },
  { when: { machine: ['DELETED'] }, status: 'TOBEDELETED' },
  { status: 'TOBEDESTROYED' },
] as const

/** D4, D4b: the machine's disk list decides. */
const byLink = [{ when: { machine: { exists: true } }, status: 'ASSIGNED' }, { status: 'CREATED' }] as const

const byStorage = { there: 'CREATED', missing: 'MODELED', unknown: { again: '1h' } } as const

export const disks = disk.relations({ account: { parent: account }, machine: { link: machine } }).lifecycle({
  timers: {
    retention: bin,
    sweep: { in: ['TOBEDESTROYED'], after: '1m', ask: 'sweep', again: '1h' },
    // C2: a machine that its cloudspace takes along leaves its disks behind.
    abandoned: {
      in: ['ASSIGNED', 'TOBEDELETED'],
      when: { machine: ['DESTROYED'] },
      after: '1h',
      ask: 'abandon',
      again: '1h',
    },
  },
  probes: { storage: ['there', 'missing'] },
  moves: [
    { from: ['*'], to: 'TOBEDESTROYED', by: 'account' },
    { from: ['*'], to: 'TOBEDESTROYED', by: 'machine' },
    { from: ['ASSIGNED'], to: 'DELETING_ATTACHED_DISK', by: 'machine' },
    { from: ['DELETING_ATTACHED_DISK', 'RESTORING_ATTACHED_DISK', 'ASSIGNED'], to: 'TOBEDELETED', by: 'machine' },
    { from: ['TOBEDELETED'], to: 'RESTORING_ATTACHED_DISK', by: 'machine' },
    { from: ['RESTORING_ATTACHED_DISK', 'DELETING_ATTACHED_DISK', 'TOBEDELETED'], to: 'ASSIGNED', by: 'machine' },
    { from: ['ASSIGNED', 'TOBEDELETED'], to: 'DESTROYING_ATTACHED_DISK', by: 'machine' },
    { from: ['DESTROYING_ATTACHED_DISK'], to: 'DESTROYED', by: 'machine' },
  ],
  operations: {
    create: {
      from: [],
      steps: { createDisk: { during: 'CREATING', creates: 'disk' } },
      to: 'CREATED',
      onFailure: 'TOBEDESTROYED',
    },
    createOn: {
      from: [],
      steps: { assignDisk: { during: 'ASSIGNING', creates: 'disk' } },
      to: 'ASSIGNED',
      onFailure: 'TOBEDESTROYED',
    },
    attach: {
      from: ['CREATED'],
      input: z.object({ machine: z.string() }),
      steps: { attachDisk: { during: 'ATTACHING' } },
      to: { status: 'ASSIGNED', link: { machine: ({ input }) => input.machine } },
      onFailure: previous,
    },
    detach: {
      from: ['ASSIGNED'],
      steps: { detachDisk: { during: 'DETACHING' } },
      to: { status: 'CREATED', link: { machine: null } },
      onFailure: previous,
    },
    resize: {
      from: ['CREATED', 'ASSIGNED'],
      input: z.object({ size: z.number() }),
      steps: { resizeDisk: { during: 'RESIZING' } },
      to: { status: previous, set: { size: ({ input }) => input.size } },
      onFailure: previous,
    },
    delete: {
      from: ['CREATED'],
      input: reason,
      steps: { binDisk: { during: 'DELETING_DETACHED_DISK' } },
      to: 'DELETED',
      onFailure: previous,
    },
    restore: {
      from: ['DELETED'],
      input: reason,
      steps: { unbinDisk: { during: 'RESTORING_DETACHED_DISK' } },
      to: 'CREATED',
      onFailure: previous,
    },
    destroy: {
      from: ['CREATED', 'DELETED', 'MODELED'],
      input: reason,
      steps: { destroyDisk: { during: 'DESTROYING_DETACHED_DISK', destroys: 'disk' } },
      to: 'DESTROYED',
      onFailure: 'TOBEDESTROYED',
    },
    abandon: {
      from: ['ASSIGNED', 'TOBEDELETED'],
      requires: [{ machine: ['DESTROYED'] }],
      steps: {},
      to: 'TOBEDESTROYED',
      onFailure: previous,
    },
    sweep: {
      from: ['TOBEDESTROYED'],
      steps: { destroyDisk: { during: 'DESTROYING_DETACHED_DISK', destroys: 'disk' } },
      to: 'DESTROYED',
      onFailure: previous,
    },
  },
  heal: {
    DELETING_ATTACHED_DISK: { withOwner: { machine: ['DELETING'] }, otherwise: byMachine }, // D1
    DESTROYING_ATTACHED_DISK: { withOwner: { machine: ['DESTROYING'] }, otherwise: byMachine },
    RESTORING_ATTACHED_DISK: { withOwner: { machine: ['RESTORING'] }, otherwise: byMachine },
    DELETING_DETACHED_DISK: { status: 'DELETED' }, // D2
    DESTROYING_DETACHED_DISK: { status: 'TOBEDESTROYED' },
    RESTORING_DETACHED_DISK: { status: 'CREATED' }, // D3
    ATTACHING: byLink,
    DETACHING: byLink,
    RESIZING: byLink, // D4, D4b
    CREATING: { status: 'TOBEDESTROYED' },
    ASSIGNING: { status: 'TOBEDESTROYED' },
  },
  drift: {
    // Decision 0.9: a disk whose storage is not there is only a model, and the other way round.
    CREATED: { every: '1h', probe: { storage: byStorage } },
    MODELED: { every: '1h', probe: { storage: byStorage } },
  },
})
