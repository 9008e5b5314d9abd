// A machine, and the disks that move with it. Heal rows are named M1..M5 as in spec 4.3.
// Disks, clones and images that a machine gives or takes ask it themselves, so that both records move: attachDisk, clone and
// their like are refused unless such a one stands ready.
import { previous } from 'homeostat'
import { z } from 'zod'
import { healMachine, unlessMissing } from './machine-healing.ts'
import { bin, forgotten, notInBin, reason } from './recycle-bin.ts'
import { cloudspace, disk, idOf, image, machine, node } from './resource-types.ts'

const active = ['RUNNING', 'PAUSED', 'HALTED'] as const
const nodeOpen = ['ENABLED', 'ENABLING', 'UPDATING']
const ofDisk = z.object({ disk: z.string() })

type Related = readonly { readonly id: string; readonly status: string }[]
const has = (related: Related, id: string, ...statuses: string[]): boolean =>
  related.some((one) => one.id === id && statuses.includes(one.status))

export const machines = machine
  .relations({
    cloudspace: { parent: cloudspace },
    disks: { linkedBy: disk, as: 'machine' },
    /** Disks on their way to it. */
    arriving: { linkedBy: disk, as: 'target' },
    node: { link: node },
    /** Where it moves to. */
    target: { link: node },
    image: { link: image },
    original: { link: machine },
    clones: { linkedBy: machine, as: 'original' },
    /** Images that are made from it. */
    templates: { linkedBy: image, as: 'source' },
  })
  .lifecycle({
    timers: { retention: bin, forgotten },
    probes: { power: ['running', 'halted', 'paused', 'missing'] },
    moves: [{ from: ['*'], to: 'DESTROYED', by: 'cloudspace' }],
    rules: {
      destination: {
        says: 'a machine moves only to a node that takes machines',
        holds: { MIGRATING: [{ target: ['ENABLED', 'ERROR'] }, { target: { exists: false } }] },
      },
    },
    operations: {
      create: {
        from: [],
        requires: [{ cloudspace: ['VIRTUAL', 'DEPLOYED'] }],
        steps: {},
        to: 'VIRTUAL',
        onFailure: 'DESTROYED',
      },
      deploy: {
        meaning: 'Makes it; one with an original is made as its clone.',
        from: ['VIRTUAL'],
        requires: [
          { cloudspace: ['DEPLOYED'] },
          {
            says: 'its image is ready, if it has one',
            test: ({ related }) => related.image === undefined || related.image.status === 'CREATED',
          },
          {
            says: 'its node takes machines, if it has one',
            test: ({ related }) => related.node === undefined || related.node.status === 'ENABLED',
          },
        ],
        steps: {
          cloneOriginal: {
            during: 'DEPLOYING',
            when: { original: { exists: true } },
            ask: { original: { operation: 'clone', input: ({ resource }) => ({ machine: resource.id }) } },
          },
          deployMachine: { during: 'DEPLOYING', creates: 'machine', undo: 'destroyMachine', deadline: '10m' },
        },
        to: 'RUNNING',
        onFailure: { undo: true, status: 'DESTROYED', move: { disks: 'TOBEDESTROYED' }, ifUndoFails: 'DESTROYED' },
      },
      start: {
        from: ['HALTED'],
        requires: [
          { verified: true },
          { cloudspace: ['DEPLOYED'] },
          {
            says: 'its node is in service, if it has one',
            test: ({ related }) => related.node === undefined || nodeOpen.includes(related.node.status),
          },
        ],
        steps: { startMachine: { during: 'STARTING' } },
        to: { status: 'RUNNING', set: { restart: false } },
        onFailure: previous,
      },
      restart: {
        meaning: 'Starts it again when its node, whose maintenance stopped it, is back.',
        from: ['HALTED'],
        requires: [{ restart: true, verified: true, cloudspace: ['DEPLOYED'] }],
        steps: { startMachine: { during: 'STARTING' } },
        to: { status: 'RUNNING', set: { restart: false } },
        onFailure: previous,
      },
      stop: {
        from: ['RUNNING', 'PAUSED'],
        input: z.object({ force: z.boolean().default(false) }),
        steps: { stopMachine: { during: 'STOPPING' } },
        to: { status: 'HALTED', set: { verified: true } },
        onFailure: previous,
      },
      pause: { from: ['RUNNING'], steps: { pauseMachine: { during: 'PAUSING' } }, to: 'PAUSED', onFailure: previous },
      resume: {
        from: ['PAUSED'],
        steps: { resumeMachine: { during: 'RESUMING' } },
        to: 'RUNNING',
        onFailure: previous,
      },
      reboot: {
        from: ['RUNNING', 'PAUSED'],
        steps: { rebootMachine: { during: 'REBOOTING' } },
        to: 'RUNNING',
        onFailure: previous,
      },
      reset: {
        from: ['RUNNING', 'PAUSED'],
        steps: { resetMachine: { during: 'RESETTING' } },
        to: 'RUNNING',
        onFailure: previous,
      },
      addDisk: {
        meaning: 'A new disk is plugged in: asked for by createOn and buildOn of the disk.',
        from: active,
        input: ofDisk,
        requires: [
          {
            says: 'a new disk asks for it (createOn or buildOn of the disk)',
            test: ({ input, related }) => has(related.disks, input.disk, 'ASSIGNING'),
          },
        ],
        steps: { plugDisk: { during: 'ADDING_DISK' } },
        to: previous,
        onFailure: previous,
      },
      attachDisk: {
        meaning: 'A detached disk is plugged in: asked for by attach of the disk.',
        from: active,
        input: ofDisk,
        requires: [
          {
            says: 'the disk asks for it (attach of the disk)',
            test: ({ input, related }) => has(related.arriving, input.disk, 'ATTACHING'),
          },
        ],
        steps: { plugDisk: { during: 'ATTACHING_DISK' } },
        to: previous,
        onFailure: previous,
      },
      detachDisk: {
        meaning: 'A disk is unplugged: asked for by detach of the disk.',
        from: active,
        input: ofDisk,
        requires: [
          {
            says: 'the disk asks for it (detach of the disk)',
            test: ({ input, related }) => has(related.disks, input.disk, 'DETACHING'),
          },
        ],
        steps: { unplugDisk: { during: 'DETACHING_DISK' } },
        to: previous,
        onFailure: previous,
      },
      deleteDisk: {
        meaning: 'A disk is unplugged on its way out: asked for by delete and destroy of the disk.',
        from: active,
        input: ofDisk,
        requires: [
          {
            says: 'the disk asks for it (delete or destroy of the disk)',
            test: ({ input, related }) =>
              has(related.disks, input.disk, 'DELETING_ATTACHED_DISK', 'DESTROYING_ATTACHED_DISK'),
          },
        ],
        steps: { unplugDisk: { during: 'DELETING_DISK' } },
        to: previous,
        onFailure: previous,
      },
      limitDisk: {
        from: active,
        input: z.object({ disk: idOf('ovc.disk'), iops: z.number().nonnegative() }),
        requires: [
          {
            says: 'the disk is attached to it',
            test: ({ input, related }) => has(related.disks, input.disk, 'ASSIGNED'),
          },
        ],
        steps: { limitDisk: { during: 'CHANGING_DISK_LIMITS' } },
        to: {
          status: previous,
          move: {
            disks: {
              only: { says: 'the disk that is limited', test: ({ item, input }) => item.id === input.disk },
              set: { iops: ({ input }) => input.iops },
            },
          },
        },
        onFailure: previous,
      },
      resize: {
        from: active,
        input: z.object({ memory: z.number().int().positive() }),
        steps: { resizeMachine: { during: 'RESIZING' } },
        to: { status: previous, set: { memory: ({ input }) => input.memory } },
        onFailure: previous,
      },
      clone: {
        meaning: 'It is copied: asked for by deploy of the clone.',
        from: ['HALTED'],
        input: z.object({ machine: z.string() }),
        requires: [
          { original: { exists: false }, says: 'it is no clone itself' },
          {
            says: 'the clone asks for it (deploy of the clone)',
            test: ({ input, related }) => has(related.clones, input.machine, 'DEPLOYING'),
          },
        ],
        steps: { cloneMachine: { during: 'CLONING' } },
        to: previous,
        onFailure: previous,
      },
      createTemplate: {
        meaning: 'An image is made from it: asked for by create of the image.',
        from: ['HALTED'],
        input: z.object({ image: z.string() }),
        requires: [
          {
            says: 'the image asks for it (create of the image)',
            test: ({ input, related }) => has(related.templates, input.image, 'CREATING'),
          },
        ],
        steps: { createTemplate: { during: 'CREATING_TEMPLATE' } },
        to: previous,
        onFailure: previous,
      },
      migrate: {
        meaning: 'It moves to another node and keeps its state, once what is under way has ended.',
        from: active,
        ifBusy: 'queue',
        queueBehind: 1,
        input: z.object({ node: idOf('ovc.node') }),
        steps: { moveMachine: { during: { status: 'MIGRATING', link: { target: ({ input }) => input.node } } } },
        to: { status: previous, link: { node: ({ input }) => input.node, target: null } },
        onFailure: { status: previous, link: { target: null } },
      },
      delete: {
        from: ['VIRTUAL', 'RUNNING', 'PAUSED', 'HALTED', 'DELETED'],
        ifTerminal: 'succeed',
        input: reason,
        requires: [{ says: 'it has no living clone', clones: { every: ['DELETED'] } }],
        steps: {
          haltMachine: {
            during: { status: 'DELETING', move: { disks: { from: ['ASSIGNED'], to: 'DELETING_ATTACHED_DISK' } } },
            when: notInBin,
          },
        },
        to: { status: 'DELETED', move: { disks: { from: ['DELETING_ATTACHED_DISK'], to: 'TOBEDELETED' } } },
        onFailure: { status: previous, move: { disks: { from: ['DELETING_ATTACHED_DISK'], to: 'ASSIGNED' } } },
      },
      restore: {
        from: ['DELETED'],
        input: reason,
        requires: [{ cloudspace: ['DEPLOYED', 'PAUSED', 'DISABLED'] }],
        steps: {
          restoreMachine: {
            during: { status: 'RESTORING', move: { disks: { from: ['TOBEDELETED'], to: 'RESTORING_ATTACHED_DISK' } } },
          },
        },
        to: {
          status: 'HALTED',
          set: { verified: true },
          move: { disks: { from: ['RESTORING_ATTACHED_DISK'], to: 'ASSIGNED' } },
        },
        onFailure: { status: 'DELETED', move: { disks: { from: ['RESTORING_ATTACHED_DISK'], to: 'TOBEDELETED' } } },
      },
      destroy: {
        from: ['VIRTUAL', 'RUNNING', 'PAUSED', 'HALTED', 'DELETED', 'ERROR'],
        ifTerminal: 'succeed',
        input: reason,
        requires: [{ says: 'it has no clone', clones: { exists: false } }],
        steps: {
          destroyMachine: {
            during: {
              status: 'DESTROYING',
              move: { disks: { from: ['ASSIGNED', 'TOBEDELETED'], to: 'DESTROYING_ATTACHED_DISK' } },
            },
            destroys: 'machine',
          },
          destroyDisks: {
            during: 'DESTROYING',
            forEach: { disks: { in: ['DESTROYING_ATTACHED_DISK'], done: 'DESTROYED', failed: 'TOBEDESTROYED' } },
          },
        },
        to: 'DESTROYED',
        onFailure: {
          status: 'DESTROYED',
          move: { disks: 'TOBEDESTROYED' },
          say: 'Destroyed; what is left is in the ledger: {reasons}',
        },
      },
    },
    heal: healMachine,
    drift: {
      // M3, decision 0.9: a machine that could not be asked counts as off, unverified, and may not be started. The probe asks again.
      HALTED: { every: '1m', probe: { power: { ...unlessMissing, unknown: { again: '1m' } } } },
      RUNNING: { every: '5m', probe: { power: { ...unlessMissing, unknown: { again: '5m' } } } },
      PAUSED: { every: '5m', probe: { power: { ...unlessMissing, unknown: { again: '5m' } } } },
      ERROR: { every: '5m', probe: { power: { ...unlessMissing, unknown: { again: '5m' } } } },
    },
  })
