// What callers may ask of a set of lifecycles.
import { resourceType, type Client } from 'homeostat'
import { z } from 'zod'
import { same } from './same.ts'

const host = resourceType('host', { properties: z.object({}), statuses: { stable: { Up: '' } } })
const volume = resourceType('volume', {
  properties: z.object({ size: z.number(), shared: z.boolean().default(false) }),
  statuses: { stable: { Available: '' }, transitional: { Busy: '' }, terminal: { Gone: '' } },
})
const volumes = volume.relations({ host: { link: host }, hosts: { linkedBy: host, as: 'x' } }).lifecycle({
  operations: {
    create: { from: [], input: z.object({ from: z.string() }), steps: {}, to: 'Available', onFailure: 'Gone' },
    grow: { from: ['Available'], input: z.object({ size: z.number() }), steps: {}, to: 'Available', onFailure: 'Available' },
    stop: { from: ['Available'], input: z.object({ force: z.boolean().default(false) }), steps: {}, to: 'Available', onFailure: 'Available' },
    model: { from: [], steps: {}, to: 'Available', onFailure: 'Gone' },
    delete: { from: ['*'], steps: { remove: { during: 'Busy' } }, to: 'Gone', onFailure: { again: '1m' } },
  },
  heal: { Busy: { attempt: 'delete' } },
})
const hosts = host.lifecycle({ heal: {} })

export async function use(client: Client<{ volume: typeof volumes; host: typeof hosts }>) {
  // What has a default may be left out, in properties and in inputs.
  const { resource, run } = await client.volume.create({ properties: { size: 1 }, links: { host: 'h-1' } }, { from: 'image' })
  await client.volume.create({ id: 'v-1', name: 'one', tenant: 't', parent: 'p-1', properties: { size: 1, shared: true } }, { from: 'image' })
  same<typeof resource.status, 'Available' | 'Busy' | 'Gone'>()
  same<typeof run.id, string>()
  same<typeof resource.properties, { size: number; shared: boolean }>()
  await client.volume.grow(resource.id, { size: 2 })
  await client.volume.stop(resource.id)
  await client.volume.stop(resource.id, { force: true })
  await client.volume.delete(resource.id)
  const got = await client.volume.get(resource.id)
  same<NonNullable<typeof got>['status'], 'Available' | 'Busy' | 'Gone'>()
  // @ts-expect-error there may be none
  void got.status
  // Whatever its name, what starts from nowhere makes one.
  const modelled = await client.volume.model({ properties: { size: 1 }, links: { host: 'h-1' } })
  same<typeof modelled.run.id, string>()
  // @ts-expect-error it makes one: there is no id yet
  await client.volume.model('v-1')
  // @ts-expect-error nothing creates a host
  await client.host.create({ properties: {} })
  // @ts-expect-error create needs its input
  await client.volume.create({ properties: { size: 1 } })
  // @ts-expect-error hosts is no link
  await client.volume.create({ properties: { size: 1 }, links: { hosts: 'h-1' } }, { from: 'image' })
  // @ts-expect-error delete takes no input
  await client.volume.delete(resource.id, {})
}
