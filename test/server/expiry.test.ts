// Whatever lets somebody in ends by the clock: tokens, sessions, tickets, and the streams that were opened with them.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { openShop, type Shop } from './workshop.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How far the server's clock is ahead. */
let ahead = 0
let shop: Shop
const clock = { ...systemClock, now: () => Date.now() + ahead }
let stored = createMemoryBackend()
const open = () =>
  openShop({ store: stored.open() as Store, server: { clock, secure: true, streams: { heartbeatMs: 600_000 } } })
beforeEach(async () => {
  ahead = 0
  stored = createMemoryBackend()
  shop = await open()
})
afterEach(() => shop.close())

const tokenOf = async (given: object) =>
  (await shop.ask('POST', '/v1/tokens', { body: { name: 'test', role: 'viewer', ...given } })).json
const statusWith = async (token: string) => (await shop.ask('GET', '/v1/resources', { token })).status

async function signedIn(): Promise<Record<string, string>> {
  const body = { ticket: await shop.server.newTicket() }
  const set = (await shop.ask('POST', '/v1/session', { token: null, body })).headers.get('set-cookie')!
  return { cookie: set.split(';')[0]! }
}
const statusIn = async (headers: Record<string, string>) =>
  (await shop.ask('GET', '/v1/session', { token: null, headers })).status

test('a token is refused from its end on, and none is given for more than ninety days', async () => {
  const [short, usual] = [await tokenOf({ days: 1 }), await tokenOf({})]
  ahead = day - minute
  expect([await statusWith(short.secret), await statusWith(usual.secret)]).toEqual([200, 200])
  ahead = day + minute
  expect([await statusWith(short.secret), await statusWith(usual.secret)]).toEqual([401, 200])
  ahead = 30 * day + minute
  expect(await statusWith(usual.secret)).toBe(401)
  for (const days of [91, 3_650, 0, -1, 1.5])
    expect((await tokenOf({ days })).code, String(days)).toBe('request_invalid')
  const { token } = await tokenOf({ days: 90 })
  expect(Date.parse(token.expiresAt) - Date.parse(token.createdAt)).toBe(90 * day)
})

test('a stream ends with the token that it was opened with', async () => {
  const { secret } = await tokenOf({ days: 1 })
  const stream = await fetch(`${shop.url}/v1/events`, { headers: { authorization: `Bearer ${secret}` } })
  const text = stream.text()
  // It is looked at every second, not only once.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  ahead = day + minute
  expect(await text).toContain('event: ended')
})

test('a stream ends with the session that it was opened with, whether that has run out or was signed out', async () => {
  const [one, other] = [await signedIn(), await signedIn()]
  const textOf = async (headers: Record<string, string>) => (await fetch(`${shop.url}/v1/events`, { headers })).text()
  const [ofOne, ofOther] = [textOf(one), textOf(other)]
  const page = { ...one, 'x-homeostat': '1', 'sec-fetch-site': 'same-origin' }
  expect((await shop.ask('DELETE', '/v1/session', { token: null, headers: page })).status).toBe(204)
  expect(await ofOne).toContain('event: ended')
  expect(await statusIn(other)).toBe(200)
  ahead = hour
  expect(await ofOther).toContain('event: ended')
})

test('a session that is not used for half an hour is over', async () => {
  const headers = await signedIn()
  ahead = 29 * minute
  expect(await statusIn(headers)).toBe(200)
  ahead = 58 * minute
  expect(await statusIn(headers)).toBe(200)
  ahead = 89 * minute
  expect(await statusIn(headers)).toBe(401)
})

test('a session that is used all the time is over after twelve hours', async () => {
  const headers = await signedIn()
  for (; ahead < 12 * hour - minute; ahead += 20 * minute) expect(await statusIn(headers)).toBe(200)
  ahead = 12 * hour + minute
  expect(await statusIn(headers)).toBe(401)
})

test('a ticket lets in for a quarter of an hour', async () => {
  const enter = async (ticket: string) =>
    (await shop.ask('POST', '/v1/session', { token: null, body: { ticket } })).status
  const [soon, late] = [await shop.server.newTicket(), await shop.server.newTicket()]
  ahead = 14 * minute
  expect(await enter(soon)).toBe(200)
  ahead = 16 * minute
  expect(await enter(late)).toBe(401)
})

test('over TLS the cookie is of this host alone, and browsers are told to stay there', async () => {
  const body = { ticket: await shop.server.newTicket() }
  const { headers } = await shop.ask('POST', '/v1/session', { token: null, body })
  expect(headers.get('set-cookie')).toMatch(
    /^__Host-homeostat=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/,
  )
  expect(headers.get('strict-transport-security')).toContain('max-age=31536000')
})

test('who comes with a cookie of his own making has another one after he signed in, and his is worth nothing', async () => {
  const given = `__Host-homeostat=${'x'.repeat(43)}`
  const body = { ticket: await shop.server.newTicket() }
  const { headers } = await shop.ask('POST', '/v1/session', { token: null, body, headers: { cookie: given } })
  const cookie = headers.get('set-cookie')!.split(';')[0]!
  expect(cookie).not.toBe(given)
  expect([await statusIn({ cookie: given }), await statusIn({ cookie })]).toEqual([401, 200])
  // Nor does one session become another: each sign-in begins its own.
  const again = await signedIn()
  expect(again['cookie']).not.toBe(cookie)
})

test('an idempotency key is remembered for a day at least, also by a server that was started anew', async () => {
  const send = () =>
    shop.ask('POST', '/v1/tokens', {
      body: { name: 'once', role: 'viewer', days: 90 },
      headers: { 'idempotency-key': 'a-day-later' },
    })
  const first = (await send()).json
  await shop.server.newTicket()
  ahead = 25 * hour
  await shop.close()
  shop = await open()
  // What is old is removed at the start, all of it at once.
  await expect.poll(() => shop.engine.records('ticket')).toEqual([])
  const again = await send()
  expect([again.headers.get('idempotent-replayed'), again.json]).toEqual(['true', first])
})
