// Event streams under load: many clients at once, some that take nothing; what is not taken is not kept.
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createClient } from '../../src/client.ts'
import { adminToken, openShop, shop as lifecycles, type Shop } from './workshop.ts'

// Processes are started and killed, or many streams served: a busy machine may take its time.
vi.setConfig({ testTimeout: 240_000 })

let shop: Shop
let logged: string[] = []
beforeEach(async () => {
  logged = []
  shop = await openShop({
    server: {
      streams: { stallMs: 1_500, heartbeatMs: 500, bufferBytes: 64 * 1024, perPrincipal: 500 },
      rate: { perSecond: 100_000, burst: 100_000 },
      log: (_level, message) => void logged.push(message),
    },
  })
})
afterEach(() => shop.close())

const openStreams = async () => {
  const { text } = await shop.ask('GET', '/metrics')
  return Number(/^homeostat_event_streams (\d+)$/m.exec(text)![1])
}

/** A client that asks for everything and reads nothing. */
async function stalled(): Promise<Socket> {
  const { hostname, port } = new URL(shop.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.write(`GET /v1/events?after=0 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${adminToken}\r\n\r\n`)
  socket.pause()
  return socket
}

const label = 'x'.repeat(450)
const load = async (count: number) => {
  const body = Array.from({ length: count }, () => ({ status: 'Ready', properties: { size: 1, label } }))
  const client = createClient({ url: shop.url, token: adminToken, lifecycles })
  await client.api.call('importResources', { path: { type: 'shop.box' }, query: { reason: label }, body })
}

test('many clients have every event of theirs, in order, while others take nothing; those are cut', async () => {
  const stop = new AbortController()
  const client = createClient({ url: shop.url, token: adminToken, lifecycles })
  const seen: string[][] = Array.from({ length: 100 }, () => [])
  const watching = seen.map(async (kinds) => {
    for await (const event of client.box.watch('mine', { after: 0, signal: stop.signal })) kinds.push(event.data.kind)
  })
  await expect.poll(openStreams).toBe(100)
  // Far more than sockets keep by themselves: 30,000 events of 600 bytes.
  for (let n = 0; n < 3; n++) await load(10_000)
  const lazy = await Promise.all([stalled(), stalled(), stalled()])
  await client.wait((await client.box.create({ id: 'mine', properties: { size: 1 } })).run!)
  await expect
    .poll(() => logged.filter((message) => message === 'an event stream was cut').length)
    .toBeGreaterThanOrEqual(3)
  await expect.poll(openStreams).toBe(100)
  await client.wait((await client.box.seal('mine')).run!)
  const all = ['accepted', 'stepDone', 'landed', 'accepted', 'landed']
  for (const kinds of seen) await expect.poll(() => kinds).toEqual(all)
  for (const socket of lazy) socket.destroy()
  stop.abort()
  await Promise.all(watching)
})

test('filters choose the resource, and one page can be had as JSON', async () => {
  const client = createClient({ url: shop.url, token: adminToken, lifecycles })
  await client.wait((await client.box.create({ id: 'b-1', properties: { size: 1 } })).run!)
  await client.wait((await client.box.create({ id: 'b-2', properties: { size: 1 } })).run!)
  const stop = new AbortController()
  const kinds: string[] = []
  for await (const event of client.box.watch('b-2', { after: 0, signal: stop.signal })) {
    expect(event).toMatchObject({ specversion: '1.0', subject: 'shop.box/b-2', source: '/homeostat/shop.box' })
    kinds.push(event.type)
    if (event.data.kind === 'landed') break
  }
  expect(kinds).toEqual(['accepted', 'stepDone', 'landed'].map((kind) => `io.homeostat.resource.${kind}.v1`))
  const page = await client.api.call('streamEvents', { query: { after: 2, pageSize: 2, type: 'shop.box' } })
  expect(page.items.map(({ data }) => data.n)).toEqual([3, 4])
  expect(page.last).toBe(4)
})

test('more streams than allowed are refused', async () => {
  const few = await openShop({ server: { streams: { perPrincipal: 2 } } })
  const open = () => fetch(`${few.url}/v1/events`, { headers: { authorization: `Bearer ${adminToken}` } })
  const streams = [await open(), await open()]
  const refused = await open()
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([429, 'streams_exhausted'])
  for (const stream of streams) await stream.body!.cancel()
  await expect.poll(async () => (await open()).status).toBe(200)
  await few.close()
})

test.each([
  ['?after=9000', {}, 'event_unknown', 'There is no event 9000: the last one is 0.'],
  ['', { 'last-event-id': '9000' }, 'event_unknown', 'There is no event 9000: the last one is 0.'],
  ['?after=0', { 'last-event-id': 'x9' }, 'request_invalid', "Last-Event-ID 'x9' is no number"],
  ['?type=shop.bx', {}, 'type_unknown', 'shop.bx'],
  ['?kinds=landed,lande', {}, 'request_invalid', "There are no events of kind 'lande'."],
])('a stream that would miss events, or never have one, is refused: %s %j', async (query, headers, code, words) => {
  const { json } = await shop.ask('GET', `/v1/events${query}`, { headers: headers as Record<string, string> })
  expect(json).toMatchObject({ code, detail: expect.stringContaining(words) })
})

test('who follows a store that was put back is told, instead of hearing nothing for long', async () => {
  const client = createClient({ url: shop.url, token: adminToken, lifecycles })
  const following = client.watch({ after: 9_000 })[Symbol.asyncIterator]().next()
  await expect(following).rejects.toMatchObject({ code: 'event_unknown' })
})
