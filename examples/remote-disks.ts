// remote-disks.ts: what a disk goes through. Its driver is another program, in Python (remote-driver-python/driver.py) or in TypeScript
// (remote-driver-typescript/driver.ts): both do the same.
import { resourceType } from 'homeostat'
import { remoteDriver, type RemoteOptions } from 'homeostat/remote'
import { z } from 'zod'

const sizeMb = z.number().int().positive()
const retry = { times: 30, first: '100ms', atMost: '1s' } as const

export const disks = resourceType('shop.disk', {
  properties: z.object({ sizeMb }),
  statuses: {
    stable: { Ready: 'Can be used.' },
    transitional: {
      Creating: 'Being made.',
      Filling: 'Its blocks are being written.',
      Growing: 'Being enlarged.',
      Deleting: 'Being removed.',
    },
    failed: { Broken: 'Could not be made; delete it.' },
    terminal: { Gone: 'Removed.' },
  },
}).lifecycle({
  probes: { diskIs: ['there', 'absent'] },
  operations: {
    create: {
      from: [],
      steps: {
        makeDisk: { during: 'Creating', creates: 'disk', undo: 'removeDisk', probe: 'diskIs', retry },
        // Takes long: the driver accepts it, and completes it later.
        fillDisk: { during: 'Filling', result: z.object({ blocks: z.number() }), deadline: '10m', retry },
      },
      to: 'Ready',
      onFailure: { undo: true, status: 'Broken' },
    },
    grow: {
      from: ['Ready'],
      input: z.object({ sizeMb }),
      steps: { growDisk: { during: 'Growing', retry } },
      to: { status: 'Ready', set: { sizeMb: ({ input }) => input.sizeMb } },
      onFailure: 'Ready',
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      grace: '10s',
      steps: { removeDisk: { during: 'Deleting', destroys: 'disk', retry } },
      to: 'Gone',
      force: '2s',
      onFailure: { again: '1s' },
    },
  },
  heal: {
    Creating: { resume: true, unowned: { status: 'Broken' } },
    Filling: { resume: true, unowned: { status: 'Broken' } },
    Growing: { resume: true, unowned: { status: 'Ready' } },
    Deleting: { attempt: 'delete' },
  },
})

/** As a homeostat.config.ts names it: `defineModule({ lifecycles: { disk: disks }, drivers: { disk: disksAt({ ... }) } })`. */
export const disksAt = (options: RemoteOptions) => remoteDriver(disks, options)
