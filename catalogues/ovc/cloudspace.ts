// A cloudspace: a network with a firewall and the machines in it. Heal rows are named C1..C10 as in spec 4.3.
import { previous } from 'homeostat'
import { z } from 'zod'
import { machinesAway, machinesToBin } from './machine-cascades.ts'
import { beginsEnabled, bin, forgotten, notInBin, reason, wasModel } from './recycle-bin.ts'
import { busyMachines, isOneOf } from './related-statuses.ts'
import { account, cloudspace, idOf, machine, node } from './resource-types.ts'

/** The user's API refuses while machines live; the operator's deletes or destroys them first. */
const deletion = z.object({ reason: z.string().default(''), withMachines: z.boolean().default(false) })

const machinesBusy = { machines: { some: busyMachines } } as const

const probed = { up: 'DEPLOYED', down: 'PAUSED' } as const

export const cloudspaces = cloudspace
  .relations({
    account: { parent: account },
    machines: { children: machine },
    /** Where its firewall moves to. */
    target: { link: node },
  })
  .lifecycle({
    timers: {
      retention: bin,
      forgotten,
      // PAUSED means: the firewall stands still, and is started again by itself where the account is open (note C5).
      restart: {
        in: ['PAUSED'],
        when: { enabled: true, account: ['CONFIRMED'] },
        after: '5m',
        ask: 'resume',
        again: '5m',
      },
    },
    probes: { firewall: ['up', 'down'] },
    moves: [{ from: ['*'], to: 'DESTROYED', by: 'account' }],
    rules: {
      destination: {
        says: 'a firewall moves only to a node that takes machines',
        holds: { MIGRATING: [{ target: ['ENABLED', 'ERROR'] }, { target: { exists: false } }] },
      },
    },
    operations: {
      create: {
        from: [],
        requires: [{ account: ['CONFIRMED'] }, beginsEnabled],
        steps: {},
        to: 'VIRTUAL',
        onFailure: 'DESTROYED',
      },
      deploy: {
        from: ['VIRTUAL'],
        requires: [{ account: ['CONFIRMED'] }],
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
        to: { status: 'DEPLOYED', set: { name: ({ input }) => input.name } },
        onFailure: previous,
      },
      pause: {
        from: ['DEPLOYED'],
        input: reason,
        steps: {
          awaitRest: { during: 'PAUSING', when: machinesBusy, deadline: '30m' },
          stopMachines: { during: 'PAUSING', ask: { machines: { operation: 'stop', in: ['RUNNING', 'PAUSED'] } } },
          stopFirewall: { during: 'PAUSING', undo: 'startFirewall' },
        },
        to: 'PAUSED',
        onFailure: { undo: true, status: 'DEPLOYED', ifUndoFails: 'PAUSED' },
      },
      resume: {
        from: ['PAUSED'],
        input: reason,
        requires: [{ account: ['CONFIRMED', 'ENABLING'] }],
        steps: { startFirewall: { during: 'RESUMING' } },
        to: 'DEPLOYED',
        onFailure: 'PAUSED',
      },
      reset: {
        from: ['DEPLOYED', 'PAUSED'],
        requires: [{ account: ['CONFIRMED'] }],
        steps: { resetFirewall: { during: 'RESETTING' } },
        to: 'DEPLOYED',
        onFailure: 'PAUSED',
      },
      migrate: {
        meaning: 'Its firewall moves to another node, once what is under way has ended.',
        from: ['DEPLOYED'],
        ifBusy: 'queue',
        queueBehind: 1,
        input: z.object({ node: idOf('ovc.node') }),
        steps: { moveFirewall: { during: { status: 'MIGRATING', link: { target: ({ input }) => input.node } } } },
        to: { status: 'DEPLOYED', link: { target: null } },
        onFailure: { status: previous, link: { target: null } },
      },
      disable: {
        from: ['DEPLOYED'],
        input: reason,
        steps: {
          awaitRest: { during: 'DISABLING', when: machinesBusy, deadline: '30m' },
          stopMachines: { during: 'DISABLING', ask: { machines: { operation: 'stop', in: ['RUNNING', 'PAUSED'] } } },
          stopFirewall: { during: 'DISABLING', undo: 'startFirewall' },
        },
        to: { status: 'DISABLED', set: { enabled: false } },
        onFailure: { undo: true, status: 'DEPLOYED', ifUndoFails: 'PAUSED' },
      },
      enable: {
        from: ['DISABLED'],
        input: reason,
        requires: [{ account: ['CONFIRMED'] }],
        steps: { startFirewall: { during: 'ENABLING' } },
        to: { status: 'DEPLOYED', set: { enabled: true } },
        onFailure: { status: 'PAUSED', set: { enabled: true } },
      },
      delete: {
        from: ['DEPLOYED', 'DISABLED', 'PAUSED', 'VIRTUAL', 'DELETED'],
        ifTerminal: 'succeed',
        input: deletion,
        requires: [
          {
            says: 'its machines are deleted, or to be deleted with it (withMachines)',
            test: ({ input, related }) =>
              input.withMachines || related.machines.every(({ status }) => status === 'DELETED'),
          },
          { says: 'no machine is broken: destroy it first', machines: { none: ['ERROR'] } },
        ],
        steps: {
          awaitRest: {
            during: 'DELETING',
            when: {
              says: 'it is not in the bin yet, and machines are busy',
              test: (view) => notInBin.test(view) && isOneOf(busyMachines, view.related.machines),
            },
            deadline: '30m',
          },
          ...machinesToBin,
          stopFirewall: { during: 'DELETING', when: notInBin },
        },
        to: 'DELETED',
        onFailure: previous,
      },
      restore: {
        from: ['DELETED'],
        input: reason,
        requires: [{ account: ['CONFIRMED'] }],
        steps: {
          // A disabled space comes back disabled: its firewall stays as it is, which a repeated stop makes sure of.
          startFirewall: { during: 'RESTORING', when: { enabled: true } },
          stopFirewall: { during: 'RESTORING', when: { enabled: false } },
        },
        to: [{ when: { enabled: true }, status: 'DEPLOYED' }, { status: 'DISABLED' }],
        onFailure: previous,
      },
      destroy: {
        from: ['DEPLOYED', 'DISABLED', 'PAUSED', 'VIRTUAL', 'DELETED'],
        ifTerminal: 'succeed',
        input: deletion,
        requires: [
          {
            says: 'its machines are in the bin or only models, or to be destroyed with it (withMachines)',
            test: ({ input, related }) =>
              input.withMachines ||
              related.machines.every(({ status }) => status === 'DELETED' || status === 'VIRTUAL'),
          },
        ],
        steps: {
          awaitRest: { during: 'DESTROYING', when: machinesBusy, deadline: '30m' },
          ...machinesAway,
          destroyFirewall: {
            during: 'DESTROYING',
            destroys: 'firewall',
            onFailure: { status: 'DESTROYED', say: 'Destroyed; its firewall is left to the sweeper: {reasons}' },
          },
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
        { when: wasModel, status: 'VIRTUAL', attempt: 'delete' }, // G6
        { when: { enabled: false }, status: 'DISABLED', attempt: 'delete' },
        { status: 'PAUSED', attempt: 'delete' },
      ], // C5, C6
      UPDATING: [{ when: { enabled: false }, status: 'DISABLED' }, { status: 'DEPLOYED' }], // C7, C8
      RESTORING: { status: 'DELETED', attempt: 'restore' }, // C9
      PAUSING: { probe: { firewall: { ...probed, unknown: 'PAUSED' } } }, // C10
      RESUMING: { like: 'PAUSING' },
      RESETTING: { like: 'PAUSING' },
      MIGRATING: {
        probe: {
          firewall: {
            up: { status: 'DEPLOYED', link: { target: null } },
            down: { status: 'PAUSED', link: { target: null } },
            unknown: { status: 'PAUSED', link: { target: null } },
          },
        },
      },
    },
    drift: {
      // After a delete or reset that failed halfway nobody knows how the firewall was left: what stands still is PAUSED.
      DEPLOYED: { every: '5m', probe: { firewall: { ...probed, unknown: { again: '5m' } } } },
    },
  })
