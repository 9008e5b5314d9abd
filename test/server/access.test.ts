// Who is let in, for how long, and what is written down about it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createServer } from '../../src/server.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { adminToken, openShop, type Shop } from './workshop.ts'

// Processes are started and killed, or many streams served: a busy machine may take its time.
vi.setConfig({ testTimeout: 240_000 })

let folder = ''
let shop: Shop
const file = () => join(folder, 'store.db')
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
  // Signs of life are far apart: nothing here may depend on them.
  shop = await openShop({ store: openSqliteStore({ file: file() }), server: { streams: { heartbeatMs: 600_000 } } })
})
afterEach(async () => {
  await shop.close()
  rmSync(folder, { recursive: true })
})

const newToken = async (given: object) =>
  (await shop.ask('POST', '/v1/tokens', { body: { name: 'test', ...given } })).json

/** What a browser sends from a page of the console. */
const fromPage = (cookie: string) => ({ cookie, 'x-homeostat': '1', 'sec-fetch-site': 'same-origin' })

test('a token is shown once and kept as a hash; it is refused from the moment it is revoked', async () => {
  const { token, secret } = await newToken({ role: 'viewer' })
  expect(secret).toMatch(/^hs_[0-9a-f]{12}_[\w-]{43}$/)
  expect((await shop.ask('GET', '/v1/resources', { token: secret })).status).toBe(200)
  expect((await shop.ask('GET', '/v1/tokens')).text).not.toContain(secret.slice(16))
  expect(readFileSync(file()).includes(secret) || readFileSync(`${file()}-wal`).includes(secret)).toBe(false)
  expect((await shop.ask('DELETE', `/v1/tokens/${token.id}`)).status).toBe(204)
  const refused = await shop.ask('GET', '/v1/resources', { token: secret })
  expect([refused.status, refused.json.code]).toEqual([401, 'unauthenticated'])
  expect(refused.headers.get('www-authenticate')).toContain('Bearer')
})

test('a revoked token ends the streams that were opened with it', async () => {
  const { token, secret } = await newToken({ role: 'viewer' })
  const stream = await fetch(`${shop.url}/v1/events`, { headers: { authorization: `Bearer ${secret}` } })
  expect(stream.status).toBe(200)
  const text = stream.text()
  await shop.ask('DELETE', `/v1/tokens/${token.id}`)
  expect(await text).toContain('event: ended')
})

test('a token that another process has revoked ends the streams here within a second or so', async () => {
  const { token, secret } = await newToken({ role: 'viewer' })
  const stream = await fetch(`${shop.url}/v1/events`, { headers: { authorization: `Bearer ${secret}` } })
  const text = stream.text()
  const other = createServer({ engine: shop.engine, port: 0, adminToken })
  const url = await other.start()
  const revoked = await fetch(`${url}/v1/tokens/${token.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${adminToken}` },
  })
  expect(revoked.status).toBe(204)
  expect(await text).toContain('event: ended')
  await other.stop()
})

test('scopes narrow a role, and nobody gives what he does not have', async () => {
  const narrow = await newToken({ role: 'admin', scopes: ['read', 'administer'] })
  const ask = (method: string, path: string, body?: unknown) => shop.ask(method, path, { token: narrow.secret, body })
  expect((await ask('GET', '/v1/resources')).status).toBe(200)
  expect((await ask('POST', '/v1/resources/shop.box', { properties: { size: 1 } })).status).toBe(403)
  const wider = await ask('POST', '/v1/tokens', { name: 'x', role: 'admin' })
  expect([wider.status, wider.json.code]).toEqual([403, 'forbidden'])
  expect((await ask('POST', '/v1/tokens', { name: 'x', role: 'admin', scopes: ['read'] })).status).toBe(201)
  // Who sets the password of an account can sign in as it.
  const password = 'correct horse battery'
  await shop.ask('POST', '/v1/accounts', { body: { name: 'boss', password, role: 'admin' } })
  const taken = await ask('PUT', '/v1/accounts/boss/password', { password: 'mine from now on' })
  expect([taken.status, taken.json.code]).toEqual([403, 'forbidden'])
  expect((await shop.ask('POST', '/v1/session', { token: null, body: { account: 'boss', password } })).status).toBe(200)
})

test('force, repair and override are permissions of their own', async () => {
  const { secret } = await newToken({ role: 'operator' })
  await shop.ask('POST', '/v1/resources/shop.box', { body: { id: 'b-1', properties: { size: 1 } }, token: secret })
  const forced = await shop.ask('DELETE', '/v1/resources/shop.box/b-1?force=true&reason=x', { token: secret })
  expect([forced.status, forced.json.code]).toEqual([403, 'forbidden'])
  const set = await shop.ask('POST', '/v1/resources/shop.box/b-1:setStatus', {
    token: secret,
    body: { status: 'Broken', reason: 'x' },
    headers: { 'if-match': '*' },
  })
  expect(set.status).toBe(403)
  const unguarded = await shop.ask('POST', '/v1/resources/shop.box/b-1:setStatus', {
    body: { status: 'Broken', reason: 'x' },
  })
  expect([unguarded.status, unguarded.json.code]).toEqual([428, 'precondition_required'])
})

test('an account signs in with its password, works with a cookie, and signs out', async () => {
  const account = { name: 'ann', password: 'correct horse battery', role: 'operator' }
  expect((await shop.ask('POST', '/v1/accounts', { body: account })).status).toBe(201)
  expect(readFileSync(`${file()}-wal`).includes(account.password)).toBe(false)
  const signIn = (password: string) =>
    shop.ask('POST', '/v1/session', { token: null, body: { account: 'ann', password } })
  expect((await signIn('wrong')).json.code).toBe('sign_in_failed')
  const signed = await signIn(account.password)
  expect(signed.json).toMatchObject({ principal: 'ann', role: 'operator' })
  const set = signed.headers.get('set-cookie')!
  expect(set).toMatch(/^homeostat=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
  const cookie = set.split(';')[0]!
  const create = (headers: Record<string, string>) =>
    shop.ask('POST', '/v1/resources/shop.box', { token: null, headers, body: { properties: { size: 1 } } })
  expect((await create(fromPage(cookie))).status).toBe(202)
  // What a page of another origin can make a browser send is refused.
  expect((await create({ cookie })).status).toBe(403)
  expect((await create({ ...fromPage(cookie), 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await shop.ask('DELETE', '/v1/session', { token: null, headers: fromPage(cookie) })).status).toBe(204)
  expect((await create(fromPage(cookie))).status).toBe(401)
})

test('a new password ends the sessions of the account', async () => {
  await shop.ask('POST', '/v1/accounts', { body: { name: 'ann', password: 'correct horse battery', role: 'viewer' } })
  const signed = await shop.ask('POST', '/v1/session', {
    token: null,
    body: { account: 'ann', password: 'correct horse battery' },
  })
  const headers = fromPage(signed.headers.get('set-cookie')!.split(';')[0]!)
  expect((await shop.ask('GET', '/v1/session', { token: null, headers })).status).toBe(200)
  await shop.ask('PUT', '/v1/accounts/ann/password', { body: { password: 'another long password' } })
  expect((await shop.ask('GET', '/v1/session', { token: null, headers })).status).toBe(401)
})

test('a ticket lets in once', async () => {
  const ticket = await shop.server.newTicket()
  const enter = () => shop.ask('POST', '/v1/session', { token: null, body: { ticket } })
  expect((await enter()).json).toMatchObject({ principal: 'local', role: 'admin' })
  expect((await enter()).json.code).toBe('sign_in_failed')
})

test('many wrong passwords hold the account for the address, also against the right one', async () => {
  await shop.ask('POST', '/v1/accounts', { body: { name: 'ann', password: 'correct horse battery', role: 'viewer' } })
  const signIn = (password: string) =>
    shop.ask('POST', '/v1/session', { token: null, body: { account: 'ann', password } })
  for (let n = 0; n < 9; n++) await signIn(`wrong ${n}`)
  const held = await signIn('correct horse battery')
  expect([held.status, held.json.code]).toEqual([401, 'sign_in_failed'])
})

test('every change and every denied attempt is in the audit, which notices when it is changed', async () => {
  const { secret } = await newToken({ role: 'viewer', name: 'looker' })
  await shop.ask('POST', '/v1/resources/shop.box', { body: { id: 'b-1', properties: { size: 1 } } })
  await shop.ask('POST', '/v1/resources/shop.box', { body: { id: 'b-2', properties: { size: 1 } }, token: secret })
  const { items } = (await shop.ask('GET', '/v1/audit')).json
  expect(items).toMatchObject([
    { n: 1, action: 'createToken', outcome: 'done', principal: 'admin token' },
    { n: 2, action: 'createResource', outcome: 'done', target: 'shop.box/b-1', address: '127.0.0.1' },
    { n: 3, action: 'createResource', outcome: 'denied', principal: expect.stringContaining('looker') },
  ])
  const newest = async (more = '') => (await shop.ask('GET', `/v1/audit?order=newest&pageSize=2${more}`)).json
  const [latest, rest] = [await newest(), await newest('&pageToken=2')]
  expect(latest).toMatchObject({ items: [{ n: 3 }, { n: 2 }], nextPageToken: '2' })
  expect(rest).toMatchObject({ items: [{ n: 1 }], nextPageToken: null })
  expect((await shop.ask('GET', '/v1/audit:verify')).json).toMatchObject({ entries: 3, isSound: true, brokenAt: null })
  const db = new DatabaseSync(file())
  db.exec(`update journal set value = replace(value, 'b-1', 'b-9') where n = 2`)
  db.close()
  expect((await shop.ask('GET', '/v1/audit:verify')).json).toMatchObject({ isSound: false, brokenAt: 2 })
})

test('what is asked again with its key is in the audit once', async () => {
  const send = () =>
    shop.ask('POST', '/v1/resources/shop.box', {
      body: { properties: { size: 1 } },
      headers: { 'idempotency-key': 'k' },
    })
  await send()
  await send()
  expect((await shop.ask('GET', '/v1/audit')).json.items).toHaveLength(1)
})

test('too many requests are told when to come back', async () => {
  const small = createServer({ engine: shop.engine, port: 0, adminToken, rate: { perSecond: 0.001, burst: 3 } })
  const url = await small.start()
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      fetch(`${url}/v1/resources`, { headers: { authorization: `Bearer ${adminToken}` } }),
    ),
  )
  const limited = answers.filter((answer) => answer.status === 429)
  expect(limited.length).toBeGreaterThanOrEqual(4)
  expect(Number(limited[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
  await small.stop()
})

test('it does not listen beyond this machine without authentication, nor with a token that can be guessed', async () => {
  const { engine } = shop
  expect(() => createServer({ engine, access: 'open', host: '0.0.0.0' })).toThrow(
    expect.objectContaining({ code: 'listen_refused' }),
  )
  expect(() => createServer({ engine, adminToken: 'secret' })).toThrow(
    expect.objectContaining({ code: 'listen_refused' }),
  )
})

test('an open server lets everybody of this machine in, and no page of another origin', async () => {
  const open = createServer({ engine: shop.engine, access: 'open', port: 0 })
  const url = await open.start()
  const create = (headers: Record<string, string>) =>
    fetch(`${url}/v1/resources/shop.box`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"properties":{"size":1}}',
    })
  expect((await create({})).status).toBe(202)
  expect((await create({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  // Browsers that say nothing of the site name the origin; one of another port of this machine is another, too.
  expect((await create({ origin: url })).status).toBe(202)
  for (const origin of ['https://elsewhere.example', 'http://127.0.0.1:1', 'null'])
    expect((await create({ origin })).status, origin).toBe(403)
  await open.stop()
})

test('every answer has the security headers; no inline script is allowed', async () => {
  for (const path of ['/', '/docs', '/docs/errors', '/v1/resources', '/v1/nothing', '/livez']) {
    const { headers } = await shop.ask('GET', path)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy, path).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-powered-by')).toBeNull()
    if (path !== '/') expect(headers.get('cache-control')).toBe('no-store')
  }
  const page = (await shop.ask('GET', '/docs')).text
  expect(page).toContain('POST')
  expect(page).not.toMatch(/<script|https?:\/\//)
})

test('an idempotency key is of its principal: the same key of another one is another request', async () => {
  const { secret } = await newToken({ role: 'operator' })
  const create = (token: string) =>
    shop.ask('POST', '/v1/resources/shop.box', {
      token,
      body: { properties: { size: 1 } },
      headers: { 'idempotency-key': 'the-same' },
    })
  const [one, other] = [await create(adminToken), await create(secret)]
  expect(one.json.resource.id).not.toBe(other.json.resource.id)
  expect((await create(secret)).json.resource.id).toBe(other.json.resource.id)
})

test('a worker completes the step it was asked for, with its key, and may do nothing else', async () => {
  const { secret } = await newToken({ role: 'worker' })
  shop.hands.later.add('fold')
  const { run } = (await shop.ask('POST', '/v1/resources/shop.box', { body: { id: 'b-1', properties: { size: 1 } } }))
    .json
  const key = () => shop.hands.calls.find(({ step }) => step === 'fold')?.key
  await expect.poll(key).toBeDefined()
  const complete = (given: string | undefined, token = secret) =>
    shop.ask('POST', `/v1/runs/${run.id}/steps/fold:complete`, {
      token,
      body: { key: given, outcome: { kind: 'done', result: null } },
    })
  expect((await complete('another key')).json.code).toBe('step_not_waiting')
  expect((await complete(key(), adminToken)).status).toBe(403)
  expect((await shop.ask('GET', '/v1/resources/shop.box/b-1', { token: secret })).status).toBe(403)
  await expect.poll(async () => (await complete(key())).status).toBe(200)
  expect((await shop.ask('GET', `/v1/runs/${run.id}?wait=30`)).json).toMatchObject({ state: 'succeeded' })
})

test('a token with scopes beyond its role could do nothing: it is refused', async () => {
  const body = { name: 'x', role: 'viewer', scopes: ['read', 'operate'] }
  const { status, json } = await shop.ask('POST', '/v1/tokens', { body })
  expect([status, json.code]).toEqual([400, 'request_invalid'])
  expect(json.detail).toContain('viewer does not have operate')
  expect((await shop.ask('GET', '/v1/tokens')).json.items).toEqual([])
})
