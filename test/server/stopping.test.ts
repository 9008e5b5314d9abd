// How a server ends its connections: when it is stopped, and when there are too many.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { adminToken, openShop, type Shop } from './workshop.ts'

let shop: Shop
const open: Socket[] = []
afterEach(async () => {
  await shop.close()
  for (const socket of open.splice(0)) socket.destroy()
})

/** A connection that has said this. */
async function client(says: string): Promise<{ socket: Socket; heard: () => string }> {
  const socket = connect(Number(new URL(shop.url).port), '127.0.0.1')
  open.push(socket)
  let text = ''
  socket.on('error', () => {})
  socket.setEncoding('utf8').on('data', (more: string) => (text += more))
  await once(socket, 'connect')
  socket.write(says)
  return { socket, heard: () => text }
}

const head = (line: string, more = '') =>
  `${line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${adminToken}\r\n${more}\r\n`
const ended = (socket: Socket) => (socket.closed ? Promise.resolve() : once(socket, 'close'))

/** The server says that it has read this much, and waits for the rest. */
const goesOn = 'expect: 100-continue\r\n'
const isRead = async ({ heard }: { heard: () => string }) => {
  await expect.poll(heard).toMatch(/^HTTP\/1\.1 100 Continue\r\n/)
}

test('requests under way when it stops are answered: what is still being sent, and who waits for a run', async () => {
  shop = await openShop({ stopPatienceMs: 60_000 })
  shop.hands.held.add('cut')
  const made = await shop.ask('POST', '/v1/resources/shop.box', { body: { id: 'b-1', properties: { size: 1 } } })
  const waiting = await client(head(`GET /v1/runs/${made.json.run.id}?wait=30`))
  const silent = await client('')
  const body = JSON.stringify({ id: 'b-2', properties: { size: 2 } })
  const sending = await client(
    head(
      'POST /v1/resources/shop.box',
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n${goesOn}`,
    ),
  )
  await isRead(sending)

  const stopping = shop.server.stop()
  await ended(waiting.socket)
  expect(waiting.heard()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(waiting.heard()).toContain('"isOver":false')
  sending.socket.write(body)
  await ended(sending.socket)
  expect(sending.heard()).toMatch(/HTTP\/1\.1 202 Accepted\r\n/)
  expect(sending.heard().toLowerCase()).toContain('\r\nconnection: close\r\n')
  await stopping
  await ended(silent.socket)
  expect(await shop.engine.get('shop.box', 'b-2')).toMatchObject({ id: 'b-2' })
})

test('one that never ends its request holds the stop up for no longer than calls under way may', async () => {
  shop = await openShop({ stopPatienceMs: 50 })
  const endless = await client(
    head('POST /v1/resources/shop.box', `content-type: application/json\r\ncontent-length: 10\r\n${goesOn}`),
  )
  await isRead(endless)
  await shop.server.stop()
  await ended(endless.socket)
})

test('beyond the limit a request is refused with a code and its connection closed; probes are still answered', async () => {
  shop = await openShop({ server: { connections: 2 } })
  const first = await client('')
  const second = await client('')
  const third = await client(head('GET /v1/resources'))
  await ended(third.socket)
  expect(third.heard()).toMatch(/^HTTP\/1\.1 503 /)
  expect(third.heard()).toMatch(/retry-after: 1\r\n/i)
  expect(third.heard()).toContain('"code":"connections_exhausted"')
  const probe = await client(head('GET /livez'))
  await ended(probe.socket)
  expect(probe.heard()).toMatch(/^HTTP\/1\.1 200 OK/)
  // One that is too many and says nothing is closed, those within the limit are not.
  await ended((await client('')).socket)
  expect(first.socket.closed).toBe(false)
  second.socket.destroy()
  await ended(second.socket)
  await expect
    .poll(async () => {
      const again = await client(head('GET /v1/resources', 'connection: close\r\n'))
      await ended(again.socket)
      return again.heard()
    })
    .toMatch(/^HTTP\/1\.1 200 OK/)
})
