// What somebody meets who writes against the API from another language, by the documents alone: nothing that he sends is taken for something
// else, and what is refused says what would be right.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { adminToken, openShop, type Shop } from './workshop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await openShop()
})
afterEach(() => shop.close())

const make = (id: string, headers: Record<string, string> = {}) =>
  shop.ask('POST', '/v1/resources/shop.box', { body: { id, properties: { size: 1 } }, headers })
const made = async (id: string) =>
  shop.ask('GET', `${(await make(id)).headers.get('location')}?wait=30`).then(({ json }) => json.resource.id as string)
const refusal = async (path: string, method = 'GET', body?: unknown) => {
  const { status, json } = await shop.ask(method, path, { body })
  return `${status} ${json.code}: ${json.detail}`
}

test('an id with a colon is found with the colon as it is, as many languages write it into a path', async () => {
  await made('rack:7')
  for (const id of ['rack:7', 'rack%3A7']) {
    expect((await shop.ask('GET', `/v1/resources/shop.box/${id}`)).json.id).toBe('rack:7')
    expect((await shop.ask('POST', `/v1/resources/shop.box/${id}:fly`)).json.code).toBe('operation_unknown')
  }
  const deleted = await shop.ask('DELETE', '/v1/resources/shop.box/rack:7')
  expect([deleted.status, deleted.json.run.operation]).toEqual([202, 'delete'])
})

test('a create, an operation and a delete that were done before say so', async () => {
  const twice = async (ask: () => ReturnType<Shop['ask']>) =>
    [await ask(), await ask()].map(({ status, headers, json }) => [
      status,
      headers.get('idempotent-replayed'),
      json.run.id,
    ])
  const withKey = (key: string) => ({ 'idempotency-key': key })
  const [first, again] = await twice(() => make('b-1', withKey('k-1')))
  expect([first![1], again]).toEqual([null, [202, 'true', first![2]]])
  await shop.ask('GET', `/v1/runs/${first![2]}?wait=30`)
  const grow = { body: { size: 2 }, headers: withKey('k-2') }
  const [grown, grownAgain] = await twice(() => shop.ask('POST', '/v1/resources/shop.box/b-1:grow', grow))
  expect([grown![1], grownAgain]).toEqual([null, [202, 'true', grown![2]]])
  const remove = { headers: withKey('k-3') }
  const [gone, goneAgain] = await twice(() => shop.ask('DELETE', '/v1/resources/shop.box/b-1', remove))
  expect([gone![1], goneAgain]).toEqual([null, [202, 'true', gone![2]]])
})

test('the same request many times at once, over a slow store, is done once and answered alike', async () => {
  const store = createMemoryBackend().open() as Store
  const readAtOnce = store.record.bind(store)
  // All of them look for their key before any has written it.
  store.record = async (kind, key) => {
    const found = await readAtOnce(kind, key)
    await new Promise((resolve) => setTimeout(resolve, 50))
    return found
  }
  const slow = await openShop({ store })
  for (const [path, body] of [
    ['/v1/tokens', { name: 'reader', role: 'viewer' }],
    ['/v1/views', { name: 'mine', search: 'q=1' }],
    ['/v1/webhooks', { url: 'https://example.com/hook' }],
  ] as const) {
    const once = () => slow.ask('POST', path, { body, headers: { 'idempotency-key': path } })
    const answers = await Promise.all(Array.from({ length: 6 }, once))
    const [first, ...others] = [...new Set(answers.map(({ status, text }) => `${status} ${text}`))]
    expect([first!.slice(0, 3), others]).toEqual(['201', []])
    expect(answers.filter((one) => one.headers.get('idempotent-replayed') === null)).toHaveLength(1)
    expect((await slow.ask('GET', path)).json.items).toHaveLength(1)
  }
  await slow.close()
})

test('a run that has ended still tells what it was asked with', async () => {
  await made('b-1')
  const { json } = await shop.ask('POST', '/v1/resources/shop.box/b-1:grow', { body: { size: 2 } })
  const ended = (await shop.ask('GET', `/v1/runs/${json.run.id}?wait=30`)).json
  expect([ended.isOver, ended.input]).toEqual([true, { size: 2 }])
})

test('runs are listed by how they ended', async () => {
  await made('b-1')
  shop.hands.held.add('fold')
  const { run } = (await make('b-2')).json
  await shop.ask('POST', `/v1/runs/${run.id}:cancel`, { body: { reason: 'test' } })
  shop.hands.let('fold')
  await shop.ask('GET', `/v1/runs/${run.id}?wait=30`)
  const ids = async (state: string) =>
    (await shop.ask('GET', `/v1/runs?state=${state}`)).json.items.map(
      ({ resource }: { resource: { id: string } }) => resource.id,
    )
  expect([await ids('succeeded'), await ids('cancelled'), await ids('failed'), await ids('live')]).toEqual([
    ['b-1'],
    ['b-2'],
    [],
    [],
  ])
  expect(await refusal('/v1/runs?state=faild')).toContain('400 request_invalid')
})

test('a delete of what is gone that succeeds is in the audit once, and its repetition says what it is', async () => {
  await shop.ask('POST', '/v1/resources/shop.shelf', { body: { id: 's' } })
  const { run } = (await shop.ask('POST', '/v1/resources/shop.tray', { body: { id: 't', parent: 's' } })).json
  await shop.ask('GET', `/v1/runs/${run.id}?wait=30`)
  const removed = await shop.ask('DELETE', '/v1/resources/shop.tray/t')
  await shop.ask('GET', `${removed.headers.get('location')}?wait=30`)
  const headers = { 'idempotency-key': 'k' }
  const answers = [
    await shop.ask('DELETE', '/v1/resources/shop.tray/t', { headers }),
    await shop.ask('DELETE', '/v1/resources/shop.tray/t', { headers }),
  ]
  expect(answers.map((one) => [one.json.outcome, one.headers.get('idempotent-replayed')])).toEqual([
    ['over', null],
    ['over', 'true'],
  ])
  const audit = (await shop.ask('GET', '/v1/audit')).json.items as { action: string; target: string }[]
  expect(audit.filter(({ action }) => action === 'deleteResource')).toHaveLength(2)
})

test('a number in a query is a number: nothing, 0x10 and blanks are none', async () => {
  for (const query of [
    'events?after=',
    'events?after=0x1',
    'runs?pageSize=%205',
    'runs?pageSize=1e2',
    'runs/1-1?wait=',
  ])
    expect(await refusal(`/v1/${query}`)).toMatch(
      /^400 request_invalid: '\w+' in the query is a number: '.*' is none\.$/,
    )
  expect((await shop.ask('GET', '/v1/runs?pageSize=5')).status).toBe(200)
})

test('a name that there is not is told with the one that was meant, or with all that there are', async () => {
  const meant = (name: string) => `there is no such name. Did you mean '${name}'?`
  expect(await refusal('/v1/resources/shop.box?statuss=Ready')).toContain(`query.statuss: ${meant('status')}`)
  expect(await refusal('/v1/stuck?x=1')).toContain('query.x: there is no such name. Known are: pageSize, pageToken.')
  expect(await refusal('/v1/resources/shop.box', 'POST', { propertys: {} })).toContain(meant('properties'))
  const filter = { type: 'shop.box', statuss: ['Ready'] }
  expect(await refusal('/v1/bulk', 'POST', { filter, operation: 'seal', reason: 'x' })).toContain(
    `body.filter.statuss: ${meant('status')}`,
  )
  expect(await refusal('/v1/runs?type=shop.bx')).toBe(
    "404 type_unknown: No lifecycle of type 'shop.bx' is loaded. Did you mean 'shop.box'?",
  )
  expect(await refusal('/v1/runs/')).toContain('Leave the slash at its end out.')
  expect(await refusal('/v1/runs/1-1:cancel', 'POST')).toContain('body: it is missing')
})

test('what does not fit a lifecycle is listed as what does not fit the contract is', async () => {
  const { json } = await shop.ask('POST', '/v1/resources/shop.box', { body: { properties: { size: -1, label: 7 } } })
  expect([json.code, json.violations.map(({ path }: { path: string }) => path)]).toEqual([
    'properties_invalid',
    ['size', 'label'],
  ])
  await made('b-1')
  const grow = await shop.ask('POST', '/v1/resources/shop.box/b-1:grow', { body: { size: 2, sice: 3 } })
  expect([grow.json.code, grow.json.violations]).toEqual([
    'input_invalid',
    [{ path: 'sice', message: 'there is no such name' }],
  ])
})

test('a bulk operation whose input fits nothing is refused before it begins', async () => {
  await made('b-1')
  const body = { filter: { type: 'shop.box' }, operation: 'grow', reason: 'x', input: { size: 'large' } }
  for (const dryRun of [true, false])
    expect(await refusal('/v1/bulk', 'POST', { ...body, dryRun })).toMatch(/^400 input_invalid: The input of grow/)
  expect(await refusal('/v1/bulk', 'POST', { ...body, operation: 'seal' })).toContain('seal of shop.box takes no input')
  expect((await shop.ask('GET', '/v1/bulk')).json.items).toEqual([])
})

test('what is only counted is not called created, and what is created says where it is', async () => {
  await made('b-1')
  const body = { filter: { type: 'shop.box' }, operation: 'seal', reason: 'x' }
  const counted = await shop.ask('POST', '/v1/bulk', { body: { ...body, dryRun: true } })
  expect([counted.status, counted.json.total, counted.headers.get('location')]).toEqual([200, 1, null])
  for (let n = 0; n < 2; n++) {
    const begun = await shop.ask('POST', '/v1/bulk', { body, headers: { 'idempotency-key': 'k' } })
    expect([begun.status, begun.headers.get('location')]).toEqual([201, `/v1/bulk/${begun.json.bulk.id}`])
  }
})

test('a view that was kept with the same key is answered as it was', async () => {
  const keep = () => {
    const headers = { 'idempotency-key': 'k' }
    return shop.ask('POST', '/v1/views', { body: { name: 'mine', search: 'q=1' }, headers })
  }
  const first = await keep()
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect((await keep()).json).toEqual(first.json)
})

test('a path tells what may be asked of it, the head of what can be read included', async () => {
  for (const [path, allow] of [
    ['/v1/runs', 'GET, HEAD'],
    ['/v1/resources/shop.box/b-1', 'DELETE, GET, HEAD'],
    ['/v1/runs/1-1:cancel', 'POST'],
  ] as const) {
    const asked = await shop.ask('OPTIONS', path, { token: null })
    expect([asked.status, asked.headers.get('allow'), asked.text]).toEqual([204, allow, ''])
    const other = await shop.ask('PATCH', path)
    expect([other.status, other.headers.get('allow')]).toEqual([405, allow])
  }
  expect((await shop.ask('OPTIONS', '/v1/nothing')).status).toBe(404)
})

test('an etag that a proxy made weak is still one; what is none is told, and not taken for an old revision', async () => {
  await made('b-1')
  const { etag } = (await shop.ask('GET', '/v1/resources/shop.box/b-1')).json as { etag: string }
  const seal = (ifMatch: string) =>
    shop.ask('POST', '/v1/resources/shop.box/b-1:seal', { headers: { 'if-match': ifMatch } })
  for (const none of [etag.slice(1, -1), 'x', `${etag}, "r99"`]) {
    const { status, json } = await seal(none)
    expect([status, json.code, json.detail]).toEqual([400, 'request_invalid', expect.stringContaining('one etag')])
  }
  const other = await seal('"other"')
  expect([other.status, other.json.detail]).toEqual([412, expect.stringContaining('not at the one that was named')])
  expect((await seal(`W/${etag}`)).status).toBe(202)
  const any = await shop.ask('GET', '/v1/resources/shop.box/b-1', { headers: { 'if-none-match': '*' } })
  expect(any.status).toBe(304)
})

test('who asks for a stream of events gets one, whatever else he would take', async () => {
  const kind = async (accept: string) => {
    const abort = new AbortController()
    const headers = { accept, authorization: `Bearer ${adminToken}` }
    const answer = await fetch(`${shop.url}/v1/events?after=0`, { headers, signal: abort.signal })
    abort.abort()
    return answer.headers.get('content-type')!.split(';')[0]
  }
  expect(await kind('application/json;q=0.5, text/event-stream')).toBe('text/event-stream')
  expect(await kind('Application/JSON')).toBe('application/json')
})

test('whether the process is well is answered to who asks from an address that has asked too much', async () => {
  const busy = await openShop({ server: { rate: { perSecond: 0.001, burst: 3 } } })
  const statuses = async (path: string, token: string | null) =>
    Promise.all(Array.from({ length: 3 }, async () => (await busy.ask('GET', path, { token })).status))
  await statuses('/v1/views', adminToken)
  const refused = await busy.ask('GET', '/v1/views')
  expect([refused.status, refused.json.code, Number(refused.headers.get('retry-after')) > 0]).toEqual([
    429,
    'rate_limited',
    true,
  ])
  expect(await statuses('/livez', null)).toEqual([200, 200, 200])
  // Not without end, either.
  expect((await busy.ask('GET', '/readyz', { token: null })).status).toBe(429)
  await busy.close()
})
