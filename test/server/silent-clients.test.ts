// Clients that fall silent without hanging up: what they hold is taken from them.
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminToken, openShop, type Shop } from './workshop.ts'

const open: Socket[] = []
let shop: Shop
beforeEach(async () => {
  shop = await openShop({ server: { idleMs: 500, streams: { heartbeatMs: 100 } } })
})
afterEach(async () => {
  await shop.close()
  for (const socket of open.splice(0)) socket.destroy()
})

/** Says this, takes nothing by itself, and never hangs up. */
function client(says: string): Socket {
  const socket = connect({ port: Number(new URL(shop.url).port), host: '127.0.0.1', allowHalfOpen: true })
  open.push(socket)
  socket.on('error', () => {})
  socket.write(says)
  return socket.pause()
}

/** Ends of connections in this process, the server's and ours. Asking the server would be a sign of life. */
const ends = () => process.getActiveResourcesInfo().filter((one) => one === 'TCPSocketWrap').length
const patience = { timeout: 15_000 }

test('one that asks for much and takes nothing is let go', async () => {
  client(`GET /openapi.json HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${adminToken}\r\n\r\n`.repeat(100))
  await expect.poll(ends).toBe(2)
  await expect.poll(ends, patience).toBe(1)
}, 60_000)

test('one that is refused and does not close its side is let go', async () => {
  const rude = client('this is no HTTP\r\n\r\n').resume()
  await new Promise((resolve) => rude.once('end', resolve))
  await expect.poll(ends, patience).toBe(1)
}, 60_000)
