// What a tenant is shown does not depend on how much others have: its pages are full, exact, and of itself alone.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openShop, type Shop } from './workshop.ts'

vi.setConfig({ testTimeout: 120_000 })

let shop: Shop
let small = ''
beforeEach(async () => {
  shop = await openShop({ server: { rate: { perSecond: 100_000, burst: 100_000 } } })
  small = (await shop.ask('POST', '/v1/tokens', { body: { name: 'small', role: 'viewer', tenant: 'small' } })).json
    .secret
  const create = (tenant: string, id: string) =>
    shop.engine.create('shop.box', { id, tenant, properties: { size: 1 } }, { by: 'test' })
  await create('small', 's-1')
  await create('small', 's-2')
  // Its own are the oldest: behind those of others, and more of them than any page has.
  await Promise.all(Array.from({ length: 600 }, (_, index) => create('large', `l-${index}`)))
  await create('small', 's-3')
  await vi.waitFor(async () => {
    const counts = await shop.engine.counts()
    if (counts.find(({ status }) => status === 'Ready')?.count !== 603) throw new Error('not all are made yet')
  }, 60_000)
})
afterEach(() => shop.close())

const seen = async (path: string) => (await shop.ask('GET', path, { token: small })).json
const idsOf = (items: readonly { readonly resource: { readonly id: string } }[]) =>
  items.map(({ resource }) => resource.id)

test('runs: a page of its own, and the next one', async () => {
  const first = await seen('/v1/runs?pageSize=2')
  expect(idsOf(first.items)).toEqual(['s-3', 's-2'])
  const second = await seen(`/v1/runs?pageSize=2&pageToken=${first.nextPageToken}`)
  expect([idsOf(second.items), second.nextPageToken]).toEqual([['s-1'], null])
  expect(idsOf((await seen('/v1/runs?state=ended')).items)).toEqual(['s-3', 's-2', 's-1'])
  expect(await seen('/v1/runs?state=live')).toEqual({ items: [], nextPageToken: null })
  expect((await seen('/v1/runs?pageToken=x1')).code).toBe('request_invalid')
})

test('runs under way and ended ones are one list in pages', async () => {
  shop.hands.held.add('glue')
  for (const id of ['s-1', 'l-1', 's-2']) await shop.ask('POST', `/v1/resources/shop.box/${id}:seal`)
  const pages: string[][] = []
  for (let token = ''; ;) {
    const page = await seen(`/v1/runs?pageSize=2${token === '' ? '' : `&pageToken=${token}`}`)
    pages.push(
      page.items.map((run: { operation: string; resource: { id: string } }) => `${run.operation} ${run.resource.id}`),
    )
    if (page.nextPageToken === null) break
    token = page.nextPageToken
  }
  expect(pages.flat()).toEqual(['seal s-1', 'seal s-2', 'create s-3', 'create s-2', 'create s-1'])
})

test('events: others pass by, and the next page begins behind them', async () => {
  const headers = { accept: 'application/json' }
  const page = (after: number) => shop.ask('GET', `/v1/events?after=${after}&pageSize=4`, { token: small, headers })
  const tenants = new Set<string>()
  const subjects = new Set<string>()
  const latest = await shop.engine.latestEvent()
  let pages = 0
  for (let after = 0; after < latest; pages++) {
    const { items, last } = (await page(after)).json
    for (const one of items) {
      tenants.add(one.tenant)
      subjects.add(one.subject)
    }
    expect(last).toBeGreaterThan(after)
    after = last
  }
  expect([[...tenants], [...subjects]]).toEqual([['small'], ['shop.box/s-1', 'shop.box/s-2', 'shop.box/s-3']])
  // Six hundred of others are no pages of their own.
  expect(pages).toBeLessThan(10)
})

test('counts and lists of what is stuck or orphaned are its own', async () => {
  const { items } = await seen('/v1/counts')
  expect(items.find(({ type }: { type: string }) => type === 'shop.box').counts).toEqual({ Ready: 3 })
  expect((await seen('/v1/resources/shop.box?total=true&pageSize=1')).total).toBe(3)
  await shop.ask('PUT', '/v1/healing/modes/shop.box/Growing', { body: { mode: 'off', reason: 'test' } })
  const stuck = ['large', 'large', 'small'].map((tenant, index) =>
    JSON.stringify({ id: `g-${index}`, tenant, status: 'Growing', properties: { size: 1 } }),
  )
  await shop.ask('POST', '/v1/resources/shop.box:import?reason=test', {
    text: stuck.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  expect(idsOf((await seen('/v1/stuck?pageSize=1')).items)).toEqual(['g-2'])
  expect(idsOf((await seen('/v1/healing/preview?pageSize=1')).items)).toEqual(['g-2'])
  expect((await seen('/v1/resources?stuck=true')).items.map(({ id }: { id: string }) => id)).toEqual(['g-2'])
})
