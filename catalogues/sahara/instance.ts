// An instance: one machine of a cluster, moved only by it (decision 0.6). Found stuck without it, the real world is asked.
import { cluster, instance, working } from './resource-types.ts'

/** While the cluster is under way, its own healing takes care of its instances. */
const withCluster = {
  cluster: [...working, 'AwaitingTermination', 'Deleting', 'Force Deleting'],
} as const

export const instances = instance.relations({ cluster: { parent: cluster } }).lifecycle({
  probes: { machine: ['there', 'absent'] },
  begins: ['Spawning'],
  moves: [
    { from: ['Spawning', 'Decommissioning', 'Deleting'], to: 'Active', by: 'cluster' },
    { from: ['Active'], to: 'Decommissioning', by: 'cluster' },
    { from: ['*'], to: 'Deleting', by: 'cluster' },
    { from: ['*'], to: 'gone', by: 'cluster' },
  ],
  heal: {
    Spawning: {
      withOwner: withCluster,
      probe: { machine: { there: 'Active', absent: 'gone', unknown: { again: '1m' } } },
    },
    Decommissioning: { like: 'Spawning' },
    Deleting: { like: 'Spawning' },
  },
})
