// Controls that hold by a figure, a table or a list: each of them was taken away once, and nothing else noticed.
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { HomeostatError } from '../../src/base/errors.ts'
import { permissionsOf } from '../../src/protocol/permissions.ts'
import { createServer, type ServerOptions } from '../../src/server.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { openShop, type Answered, type Shop } from './workshop.ts'

/** How far the server's clock is ahead. */
let ahead = 0
let shop: Shop
const clock = { ...systemClock, now: () => Date.now() + ahead }
beforeEach(async () => {
  ahead = 0
  shop = await openShop({ server: { clock, proxies: ['127.0.0.1'], webhooks: { privateAddresses: true } } })
})
afterEach(() => shop.close())

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  shop.ask(method, `/v1/${path}`, { body, headers })
const tokenOf = async (given: object): Promise<string> =>
  (await ask('POST', 'tokens', { name: 'x', role: 'viewer', ...given })).json.secret
const asBefore = ({ status, json }: Answered) => [status, json.code, json.title, json.detail]

test('a role may do this and nothing else', () => {
  const operator = ['read', 'metrics', 'operate', 'steer', 'bulk']
  expect(permissionsOf).toEqual({
    viewer: ['read', 'metrics'],
    operator,
    admin: [...operator, 'force', 'repair', 'override', 'administer', 'develop'],
    worker: ['work'],
  })
})

test('without authentication it listens on this machine only, however that is written', () => {
  const { engine } = shop
  for (const host of ['0.0.0.0', '::', '::ffff:0.0.0.0', '10.0.0.1', '127.elsewhere.example', 'elsewhere.example', ''])
    expect(() => createServer({ engine, access: 'open', host }), host).toThrow(
      expect.objectContaining({ code: 'listen_refused' }),
    )
  for (const host of ['127.0.0.1', '127.8.8.8', '::1', 'localhost']) createServer({ engine, access: 'open', host })
})

test('nobody gives an account more than he has, nor one elsewhere', async () => {
  const narrow = await tokenOf({ role: 'admin', scopes: ['read', 'metrics', 'administer'] })
  const create = (role: string) =>
    shop.ask('POST', '/v1/accounts', { token: narrow, body: { name: role, role, password: 'correct horse battery' } })
  for (const role of ['operator', 'admin']) expect((await create(role)).json.code, role).toBe('forbidden')
  expect((await create('viewer')).status).toBe(201)
})

test('passwords have twelve characters at least, and are kept at the price that was decided', async () => {
  const account = { name: 'ann', role: 'viewer', password: 'eleven char' }
  expect((await ask('POST', 'accounts', account)).json.code).toBe('request_invalid')
  expect((await ask('POST', 'accounts', { ...account, password: 'twelve chars' })).status).toBe(201)
  expect((await ask('PUT', 'accounts/ann/password', { password: 'eleven char' })).json.code).toBe('request_invalid')
  const [stored] = await shop.engine.records('account')
  expect((stored!.value as { password: string }).password).toMatch(/^argon2id\$m=19456,t=2,p=1\$/)
})

test('whether an account exists, or its password was right while it is held, nobody is told; the hold grows', async () => {
  const password = 'correct horse battery'
  await ask('POST', 'accounts', { name: 'ann', role: 'viewer', password })
  const signIn = (account: string, given: string) =>
    shop.ask('POST', '/v1/session', { token: null, body: { account, password: given } })
  const wrong = asBefore(await signIn('ann', 'wrong'))
  expect(asBefore(await signIn('bob', 'wrong'))).toEqual(wrong)
  // Nine that failed are sixteen seconds.
  for (let n = 0; n < 8; n++) await signIn('ann', 'wrong')
  expect(asBefore(await signIn('ann', password))).toEqual(wrong)
  ahead = 15_000
  expect(asBefore(await signIn('ann', password))).toEqual(wrong)
  ahead = 15 * 60_000
  expect((await signIn('ann', password)).status).toBe(200)
})

test('everybody has a rate of his own, from whatever address; nobody uses up that of another', async () => {
  const small = await openShop({ server: { proxies: ['127.0.0.1'], rate: { perSecond: 0.001, burst: 6 } } })
  const from = async (address: string, method: string, path: string, options: object = {}) =>
    small.ask(method, path, { ...options, headers: { 'x-forwarded-for': address } })
  const made: string[] = []
  for (const [n, tenant] of ['red', 'red', 'blue'].entries()) {
    const body = { name: 'x', role: 'viewer', tenant }
    made.push((await from(`10.0.0.${n}`, 'POST', '/v1/tokens', { body })).json.secret)
  }
  const [one, other, elsewhere] = made as [string, string, string]
  const read = async (token: string, address: string) => (await from(address, 'GET', '/v1/counts', { token })).status
  for (let n = 0; n < 6; n++) expect(await read(one, `10.0.1.${n}`)).toBe(200)
  expect(await read(one, '10.0.1.100')).toBe(429)
  expect([await read(other, '10.0.2.1'), await read(elsewhere, '10.0.2.2')]).toEqual([200, 200])
  await small.close()
})

test('what must have a reason is refused without one', async () => {
  const box = { id: 'b-1', properties: { size: 1 } }
  const { run } = (await ask('POST', 'resources/shop.box', box)).json
  await ask('GET', `runs/${run.id}?wait=30`)
  const any = { 'if-match': '*' }
  const bulk = { filter: { type: 'shop.box' }, operation: 'seal' }
  const ways: readonly (readonly [string, string, object, Record<string, string>?])[] = [
    ['POST', 'resources/shop.box/b-1:setStatus', { status: 'Broken' }, any],
    ['POST', `runs/${run.id}:cancel`, {}],
    ['POST', `runs/${run.id}:skip`, {}],
    ['POST', 'healing:approve', { type: 'shop.box', id: 'b-1' }],
    ['POST', 'healing:approveAll', {}],
    ['PUT', 'healing/modes/shop.box/Making', { mode: 'off' }],
    ['PUT', 'healing/breakers/shop.box', { isOpen: true }],
    ['POST', 'orphans/x:sweep', {}],
    ['POST', 'orphans/x:adopt', {}],
    ['POST', 'orphans/x:writeOff', {}],
    ['POST', 'incidents/x:close', {}],
    ['POST', 'bulk', bulk],
    ['POST', 'workers/999:drain', {}],
  ]
  for (const [method, path, body, headers] of ways)
    for (const reason of [undefined, ''])
      expect((await ask(method, path, { ...body, reason }, headers)).json, `${path} ${reason}`).toMatchObject({
        code: 'request_invalid',
        violations: [{ path: 'body.reason' }],
      })
  for (const query of ['', '?reason=']) {
    const headers = { 'content-type': 'application/x-ndjson' }
    const text = JSON.stringify({ status: 'Ready', properties: { size: 1 } })
    expect((await shop.ask('POST', `/v1/resources/shop.box:import${query}`, { text, headers })).status).toBe(400)
  }
  expect((await ask('DELETE', 'resources/shop.box/b-1?force=true')).json.code).toBe('reason_required')
  expect((await ask('GET', 'resources/shop.box/b-1')).json.status).toBe('Ready')
})

test('what cannot be shown to people is not taken: control characters in names, ids and reasons', async () => {
  for (const odd of ['a\u001b[31m', 'a\u0000', 'a\rb', 'a\u007f', 'a\ud800']) {
    const ways: readonly (readonly [string, object])[] = [
      ['resources/shop.box', { id: odd, properties: { size: 1 } }],
      ['resources/shop.box', { name: odd, properties: { size: 1 } }],
      ['resources/shop.box', { tenant: odd, properties: { size: 1 } }],
      ['tokens', { name: odd, role: 'viewer' }],
      ['tokens', { name: 'x', role: 'viewer', tenant: odd }],
      ['accounts', { name: odd, role: 'viewer', password: 'correct horse battery' }],
      ['views', { name: odd, search: '' }],
      ['bulk', { filter: { type: 'shop.box' }, operation: 'seal', reason: odd, dryRun: true }],
    ]
    for (const [path, body] of ways)
      expect((await ask('POST', path, body)).json.code, JSON.stringify([path, body])).toBe('request_invalid')
  }
})

test('a key is of one request: another body, or another thing, with the same key is told', async () => {
  const once = { 'idempotency-key': 'the-same' }
  const made = async (name: string) => (await ask('POST', 'tokens', { name, role: 'viewer' })).json.token.id as string
  const [one, other] = [await made('one'), await made('other')]
  expect((await ask('DELETE', `tokens/${one}`, undefined, once)).status).toBe(204)
  expect((await ask('DELETE', `tokens/${other}`, undefined, once)).json.code).toBe('key_reused')
  expect((await ask('GET', 'tokens')).text).toContain(other)
  const [first, second] = [{ 'idempotency-key': 'k-2' }, { name: 'x', role: 'viewer' }]
  expect((await ask('POST', 'tokens', second, first)).status).toBe(201)
  expect((await ask('POST', 'tokens', { ...second, role: 'admin' }, first)).json.code).toBe('key_reused')
  expect((await ask('POST', 'views', { name: 'x', search: '' }, first)).json.code).toBe('key_reused')
})

test('a key is of one tenant: who is called the same in another has another request', async () => {
  const password = 'correct horse battery'
  await ask('POST', 'accounts', { name: 'local', role: 'operator', tenant: 'red', password })
  const create = async (body: object) => {
    const signed = await shop.ask('POST', '/v1/session', { token: null, body })
    const cookie = signed.headers.get('set-cookie')!.split(';')[0]!
    const { json } = await shop.ask('POST', '/v1/resources/shop.box', {
      token: null,
      body: { properties: { size: 1 } },
      headers: { cookie, 'x-homeostat': '1', 'sec-fetch-site': 'same-origin', 'idempotency-key': 'the-same' },
    })
    return json.resource
  }
  const [own, reds] = [
    await create({ ticket: await shop.server.newTicket() }),
    await create({ account: 'local', password }),
  ]
  expect([own.tenant, reds.tenant]).toEqual(['default', 'red'])
})

test('two tenants keep a view of one name each', async () => {
  const save = async (tenant: string) => {
    const token = await tokenOf({ role: 'operator', tenant })
    await shop.ask('POST', '/v1/views', { token, body: { name: 'mine', search: `q=${tenant}` } })
    return token
  }
  const [red, blue] = [await save('red'), await save('blue')]
  const searches = async (token: string) =>
    (await shop.ask('GET', '/v1/views', { token })).json.items.map(({ search }: { search: string }) => search)
  expect([await searches(red), await searches(blue)]).toEqual([['q=red'], ['q=blue']])
})

test('denied attempts are written down, no more of strangers than anybody can read; a flood of these hides nobody who is known', async () => {
  // Time stands still for rates: what was used up does not come back.
  const flooded = await openShop({ server: { clock: { ...systemClock, monotonic: () => 0 } } })
  const body = { name: 'curious', role: 'viewer' }
  const { secret: token } = (await flooded.ask('POST', '/v1/tokens', { body })).json
  await Promise.all(Array.from({ length: 300 }, () => fetch(`${flooded.url}/v1/tokens`)))
  for (let n = 0; n < 20; n++) await flooded.ask('GET', '/v1/tokens', { token })
  const { items } = (await flooded.ask('GET', '/v1/audit?pageSize=500')).json as { items: Record<string, string>[] }
  expect(items.filter(({ principal }) => principal === 'nobody')).toHaveLength(200)
  expect(items.filter(({ principal }) => principal!.includes('curious'))).toHaveLength(20)
  await flooded.close()
})

test('what the development mode breaks, and that healing is asked for, is in the audit', async () => {
  const struck: string[] = []
  const world = { faults: async () => [], setFault: async (fault: object) => fault, clearFaults: async () => {} }
  const dev = { ...world, truth: async () => [], strike: async (how: string) => void struck.push(how) }
  const broken = await openShop({ server: { dev } as unknown as Partial<ServerOptions> })
  await broken.ask('POST', '/v1/dev/faults', { body: { does: 'fail' } })
  await broken.ask('DELETE', '/v1/dev/faults')
  await broken.ask('POST', '/v1/dev/worker:freeze?seconds=1&confirm=true')
  await broken.ask('POST', '/v1/healing:run')
  const { items } = (await broken.ask('GET', '/v1/audit')).json
  expect(items.map(({ action, outcome }: Record<string, string>) => `${action} ${outcome}`)).toEqual([
    'setFault begun',
    'clearFaults begun',
    'strikeWorker begun',
    'runHealing done',
  ])
  await broken.close()
})

test('a list of what may be called binds webhooks and the issuer', async () => {
  const narrow = await openShop({
    server: { allowCalls: ['hooks.example.com'], webhooks: { privateAddresses: true } },
  })
  const hook = (url: string) => narrow.ask('POST', '/v1/webhooks', { body: { url } })
  expect((await hook('https://hooks.example.com/x')).status).toBe(201)
  for (const url of [
    'https://elsewhere.example/x',
    'http://127.0.0.1:9/',
    'https://hooks.example.com.elsewhere.example/',
  ])
    expect((await hook(url)).json.code, url).toBe('address_refused')
  const oidc = { issuer: 'https://elsewhere.example', clientId: 'x', publicUrl: 'http://127.0.0.1', roles: {} }
  const { engine } = narrow
  expect(() => createServer({ engine, oidc, allowCalls: ['hooks.example.com'] })).toThrow(
    expect.objectContaining({ code: 'address_refused' }),
  )
  createServer({ engine, oidc, allowCalls: ['elsewhere.example'] })
  await narrow.close()
  const usual = await openShop()
  for (const url of [
    'http://127.0.0.1:9/',
    'https://127.0.0.1/',
    'https://[::ffff:7f00:1]/',
    'https://example.com:22/',
  ])
    expect((await usual.ask('POST', '/v1/webhooks', { body: { url } })).json.code, url).toBe('address_refused')
  await usual.close()
})

test('what goes wrong inside is told in general words, also to who is known', async () => {
  const words = 'SELECT * FROM secrets at /var/lib/homeostat'
  let thrown: Error | null = null
  const store = new Proxy(createMemoryBackend().open() as Store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) =>
        thrown !== null && name === 'counts'
          ? Promise.reject(thrown)
          : (value as (...all: unknown[]) => unknown).apply(target, given)
    },
  })
  const broken = await openShop({ store })
  for (thrown of [new Error(words), new HomeostatError('internal', words), new TypeError(words)]) {
    const answer = await broken.ask('GET', '/v1/counts')
    expect([answer.status, answer.json.code]).toEqual([500, 'internal'])
    expect(answer.text).not.toMatch(/SELECT|secrets|\/var/)
  }
  thrown = null
  await broken.close()
})

test('a head that is too long is not read', async () => {
  const socket = connect(Number(new URL(shop.url).port), '127.0.0.1')
  socket.write(`GET /livez HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`)
  const answer = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())))
  socket.destroy()
  expect(answer).toContain('limit_exceeded')
})

test('bytes that two readers would split differently are no request', async () => {
  const smuggled = (headers: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(shop.url).port), '127.0.0.1')
      let text = ''
      socket.on('data', (data) => (text += data.toString()))
      socket.on('close', () => resolve(text))
      socket.on('error', () => resolve(text))
      socket.end(
        `POST /v1/session HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nhost: x\r\n\r\n`,
      )
    })
  for (const headers of [
    'content-length: 5\r\ntransfer-encoding: chunked',
    'transfer-encoding: chunked\r\ncontent-length: 0',
    'content-length: 5\r\ncontent-length: 6',
    'transfer-encoding: xchunked',
  ]) {
    const text = await smuggled(headers)
    expect(text, headers).toMatch(/^HTTP\/1\.1 4/)
    expect(text, headers).not.toContain('isAlive')
  }
})

test('streams have a number in total', async () => {
  const few = await openShop({ server: { streams: { total: 2 } } })
  const made = async () => (await few.ask('POST', '/v1/tokens', { body: { name: 'x', role: 'viewer' } })).json.secret
  const opened = async () => fetch(`${few.url}/v1/events`, { headers: { authorization: `Bearer ${await made()}` } })
  const streams = [await opened(), await opened(), await opened()]
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 429])
  for (const { body } of streams) await body?.cancel()
  await few.close()
})

test('of what anybody may add without end there is an end: views, and lines of one import', async () => {
  const save = async (name: string) => (await ask('POST', 'views', { name, search: '' })).json
  for (let n = 0; n < 500; n += 20) await Promise.all(Array.from({ length: 20 }, (_, more) => save(`v-${n + more}`)))
  expect((await ask('GET', 'views')).json.items).toHaveLength(500)
  expect((await save('one more')).code).toBe('limit_exceeded')
  expect((await save('v-1')).name).toBe('v-1')
  const { json } = await shop.ask('POST', '/v1/resources/shop.box:import?reason=x', {
    text: '\n'.repeat(100_001),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  expect(json.code).toBe('limit_exceeded')
})
