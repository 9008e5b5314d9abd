// The serving process is killed with SIGKILL under its clients and started again: no event is lost or told twice, bulk operations and
// webhooks go on where they were.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { endureStreams } from '../../scripts/endure/streams.ts'
import { createClient } from '../../src/client.ts'
import { signatureOf } from '../../src/server.ts'
import { freePort, startServing, type Serving } from './serving.ts'
import { adminToken, shop as lifecycles } from './workshop.ts'

// Processes are started and killed, or many streams served: a busy machine may take its time.
vi.setConfig({ testTimeout: 240_000 })

let folder = ''
let port = 0
let serving: Serving
const start = async () => {
  serving = await startServing({ file: join(folder, 'store.db'), port })
}
const restart = async () => {
  await serving.kill()
  await start()
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
  port = await freePort()
  await start()
})
afterEach(async () => {
  await serving.kill()
  rmSync(folder, { recursive: true })
})

const connect = () =>
  createClient({ url: `http://127.0.0.1:${port}`, token: adminToken, lifecycles, retryMs: 20, retries: 20 })

test('clients that come back have every event exactly once and in order; stalled ones cost the server a buffer each, whatever they are owed', async () => {
  // At full size: npm run endure.
  const stalled = 20
  const { faults, reconnections, alone, beside, later, owedBytes } = await endureStreams({
    file: join(folder, 'streams.db'),
    token: adminToken,
    clients: 60,
    stalled,
    backlog: 8_000,
    events: 500,
    kills: 1,
  })
  expect(faults).toEqual([])
  expect(reconnections).toBeGreaterThanOrEqual(60 - stalled)
  const mb = 1024 * 1024
  expect(owedBytes).toBeGreaterThan(60 * mb)
  expect(beside.heap - alone.heap).toBeLessThan(stalled * 0.5 * mb + 24 * mb)
  expect(later.heap - beside.heap).toBeLessThan(24 * mb)
})

test('a bulk operation goes on after the server was killed; every target is asked exactly once', async () => {
  const client = connect()
  const lines = Array.from({ length: 120 }, (_, n) => ({ id: `b-${n}`, status: 'Ready', properties: { size: 1 } }))
  await client.api.call('importResources', { path: { type: 'shop.box' }, query: { reason: 'test' }, body: lines })
  const given = { filter: { type: 'shop.box', status: ['Ready'] }, operation: 'seal', reason: 'stock-taking' }
  const preview = await client.api.call('createBulk', { body: { ...given, dryRun: true } })
  expect(preview).toMatchObject({ bulk: null, total: 120, allowed: 120 })
  await expect(client.api.call('createBulk', { body: { ...given, expected: 7 } })).rejects.toMatchObject({
    code: 'bulk_changed',
  })
  const { bulk } = await client.api.call('createBulk', { body: { ...given, expected: 120, perSecond: 100 } })
  const look = () => client.api.call('getBulk', { path: { bulk: bulk!.id } })
  await expect.poll(async () => (await look()).accepted).toBeGreaterThan(5)
  await restart()
  await client.api.call('pauseBulk', { path: { bulk: bulk!.id } }).catch(() => {})
  await restart()
  if ((await look()).state === 'paused') await client.api.call('resumeBulk', { path: { bulk: bulk!.id } })
  await expect.poll(async () => (await look()).state).toBe('done')
  expect(await look()).toMatchObject({ total: 120, accepted: 120, refused: 0, left: 0 })
  const items = await client.api.call('listBulkItems', { path: { bulk: bulk!.id }, query: { pageSize: 500 } })
  expect(items.items.every(({ state, run }) => state === 'accepted' && run !== null)).toBe(true)
  const { items: events } = await client.api.call('streamEvents', { query: { after: 120, pageSize: 500 } })
  const asked = events.filter(({ data }) => data.kind === 'accepted').map(({ subject }) => subject)
  expect(asked.length).toBe(new Set(asked).size)
  await expect(client.api.call('cancelBulk', { path: { bulk: bulk!.id } })).rejects.toMatchObject({ code: 'bulk_over' })
})

interface Received {
  readonly id: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

async function receive(
  answer: (received: Received) => number,
): Promise<{ url: string; got: Received[]; server: Server }> {
  const got: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      const received = { id: String(request.headers['webhook-id']), headers: request.headers, body }
      got.push(received)
      response.statusCode = answer(received)
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as { readonly port: number }
  return { url: `http://127.0.0.1:${address.port}/hook`, got, server }
}

test('webhooks are signed, in order, tried again, and kept as dead letters that can be sent again', async () => {
  const client = connect()
  let isDown = true
  const receiver = await receive(({ body }) => (isDown && body.includes('"accepted"') ? 500 : 204))
  const { webhook, secret } = await client.api.call('createWebhook', {
    body: { url: receiver.url, types: ['shop.box'] },
  })
  await client.wait((await client.box.create({ id: 'b-1', properties: { size: 1 } })).run!)
  const look = () => client.api.call('getWebhook', { path: { webhook: webhook.id } })
  await restart()
  // The refused event became a dead letter, the others went out after it.
  await expect.poll(async () => (await look()).deadLetters).toBe(1)
  await expect.poll(() => receiver.got.some(({ body }) => body.includes('"landed"'))).toBe(true)
  const letters = await client.api.call('listDeadLetters', { path: { webhook: webhook.id } })
  expect(letters.items).toMatchObject([{ error: 'it answered 500', event: { data: { kind: 'accepted' } } }])
  isDown = false
  const replayed = await client.api.call('replayWebhook', { path: { webhook: webhook.id }, body: {} })
  expect(replayed.deadLetters).toBe(0)
  const last = receiver.got.at(-1)!
  const at = Number(last.headers['webhook-timestamp'])
  expect(last.headers['webhook-signature']).toBe(signatureOf([secret], at, last.id, last.body))
  expect(last.headers['content-type']).toBe('application/cloudevents+json')
  const delivered = receiver.got.map(({ id }) => Number(id)).filter((id, index, all) => all.indexOf(id) === index)
  expect(delivered).toEqual(delivered.toSorted((a, b) => a - b))
  const rotated = await client.api.call('rotateWebhook', { path: { webhook: webhook.id } })
  await client.wait((await client.box.seal('b-1')).run!)
  await expect.poll(() => receiver.got.at(-1)!.headers['webhook-signature']).toMatch(/^v1=\w+ v1=\w+$/)
  const both = receiver.got.at(-1)!
  expect(both.headers['webhook-signature']).toBe(
    signatureOf([rotated.secret, secret], Number(both.headers['webhook-timestamp']), both.id, both.body),
  )
  await new Promise((resolve) => receiver.server.close(resolve))
})
