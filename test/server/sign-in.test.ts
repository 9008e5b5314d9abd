// Sign-ins that happen at the same time as each other, or as what ends them.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { Batch, Store } from '../../src/store/store.ts'
import { openShop, type Shop } from './workshop.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Before the next commit that writes such a record, something else happens. */
let before: { readonly kind: string; readonly happens: () => Promise<unknown> } | null = null
let shop: Shop
beforeEach(async () => {
  before = null
  const store = new Proxy(createMemoryBackend().open() as Store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (name === 'commit')
        return async (batch: Batch) => {
          const now = before
          if (now !== null && (batch.records ?? []).some(({ kind }) => kind === now.kind)) {
            before = null
            await now.happens()
          }
          return target.commit(batch)
        }
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  shop = await openShop({ store })
  await shop.ask('POST', '/v1/accounts', { body: { name: 'ann', password: 'correct horse battery', role: 'admin' } })
})
afterEach(() => shop.close())

const signIn = (password = 'correct horse battery') =>
  shop.ask('POST', '/v1/session', { token: null, body: { account: 'ann', password } })
const isIn = async (cookie: string | null | undefined) => {
  const headers = { cookie: cookie!.split(';')[0]! }
  return (await shop.ask('GET', '/v1/session', { token: null, headers })).status === 200
}

const ends = [
  [
    'a new password',
    () => shop.ask('PUT', '/v1/accounts/ann/password', { body: { password: 'another long password' } }),
  ],
  ['the removal of the account', () => shop.ask('DELETE', '/v1/accounts/ann')],
] as const

test.each(ends)('%s comes before a session that was on its way: nobody is let in', async (_, end) => {
  before = { kind: 'session', happens: end }
  const signed = await signIn()
  expect([signed.status, signed.json.code]).toEqual([401, 'sign_in_failed'])
})

test.each(ends)('%s ends also the session that came while it was on its way', async (_, end) => {
  let cookie: string | null = null
  before = { kind: 'account', happens: async () => (cookie = (await signIn()).headers.get('set-cookie')) }
  expect((await end()).status).toBe(204)
  expect(cookie).not.toBeNull()
  expect(await isIn(cookie)).toBe(false)
})

test('of one account several sign in at once', async () => {
  const all = await Promise.all([signIn(), signIn(), signIn()])
  for (const { status, headers } of all) {
    expect(status).toBe(200)
    expect(await isIn(headers.get('set-cookie'))).toBe(true)
  }
})

test('of many passwords that are guessed at once a few are judged', async () => {
  const guesses = Array.from({ length: 30 }, (_, n) => (n === 20 ? 'correct horse battery' : `wrong ${n}`))
  const all = await Promise.all(guesses.map((password) => signIn(password)))
  expect(all.map(({ json }) => json.code)).toEqual(guesses.map(() => 'sign_in_failed'))
})

test('whoever tries one account after the other has a bounded number of passwords judged; others sign in meanwhile', async () => {
  // Time stands still for rates: what was used up does not come back.
  const clock = { ...systemClock, monotonic: () => 0 }
  const proxied = await openShop({ server: { proxies: ['127.0.0.1'], clock } })
  await proxied.ask('POST', '/v1/accounts', {
    body: { name: 'ann', password: 'correct horse battery', role: 'viewer' },
  })
  const from = (address: string, account: string, password: string) =>
    proxied.ask('POST', '/v1/session', {
      token: null,
      body: { account, password },
      headers: { 'x-forwarded-for': address },
    })
  // Each from an address of his own network: IPv6 gives everybody more of them than can be counted.
  const tried = await Promise.all(
    Array.from({ length: 120 }, (_, n) => from(`2001:db8::${n.toString(16)}`, `guess-${n}`, 'wrong')),
  )
  const codes = tried.map(({ json }) => json.code as string)
  expect(new Set(codes)).toEqual(new Set(['sign_in_failed', 'rate_limited']))
  expect(codes.filter((code) => code === 'sign_in_failed')).toHaveLength(60)
  expect((await from('2001:db8:0:1::1', 'ann', 'correct horse battery')).status).toBe(200)
  await proxied.close()
})

test('wrong passwords hold an account for all addresses of a network of IPv6, and for no other', async () => {
  const proxied = await openShop({ server: { proxies: ['127.0.0.1'] } })
  await proxied.ask('POST', '/v1/accounts', {
    body: { name: 'ann', password: 'correct horse battery', role: 'viewer' },
  })
  const from = async (address: string, password: string) =>
    (
      await proxied.ask('POST', '/v1/session', {
        token: null,
        body: { account: 'ann', password },
        headers: { 'x-forwarded-for': address },
      })
    ).status
  for (let n = 0; n < 9; n++) expect(await from(`2001:db8::${n}`, 'wrong')).toBe(401)
  expect(await from('2001:db8::99', 'correct horse battery')).toBe(401)
  expect(await from('2001:db8:0:1::99', 'correct horse battery')).toBe(200)
  await proxied.close()
})

test('an account ends its own sessions: who is called the same in another tenant goes on', async () => {
  const cookieOf = async (body: object) =>
    (await shop.ask('POST', '/v1/session', { token: null, body })).headers.get('set-cookie')
  const local = await cookieOf({ ticket: await shop.server.newTicket('admin', 'local') })
  const red = (await shop.ask('POST', '/v1/tokens', { body: { name: 'red', role: 'admin', tenant: 'red' } })).json
    .secret
  const account = { name: 'local', password: 'correct horse battery', role: 'viewer' }
  expect((await shop.ask('POST', '/v1/accounts', { token: red, body: account })).status).toBe(201)
  const own = await cookieOf({ account: 'local', password: account.password })
  expect([await isIn(local), await isIn(own)]).toEqual([true, true])
  const password = { password: 'another long password' }
  expect((await shop.ask('PUT', '/v1/accounts/local/password', { token: red, body: password })).status).toBe(204)
  expect([await isIn(local), await isIn(own)]).toEqual([true, false])
  expect((await shop.ask('DELETE', '/v1/accounts/local', { token: red })).status).toBe(204)
  expect(await isIn(local)).toBe(true)
})
