// What there is in Sahara: clusters and their instances (docs/systems.md 2.1, decisions 0.5 and 0.6).
import { resourceType } from 'homeostat'
import { z } from 'zod'

/** Machines by node group. */
export const counts = z.record(z.string().min(1), z.number().int().nonnegative())
export type Counts = z.infer<typeof counts>

export const cluster = resourceType('sahara.cluster', {
  properties: z.object({
    /** The sizes at which it last worked; its instances tell what is there now. */
    counts,
    isTransient: z.boolean().default(false),
    isProtected: z.boolean().default(false),
    unfinishedJobs: z.number().int().nonnegative().default(0),
    /** Whether the engine may act for its owner: without a trust it waits to be terminated. */
    hasTrust: z.boolean().default(true),
    /** Deleted when it has been under way, in one status, for too long. Off by default, as in Sahara. */
    cleanUpIncomplete: z.boolean().default(false),
  }),
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
      'Adding Instances': 'Machines are added, booted and prepared.',
      Rollback: 'New machines are removed again.',
      AwaitingTermination: 'It is to be deleted, and waits for a trust to do so.',
      Deleting: 'Being deleted.',
      'Force Deleting': 'Being deleted without waiting for anything.',
    },
    failed: { Error: 'Stays until it is deleted.' },
    terminal: { gone: 'The row is removed.' },
  },
})

export const instance = resourceType('sahara.instance', {
  properties: z.object({ group: z.string(), index: z.number().int().nonnegative() }),
  statuses: {
    stable: { Active: 'Its machine is there and belongs to the cluster.' },
    transitional: { Spawning: 'Being created.', Decommissioning: 'Data is moved off.', Deleting: 'Being removed.' },
    terminal: { gone: 'Removed.' },
  },
})

/** Of a cluster: statuses that are left behind when something never ends (2.6). */
export const working = [
  'Validating',
  'InfraUpdating',
  'Spawning',
  'Waiting',
  'Preparing',
  'Configuring',
  'Starting',
  'Scaling',
  'Decommissioning',
  'Deleting Instances',
  'Adding Instances',
  'Rollback',
] as const
