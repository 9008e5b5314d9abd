// A disk, attached to a machine or not. Heal rows are named D1..D5 as in spec 4.3.
// What concerns an attached disk is asked of its machine, too, so that the machine shows it and refuses other work meanwhile.
import { previous } from 'homeostat'
import { z } from 'zod'
import { bin, notInBin, reason } from './recycle-bin.ts'
import { account, disk, idOf, machine } from './resource-types.ts'

/**
 * Note D1: the machine is not in the matching transition. Nothing is given to the destroyer while there is a machine: one that is
 * in the middle of something else, or broken, keeps its disk, whose real plug is made to follow the record (`settle`).
 */
const byMachine = [
  { when: { machine: { exists: false } }, status: 'TOBEDESTROYED' },
  { when: { machine: ['DESTROYED'] }, status: 'TOBEDESTROYED' },
  { when: { machine: ['DELETED'] }, status: 'TOBEDELETED' },
  { status: 'ASSIGNED', set: { loose: true } },
] as const

/** D4, D4b: the machine's disk list decides; the real plug is made to follow it afterwards (`settle`). */
const byLink = [
  { when: { machine: { exists: true } }, status: 'ASSIGNED', link: { target: null }, set: { loose: true } },
  { status: 'CREATED', link: { target: null }, set: { loose: true } },
] as const

const byStorage = { there: 'CREATED', missing: 'MODELED', unknown: { again: '1h' } } as const

const active = ['RUNNING', 'PAUSED', 'HALTED'] as const
const itself = ({ resource }: { readonly resource: { readonly id: string } }) => ({ disk: resource.id })
const attached = { machine: { exists: true } } as const
const detached = { machine: { exists: false } } as const
/** One that would stand CREATED with a machine could not be deleted any more once that is in the bin. */
const onNone = {
  says: 'it is made for no machine (createOn and buildOn make one on its machine)',
  test: ({ related }: { readonly related: { readonly machine?: unknown } }) => related.machine === undefined,
}
/** What is not in the machine's power goes through it: it is in the bin or gone. */
const onMachine = { machine: active } as const

export const disks = disk
  .relations({ account: { parent: account }, machine: { link: machine }, target: { link: machine } })
  .lifecycle({
    timers: {
      retention: bin,
      // In the bin by itself, while its machine lives; one that went there with its machine waits for it.
      attachedRetention: {
        in: ['TOBEDELETED'],
        when: { machine: active },
        after: '7d',
        ask: 'destroy',
        again: '1h',
      },
      forgotten: { in: ['MODELED'], after: '7d', ask: 'destroy', again: '1h' },
      sweep: { in: ['TOBEDESTROYED'], after: '1m', ask: 'sweep', again: '1h' },
      settle: { in: ['CREATED', 'ASSIGNED'], when: { loose: true }, after: '1s', ask: 'settle', again: '1m' },
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
      model: { from: [], steps: {}, to: 'MODELED', onFailure: 'DESTROYED' },
      create: {
        from: [],
        requires: [onNone],
        steps: { createDisk: { during: 'CREATING', creates: 'disk' } },
        to: 'CREATED',
        onFailure: 'TOBEDESTROYED',
      },
      build: {
        from: ['MODELED'],
        requires: [onNone],
        steps: { createDisk: { during: 'CREATING', creates: 'disk' } },
        to: 'CREATED',
        onFailure: previous,
      },
      createOn: {
        from: [],
        requires: [onMachine],
        steps: {
          createDisk: { during: 'ASSIGNING', creates: 'disk' },
          addToMachine: { during: 'ASSIGNING', ask: { machine: { operation: 'addDisk', input: itself } } },
        },
        to: 'ASSIGNED',
        onFailure: 'TOBEDESTROYED',
      },
      buildOn: {
        from: ['MODELED'],
        requires: [onMachine],
        steps: {
          createDisk: { during: 'ASSIGNING', creates: 'disk' },
          addToMachine: { during: 'ASSIGNING', ask: { machine: { operation: 'addDisk', input: itself } } },
        },
        to: 'ASSIGNED',
        onFailure: 'TOBEDESTROYED',
      },
      attach: {
        from: ['CREATED'],
        input: z.object({ machine: idOf('ovc.machine') }),
        steps: {
          attachToMachine: {
            during: { status: 'ATTACHING', link: { target: ({ input }) => input.machine } },
            ask: { target: { operation: 'attachDisk', input: itself } },
          },
        },
        to: { status: 'ASSIGNED', link: { machine: ({ input }) => input.machine, target: null } },
        onFailure: { status: previous, link: { target: null }, set: { loose: true } },
      },
      detach: {
        from: ['ASSIGNED'],
        steps: {
          detachFromMachine: { during: 'DETACHING', ask: { machine: { operation: 'detachDisk', input: itself } } },
        },
        to: { status: 'CREATED', link: { machine: null } },
        onFailure: { status: previous, set: { loose: true } },
      },
      resize: {
        from: ['CREATED', 'ASSIGNED'],
        input: z.object({ size: z.number().positive() }),
        requires: [
          {
            says: 'the new size is not smaller',
            test: ({ input, resource }) => input.size >= resource.properties.size,
          },
        ],
        steps: { resizeDisk: { during: 'RESIZING' } },
        to: { status: previous, set: { size: ({ input }) => input.size } },
        onFailure: { status: previous, set: { loose: true } },
      },
      settle: {
        meaning:
          'Plugged in as recorded and nowhere else; the size that it has is recorded, for shrinking could lose data.',
        from: ['CREATED', 'ASSIGNED'],
        steps: { settleDisk: { during: 'RESIZING', result: z.object({ size: z.number().positive() }) } },
        to: {
          status: previous,
          set: { loose: false, size: ({ results, resource }) => results.settleDisk?.size ?? resource.properties.size },
        },
        // Decision 0.9: a disk whose storage is not there is only a model; a destruction that was cut may have got so far.
        onFailure: [{ code: ['storage_missing'], status: 'MODELED', set: { loose: false } }, { status: previous }],
      },
      delete: {
        from: ['CREATED', 'ASSIGNED', 'DELETED'],
        ifTerminal: 'succeed',
        input: reason,
        steps: {
          deleteFromMachine: {
            during: 'DELETING_ATTACHED_DISK',
            when: attached,
            ask: { machine: { operation: 'deleteDisk', input: itself } },
          },
          binDisk: { during: 'DELETING_DETACHED_DISK', when: { ...detached, ...notInBin } },
        },
        to: [{ when: attached, status: 'TOBEDELETED' }, { status: 'DELETED' }],
        onFailure: previous,
      },
      restore: {
        from: ['DELETED', 'TOBEDELETED'],
        input: reason,
        requires: [
          {
            says: 'its machine is not in the bin, if it has one',
            test: ({ related }) =>
              related.machine === undefined || active.some((status) => status === related.machine?.status),
          },
        ],
        steps: {
          replugDisk: { during: 'RESTORING_ATTACHED_DISK', when: attached },
          unbinDisk: { during: 'RESTORING_DETACHED_DISK', when: detached },
        },
        to: [{ when: attached, status: 'ASSIGNED' }, { status: 'CREATED' }],
        onFailure: previous,
      },
      destroy: {
        from: ['CREATED', 'ASSIGNED', 'DELETED', 'TOBEDELETED', 'MODELED'],
        ifTerminal: 'succeed',
        input: reason,
        steps: {
          deleteFromMachine: {
            during: 'DESTROYING_ATTACHED_DISK',
            when: onMachine,
            ask: { machine: { operation: 'deleteDisk', input: itself } },
            // Nothing is lost yet: it stays where it was.
            onFailure: previous,
          },
          destroyAttached: { during: 'DESTROYING_ATTACHED_DISK', when: attached, destroys: 'disk' },
          destroyDisk: { during: 'DESTROYING_DETACHED_DISK', when: detached, destroys: 'disk' },
        },
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
