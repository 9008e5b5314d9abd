// A cluster: created, scaled and deleted in stages, with a different answer to failure in each (spec 2.2 to 2.6).
import { z } from 'zod'
import { cluster, counts, instance } from './resource-types.ts'

const plan = z.object({
  removed: z.array(z.string()),
  added: z.array(z.object({ group: z.string(), index: z.number() })),
})

type Plan = z.infer<typeof plan>

const grows = {
  says: 'a group grows',
  test: ({ results }: { results: { readonly planScaling?: Plan } }) => (results.planScaling?.added.length ?? 0) > 0,
}

const shrinks = {
  says: 'a group shrinks',
  test: ({ results }: { results: { readonly planScaling?: Plan } }) => (results.planScaling?.removed.length ?? 0) > 0,
}

const smaller = (a: Record<string, number>, b: Record<string, number>) =>
  Object.fromEntries(Object.entries(a).map(([group, n]) => [group, Math.min(n, b[group] ?? n)]))

export const clusters = cluster.relations({ instances: { children: instance } }).lifecycle({
  operations: {
    create: {
      from: [],
      failureText: 'Creating cluster failed for the following reason(s): {reasons}',
      steps: {
        validate: { during: 'Validating', onFailure: 'Error' },
        updateInfra: { during: 'InfraUpdating' },
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
        },
        awaitBoot: { during: 'Waiting', progress: '10m' },
        prepare: { during: 'Preparing' },
        configure: { during: 'Configuring' },
        startServices: { during: 'Starting' },
      },
      to: { status: 'Active', move: { instances: 'Active' } },
      onFailure: { undo: true, status: 'Error', move: { instances: 'gone' } },
    },
    scale: {
      from: ['Active'],
      input: z.object({ counts, instances: z.array(z.string()).default([]) }),
      failureText: 'Scaling cluster failed for the following reason(s): {reasons}',
      steps: {
        validateScaling: { during: 'Validating', onFailure: 'Active' },
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
          onFailure: 'Error',
        },
        deleteInstances: {
          during: 'Deleting Instances',
          when: shrinks,
          forEach: { instances: { in: ['Decommissioning'], done: 'gone' } },
          destroys: 'machine',
          undo: 'finishScaleDown',
        },
        addInstances: {
          during: {
            status: 'Adding Instances',
            add: { instances: { status: 'Spawning', each: ({ results }) => results.planScaling?.added ?? [] } },
          },
          when: grows,
          creates: 'machine',
          undo: 'removeNewInstances',
        },
        configureNew: { during: 'Configuring', when: grows, onFailure: 'Error' },
      },
      to: {
        status: 'Active',
        set: { counts: ({ input }) => input.counts },
        move: { instances: { from: ['Spawning'], to: 'Active' } },
      },
      // Rollback never re-creates what was removed: per group the smaller of old and wanted.
      onFailure: {
        undo: true,
        during: 'Rollback',
        status: 'Active',
        ifUndoFails: 'Error',
        set: { counts: ({ resource, input }) => smaller(resource.properties.counts, input.counts) },
        move: { instances: { from: ['Spawning', 'Decommissioning'], to: 'gone' } },
      },
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      grace: '30s',
      force: '30s',
      requires: [{ isProtected: false }],
      steps: {
        onTerminate: { during: { status: 'Deleting', move: { instances: 'Deleting' } } },
        terminateInstances: { during: 'Deleting', destroys: 'machine', progress: '10m' },
        detachJobs: { during: 'Deleting' },
      },
      to: { status: 'gone', move: { instances: 'gone' } },
      onFailure: { again: '1m', atMost: '1h' },
      failureText: 'Deleting cluster failed for the following reason(s): {reasons}',
    },
  },
  timers: {
    transient: {
      in: ['Active'],
      when: { isTransient: true, unfinishedJobs: 0 },
      after: '30s',
      ask: 'delete',
      again: '90s',
    },
  },
  heal: {
    // decision 4
    Validating: { resume: true, unowned: { status: 'Error' } },
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
    Deleting: { resume: true, unowned: { attempt: 'delete' } },
  },
})
