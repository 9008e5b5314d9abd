// Whoever is nobody has no room in the memory: what he sends at length is not read.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
