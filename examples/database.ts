// The README's example: a database with a disk, its lifecycle and a driver whose names and types all follow from it.
import { resourceType, type Client, type Driver } from 'homeostat'
import { z } from 'zod'

export const database = resourceType('shop.database', {
  properties: z.object({ sizeGb: z.number().int().positive() }),
  statuses: {
    stable: { Ready: 'Serves queries.' },
    transitional: { Creating: 'Being set up.', Growing: 'Its disk is being enlarged.', Deleting: 'Being removed.' },
    failed: { Broken: 'Could not be set up; delete it.' },
    terminal: { Gone: 'Removed.' },
  },
})

export const databases = database.lifecycle({
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
      input: z.object({ sizeGb: z.number().int().positive() }),
      requires: [
        { says: 'the new size is larger', test: ({ input, resource }) => input.sizeGb > resource.properties.sizeGb },
      ],
      steps: { growDisk: { during: 'Growing', result: z.object({ device: z.string() }) } },
      to: { status: 'Ready', set: { sizeGb: ({ input }) => input.sizeGb } },
      onFailure: 'Ready',
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      steps: {
        stopServer: { during: 'Deleting' },
        removeDisk: { during: 'Deleting', destroys: 'disk' },
      },
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

/** A pretended world: what exists, by the name the ledger gave it. */
const disks = new Map<string, number>()
const servers = new Set<string>()

export const driver: Driver<typeof databases> = {
  makeDisk: async ({ name, resource }) => void disks.set(name ?? resource.id, resource.properties.sizeGb),
  startServer: async ({ resource }) => void servers.add(resource.id),
  growDisk: async ({ ledger, input, signal }) => {
    signal.throwIfAborted()
    const disk = ledger.find(({ kind }) => kind === 'disk')
    if (disk) disks.set(disk.name, input.sizeGb)
    return { device: `/dev/${disk?.name}` }
  },
  stopServer: async ({ resource }) => void servers.delete(resource.id),
  removeDisk: async ({ ledger }) => {
    for (const { kind, name } of ledger) if (kind === 'disk') disks.delete(name)
  },
  sweeper: {
    inventory: async () => [...disks.keys()].map((name) => ({ kind: 'disk', name })),
    destroy: async ({ name }) => void disks.delete(name),
  },
}

/** How it is used: names and inputs of the client follow from the lifecycle, too. */
export async function tour(client: Client<{ database: typeof databases }>) {
  const { resource } = await client.database.create({ properties: { sizeGb: 10 } })
  await client.database.grow(resource.id, { sizeGb: 20 })
  await client.database.delete(resource.id)
}
