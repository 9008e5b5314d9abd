// A cluster: created, scaled and deleted in stages, with a different answer to failure in each (spec 2.2 to 2.6).
import { previous } from 'homeostat'
import { z } from 'zod'
import { cluster, counts, instance, working } from './resource-types.ts'
import { namedInVain, plan, resized, smaller, unknownNames, type Member, type Plan } from './scaling.ts'

interface Planned {
  readonly results: { readonly planScaling?: Plan }
}

const grows = {
  says: 'a group grows',
  test: ({ results }: Planned) => (results.planScaling?.added.length ?? 0) > 0,
}

const shrinks = {
  says: 'a group shrinks',
  test: ({ results }: Planned) => (results.planScaling?.removed.length ?? 0) > 0,
}

/** Nothing is deleted where data could be lost: the machines stay, and are counted as there. */
const keptIn = (status: 'Error') =>
  ({ status, move: { instances: { from: ['Spawning', 'Decommissioning', 'Deleting'], to: 'Active' } } }) as const

/** Found on its way out although nobody may delete it: no attempt would ever be accepted, and nothing leads out. */
const guarded = {
  when: { isProtected: true },
  ...keptIn('Error'),
  say: 'It is protected, and was found being deleted; its machines are kept.',
} as const

const isLeaving = ({ status }: { readonly status: string }) => status === 'Deleting' || status === 'Force Deleting'

/** In upstream's order (2.5); the rows of its instances go with its own. */
const deletion = {
  refreshJobs: { during: { status: 'Deleting', move: { instances: 'Deleting' } } },
  onTerminate: { during: 'Deleting' },
  terminateInstances: { during: 'Deleting', destroys: 'machine', progress: '10m' },
  detachJobs: { during: 'Deleting' },
  deleteTrust: { during: 'Deleting' },
} as const

export const clusters = cluster.relations({ instances: { children: instance } }).lifecycle({
  /** Whether the work of the stage in which the cluster stands is done. */
  probes: { stageDone: ['yes', 'no'] },
  operations: {
    create: {
      from: [],
      failureText: 'Creating cluster failed for the following reason(s): {reasons}',
      steps: {
        validate: { during: 'Validating', probe: 'stageDone', onFailure: 'Error' },
        updateInfra: { during: 'InfraUpdating', probe: 'stageDone' },
        spawn: {
          during: {
            status: 'Spawning',
            add: {
              instances: {
                status: 'Spawning',
                each: ({ resource }) =>
                  Object.entries(resource.properties.counts).flatMap(([group, n]) =>
                    Array.from({ length: n }, (_, index) => ({ group, index })),
                  ),
              },
            },
          },
          creates: 'machine',
          undo: 'terminateInstances',
          probe: 'stageDone',
        },
        awaitBoot: { during: 'Waiting', progress: '10m', probe: 'stageDone' },
        prepare: { during: 'Preparing', probe: 'stageDone' },
        configure: { during: 'Configuring', probe: 'stageDone' },
        startServices: { during: 'Starting', probe: 'stageDone' },
      },
      to: { status: 'Active', move: { instances: 'Active' } },
      // Whatever fails after validation, all machines are killed (decision 0.5).
      onFailure: { undo: true, status: 'Error', move: { instances: 'gone' } },
    },
    scale: {
      from: ['Active'],
      input: z.object({ counts, instances: z.array(z.string()).default([]) }),
      requires: [
        {
          says: 'every instance that is named belongs to the cluster',
          test: ({ input, related }) =>
            unknownNames(related.instances as readonly Member[], input.instances).length === 0,
        },
        {
          says: 'no more instances of a group are named than it shrinks by',
          test: ({ input, related }) =>
            namedInVain(related.instances as readonly Member[], input.counts, input.instances).length === 0,
        },
      ],
      failureText: 'Scaling cluster failed for the following reason(s): {reasons}',
      steps: {
        validateScaling: { during: 'Validating', probe: 'stageDone', onFailure: 'Active' },
        planScaling: { during: 'Scaling', result: plan, onFailure: 'Active' },
        decommission: {
          during: {
            status: 'Decommissioning',
            move: {
              instances: {
                from: ['Active'],
                to: 'Decommissioning',
                only: {
                  says: 'is to go',
                  test: ({ item, results }) => results.planScaling?.removed.includes(item.id) ?? false,
                },
              },
            },
          },
          when: shrinks,
          probe: 'stageDone',
          onFailure: keptIn('Error'),
        },
        // No `destroys`: the ledger entry is the whole stack, and the machines that stay are still in it.
        deleteInstances: {
          during: 'Deleting Instances',
          when: shrinks,
          forEach: { instances: { in: ['Decommissioning'], done: 'gone' } },
          undo: 'finishScaleDown',
        },
        addInstances: {
          during: {
            status: 'Adding Instances',
            add: { instances: { status: 'Spawning', each: ({ results }) => results.planScaling?.added ?? [] } },
          },
          when: grows,
          creates: 'machine',
          progress: '10m',
          undo: 'removeNewInstances',
          probe: 'stageDone',
        },
        configureNew: { during: 'Configuring', when: grows, probe: 'stageDone', onFailure: keptIn('Error') },
      },
      to: {
        status: 'Active',
        set: { counts: ({ resource, input }) => resized(resource.properties.counts, input.counts) },
        move: { instances: { from: ['Spawning'], to: 'Active' } },
      },
      // The scale-down is finished, new machines are killed; nothing that was removed is made again.
      onFailure: {
        undo: true,
        during: 'Rollback',
        status: 'Active',
        ifUndoFails: 'Error',
        set: { counts: ({ resource, input }) => smaller(resource.properties.counts, input.counts) },
        move: { instances: { from: ['Spawning', 'Decommissioning'], to: 'gone' } },
      },
    },
    update: {
      meaning: 'Says what is known of it; nothing is done.',
      from: ['Active', 'Error'],
      input: z.object({
        isTransient: z.boolean().optional(),
        isProtected: z.boolean().optional(),
        unfinishedJobs: z.number().int().nonnegative().optional(),
        hasTrust: z.boolean().optional(),
        cleanUpIncomplete: z.boolean().optional(),
      }),
      steps: {},
      to: {
        status: previous,
        set: {
          isTransient: ({ resource, input }) => input.isTransient ?? resource.properties.isTransient,
          isProtected: ({ resource, input }) => input.isProtected ?? resource.properties.isProtected,
          unfinishedJobs: ({ resource, input }) => input.unfinishedJobs ?? resource.properties.unfinishedJobs,
          hasTrust: ({ resource, input }) => input.hasTrust ?? resource.properties.hasTrust,
          cleanUpIncomplete: ({ resource, input }) => input.cleanUpIncomplete ?? resource.properties.cleanUpIncomplete,
        },
      },
      onFailure: previous,
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      grace: '30s',
      force: '30s',
      whileForced: 'Force Deleting',
      requires: [{ isProtected: false }],
      steps: deletion,
      to: { status: 'gone', move: { instances: 'gone' } },
      onFailure: { again: '1m', atMost: '1h' },
      failureText: 'Deleting cluster failed for the following reason(s): {reasons}',
    },
    expire: {
      meaning: 'Deletes it for its age, once there is a trust to do so.',
      from: ['Active', 'AwaitingTermination', ...working],
      ifBusy: 'preempt',
      grace: '30s',
      requires: [
        { isProtected: false },
        { says: 'it is not being deleted already', test: ({ resource }) => !isLeaving(resource) },
      ],
      steps: {
        awaitTrust: { during: 'AwaitingTermination', when: { hasTrust: false } },
        ...deletion,
      },
      to: { status: 'gone', move: { instances: 'gone' } },
      onFailure: { again: '1m', atMost: '1h' },
      failureText: 'Deleting cluster failed for the following reason(s): {reasons}',
    },
  },
  rules: {
    instances: {
      says: 'a cluster that is gone has no instances',
      holds: { gone: { instances: { exists: false } } },
    },
  },
  timers: {
    transient: {
      in: ['Active'],
      when: { isTransient: true, unfinishedJobs: 0 },
      after: '30s',
      ask: 'expire',
      again: '90s',
    },
    incomplete: { in: working, when: { cleanUpIncomplete: true }, after: '1h', ask: 'expire', again: '1h' },
  },
  heal: {
    // decision 4
    Validating: { resume: true, unowned: keptIn('Error') },
    InfraUpdating: { like: 'Validating' },
    Spawning: { like: 'Validating' },
    Waiting: { like: 'Validating' },
    Preparing: { like: 'Validating' },
    Configuring: { like: 'Validating' },
    Starting: { like: 'Validating' },
    Scaling: { like: 'Validating' },
    Decommissioning: { like: 'Validating' },
    'Deleting Instances': { like: 'Validating' },
    'Adding Instances': { like: 'Validating' },
    Rollback: { like: 'Validating' },
    AwaitingTermination: { resume: true, unowned: [guarded, { attempt: 'expire' }] },
    Deleting: { resume: true, unowned: [guarded, { attempt: 'delete' }] },
    'Force Deleting': { resume: true, unowned: [guarded, { attempt: 'delete' }] },
  },
})
