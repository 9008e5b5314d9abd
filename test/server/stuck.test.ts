// However many are stuck, every list of them leads to all of them, and says when it is not the whole.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openShop, type Shop } from './workshop.ts'

vi.setConfig({ testTimeout: 60_000 })

const ids = Array.from({ length: 7 }, (_, index) => `g-${index}`)
let shop: Shop
beforeEach(async () => {
  shop = await openShop()
  await shop.ask('PUT', '/v1/healing/modes/shop.box/Growing', { body: { mode: 'off', reason: 'test' } })
  const grown = ids.map((id) => JSON.stringify({ id, status: 'Growing', properties: { size: 1 } }))
  await shop.ask('POST', '/v1/resources/shop.box:import?reason=test', {
    text: grown.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  })
})
afterEach(() => shop.close())

const read = async (path: string) => (await shop.ask('GET', path)).json

test.each([
  ['/v1/stuck?pageSize=3', (item: { resource: { id: string } }) => item.resource.id],
  ['/v1/healing/preview?pageSize=3', (item: { resource: { id: string } }) => item.resource.id],
  ['/v1/resources?stuck=true&pageSize=3', (item: { id: string }) => item.id],
  ['/v1/resources/shop.box?stuck=true&status=Growing&pageSize=3', (item: { id: string }) => item.id],
])('%s leads to all of them', async (path, idOf) => {
  const found: string[] = []
  for (let token: string | null = ''; token !== null;) {
    const page = await read(token === '' ? path : `${path}&pageToken=${token}`)
    expect(page.items.length).toBeLessThanOrEqual(3)
    found.push(...page.items.map(idOf))
    token = page.nextPageToken
  }
  expect(found.toSorted()).toEqual(ids)
  expect((await read(`${path}&pageToken=unowned`)).code).toBe('request_invalid')
})

test('incidents, newest first, lead to all of them; of one resource only its own', async () => {
  await shop.ask('PUT', '/v1/healing/modes/shop.box/Growing', { body: { mode: 'auto', reason: 'test' } })
  await shop.ask('POST', '/v1/healing:run')
  await expect.poll(async () => (await read('/v1/stuck')).items.length, { timeout: 30_000 }).toBe(0)
  expect((await read('/v1/incidents')).items).toHaveLength(ids.length)
  expect((await read('/v1/incidents')).nextPageToken).toBeNull()
  const found: { id: string; resource: { id: string } }[] = []
  for (let token: string | null = ''; token !== null;) {
    const page = await read(`/v1/incidents?pageSize=3${token === '' ? '' : `&pageToken=${token}`}`)
    expect(page.items.length).toBeLessThanOrEqual(3)
    found.push(...page.items)
    token = page.nextPageToken
    // Somebody closes what was shown: the next page begins where this one ended all the same.
    await shop.ask('POST', `/v1/incidents/${found.at(-1)!.id}:close`, { body: { reason: 'seen' } })
  }
  expect(found.map(({ resource }) => resource.id).toSorted()).toEqual(ids)
  const [open] = (await read('/v1/incidents')).items
  expect((await read(`/v1/incidents?type=shop.box&id=${open.resource.id}`)).items).toEqual([open])
  expect((await read(`/v1/incidents?type=shop.box&id=${found[2]!.resource.id}`)).items).toEqual([])
  expect((await read('/v1/incidents?type=shop.box&id=none')).code).toBe('resource_not_found')
  expect((await read('/v1/incidents?type=shop.box')).code).toBe('request_invalid')
  expect((await read('/v1/incidents?pageToken=x')).code).toBe('request_invalid')
})

test('a page that has all of them says so', async () => {
  const { items, nextPageToken } = await read('/v1/stuck')
  expect(nextPageToken).toBeNull()
  expect(items).toHaveLength(ids.length)
  for (const { held } of items) expect(held).toBe('healing of shop.box in Growing is switched off')
  // Nobody heals them: what no crash explains is an incident all the same.
  await expect.poll(async () => (await read('/v1/incidents')).items.length, { timeout: 30_000 }).toBe(ids.length)
  expect((await read('/v1/resources?stuck=true&q=g-3')).items).toMatchObject([{ id: 'g-3' }])
  expect(await read('/v1/resources?stuck=true&kind=stable')).toEqual({ items: [], nextPageToken: null })
})

test('of one resource its explanation says in which way it is stuck, what healing would do, and why it does not', async () => {
  const why = async (id: string) => (await read(`/v1/resources/shop.box/${id}/explain`)).stuck
  const [row] = (await read('/v1/healing/preview?pageSize=1')).items
  const { found, rule, would, held } = row
  expect(held).toContain('off')
  expect(await why(row.resource.id)).toEqual({ found, rule, would, held })
  await shop.ask('POST', '/v1/resources/shop.box', { body: { id: 'sound', properties: { size: 1 } } })
  expect(await why('sound')).toBeNull()
})

test('all that waits for approval is healed by one request, with an entry in the audit for each; first only said', async () => {
  const ask = async (body: object) => (await shop.ask('POST', '/v1/healing:approveAll', { body })).json
  const reason = 'the array is back'
  expect(await ask({ reason, dryRun: true })).toMatchObject({ total: 0, proposals: [] })
  await shop.ask('PUT', '/v1/healing/modes/shop.box/Growing', { body: { mode: 'approve', reason: 'look first' } })
  const said = await ask({ reason, dryRun: true, type: 'shop.box', status: 'Growing' })
  expect(said).toMatchObject({ total: ids.length, hasMore: false, healed: 0, refused: [] })
  expect(said.proposals.map((one: { resource: { id: string } }) => one.resource.id).toSorted()).toEqual(ids)
  expect((await read('/v1/stuck')).items).toHaveLength(ids.length)
  expect((await ask({ reason, type: 'shop.box', status: 'Making' })).total).toBe(0)
  expect((await ask({ reason, status: 'Shrinking' })).code).toBe('status_unknown')
  expect((await ask({ reason, type: 'shop.bag' })).code).toBe('type_unknown')
  expect((await ask({ reason, expected: 3 })).code).toBe('bulk_changed')
  expect(await ask({ reason, expected: ids.length })).toMatchObject({
    total: ids.length,
    healed: ids.length,
    refused: [],
  })
  await expect.poll(async () => (await read('/v1/stuck')).items.length, { timeout: 30_000 }).toBe(0)
  // Asked again, as after a lost answer: nothing is healed twice.
  expect((await ask({ reason, expected: ids.length })).code).toBe('bulk_changed')
  expect(await ask({ reason })).toMatchObject({ total: 0, healed: 0 })
  const entries = (await read('/v1/audit?q=approveAllHealing')).items
  expect(entries.map((one: { target: string }) => one.target).toSorted()).toEqual(ids.map((id) => `shop.box/${id}`))
  for (const entry of entries) expect(entry).toMatchObject({ principal: 'admin token', reason, outcome: 'done' })
  const scores = (await read('/v1/healing')).scoreboard
  expect(scores).toMatchObject([{ type: 'shop.box', status: 'Growing', count: ids.length }])
})
