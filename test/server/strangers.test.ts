// Whoever is nobody has no room in the memory, for what he sends at length is not read; and is told nothing of what is inside.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { HomeostatError } from '../../src/base/errors.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { adminToken, openShop, type Shop } from './workshop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await openShop()
})
afterEach(() => shop.close())

/** The head of a request whose body does not come: what is answered is answered without it. */
async function answered(path: string, headers: readonly string[]): Promise<{ status: number; code: string }> {
  const socket = connect(Number(new URL(shop.url).port), '127.0.0.1')
  socket.write([`POST ${path} HTTP/1.1`, 'host: 127.0.0.1', ...headers, '', ''].join('\r\n'))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  const [head, body] = answer.toString().split('\r\n\r\n') as [string, string]
  return { status: Number(head.split(' ')[1]), code: (JSON.parse(body) as { code: string }).code }
}

const lines = 'content-type: application/x-ndjson'
const large = 'content-length: 16000000'
const path = '/v1/resources/shop.box:import?reason=x'

test('a long body, or one of no told length, is not waited for when nobody is known who sends it', async () => {
  const refused = { status: 401, code: 'unauthenticated' }
  expect(await answered(path, [lines, large])).toEqual(refused)
  expect(await answered(path, [lines, 'transfer-encoding: chunked'])).toEqual(refused)
  expect(await answered(path, [lines, large, 'authorization: Bearer not-a-good-token'])).toEqual(refused)
  expect(await answered(path, [lines, large, `cookie: homeostat=${'x'.repeat(43)}`])).toEqual(refused)
  const session = await answered('/v1/session', ['content-type: application/json', 'content-length: 70000'])
  expect(session).toEqual({ status: 413, code: 'limit_exceeded' })
})

test('who is known sends as much as before, also without saying how much, and a connection goes on', async () => {
  const line = JSON.stringify({ status: 'Ready', properties: { size: 1, label: 'x'.repeat(400) } })
  const text = Array.from({ length: 400 }, () => line).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  expect((await shop.ask('POST', path, { text, headers })).json.imported).toBe(400)
  expect((await shop.ask('POST', path, { text, headers, token: null })).status).toBe(401)
  const sent = await fetch(`${shop.url}${path}`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${adminToken}` },
    body: new Blob([text]).stream(),
    duplex: 'half',
  } as RequestInit)
  expect(await sent.json()).toMatchObject({ imported: 400 })
})

test('whoever is nobody has the rate of his address, whatever he sends along; who has signed in is counted for himself', async () => {
  const busy = await openShop({ server: { rate: { perSecond: 0.001, burst: 8 } } })
  const { headers } = await busy.ask('POST', '/v1/session', {
    token: null,
    body: { ticket: await busy.server.newTicket() },
  })
  const session = headers.get('set-cookie')!.split(';')[0]!
  const statuses = async (sent: Record<string, string>) => {
    const all: number[] = []
    for (let n = 0; n < 10; n++) all.push((await busy.ask('GET', '/v1/session', { token: null, headers: sent })).status)
    return [...new Set(all)].toSorted((a, b) => a - b)
  }
  expect(await statuses({ cookie: 'x=y' })).toEqual([401, 429])
  for (const cookie of ['x=y', `homeostat=${'x'.repeat(43)}`, ''])
    expect(await statuses({ cookie }), cookie).toEqual([429])
  expect(await statuses({ authorization: 'Bearer not-a-good-token' })).toEqual([429])
  expect((await busy.ask('GET', '/v1/session', { token: null, headers: { cookie: session } })).status).toBe(200)
  await busy.close()
})

/** A store that goes away, and comes back. */
class Leaving {
  readonly says = 'PostgreSQL does not answer: connect ECONNREFUSED 10.1.2.3:5432.'
  isAway = false

  over(store: Store): Store {
    return new Proxy(store, {
      get: (target, name, receiver) => {
        const value: unknown = Reflect.get(target, name, receiver)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          if (this.isAway && ['commit', 'record', 'work', 'counts', 'list'].includes(String(name)))
            return Promise.reject(new HomeostatError('store_unavailable', this.says))
          return (value as (...all: unknown[]) => unknown).apply(target, given)
        }
      },
    })
  }
}

test('while the store is away nobody learns where it is; who is known does', async () => {
  const leaving = new Leaving()
  const other = await openShop({ store: leaving.over(createMemoryBackend().open() as Store) })
  const { secret } = (await other.ask('POST', '/v1/tokens', { body: { name: 'x', role: 'viewer' } })).json
  leaving.isAway = true
  const signIn = { account: 'ann', password: 'correct horse battery' }
  const answers = [
    await other.ask('GET', '/v1/runs', { token: null }),
    await other.ask('GET', '/v1/runs', { token: secret }),
    await other.ask('POST', '/v1/session', { token: null, body: signIn }),
  ].map(({ status, text }) => ({ status, text }))
  const ready = await fetch(`${other.url}/readyz`)
  for (const { status, text } of [...answers, { status: ready.status, text: await ready.text() }]) {
    expect(status).toBe(503)
    expect(text).not.toContain('10.1.2.3')
  }
  expect((await other.ask('POST', '/v1/tokens', { body: { name: 'y', role: 'viewer' } })).json.detail).toBe(
    leaving.says,
  )
  leaving.isAway = false
  await other.close()
})

test('while the store is away figures are read by whoever could before: those of the process, and that it is away', async () => {
  const leaving = new Leaving()
  let ahead = 0
  const clock = { ...systemClock, now: () => Date.now() + ahead }
  const other = await openShop({ store: leaving.over(createMemoryBackend().open() as Store), server: { clock } })
  const tokenOf = async (body: object): Promise<{ readonly secret: string; readonly token: { readonly id: string } }> =>
    (await other.ask('POST', '/v1/tokens', { body })).json
  const scraper = await tokenOf({ name: 'prometheus', role: 'viewer', scopes: ['metrics'] })
  const looker = await tokenOf({ name: 'looker', role: 'viewer', scopes: ['read'] })
  const fresh = await tokenOf({ name: 'fresh', role: 'viewer' })
  await other.ask('POST', '/v1/resources/shop.box', { body: { properties: { size: 1 } } })
  const read = ({ secret }: { readonly secret: string }) => other.ask('GET', '/metrics', { token: secret })
  const before = await read(scraper)
  expect(before.text).toContain('homeostat_store_up 1')
  expect(before.text).toMatch(/^homeostat_resources\{/m)
  expect((await read(looker)).status).toBe(403)
  leaving.isAway = true
  const away = await read(scraper)
  expect(away.status).toBe(200)
  expect(away.text).toContain('homeostat_store_up 0')
  expect(away.text).toContain('homeostat_commits_total')
  expect(away.text).not.toMatch(/^homeostat_(resources|stuck_resources|heal_breaker_open)\{/m)
  expect(away.text).not.toContain('10.1.2.3')
  // Nothing but figures, and only for whom they were for.
  expect((await other.ask('GET', '/v1/runs', { token: scraper.secret })).status).toBe(503)
  expect([(await read(looker)).status, (await read(fresh)).status]).toEqual([503, 503])
  // Nor for longer than it was given for.
  ahead = 31 * 86_400_000
  expect((await read(scraper)).status).toBe(503)
  ahead = 0
  leaving.isAway = false
  expect((await read(scraper)).text).toContain('homeostat_store_up 1')
  await other.ask('DELETE', `/v1/tokens/${scraper.token.id}`)
  expect((await read(scraper)).status).toBe(401)
  leaving.isAway = true
  expect((await read(scraper)).status).toBe(503)
  leaving.isAway = false
  await other.close()
})
