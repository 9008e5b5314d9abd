// A node and its stack: one pair, led by the node. Heal rows are named N1..N3 as in spec 4.3.
import { previous } from 'homeostat'
import { z } from 'zod'
import { machine, node, stack } from './resource-types.ts'

export const nodes = node.relations({ stack: { pair: stack }, machines: { linkedBy: machine, as: 'node' } }).lifecycle({
  probes: { hypervisor: ['up', 'down'] },
  operations: {
    create: { from: [], steps: {}, to: 'ENABLED', onFailure: 'DECOMMISSIONED' },
    maintain: {
      from: ['ENABLED'],
      input: z.object({ machines: z.enum(['move', 'stop']).default('move') }),
      steps: { clearNode: { during: 'DEACTIVATING' } },
      to: 'MAINTENANCE',
      onFailure: previous,
    },
    enable: {
      from: ['MAINTENANCE', 'ERROR'],
      steps: { startNode: { during: 'ENABLING' } },
      to: 'ENABLED',
      onFailure: previous,
    },
    update: { from: ['ENABLED'], steps: { updateNode: { during: 'UPDATING' } }, to: 'ENABLED', onFailure: previous },
    decommission: {
      from: ['ENABLED', 'MAINTENANCE'],
      steps: { clearNode: { during: 'DECOMMISSIONING' }, removeNode: { during: 'DECOMMISSIONING' } },
      to: 'DECOMMISSIONED',
      onFailure: previous,
    },
  },
  heal: {
    DEACTIVATING: { status: 'ENABLED', attempt: 'maintain' }, // N1
    ENABLING: { status: 'MAINTENANCE', attempt: 'enable' }, // N2
    DECOMMISSIONING: {
      status: previous,
      attempt: 'decommission',
      unowned: { status: 'MAINTENANCE', attempt: 'decommission' },
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
