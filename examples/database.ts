// database.ts: what a database goes through, and the driver that does it. Its disk is a file, its server a folder.
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { resourceType, type Driver } from 'homeostat'
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

export const driver: Driver<typeof databases> = {
  makeDisk: async ({ name, resource }) => {
    await mkdir(dirname(`disks/${name}`), { recursive: true })
    await writeFile(`disks/${name}`, 'x'.repeat(resource.properties.sizeGb))
  },
  startServer: async ({ resource, signal }) => {
    await sleep(3_000, undefined, { signal }) // It takes a while: a good moment for kill -9.
    await mkdir(`servers/${resource.id}`, { recursive: true })
  },
  growDisk: async ({ ledger, input }) => {
    for (const { name } of ledger) await truncate(`disks/${name}`, input.sizeGb)
  },
  stopServer: ({ resource }) => rm(`servers/${resource.id}`, { recursive: true, force: true }),
  removeDisk: async ({ ledger }) => {
    for (const { name } of ledger) await rm(`disks/${name}`, { force: true })
  },
  sweeper: { destroy: ({ name }) => rm(`disks/${name}`, { force: true }) },
}
