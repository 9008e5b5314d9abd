// What a database goes through: its statuses, its operations made of steps, and the way out of every status that should not last.
import { resourceType } from 'homeostat'
import { z } from 'zod'

const sizeGb = z.number().int().positive()

export const databases = resourceType('shop.database', {
  properties: z.object({ sizeGb }),
  statuses: {
    stable: { Ready: 'Serves queries.' },
    transitional: { Creating: 'Being set up.', Growing: 'Its disk is being enlarged.', Deleting: 'Being removed.' },
    failed: { Broken: 'Could not be set up; delete it.' },
    terminal: { Gone: 'Removed.' },
  },
}).lifecycle({
  operations: {
    create: {
      from: [],
      steps: {
        makeDisk: { during: 'Creating', creates: 'disk', undo: 'removeDisk' },
        startServer: { during: 'Creating', deadline: '5m', undo: 'stopServer' },
      },
      to: 'Ready',
      onFailure: { undo: true, status: 'Broken' },
    },
    grow: {
      from: ['Ready'],
      input: z.object({ sizeGb }),
      requires: [
        { says: 'the new size is larger', test: ({ input, resource }) => input.sizeGb > resource.properties.sizeGb },
      ],
      steps: { growDisk: { during: 'Growing' } },
      to: { status: 'Ready', set: { sizeGb: ({ input }) => input.sizeGb } },
      onFailure: 'Ready',
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      force: '10s',
      steps: { stopServer: { during: 'Deleting' }, removeDisk: { during: 'Deleting', destroys: 'disk' } },
      to: 'Gone',
      onFailure: { again: '1m' },
    },
  },
  heal: {
    Creating: { resume: true, unowned: { status: 'Broken' } },
    Growing: { resume: true, unowned: { status: 'Ready' } },
    Deleting: { attempt: 'delete' },
  },
})
