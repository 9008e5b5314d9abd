// Webhooks against receivers that are not as they should be: what hangs holds up nobody else, what is away comes back to everything in
// order, what fails says why, and a person can pause, go on, and send again.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { WebhookSettings } from '../../src/server/webhook-sender.ts'
import type { Store } from '../../src/store/store.ts'
import { openShop, type Shop } from './workshop.ts'

// A machine that others use too takes its time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

type Answering = (response: ServerResponse) => void
const well: Answering = (response) => void response.writeHead(200).end()
const ill: Answering = (response) => void response.writeHead(500).end()

class Receiver {
  readonly got: number[] = []
  connections = 0
  answering: Answering = well
  readonly #server = createServer((request, response) => {
    request.resume()
    this.got.push(Number(request.headers['webhook-id']))
    this.answering(response)
  })

  /** As a receiver does after a while in which nothing came. */
  closeIdle(): void {
    this.#server.closeIdleConnections()
  }

  async open(): Promise<string> {
    this.#server.on('connection', () => this.connections++)
    // On a machine that is busy much time may pass between two events.
    this.#server.keepAliveTimeout = 600_000
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

let shop: Shop
let receivers: Receiver[]
beforeEach(() => void (receivers = []))
afterEach(async () => {
  for (const receiver of receivers) receiver.close()
  await shop.close()
})

const open = async (webhooks: WebhookSettings, store?: Store) => {
  const server = { webhooks: { privateAddresses: true, ...webhooks } }
  shop = await openShop({ server, ...(store === undefined ? {} : { store }) })
}

/** A receiver and its webhook. */
async function hooked(answering: Answering, more: object = {}) {
  const receiver = new Receiver()
  receivers.push(receiver)
  receiver.answering = answering
  const { json } = await shop.ask('POST', '/v1/webhooks', { body: { url: await receiver.open(), ...more } })
  const path = `/v1/webhooks/${json.webhook.id}`
  const look = async () => (await shop.ask('GET', path)).json
  const act = (verb: string, body?: object) => shop.ask('POST', `${path}:${verb}`, body === undefined ? {} : { body })
  return { receiver, path, look, act }
}

/** Makes a box, which is three events; answers the number of the last. */
async function box(): Promise<number> {
  const { json } = await shop.ask('POST', '/v1/resources/shop.box', { body: { properties: { size: 1 } } })
  await shop.ask('GET', `/v1/runs/${json.run.id}?wait=30`)
  return shop.engine.latestEvent()
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
const distinct = (numbers: readonly number[]) => [...new Set(numbers)]

test('a receiver that hangs holds up nobody else', async () => {
  await open({ patienceMs: 600_000 })
  const hung = await hooked(() => {})
  const other = await hooked(well)
  await box()
  await expect.poll(() => hung.receiver.got).toEqual([1])
  const last = await box()
  await expect.poll(() => other.receiver.got, { timeout: 60_000 }).toEqual(upTo(last))
  expect(hung.receiver.got).toEqual([1])
})

test('a receiver that was away gets everything in order when it is back; meanwhile it is said why and when', async () => {
  await open({ firstWaitMs: 10, tries: 1_000 })
  const { receiver, look } = await hooked(ill)
  await box()
  await expect.poll(async () => (await look()).failures).toBeGreaterThan(1)
  expect(await look()).toMatchObject({ delivered: 0, lastError: 'it answered 500', nextTryAt: expect.any(String) })
  const last = await box()
  receiver.answering = well
  await expect.poll(async () => (await look()).delivered, { timeout: 60_000 }).toBe(last)
  expect(await look()).toMatchObject({ failures: 0, lastError: '', nextTryAt: null, deadLetters: 0 })
  // The first was tried again and again; after it every one, in order.
  expect(distinct(receiver.got)).toEqual(upTo(last))
  expect(receiver.got.slice(receiver.got.lastIndexOf(1))).toEqual(upTo(last))
})

test('paused, nothing is sent; resumed, it goes on where it was; and one that waits for hours goes on at once', async () => {
  await open({ firstWaitMs: 3_600_000 })
  const { receiver, look, act } = await hooked(ill)
  const other = await hooked(well)
  expect((await act('pause', { reason: 'it is moved' })).json).toMatchObject({ state: 'paused' })
  const first = await box()
  await expect.poll(() => other.receiver.got).toEqual(upTo(first))
  expect(receiver.got).toEqual([])
  expect((await act('resume')).json).toMatchObject({ state: 'active' })
  await expect.poll(async () => (await look()).failures).toBe(1)
  receiver.answering = well
  await act('resume')
  await expect.poll(() => receiver.got).toEqual([1, ...upTo(first)])
})

test('dead letters are sent again, also while somebody changes the webhook', async () => {
  await open({ tries: 1 })
  const { receiver, look, act } = await hooked(ill)
  const last = await box()
  await expect.poll(async () => (await look()).deadLetters).toBe(last)
  receiver.got.length = 0
  // Between the delivery of a letter and the writing down of it the record of the webhook changes, as with every event that is sent.
  receiver.answering = (response) => void act('rotateSecret').then(() => well(response))
  expect((await act('replay')).json).toMatchObject({ deadLetters: 0 })
  expect(receiver.got).toEqual(upTo(last))
})

test('a dead letter whose event the history has lost stays listed, and the others are sent', async () => {
  const store = createMemoryBackend().open() as Store
  let isCut = false
  const cut = new Proxy(store, {
    get: (target, name) => {
      const found = Reflect.get(target, name) as unknown
      if (typeof found !== 'function') return found
      const own = found.bind(target) as (...given: unknown[]) => unknown
      if (name !== 'events' || !isCut) return own
      // As after retention: the first that is still there comes instead.
      return async (after: number, limit: number) =>
        ((await own(Math.max(after, 1), limit)) as { n: number }[]).slice(0, limit)
    },
  })
  await open({ tries: 1 }, cut)
  const { receiver, look, act, path } = await hooked(ill)
  const last = await box()
  await expect.poll(async () => (await look()).deadLetters).toBe(last)
  isCut = true
  receiver.answering = well
  receiver.got.length = 0
  expect((await act('replay')).json).toMatchObject({ deadLetters: 1, lastError: 'event 1 is no longer in the history' })
  expect(receiver.got).toEqual(upTo(last).slice(1))
  expect((await shop.ask('GET', `${path}/deadLetters`)).json.items).toMatchObject([{ n: 1, event: null }])
})

test('a connection is kept from event to event, and one that was closed meanwhile is replaced: no try has failed', async () => {
  await open({ firstWaitMs: 3_600_000 })
  const { receiver, look } = await hooked(well)
  const first = await box()
  await expect.poll(() => receiver.got).toEqual(upTo(first))
  expect(receiver.connections).toBe(1)
  // Once as it closes by itself, once with a call on its way.
  receiver.closeIdle()
  const second = await box()
  await expect.poll(() => receiver.got).toEqual(upTo(second))
  let isCut = false
  receiver.answering = (response) => {
    if (isCut) return well(response)
    isCut = true
    response.socket!.destroy()
  }
  const third = await box()
  await expect.poll(() => distinct(receiver.got)).toEqual(upTo(third))
  await expect.poll(async () => (await look()).delivered).toBe(third)
  expect(await look()).toMatchObject({ failures: 0, deadLetters: 0 })
})

test('redirects are not followed, and it is said', async () => {
  await open({ firstWaitMs: 3_600_000 })
  const elsewhere = await hooked(well, { kinds: ['writtenOff'] })
  const location = (await elsewhere.look()).url
  const { look } = await hooked((response) => void response.writeHead(307, { location }).end())
  await box()
  await expect.poll(async () => (await look()).lastError).toContain('it answered 307: redirects are not followed')
  expect(elsewhere.receiver.got).toEqual([])
})

test.each([
  [{ kinds: ['laned'] }, 'request_invalid', /no events of kind 'laned'. There are: .*landed/],
  [{ types: ['shop.bx'] }, 'type_unknown', /shop\.bx/],
  [{ after: 1_000 }, 'event_unknown', /There is no event 1000: the last one is 0/],
])('a webhook that could never send, or would miss events, is refused: %j', async (given, code, words) => {
  await open({})
  const { status, json } = await shop.ask('POST', '/v1/webhooks', { body: { url: 'http://127.0.0.1:9/', ...given } })
  expect([json.code, json.detail]).toEqual([code, expect.stringMatching(words)])
  expect(status).toBeGreaterThanOrEqual(400)
  expect((await shop.ask('GET', '/v1/webhooks')).json.items).toEqual([])
})

test('sending again from an event that has not happened is refused: all until then would be missed', async () => {
  await open({})
  const { receiver, act } = await hooked(well)
  const last = await box()
  expect((await act('replay', { after: last + 1 })).json).toMatchObject({ code: 'event_unknown' })
  const next = await box()
  await expect.poll(() => receiver.got).toEqual(upTo(next))
})

test('a webhook of a tenant is sent what is of the tenant, from the beginning and from then on; one of all is sent all', async () => {
  await open({})
  const make = async (tenant: string) => {
    const body = { tenant, properties: { size: 1 } }
    const { json } = await shop.ask('POST', '/v1/resources/shop.box', { body })
    await shop.ask('GET', `/v1/runs/${json.run.id}?wait=30`)
  }
  for (const tenant of ['red', 'blue', 'red']) await make(tenant)
  const { secret: token } = (
    await shop.ask('POST', '/v1/tokens', { body: { name: 'red', role: 'admin', tenant: 'red' } })
  ).json
  const receiver = new Receiver()
  receivers.push(receiver)
  await shop.ask('POST', '/v1/webhooks', { token, body: { url: await receiver.open(), after: 0 } })
  const all = await hooked(well, { after: 0 })
  for (const tenant of ['blue', 'red']) await make(tenant)
  const last = await shop.engine.latestEvent()
  await expect.poll(() => all.receiver.got, { timeout: 60_000 }).toEqual(upTo(last))
  const headers = { accept: 'application/json' }
  const { items } = (await shop.ask('GET', '/v1/events?after=0&pageSize=500', { token, headers })).json
  const own = items.map(({ id }: { id: string }) => Number(id))
  expect(own.length).toBeLessThan(last)
  await expect.poll(() => receiver.got, { timeout: 60_000 }).toEqual(own)
})
