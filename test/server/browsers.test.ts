// What browsers are told with every answer, and what a page elsewhere can make them send: made from the table of the contract.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parameterNames, pathOf } from '../../src/protocol/route.ts'
import { routeNames, routeOf, type RouteName } from '../../src/protocol/routes.ts'
import { createServer, type HomeostatServer } from '../../src/server.ts'
import { openShop, type Shop } from './workshop.ts'

let shop: Shop
let open: HomeostatServer
let openUrl = ''
let cookie = ''
beforeAll(async () => {
  shop = await openShop({ server: { rate: { perSecond: 100_000, burst: 100_000 } } })
  open = createServer({ engine: shop.engine, access: 'open', port: 0 })
  openUrl = await open.start()
  const body = { ticket: await shop.server.newTicket() }
  const signed = await shop.ask('POST', '/v1/session', { token: null, body })
  cookie = signed.headers.get('set-cookie')!.split(';')[0]!
})
afterAll(async () => {
  await open.stop()
  await shop.close()
})

const told = {
  'content-security-policy': expect.stringMatching(
    /^default-src 'none';script-src 'self';style-src 'self' 'sha256-[\w+/=]+';img-src 'self' data:;font-src 'self';connect-src 'self';base-uri 'none';form-action 'self';frame-ancestors 'none'$/,
  ),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

function mustTell(what: string, headers: Headers, cache = 'no-store'): void {
  const given = Object.fromEntries(Object.keys(told).map((name) => [name, headers.get(name)]))
  expect(given, what).toEqual(told)
  expect(headers.get('cache-control'), what).toBe(cache)
  // Pages of other origins read nothing, and nobody is told what it runs on.
  const more = [...headers.keys()].filter((name) => /^access-control|^server$|^x-powered-by$/.test(name))
  expect(more, what).toEqual([])
}

const pathFor = (name: RouteName) => {
  const { path } = routeOf(name)
  const values = Object.fromEntries(parameterNames(path).map((one) => [one, one === 'type' ? 'shop.box' : '1']))
  return pathOf(path, values)
}
const isDev = (name: RouteName) => routeOf(name).dev === true
const reading = routeNames.filter((name) => routeOf(name).method === 'GET' && !isDev(name))
const changing = routeNames.filter((name) => routeOf(name).method !== 'GET' && !isDev(name))

test.each(reading)('%s: with whatever it answers, to who is known and to nobody', async (name) => {
  for (const authorization of [null, 'Bearer admin-token-of-the-tests-0123456789']) {
    const headers: Record<string, string> = authorization === null ? {} : { authorization }
    const answer = await fetch(`${shop.url}${pathFor(name)}`, { headers })
    mustTell(`${name} ${answer.status}`, answer.headers)
    await answer.body?.cancel()
  }
})

test('pages, heads, what may be asked of a path, what does not fit, and what there is not', async () => {
  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    fetch(`${shop.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
  mustTell('front', (await ask('GET', '/')).headers, 'no-cache')
  for (const [method, path, headers, body] of [
    ['GET', '/nothing/here'],
    ['HEAD', '/v1/resources'],
    ['HEAD', '/v1/events'],
    ['OPTIONS', '/v1/resources', { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' }],
    ['PATCH', '/v1/resources'],
    ['POST', '/v1/session', { 'content-type': 'application/json' }, '{'],
    ['POST', '/v1/session', { 'content-type': 'text/plain' }, 'x'],
    ['GET', '/v1/resources/%E0%A4%A'],
  ] as const)
    mustTell(`${method} ${path}`, (await ask(method, path, headers, body)).headers)
})

describe('what a page elsewhere makes a browser send is refused, by every row that changes something', () => {
  const send = async (url: string, name: RouteName, headers: Record<string, string>) => {
    const answer = await fetch(`${url}${pathFor(name)}`, { method: routeOf(name).method, headers })
    const text = await answer.text()
    return [answer.status, text === '' ? '' : (JSON.parse(text) as { code: string }).code] as const
  }
  const forged = [403, 'forbidden']

  test.each(changing)('%s', async (name) => {
    const own = { cookie, 'x-homeostat': '1' }
    for (const site of ['cross-site', 'same-site', 'anything'])
      expect(await send(shop.url, name, { ...own, 'sec-fetch-site': site }), site).toEqual(forged)
    // A form, or a page of an old browser, sends no header of ours.
    expect(await send(shop.url, name, { cookie })).toEqual(forged)
    expect(await send(shop.url, name, { cookie, 'sec-fetch-site': 'same-origin' })).toEqual(forged)
    // Nobody is signed in, or out, by somebody else's page.
    expect(await send(shop.url, name, { 'sec-fetch-site': 'cross-site' })).toEqual(forged)
    // An open server knows a page only by what the browser says of it.
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ])
      expect(await send(openUrl, name, headers), JSON.stringify(headers)).toEqual(forged)
  })
})

test('an open server answers to the names of this machine only: a name elsewhere may come to stand for its address', async () => {
  const { request } = await import('node:http')
  const { port } = new URL(openUrl)
  const status = (host: string) =>
    new Promise<number>((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path: '/v1/resources', headers: { host } }, (answer) => {
        answer.resume()
        resolve(answer.statusCode!)
      })
      asked.on('error', reject)
      asked.end()
    })
  for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', `127.0.0.1:${port}`, `[::1]:${port}`])
    expect(await status(host), host).toBe(200)
  for (const host of ['elsewhere.example', `elsewhere.example:${port}`, 'localhost.elsewhere.example', '127.0.0.1.x'])
    expect(await status(host), host).toBe(403)
})

test('a token is taken from the header alone, never from an address', async () => {
  const { secret } = (await shop.ask('POST', '/v1/tokens', { body: { name: 'x', role: 'admin' } })).json
  for (const query of [`access_token=${secret}`, `token=${secret}`, `authorization=Bearer%20${secret}`])
    for (const path of ['/v1/resources', '/v1/events', '/metrics'])
      expect((await fetch(`${shop.url}${path}?${query}`)).status, path).toBe(401)
})

test('what is forwarded is believed of the proxies that are named, and of nobody else', async () => {
  const addresses = async (proxies: readonly string[] | undefined, sent: Record<string, string>) => {
    const server = createServer({ engine: shop.engine, port: 0, ...(proxies === undefined ? {} : { proxies }) })
    const url = await server.start()
    await fetch(`${url}/v1/tokens`, { headers: sent })
    await server.stop()
    const { items } = (await shop.ask('GET', '/v1/audit?order=newest&pageSize=1')).json
    return items[0].address
  }
  const spoofed = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' }
  expect(await addresses(undefined, spoofed)).toBe('127.0.0.1')
  expect(await addresses(['10.0.0.1'], spoofed)).toBe('127.0.0.1')
  expect(await addresses(['127.0.0.1'], spoofed)).toBe('203.0.113.9')
  // Of a chain only as far as it is known.
  expect(await addresses(['127.0.0.1'], { 'x-forwarded-for': '198.51.100.1, 203.0.113.9' })).toBe('203.0.113.9')
})
