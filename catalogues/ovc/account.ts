// An account: owns everything else. Heal rows are named A1..A6 as in spec 4.3.
import { previous } from 'homeostat'
import { z } from 'zod'
import { machinesAway, machinesToBin } from './machine-cascades.ts'
import { beginsEnabled, bin, notInBin, reason, sameReason } from './recycle-bin.ts'
import { busyCloudspaces, busyDisks, busyImages, busyMachines, isOneOf, liveCloudspaces } from './related-statuses.ts'
import { account, cloudspace, disk, image, machine } from './resource-types.ts'

/** What the operator's API asks of cloudspaces: their machines go with them. */
const withMachines = ({ input }: { readonly input: { readonly reason: string } }) => ({
  reason: input.reason,
  withMachines: true,
})

interface Owned {
  readonly related: {
    readonly cloudspaces: readonly { readonly status: string }[]
    readonly machines: readonly { readonly status: string }[]
    readonly images: readonly { readonly status: string }[]
    readonly disks: readonly { readonly status: string }[]
  }
}

/** Something that it owns is in the middle of something: the driver looks again until nothing is. */
export const ownsBusy = {
  says: 'something of it is busy',
  test: ({ related }: Owned): boolean =>
    isOneOf(busyCloudspaces, related.cloudspaces) ||
    isOneOf(busyMachines, related.machines) ||
    isOneOf(busyImages, related.images) ||
    isOneOf(busyDisks, related.disks),
} as const

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
      create: { from: [], requires: [beginsEnabled], steps: {}, to: 'CONFIRMED', onFailure: 'DESTROYED' },
      update: {
        from: ['CONFIRMED'],
        input: z.object({ name: z.string() }),
        steps: { saveAccount: { during: 'UPDATING' } },
        to: { status: 'CONFIRMED', set: { name: ({ input }) => input.name } },
        onFailure: previous,
      },
      disable: {
        meaning: 'Pauses every enabled cloudspace, which stops its machines; disabled ones are left as they are.',
        from: ['CONFIRMED'],
        input: reason,
        steps: {
          awaitRest: { during: 'DISABLING', when: { cloudspaces: { some: busyCloudspaces } }, deadline: '30m' },
          pauseCloudspaces: {
            during: 'DISABLING',
            ask: { cloudspaces: { operation: 'pause', in: ['DEPLOYED'], input: sameReason } },
          },
        },
        to: { status: 'DISABLED', set: { enabled: false } },
        // Cloudspaces that were paused already are started again by their own timer (`restart`).
        onFailure: previous,
      },
      enable: {
        meaning: 'Starts the paused cloudspaces; one that does not start stays paused and is tried again later.',
        from: ['DISABLED'],
        input: reason,
        steps: {
          resumeCloudspaces: {
            during: 'ENABLING',
            ask: { cloudspaces: { operation: 'resume', in: ['PAUSED'], input: sameReason, failed: 'goOn' } },
          },
        },
        to: { status: 'CONFIRMED', set: { enabled: true } },
        onFailure: previous,
      },
      delete: {
        meaning: 'Machines, which use the images, then images, cloudspaces and detached disks go to the bin before it.',
        from: ['CONFIRMED', 'DISABLED', 'DELETED'],
        ifTerminal: 'succeed',
        input: reason,
        steps: {
          awaitRest: {
            during: 'DELETING',
            when: {
              says: 'it is not in the bin yet, and something of it is busy',
              test: (view) => notInBin.test(view) && ownsBusy.test(view),
            },
            deadline: '30m',
          },
          ...machinesToBin,
          deleteImages: {
            during: 'DELETING',
            when: notInBin,
            ask: { images: { operation: 'delete', in: ['CREATED', 'DISABLED'], input: sameReason } },
          },
          deleteCloudspaces: {
            during: 'DELETING',
            when: notInBin,
            ask: { cloudspaces: { operation: 'delete', in: liveCloudspaces, input: withMachines } },
          },
          deleteDisks: {
            during: 'DELETING',
            when: notInBin,
            ask: { disks: { operation: 'delete', in: ['CREATED'], input: sameReason } },
          },
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
        ifTerminal: 'succeed',
        input: reason,
        steps: {
          awaitRest: { during: 'DESTROYING', when: ownsBusy, deadline: '30m' },
          ...machinesAway,
          destroyImages: {
            during: 'DESTROYING',
            ask: {
              images: { operation: 'destroy', in: ['VIRTUAL', 'CREATED', 'DISABLED', 'DELETED'], input: sameReason },
            },
          },
          destroyCloudspaces: {
            during: 'DESTROYING',
            ask: { cloudspaces: { operation: 'destroy', in: [...liveCloudspaces, 'DELETED'], input: withMachines } },
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
