// A cloudspace: a network with a firewall and the machines in it. Heal rows are named C1..C10 as in spec 4.3.
import { previous } from 'homeostat'
import { z } from 'zod'
import { bin, reason } from './recycle-bin.ts'
import { account, cloudspace, machine } from './resource-types.ts'

export const cloudspaces = cloudspace
  .relations({ account: { parent: account }, machines: { children: machine } })
  .lifecycle({
    timers: { retention: bin, forgotten: { in: ['VIRTUAL'], after: '1d', ask: 'destroy' } },
    probes: { firewall: ['up', 'down'] },
    moves: [{ from: ['*'], to: 'DESTROYED', by: 'account' }],
    operations: {
      create: { from: [], requires: [{ account: ['CONFIRMED'] }], steps: {}, to: 'VIRTUAL', onFailure: 'DESTROYED' },
      deploy: {
        from: ['VIRTUAL'],
        steps: {
          deployFirewall: { during: 'DEPLOYING', creates: 'firewall', undo: 'destroyFirewall', deadline: '10m' },
        },
        to: 'DEPLOYED',
        onFailure: { undo: true, status: 'VIRTUAL', ifUndoFails: 'VIRTUAL' },
      },
      update: {
        from: ['DEPLOYED'],
        input: z.object({ name: z.string() }),
        steps: { saveCloudspace: { during: 'UPDATING' } },
        to: 'DEPLOYED',
        onFailure: previous,
      },
      pause: {
        from: ['DEPLOYED'],
        input: reason,
        steps: {
          stopMachines: { during: 'PAUSING', ask: { machines: { operation: 'stop', in: ['RUNNING', 'PAUSED'] } } },
          stopFirewall: { during: 'PAUSING', undo: 'startFirewall' },
        },
        to: 'PAUSED',
        onFailure: { undo: true, status: 'DEPLOYED', ifUndoFails: 'PAUSED' },
      },
      resume: {
        from: ['PAUSED'],
        input: reason,
        steps: { startFirewall: { during: 'RESUMING' } },
        to: 'DEPLOYED',
        onFailure: 'PAUSED',
      },
      reset: {
        from: ['DEPLOYED', 'PAUSED'],
        steps: { resetFirewall: { during: 'RESETTING' } },
        to: 'DEPLOYED',
        onFailure: 'PAUSED',
      },
      migrate: {
        from: ['DEPLOYED'],
        input: z.object({ node: z.string() }),
        steps: { moveFirewall: { during: 'MIGRATING' } },
        to: 'DEPLOYED',
        onFailure: previous,
      },
      disable: {
        from: ['DEPLOYED'],
        input: reason,
        steps: {
          stopMachines: { during: 'DISABLING', ask: { machines: { operation: 'stop', in: ['RUNNING', 'PAUSED'] } } },
          stopFirewall: { during: 'DISABLING', undo: 'startFirewall' },
        },
        to: { status: 'DISABLED', set: { enabled: false } },
        onFailure: { undo: true, status: 'DEPLOYED', ifUndoFails: 'PAUSED' },
      },
      enable: {
        from: ['DISABLED'],
        input: reason,
        steps: { startFirewall: { during: 'ENABLING' } },
        to: { status: 'DEPLOYED', set: { enabled: true } },
        onFailure: { status: 'PAUSED', set: { enabled: true } },
      },
      delete: {
        from: ['DEPLOYED', 'DISABLED', 'PAUSED', 'VIRTUAL'],
        input: reason,
        steps: {
          deleteMachines: {
            during: 'DELETING',
            ask: { machines: { operation: 'delete', in: ['VIRTUAL', 'RUNNING', 'PAUSED', 'HALTED'] } },
          },
          stopFirewall: { during: 'DELETING' },
        },
        to: 'DELETED',
        onFailure: previous,
      },
      restore: {
        from: ['DELETED'],
        input: reason,
        requires: [{ account: ['CONFIRMED'] }],
        steps: { startFirewall: { during: 'RESTORING' } },
        to: 'DEPLOYED',
        onFailure: previous,
      },
      destroy: {
        from: ['DEPLOYED', 'DISABLED', 'PAUSED', 'VIRTUAL', 'DELETED'],
        input: reason,
        steps: {
          destroyMachines: {
            during: 'DESTROYING',
            ask: { machines: { operation: 'destroy', in: ['VIRTUAL', 'RUNNING', 'PAUSED', 'HALTED', 'DELETED'] } },
          },
          destroyFirewall: { during: 'DESTROYING', destroys: 'firewall' },
        },
        to: 'DESTROYED',
        onFailure: previous,
      },
    },
    heal: {
      DEPLOYING: { status: 'DESTROYED' }, // C1
      DESTROYING: { status: 'DESTROYED', move: { machines: 'DESTROYED' } }, // C2; their disks find out (abandon)
      DISABLING: { set: { enabled: true }, status: 'DEPLOYED', attempt: 'disable' }, // C3
      ENABLING: { set: { enabled: false }, status: 'DISABLED', attempt: 'enable' }, // C4
      DELETING: [
        { when: { enabled: false }, status: 'DISABLED', attempt: 'delete' },
        { status: 'PAUSED', attempt: 'delete' },
      ], // C5, C6
      UPDATING: [{ when: { enabled: false }, status: 'DISABLED' }, { status: 'DEPLOYED' }], // C7, C8
      RESTORING: { status: 'DELETED', attempt: 'restore' }, // C9
      PAUSING: { probe: { firewall: { up: 'DEPLOYED', down: 'PAUSED', unknown: 'PAUSED' } } }, // C10
      RESUMING: { like: 'PAUSING' },
      RESETTING: { like: 'PAUSING' },
      MIGRATING: { like: 'PAUSING' },
    },
  })
