// Secrets that sign are not readable in the store, and a request for one that is repeated has the same answer.
import { createHmac } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { signatureOf } from '../../src/server/webhook-sender.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { openShop, secretKey, type Shop } from './workshop.ts'

vi.setConfig({ testTimeout: 60_000 })

let folder = ''
let shop: Shop
let receiver: Server
const got: { readonly signature: string; readonly at: string; readonly id: string; readonly body: string }[] = []
const open = (secretKeys?: readonly string[]) =>
  openShop({
    store: openSqliteStore({ file: join(folder, 'store.db') }),
    server: { webhooks: { privateAddresses: true, firstWaitMs: 10 }, ...(secretKeys ? { secretKeys } : {}) },
  })
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
  shop = await open()
  got.length = 0
  receiver = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const header = (name: string) => String(request.headers[name])
      const body = Buffer.concat(parts).toString()
      const [signature, at, id] = [header('webhook-signature'), header('webhook-timestamp'), header('webhook-id')]
      got.push({ signature, at, id, body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  await shop.close()
  receiver.closeAllConnections()
  await new Promise((resolve) => receiver.close(resolve))
  rmSync(folder, { recursive: true })
})

const url = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
const once = (key: string) => ({ 'idempotency-key': key })
/** Everything that lies in the folder of the store. */
const stored = () =>
  readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'latin1'))
    .join()

async function isSigned(secret: string): Promise<void> {
  const before = got.length
  await shop.ask('POST', '/v1/resources/shop.box', { body: { properties: { size: 1 } } })
  await vi.waitFor(() => expect(got.length).toBeGreaterThan(before), 30_000)
  const { signature, at, id, body } = got.at(-1)!
  expect(signature.split(' ')).toContain(signatureOf([secret], Number(at), id, body))
}

test('the secret of a webhook signs, and is not to be found in the store', async () => {
  const { secret } = (await shop.ask('POST', '/v1/webhooks', { body: { url: url() } })).json
  await isSigned(secret)
  expect(stored()).toContain('sealed:1:')
  expect(stored()).not.toContain(secret)
  expect(stored()).not.toContain(secretKey)
})

test('a new key takes over: what the old one sealed is sealed anew, and the old one can go', async () => {
  const { secret } = (await shop.ask('POST', '/v1/webhooks', { body: { url: url() } })).json
  const sealed = async () => ((await shop.engine.records('webhook'))[0]!.value as { secrets: string[] }).secrets[0]!
  const first = await sealed()
  const next = 'the-next-key-for-secrets-0123456789-012'
  await shop.close()
  shop = await open([next, secretKey])
  await vi.waitFor(async () => expect(await sealed()).not.toBe(first), 30_000)
  await shop.close()
  shop = await open([next])
  await isSigned(secret)
})

test('without the key nothing goes out unsigned, and the webhook says why', async () => {
  const { webhook } = (await shop.ask('POST', '/v1/webhooks', { body: { url: url() } })).json
  await shop.close()
  shop = await open(['another-key-that-opens-nothing-0123456789'])
  await shop.ask('POST', '/v1/resources/shop.box', { body: { properties: { size: 1 } } })
  await vi.waitFor(async () => {
    expect((await shop.ask('GET', `/v1/webhooks/${webhook.id}`)).json.lastError).toContain('sealed with a key')
  }, 30_000)
  expect(got).toEqual([])
})

test('a server without a key makes no webhook, and says what it lacks', async () => {
  await shop.close()
  shop = await open([])
  const refused = await shop.ask('POST', '/v1/webhooks', { body: { url: url() } })
  expect([refused.status, refused.json.code]).toEqual([503, 'secret_key_missing'])
})

test('asked again with the same key, whoever lost the answer has the same secret, and it works', async () => {
  const token = () => shop.ask('POST', '/v1/tokens', { body: { name: 'x', role: 'viewer' }, headers: once('token-1') })
  const [made, again] = [(await token()).json, await token()]
  expect(again.json).toEqual(made)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect((await shop.ask('GET', '/v1/resources', { token: again.json.secret })).status).toBe(200)
  expect(stored()).not.toContain(made.secret)

  const webhook = () => shop.ask('POST', '/v1/webhooks', { body: { url: url() }, headers: once('hook-1') })
  const hook = (await webhook()).json
  expect((await webhook()).json).toEqual(hook)
  expect((await shop.ask('GET', '/v1/webhooks')).json.items).toHaveLength(1)

  const path = `/v1/webhooks/${hook.webhook.id}:rotateSecret`
  const rotate = () => shop.ask('POST', path, { headers: once('rotate-1') })
  const { secret } = (await rotate()).json
  expect((await rotate()).json.secret).toBe(secret)
  await isSigned(secret)
})

test('a signature is over time, id and body, as a receiver computes it; after a rotation there are two, and never more', async () => {
  const { secret: first, webhook } = (await shop.ask('POST', '/v1/webhooks', { body: { url: url() } })).json
  const rotate = async (): Promise<string> =>
    (await shop.ask('POST', `/v1/webhooks/${webhook.id}:rotateSecret`)).json.secret
  const macsBy = async (...known: readonly string[]) => {
    const before = got.length
    await shop.ask('POST', '/v1/resources/shop.box', { body: { properties: { size: 1 } } })
    await vi.waitFor(() => expect(got.length).toBeGreaterThan(before), 30_000)
    const { signature, at, id, body } = got[before]!
    const mac = (one: string) => `v1=${createHmac('sha256', one).update(`${at}.${id}.${body}`).digest('hex')}`
    expect(signature.split(' ')).toEqual(known.map(mac))
    // Everything of it has arrived before the next begins.
    await vi.waitFor(async () => {
      const { delivered } = (await shop.ask('GET', `/v1/webhooks/${webhook.id}`)).json
      expect(delivered).toBe(await shop.engine.latestEvent())
      expect((await shop.ask('GET', '/v1/runs?state=live')).json.items).toEqual([])
    }, 30_000)
  }
  await macsBy(first)
  const second = await rotate()
  await macsBy(second, first)
  const third = await rotate()
  await macsBy(third, second)
})
