// What the console asks for besides: kept views, figures over time, lanes and drains, late results, rehearsals within their bounds.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callFaults, commitFaults } from '../../src/protocol/lifecycle-routes.ts'
import { callStrikes, commitStrikes } from '../../src/testing/explore.ts'
import { openShop, type Shop } from './workshop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

const get = async (path: string) => (await shop.ask('GET', path)).json

test('a view is kept for everybody, replaced under its name, and forgotten', async () => {
  const kept = await shop.ask('POST', '/v1/views', { body: { name: 'big ones', search: 'q=big' } })
  expect(kept.status).toBe(201)
  await shop.ask('POST', '/v1/views', { body: { name: 'big ones', search: 'q=large' } })
  await shop.ask('POST', '/v1/views', { body: { name: 'all', search: '' } })
  expect((await get('/v1/views')).items).toMatchObject([
    { name: 'all', search: '' },
    { name: 'big ones', search: 'q=large', id: kept.json.id },
  ])
  expect((await shop.ask('DELETE', `/v1/views/${kept.json.id}`)).status).toBe(204)
  expect((await shop.ask('DELETE', `/v1/views/${kept.json.id}`)).json.code).toBe('view_not_found')
  expect((await get('/v1/views')).items).toHaveLength(1)
})

test('changes, ends and times to stable are counted in slices, of all types or of one', async () => {
  const { json } = await shop.ask('POST', '/v1/resources/shop.box', { body: { id: 'b-1', properties: { size: 1 } } })
  await get(`/v1/runs/${json.run.id}?wait=30`)
  shop.hands.failing.add('stretch')
  const grown = await shop.ask('POST', '/v1/resources/shop.box/b-1:grow', { body: { size: 3 } })
  await get(`/v1/runs/${grown.json.run.id}?wait=30`)
  shop.hands.failing.delete('stretch')
  const whole = await vi.waitFor(async () => {
    const trends = await get('/v1/trends?minutes=60')
    expect(trends.whole).toMatchObject({ succeeded: 1, failed: 1 })
    return trends
  }, 30_000)
  expect(whole.whole.changes).toBeGreaterThanOrEqual(4)
  expect(whole.whole.p95Ms).toBeGreaterThan(0)
  expect(whole.points).toHaveLength(60)
  const sum = (name: string) =>
    whole.points.reduce((all: number, point: Record<string, number>) => all + point[name]!, 0)
  expect(sum('changes')).toBe(whole.whole.changes)
  expect((await get('/v1/trends?minutes=1440&type=shop.shelf')).whole).toMatchObject({ changes: 0, p95Ms: null })
  expect((await shop.ask('GET', '/v1/trends?type=shop.none')).json.code).toBe('type_unknown')
})

test('a rehearsal is played, refused when it makes no sense, and remembered', async () => {
  const first = await get('/v1/lifecycles/shop.box/rehearsal?operation=create&strike=call:1:crash')
  expect(first).toMatchObject({ id: 'box-1', status: 'Ready', violation: null })
  expect(await get('/v1/lifecycles/shop.box/rehearsal?operation=create&strike=call:1:crash')).toEqual(first)
  expect((await get('/v1/lifecycles/shop.box/check')).checked.length).toBeGreaterThan(3)
  const all = await get('/v1/lifecycles/shop.box/rehearsals?operation=grow')
  expect(all).toMatchObject({ violation: null })
  expect(all.schedules).toBeGreaterThan(10)
  for (const [query, code] of [
    ['operation=fly', 'operation_unknown'],
    ['from=Nowhere', 'status_unknown'],
    ['operation=create&strike=commit:1:lost', 'request_invalid'],
    ['operation=create&properties=%7B', 'request_invalid'],
  ] as const)
    expect((await shop.ask('GET', `/v1/lifecycles/shop.box/rehearsal?${query}`)).json.code, query).toBe(code)
  // As in bodies: nothing deep, nothing twice, no name that means something to JavaScript.
  for (const given of ['{"__proto__":{"size":1}}', '{"size":1,"size":2}', '['.repeat(40) + ']'.repeat(40), '{"size":'])
    for (const name of ['properties', 'input']) {
      const query = new URLSearchParams({ operation: 'create', [name]: given }).toString()
      const { json } = await shop.ask('GET', `/v1/lifecycles/shop.box/rehearsal?${query}`)
      expect([json.code, json.detail]).toEqual(['request_invalid', expect.stringContaining(`'${name}' cannot be read`)])
    }
})

test('the faults that can be asked for are those that are rehearsed', () => {
  expect({ commitFaults, callFaults }).toEqual({ commitFaults: commitStrikes, callFaults: callStrikes })
})

test('there are only so many rehearsals a second', async () => {
  const codes = new Set<string>()
  for (let n = 1; n <= 200 && !codes.has('rate_limited'); n++) {
    const { json } = await shop.ask('GET', `/v1/lifecycles/shop.box/rehearsal?operation=create&strike=call:${n}:again`)
    codes.add(json.code ?? 'played')
  }
  expect([...codes]).toEqual(['played', 'rate_limited'])
})

test('how people can sign in is told to everybody', async () => {
  const ways = await shop.ask('GET', '/v1/session/ways', { token: null })
  expect([ways.status, ways.json]).toEqual([200, { oidc: null }])
})

test('a worker is drained: its lanes are told, its run is handed over, and it takes on nothing more', async () => {
  shop.hands.held.add('cut')
  await shop.ask('POST', '/v1/resources/shop.box', { body: { id: 'b-2', properties: { size: 1 } } })
  const busy = await vi.waitFor(async () => {
    const lanes = await get('/v1/lanes')
    expect(lanes).toMatchObject({ hasWorker: true, owned: 1, drains: [] })
    expect(lanes.lanes.find(({ lane }: { lane: string }) => lane === 'user')).toMatchObject({ running: 1 })
    return lanes
  }, 30_000)
  expect((await shop.ask('POST', '/v1/workers/999:drain', { body: { reason: 'x' } })).json.code).toBe(
    'worker_not_found',
  )
  const asked = await shop.ask('POST', `/v1/workers/${busy.worker}:drain`, { body: { reason: 'new kernel' } })
  expect([asked.status, asked.json]).toEqual([202, { worker: busy.worker, isHere: true }])
  shop.hands.let('cut')
  await vi.waitFor(async () => {
    const lanes = await get('/v1/lanes')
    expect(lanes).toMatchObject({
      hasWorker: false,
      drains: [{ worker: busy.worker, reason: 'new kernel', isDone: true }],
    })
  }, 30_000)
  const { run } = await get('/v1/resources/shop.box/b-2')
  expect(run).toMatchObject({ state: 'waiting' })
  expect((await shop.ask('GET', '/readyz')).status).toBe(200)
  expect((await get('/v1/resources/shop.box/b-2/lateResults')).items).toEqual([])
})
