// What there is in Sahara: clusters and their instances (spec 2.1).
import { resourceType } from 'homeostat'
import { z } from 'zod'

// Sahara: cluster and instance (spec/systems.md 2).
/** Machines by node group. */
export const counts = z.record(z.string(), z.number().int().nonnegative())

export const cluster = resourceType('sahara.cluster', {
  properties: z.object({ counts, isTransient: z.boolean(), isProtected: z.boolean(), unfinishedJobs: z.number() }),
  statuses: {
    stable: { Active: 'Works.' },
    transitional: {
      Validating: 'The request is checked.',
      InfraUpdating: 'The plugin prepares the infrastructure.',
      Spawning: 'Machines are created.',
      Waiting: 'Machines boot.',
      Preparing: 'Volumes, hosts and keys are set up.',
      Configuring: 'The plugin configures the services.',
      Starting: 'The services are started.',
      Scaling: 'The change is planned.',
      Decommissioning: 'Data is moved off machines that go.',
      'Deleting Instances': 'Machines are removed.',
      'Adding Instances': 'Machines are added.',
      Rollback: 'New machines are removed again.',
      Deleting: 'Being deleted.',
    },
    failed: { Error: 'Stays until it is deleted.' },
    terminal: { gone: 'The row is removed.' },
  },
})

export const instance = resourceType('sahara.instance', {
  properties: z.object({ group: z.string(), index: z.number() }),
  statuses: {
    stable: { Active: 'Works.' },
    transitional: { Spawning: 'Being created.', Decommissioning: 'Data is moved off.', Deleting: 'Being removed.' },
    terminal: { gone: 'Removed.' },
  },
})
