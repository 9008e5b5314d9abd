// Whoever follows events and asks for what retention has removed is told so, also where nothing that is left would be his. To be called
// in a test file, for each store that has retention.
import { expect, test } from 'vitest'
import { createClient, type RemovedEvents } from '../../src/client.ts'
import type { Store } from '../../src/store/store.ts'
import { adminToken, openShop, shop as lifecycles } from './workshop.ts'

export function removedEventsAreTold(open: () => Promise<Store>): void {
  test('events that retention has removed are told of to everybody who asks for them, whatever he filters by', async () => {
    const store = await open()
    const logged: unknown[] = []
    const shop = await openShop({
      store,
      server: { log: (_level, message, fields) => void logged.push([message, fields]) },
    })
    const admin = createClient({ url: shop.url, token: adminToken, lifecycles })
    const { secret } = (await shop.ask('POST', '/v1/tokens', { body: { name: 's', role: 'viewer', tenant: 'small' } }))
      .json
    const small = createClient({ url: shop.url, token: secret, lifecycles })
    const box = async (id: string, tenant: string) =>
      admin.wait((await admin.box.create({ id, tenant, properties: { size: 1 } })).run!)
    const hook = await admin.api.call('createWebhook', {
      body: { url: 'https://example.org/', tenant: 'small', types: ['shop.shelf'], kinds: [], after: 0 },
    })
    await shop.ask('POST', `/v1/webhooks/${hook.webhook.id}:pause`, { body: { reason: 'not yet' } })
    await box('s-1', 'small')
    await box('l-1', 'large')
    await store.removeHistory!({ before: Date.now() + 3_600_000 })
    const [oldest] = await shop.engine.events(0, 1)
    const to = oldest!.n - 1
    expect(to).toBeGreaterThan(3)
    await box('l-2', 'large')
    const latest = await shop.engine.latestEvent()

    const page = async (client: typeof admin, query: object) => {
      const { items, last, removedTo } = await client.api.call('streamEvents', { query: { after: 0, ...query } })
      return [items.length, last, removedTo]
    }
    expect(await page(small, {})).toEqual([0, latest, to])
    expect(await page(admin, { type: 'shop.shelf' })).toEqual([0, latest, to])
    expect(await page(admin, { type: 'shop.box', id: 's-1' })).toEqual([0, latest, to])
    expect(await page(admin, {})).toEqual([latest - to, latest, to])
    // Who goes on from where he was misses nothing.
    expect(await page(small, { after: to })).toEqual([0, latest, null])
    expect(await page(admin, { after: to, kinds: 'stepDone,landed', id: 'l-2' })).toEqual([2, latest, null])

    const stop = new AbortController()
    const told: [string, RemovedEvents | string][] = []
    const followed = Object.entries({ tenant: small, type: admin }).map(async ([name, client]) => {
      const onRemoved = (removed: RemovedEvents) => void told.push([name, removed])
      const type = name === 'type' ? 'shop.shelf' : undefined
      const options = { type, kinds: ['accepted', 'landed'], after: 1, signal: stop.signal, onRemoved }
      for await (const event of client.watch(options)) told.push([name, event.data.kind])
    })
    await expect.poll(() => told.length).toBe(2)
    expect(Object.fromEntries(told)).toEqual({ tenant: { after: 1, to }, type: { after: 1, to } })
    await box('s-2', 'small')
    await expect.poll(() => told.slice(2)).toEqual(['accepted', 'landed'].map((kind) => ['tenant', kind]))
    stop.abort()
    await Promise.all(followed)

    await shop.ask('POST', `/v1/webhooks/${hook.webhook.id}:resume`, { body: {} })
    const missed = ['events were removed before a webhook had them', { webhook: hook.webhook.id, after: 0, to }]
    await expect.poll(() => logged).toContainEqual(missed)
    await shop.close()
  })
}
