// An instance: one machine of a cluster, moved only by it (decision 0.6).
import { cluster, instance } from './resource-types.ts'

export const instances = instance.relations({ cluster: { parent: cluster } }).lifecycle({
  begins: ['Spawning'],
  moves: [
    { from: ['Spawning'], to: 'Active', by: 'cluster' },
    { from: ['Active'], to: 'Decommissioning', by: 'cluster' },
    { from: ['*'], to: 'Deleting', by: 'cluster' },
    { from: ['*'], to: 'gone', by: 'cluster' },
  ],
  heal: {
    Spawning: {
      withOwner: {
        cluster: ['Spawning', 'Waiting', 'Preparing', 'Configuring', 'Starting', 'Adding Instances', 'Rollback'],
      },
      otherwise: { status: 'gone' },
    },
    Decommissioning: {
      withOwner: { cluster: ['Decommissioning', 'Deleting Instances', 'Adding Instances', 'Configuring', 'Rollback'] },
      otherwise: { status: 'gone' },
    },
    Deleting: { withOwner: { cluster: ['Deleting'] }, otherwise: { status: 'gone' } },
  },
})
