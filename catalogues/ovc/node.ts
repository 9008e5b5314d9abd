// A node and its stack: one pair, led by the node. Heal rows are named N1..N3 as in spec 4.3.
import { previous } from 'homeostat'
import { z } from 'zod'
import { machine, node, stack } from './resource-types.ts'

const active = ['RUNNING', 'PAUSED', 'HALTED'] as const
const room = z.object({ node: z.string() })

/** A refuge that breaks down meanwhile is no reason to stop: the moves to it fail by themselves. */
const refuge = [{ refuge: { exists: false } }, { refuge: ['ENABLED', 'ERROR'] }] as const

export const nodes = node
  .relations({
    stack: { pair: stack },
    machines: { linkedBy: machine, as: 'node' },
    /** The node that takes its machines while it is emptied. */
    refuge: { link: node },
  })
  .lifecycle({
    probes: { hypervisor: ['up', 'down'] },
    rules: {
      refuge: {
        says: 'a node that is emptied gives its machines to another node that takes machines',
        holds: { DEACTIVATING: refuge, DECOMMISSIONING: refuge },
      },
    },
    operations: {
      create: { from: [], steps: {}, to: 'ENABLED', onFailure: 'DECOMMISSIONED' },
      maintain: {
        meaning: 'Machines move away and keep their state, or are stopped and started again when the node is back.',
        from: ['ENABLED'],
        input: z.object({ machines: z.enum(['move', 'stop']).default('move') }),
        steps: {
          stopMachines: {
            during: {
              status: 'DEACTIVATING',
              move: { machines: { from: ['RUNNING', 'PAUSED'], set: { restart: true } } },
            },
            when: { says: 'machines are to be stopped', test: ({ input }) => input.machines === 'stop' },
            ask: { machines: { operation: 'stop', in: ['RUNNING', 'PAUSED'] } },
          },
          findRoom: {
            during: 'DEACTIVATING',
            when: {
              says: 'machines are to be moved',
              test: ({ input, related }) => input.machines === 'move' && related.machines.length > 0,
            },
            result: room,
          },
          moveMachines: {
            during: { status: 'DEACTIVATING', link: { refuge: ({ results }) => results.findRoom?.node ?? null } },
            when: { says: 'machines are to be moved', test: ({ results }) => results.findRoom !== undefined },
            ask: {
              machines: {
                operation: 'migrate',
                in: active,
                input: ({ results }) => ({ node: results.findRoom?.node }),
              },
            },
          },
          closeNode: { during: 'DEACTIVATING' },
        },
        to: { status: 'MAINTENANCE', link: { refuge: null } },
        onFailure: { status: previous, link: { refuge: null } },
      },
      enable: {
        from: ['MAINTENANCE', 'ERROR'],
        steps: {
          openNode: { during: 'ENABLING' },
          restartMachines: {
            during: 'ENABLING',
            // Those that its maintenance did not stop refuse.
            ask: { machines: { operation: 'restart', in: ['HALTED'], failed: 'goOn' } },
          },
        },
        to: 'ENABLED',
        onFailure: previous,
      },
      update: { from: ['ENABLED'], steps: { updateNode: { during: 'UPDATING' } }, to: 'ENABLED', onFailure: previous },
      decommission: {
        meaning: 'Taken away for good, once another node that takes machines has taken its own.',
        from: ['ENABLED', 'MAINTENANCE'],
        steps: {
          findRoom: { during: 'DECOMMISSIONING', result: room },
          moveMachines: {
            during: { status: 'DECOMMISSIONING', link: { refuge: ({ results }) => results.findRoom?.node ?? null } },
            ask: {
              machines: {
                operation: 'migrate',
                in: active,
                input: ({ results }) => ({ node: results.findRoom?.node }),
              },
            },
          },
          removeNode: { during: 'DECOMMISSIONING' },
        },
        to: { status: 'DECOMMISSIONED', link: { refuge: null } },
        onFailure: { status: previous, link: { refuge: null } },
      },
    },
    heal: {
      DEACTIVATING: { status: 'ENABLED', link: { refuge: null }, attempt: 'maintain' }, // N1
      ENABLING: { status: previous, attempt: 'enable', unowned: { status: 'MAINTENANCE', attempt: 'enable' } }, // N2, G6
      DECOMMISSIONING: {
        status: previous,
        link: { refuge: null },
        attempt: 'decommission',
        unowned: { status: 'MAINTENANCE', link: { refuge: null }, attempt: 'decommission' },
      }, // N3
      UPDATING: { status: 'ENABLED' },
    },
    drift: {
      ENABLED: { every: '1m', probe: { hypervisor: { up: 'ENABLED', down: 'ERROR', unknown: { again: '1m' } } } },
    },
  })

export const stacks = stack.relations({ node: { pair: node } }).lifecycle({
  heal: {
    DEACTIVATING: { withOwner: { node: ['DEACTIVATING'] }, otherwise: { status: 'MAINTENANCE' } },
    ENABLING: { withOwner: { node: ['ENABLING'] }, otherwise: { status: 'MAINTENANCE' } },
    DECOMMISSIONING: { withOwner: { node: ['DECOMMISSIONING'] }, otherwise: { status: 'MAINTENANCE' } },
    UPDATING: { withOwner: { node: ['UPDATING'] }, otherwise: { status: 'MAINTENANCE' } },
  },
})
