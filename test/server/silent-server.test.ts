// The client and a server that falls silent without hanging up: every call ends, every change happens once, every event is heard.
import { afterEach, expect, test, vi } from 'vitest'
import type { HomeostatError } from '../../src/base/errors.ts'
import { createClient, type CloudEvent } from '../../src/client.ts'
import { allBehaviours, startDying, startSilent, type Silent } from './silent.ts'
import { adminToken, openShop, shop as lifecycles } from './workshop.ts'

vi.setConfig({ testTimeout: 60_000 })

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
const kept = async (silent: Promise<Silent>): Promise<Silent> => {
  closing.push(async () => (await silent).close())
  return silent
}
const clientOf = ({ url }: { readonly url: string }, more: object = {}) =>
  createClient({ url, token: adminToken, lifecycles, retryMs: 1, retries: 1, patienceMs: 80, ...more })

test.each(allBehaviours)('a server that %s: each call is given up with the reason', async (behaviour) => {
  const client = clientOf(await kept(startSilent(behaviour)), { retries: 0 })
  const calls = [client.box.list(), client.box.create({ properties: { size: 1 } })]
  // Only its words are compared: an error leads to connections and all that hangs on them, too much to print.
  const told = calls.map((call) => call.then(String, ({ code, message }: HomeostatError) => `${code}: ${message}`))
  for (const words of await Promise.all(told))
    expect(words).toMatch(/^store_unavailable: .* does not answer: (nothing was|its answer)/)
})

test('waiting for a run ends in its own time, however patient the client is', async () => {
  const client = clientOf(await kept(startSilent('accepts and says nothing')), { patienceMs: 3_600_000 })
  // All but a little of the time that an answer may take beyond that is taken off.
  await expect(client.wait('2s-1', { timeoutMs: -4_900 })).rejects.toMatchObject({ code: 'request_timeout' })
})

test('whatever is the last word of a connection: a change that is asked for again happens once', async () => {
  const shop = await openShop()
  closing.push(() => shop.close())
  const straight = createClient({ url: shop.url, token: adminToken, lifecycles })
  const asks = Array.from({ length: 8 }, async (_, parts) => {
    const dying = await kept(startDying(Number(new URL(shop.url).port), () => parts))
    const client = clientOf(dying, { retries: 10, patienceMs: 500 })
    const one = await client.box.create({ properties: { size: 1 } })
    await straight.wait(one.run!)
    await client.box.with({ key: `grow-${parts}` }).grow(one.resource.id, { size: 2 })
  })
  await Promise.all(asks)
  expect((await straight.box.list({ total: 'true' })).total).toBe(8)
  expect(shop.hands.calls.filter(({ step }) => step === 'stretch')).toHaveLength(8)
})

test('a stream that goes dead is noticed and begun anew: every event once, in order', async () => {
  const shop = await openShop({ server: { streams: { heartbeatMs: 20 } } })
  closing.push(() => shop.close())
  let parts = 6
  const dying = await kept(startDying(Number(new URL(shop.url).port), () => parts))
  const seen: CloudEvent[] = []
  const states: string[] = []
  const stop = new AbortController()
  const watching = (async () => {
    const { signal } = stop
    const onState = (state: string) => void states.push(state)
    for await (const event of clientOf(dying).watch({ after: 0, signal, retryMs: 1, silenceMs: 200, onState })) {
      seen.push(event)
      parts += 7
    }
  })()
  const straight = createClient({ url: shop.url, token: adminToken, lifecycles })
  for (let n = 0; n < 3; n++) await straight.wait((await straight.box.create({ properties: { size: 1 } })).run!)
  await expect.poll(() => states).toContain('lost')
  const all = await shop.engine.events(0, 1_000)
  await expect.poll(() => seen.map(({ data }) => data.n), { timeout: 20_000 }).toEqual(all.map(({ n }) => n))
  await expect.poll(() => states.at(-1), { timeout: 20_000 }).toBe('live')
  stop.abort()
  await watching
})

test.each([
  [200, 'text/html', '<p>Welcome</p>', 'it answered with text/html'],
  [200, 'application/json', '{"half":', 'what it calls JSON is none'],
  [404, 'text/html', 'Not found', 'it answered 404 without saying why'],
])('what answers is something else, with %i %s: it is told, and not asked again', async (status, type, body, why) => {
  let asked = 0
  const other = await kept(
    startSilent((to) => {
      asked++
      to.end(`HTTP/1.1 ${status} x\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    }),
  )
  const given = { code: 'server_unrecognised', message: `${other.url} is no Homeostat server: ${why}.` }
  await expect(clientOf(other).box.list()).rejects.toMatchObject(given)
  await expect(clientOf(other).watch().next()).rejects.toMatchObject({ code: 'server_unrecognised' })
  expect(asked).toBe(2)
})
