// An account: owns everything else. Heal rows are named A1..A6 as in spec 4.3.
import { previous } from 'homeostat'
import { z } from 'zod'
import { bin, reason } from './recycle-bin.ts'
import { account, cloudspace, disk, image, machine } from './resource-types.ts'

export const accounts = account
  .relations({
    cloudspaces: { children: cloudspace },
    images: { children: image },
    machines: { descendants: machine },
    disks: { descendants: disk },
  })
  .lifecycle({
    timers: { retention: bin },
    operations: {
      create: { from: [], steps: {}, to: 'CONFIRMED', onFailure: 'DESTROYED' },
      update: {
        from: ['CONFIRMED'],
        input: z.object({ name: z.string() }),
        steps: { saveAccount: { during: 'UPDATING' } },
        to: 'CONFIRMED',
        onFailure: previous,
      },
      disable: {
        from: ['CONFIRMED'],
        input: reason,
        steps: {
          pauseCloudspaces: { during: 'DISABLING', ask: { cloudspaces: { operation: 'pause', in: ['DEPLOYED'] } } },
        },
        to: { status: 'DISABLED', set: { enabled: false } },
        onFailure: previous,
      },
      enable: {
        from: ['DISABLED'],
        input: reason,
        steps: {
          resumeCloudspaces: {
            during: 'ENABLING',
            ask: { cloudspaces: { operation: 'resume', in: ['PAUSED'], failed: 'goOn' } },
          },
        },
        to: { status: 'CONFIRMED', set: { enabled: true } },
        onFailure: previous,
      },
      delete: {
        from: ['CONFIRMED', 'DISABLED'],
        input: reason,
        steps: {
          deleteImages: { during: 'DELETING', ask: { images: { operation: 'delete', in: ['CREATED', 'DISABLED'] } } },
          deleteCloudspaces: {
            during: 'DELETING',
            ask: { cloudspaces: { operation: 'delete', in: ['VIRTUAL', 'DEPLOYED', 'DISABLED', 'PAUSED'] } },
          },
          deleteDisks: { during: 'DELETING', ask: { disks: { operation: 'delete', in: ['CREATED'] } } },
        },
        to: 'DELETED',
        onFailure: previous,
      },
      restore: {
        from: ['DELETED'],
        input: reason,
        steps: { restoreAccount: { during: 'RESTORING' } },
        to: [{ when: { enabled: true }, status: 'CONFIRMED' }, { status: 'DISABLED' }],
        onFailure: previous,
      },
      destroy: {
        from: ['CONFIRMED', 'DISABLED', 'DELETED'],
        input: reason,
        steps: {
          destroyImages: {
            during: 'DESTROYING',
            ask: { images: { operation: 'destroy', in: ['CREATED', 'DISABLED', 'DELETED'] } },
          },
          destroyCloudspaces: {
            during: 'DESTROYING',
            ask: {
              cloudspaces: { operation: 'destroy', in: ['VIRTUAL', 'DEPLOYED', 'DISABLED', 'PAUSED', 'DELETED'] },
            },
          },
        },
        to: { status: 'DESTROYED', move: { disks: 'TOBEDESTROYED' } },
        onFailure: previous,
      },
    },
    heal: {
      DISABLING: { set: { enabled: true }, status: 'CONFIRMED', attempt: 'disable' }, // A1
      ENABLING: { set: { enabled: false }, status: 'DISABLED', attempt: 'enable' }, // A2
      DELETING: [
        { when: { enabled: true }, status: 'CONFIRMED', attempt: 'delete' },
        { status: 'DISABLED', attempt: 'delete' },
      ], // A3
      RESTORING: { status: 'DELETED', attempt: 'restore' }, // A4
      DESTROYING: {
        status: 'DESTROYED',
        move: { cloudspaces: 'DESTROYED', machines: 'DESTROYED', images: 'DESTROYED', disks: 'TOBEDESTROYED' },
      }, // A5
      UPDATING: [{ when: { enabled: true }, status: 'CONFIRMED' }, { status: 'DISABLED' }], // A6
    },
  })
