// A machine, and the disks that move with it. Heal rows are named M1..M5 as in spec 4.3.
import { previous } from 'homeostat'
import { z } from 'zod'
import { bin, reason } from './recycle-bin.ts'
import { cloudspace, disk, machine, node } from './resource-types.ts'

const active = ['RUNNING', 'PAUSED', 'HALTED'] as const

export const machines = machine
  .relations({ cloudspace: { parent: cloudspace }, disks: { linkedBy: disk, as: 'machine' }, node: { link: node } })
  .lifecycle({
    timers: {
      retention: bin,
      forgotten: { in: ['VIRTUAL'], after: '1d', ask: 'destroy' },
    },
    probes: { power: ['running', 'halted', 'paused'] },
    moves: [{ from: ['*'], to: 'DESTROYED', by: 'cloudspace' }],
    operations: {
      create: {
        from: [],
        requires: [{ cloudspace: ['VIRTUAL', 'DEPLOYED'] }],
        steps: {},
        to: 'VIRTUAL',
        onFailure: 'DESTROYED',
      },
      deploy: {
        from: ['VIRTUAL'],
        requires: [{ cloudspace: ['DEPLOYED'] }],
        steps: { deployMachine: { during: 'DEPLOYING', creates: 'machine', undo: 'destroyMachine', deadline: '10m' } },
        to: 'RUNNING',
        onFailure: { undo: true, status: 'DESTROYED', move: { disks: 'TOBEDESTROYED' } },
      },
      start: {
        from: ['HALTED'],
        requires: [{ verified: true }],
        steps: { startMachine: { during: 'STARTING' } },
        to: 'RUNNING',
        onFailure: previous,
      },
      stop: {
        from: ['RUNNING', 'PAUSED'],
        input: z.object({ force: z.boolean().default(false) }),
        steps: { stopMachine: { during: 'STOPPING' } },
        to: 'HALTED',
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
        from: active,
        input: z.object({ size: z.number() }),
        steps: { addDisk: { during: 'ADDING_DISK' } },
        to: previous,
        onFailure: previous,
      },
      attachDisk: {
        from: active,
        input: z.object({ disk: z.string() }),
        steps: { attachDisk: { during: 'ATTACHING_DISK' } },
        to: previous,
        onFailure: previous,
      },
      detachDisk: {
        from: active,
        input: z.object({ disk: z.string() }),
        steps: { detachDisk: { during: 'DETACHING_DISK' } },
        to: previous,
        onFailure: previous,
      },
      deleteDisk: {
        from: active,
        input: z.object({ disk: z.string() }),
        steps: { deleteDisk: { during: 'DELETING_DISK' } },
        to: previous,
        onFailure: previous,
      },
      limitDisk: {
        from: active,
        input: z.object({ disk: z.string(), iops: z.number() }),
        steps: { limitDisk: { during: 'CHANGING_DISK_LIMITS' } },
        to: previous,
        onFailure: previous,
      },
      resize: {
        from: active,
        input: z.object({ memory: z.number() }),
        steps: { resizeMachine: { during: 'RESIZING' } },
        to: { status: previous, set: { memory: ({ input }) => input.memory } },
        onFailure: previous,
      },
      clone: {
        from: ['HALTED'],
        input: z.object({ name: z.string() }),
        steps: { cloneMachine: { during: 'CLONING' } },
        to: previous,
        onFailure: previous,
      },
      createTemplate: {
        from: ['HALTED'],
        input: z.object({ name: z.string() }),
        steps: { createTemplate: { during: 'CREATING_TEMPLATE' } },
        to: previous,
        onFailure: previous,
      },
      migrate: {
        from: active,
        input: z.object({ node: z.string() }),
        steps: { moveMachine: { during: 'MIGRATING' } },
        to: { status: previous, link: { node: ({ input }) => input.node } },
        onFailure: previous,
      },
      delete: {
        from: ['VIRTUAL', 'RUNNING', 'PAUSED', 'HALTED'],
        input: reason,
        steps: {
          haltMachine: {
            during: { status: 'DELETING', move: { disks: { from: ['ASSIGNED'], to: 'DELETING_ATTACHED_DISK' } } },
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
        to: { status: 'HALTED', move: { disks: { from: ['RESTORING_ATTACHED_DISK'], to: 'ASSIGNED' } } },
        onFailure: { status: 'DELETED', move: { disks: { from: ['RESTORING_ATTACHED_DISK'], to: 'TOBEDELETED' } } },
      },
      destroy: {
        from: ['VIRTUAL', 'RUNNING', 'PAUSED', 'HALTED', 'DELETED', 'ERROR'],
        input: reason,
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
    heal: {
      DEPLOYING: { status: 'DESTROYED', move: { disks: 'TOBEDESTROYED' } }, // M1
      DESTROYING: { status: 'DESTROYED', move: { disks: 'TOBEDESTROYED' } }, // M2
      STOPPING: {
        probe: {
          power: {
            running: 'RUNNING',
            halted: 'HALTED',
            paused: 'PAUSED',
            unknown: { status: 'HALTED', set: { verified: false } },
          },
        },
      }, // M3
      STARTING: { like: 'STOPPING' },
      REBOOTING: { like: 'STOPPING' },
      RESETTING: { like: 'STOPPING' },
      PAUSING: { like: 'STOPPING' },
      RESUMING: { like: 'STOPPING' },
      ADDING_DISK: { like: 'STOPPING' },
      ATTACHING_DISK: { like: 'STOPPING' },
      DETACHING_DISK: { like: 'STOPPING' },
      DELETING_DISK: { like: 'STOPPING' },
      CHANGING_DISK_LIMITS: { like: 'STOPPING' },
      CLONING: { like: 'STOPPING' },
      RESIZING: { like: 'STOPPING' },
      CREATING_TEMPLATE: { like: 'STOPPING' },
      MIGRATING: { like: 'STOPPING' },
      DELETING: {
        status: 'HALTED',
        move: { disks: { from: ['DELETING_ATTACHED_DISK', 'TOBEDELETED'], to: 'ASSIGNED' } },
        attempt: 'delete',
      }, // M4
      RESTORING: {
        status: 'DELETED',
        move: { disks: { from: ['RESTORING_ATTACHED_DISK', 'ASSIGNED'], to: 'TOBEDELETED' } },
        attempt: 'restore',
      }, // M5
    },
    drift: {
      // M3, decision 0.9: a machine that could not be asked counts as off, unverified, and may not be started. The probe asks
      // again; its answer observes `verified: true` with the status.
      HALTED: {
        every: '1m',
        probe: { power: { running: 'RUNNING', paused: 'PAUSED', halted: 'HALTED', unknown: { again: '1m' } } },
      },
    },
  })
