// Sign-in by an OIDC issuer, against a real one on loopback: authorization code with PKCE, roles and tenants from claims, and every way
// in which the answer must not let anybody in.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createServer } from '../../src/server.ts'
import { clientId, clientSecret, Issuer } from './issuer.ts'
import { freePort } from './serving.ts'
import { openShop, type Shop } from './workshop.ts'

let issuer: Issuer
let shop: Shop
let jar: Map<string, string>
/** How far the server's clock is ahead. */
let ahead = 0

beforeEach(async () => {
  issuer = new Issuer()
  await issuer.start()
  jar = new Map()
  ahead = 0
})
afterEach(async () => {
  await shop.close()
  await issuer.stop()
})

async function open(more: object = {}): Promise<void> {
  const port = await freePort()
  const oidc = {
    issuer: issuer.url,
    clientId,
    clientSecret,
    publicUrl: `http://127.0.0.1:${port}`,
    roles: { operators: 'operator', admins: 'admin', readers: 'viewer' },
    privateAddresses: true,
    ...more,
  } as const
  shop = await openShop({ server: { port, oidc, clock: { ...systemClock, now: () => Date.now() + ahead } } })
}

/** As a browser does it: no redirect is followed by itself, cookies are kept. */
async function visit(url: string): Promise<Response> {
  const isOurs = url.startsWith(shop.url)
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(url, { redirect: 'manual', headers: isOurs ? { cookie } : {} })
  for (const line of isOurs ? response.headers.getSetCookie() : []) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
    if (value === '') jar.delete(name!)
    else jar.set(name!, value!)
  }
  return response
}

const locationOf = (response: Response) => response.headers.get('location')!
/** To the issuer and back: the address that the issuer sends the browser to. */
async function askIssuer(): Promise<string> {
  const begun = await visit(`${shop.url}/sign-in/oidc`)
  expect(begun.status).toBe(302)
  return locationOf(await visit(locationOf(begun)))
}
async function refusal(url: string): Promise<string> {
  const response = await visit(url)
  expect(response.status).toBe(401)
  expect(jar.has('homeostat')).toBe(false)
  const { code, detail } = (await response.json()) as { code: string; detail: string }
  expect(code).toBe('sign_in_failed')
  return detail
}
const session = async () => {
  const response = await visit(`${shop.url}/v1/session`)
  return { status: response.status, json: (await response.json()) as Record<string, any> }
}

test('a person signs in at the issuer, has the highest role of the groups, and is in the audit; a code is good once', async () => {
  await open()
  issuer.claims = { sub: 'ada', groups: ['readers', 'operators', 'others'] }
  const back = await askIssuer()
  const pending = jar.get('homeostat-oidc')!
  const ended = await visit(back)
  expect(ended.status).toBe(200)
  expect(await ended.text()).toContain('http-equiv="refresh"')
  expect(ended.headers.getSetCookie().find((line) => line.startsWith('homeostat='))).toMatch(
    /HttpOnly; SameSite=Strict/,
  )
  expect(jar.has('homeostat-oidc')).toBe(false)
  expect((await session()).json).toMatchObject({ principal: 'oidc ada', role: 'operator', tenant: null })
  expect(issuer.faults).toEqual([])
  const audit = await shop.ask('GET', '/v1/audit')
  const entry = audit.json.items.find(({ action }: { action: string }) => action === 'signIn')
  expect(entry).toMatchObject({ principal: 'oidc ada', outcome: 'done', detail: { role: 'operator' } })
  // The same address again, from a browser that still has the cookie: the issuer gives nothing for a used code.
  jar = new Map([['homeostat-oidc', pending]])
  await refusal(back)
})

test('who has no group here, or no tenant where tenants count, is not let in', async () => {
  await open({ tenantClaim: 'org' })
  issuer.claims = { sub: 'eve', groups: ['others'], org: 'acme' }
  expect(await refusal(await askIssuer())).toContain('groups')
  issuer.claims = { sub: 'eve', groups: 'constructor', org: 'acme' }
  expect(await refusal(await askIssuer())).toContain('groups')
  issuer.claims = { sub: 'eve', org: 'acme' }
  expect(await refusal(await askIssuer())).toContain('groups')
  issuer.claims = { sub: 'eve', groups: ['admins'] }
  expect(await refusal(await askIssuer())).toContain('tenant')
  issuer.claims = { sub: 'ada', groups: ['admins'], org: 'acme' }
  expect((await visit(await askIssuer())).status).toBe(200)
  expect((await session()).json).toMatchObject({ role: 'admin', tenant: 'acme' })
  // Who was not let in is told, as far as it is known who it was.
  jar = new Map()
  await refusal(`${shop.url}/sign-in/oidc/callback?code=x&state=y`)
  const { items } = (await shop.ask('GET', '/v1/audit')).json as { items: Record<string, string>[] }
  expect(items.map(({ principal, action, outcome }) => `${principal} ${action} ${outcome}`)).toEqual([
    ...Array.from({ length: 4 }, () => 'oidc eve signIn denied'),
    'oidc ada signIn done',
    'nobody signIn denied',
  ])
})

test('an answer is taken only by the browser that began, for the question it asked, from the issuer it asked', async () => {
  await open()
  const back = await askIssuer()
  const kept = jar
  jar = new Map()
  expect(await refusal(back)).toContain('not begun in this browser')
  jar = new Map([['homeostat-oidc', 'nonsense']])
  expect(await refusal(back)).toContain('not begun in this browser')
  jar = kept
  const changed = (name: string, value: string | null) => {
    const url = new URL(back)
    if (value === null) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
    return url.href
  }
  expect(await refusal(changed('state', 'another'))).toContain('another question')
  expect(await refusal(changed('state', null))).toContain('another question')
  expect(await refusal(changed('iss', 'https://evil.example'))).toContain('another issuer')
  expect(await refusal(changed('error', 'access_denied'))).toContain('refused')
  expect(await refusal(changed('code', null))).toContain('no code')
  expect(await refusal(changed('code', 'guessed'))).toContain('does not answer')
  // Nothing of this has spent the code.
  expect((await visit(back)).status).toBe(200)
})

test("a code that was stolen is worth nothing: it was given for another browser's question", async () => {
  await open()
  const stolen = new URL(await askIssuer())
  const thief = new Map<string, string>()
  jar = thief
  const own = new URL(await askIssuer())
  own.searchParams.set('code', stolen.searchParams.get('code')!)
  expect(await refusal(own.href)).toContain('does not answer')
})

test('tokens that are not as they must be let nobody in', async () => {
  await open()
  const now = Math.floor(Date.now() / 1_000)
  const groups = ['admins']
  for (const claims of [
    { sub: 'eve', groups, nonce: 'another' },
    { sub: 'eve', groups, aud: 'other' },
    { sub: 'eve', groups, iss: 'https://evil.example' },
    { sub: 'eve', groups, exp: now - 3_600 },
    { groups },
  ]) {
    issuer.claims = claims
    expect(await refusal(await askIssuer())).toContain('the token is refused')
  }
})

test('a new key of the issuer is found, but not looked for again and again', async () => {
  await open()
  expect((await visit(await askIssuer())).status).toBe(200)
  expect(issuer.keysAsked).toBe(1)
  expect((await visit(await askIssuer())).status).toBe(200)
  expect(issuer.keysAsked).toBe(1)
  jar = new Map()
  issuer.changeKey('k2')
  // The keys were read a moment ago: whoever names keys that are not there cannot make us ask each time.
  expect(await refusal(await askIssuer())).toContain('no key of the issuer fits')
  expect(issuer.keysAsked).toBe(1)
  ahead = 31_000
  expect((await visit(await askIssuer())).status).toBe(200)
  expect(issuer.keysAsked).toBe(2)
})

test('an issuer that calls itself otherwise, or answers nonsense, is not believed; a private one only where that is allowed', async () => {
  await open()
  issuer.says = { issuer: 'https://evil.example' }
  const otherwise = await visit(`${shop.url}/sign-in/oidc`)
  expect(otherwise.status).toBe(401)
  expect(jar.size).toBe(0)
  issuer.says = { token_endpoint: 7 }
  expect((await visit(`${shop.url}/sign-in/oidc`)).status).toBe(401)
  issuer.says = {}
  expect((await visit(`${shop.url}/sign-in/oidc`)).status).toBe(302)
  const oidc = { issuer: issuer.url, clientId, publicUrl: '', roles: {} }
  expect(() => createServer({ engine: shop.engine, oidc })).toThrow('may not be called')
})

test('without OIDC in the configuration there is no such path', async () => {
  shop = await openShop()
  expect((await visit(`${shop.url}/sign-in/oidc`)).status).toBe(404)
})

test('what is kept of the question in the browser is read by no script, and is gone within ten minutes', async () => {
  await open()
  const begun = await fetch(`${shop.url}/sign-in/oidc`, { redirect: 'manual' })
  expect(begun.headers.get('set-cookie')).toMatch(
    /^homeostat-oidc=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
  )
})
