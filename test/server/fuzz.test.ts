// Requests by chance, made from the OpenAPI document and broken in every way that came to mind: the server never answers with a fault of
// its own, never hangs, answers as the document tells, and tells nobody what is of another tenant. `npm run fuzz` fires many times as many, at a store of files.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fuzz } from '../../scripts/fuzz/campaign.ts'
import { adminToken, openShop, type Shop } from './workshop.ts'

const requests = 12_000
const seed = Number(process.env['FUZZ_SEED'] ?? 1)

let shop: Shop
const defects: unknown[] = []
beforeAll(async () => {
  shop = await openShop({
    server: {
      rate: { perSecond: 1_000_000, burst: 1_000_000 },
      webhooks: { privateAddresses: true, tries: 1 },
      log: (level, message, fields) => void (level === 'error' && defects.push([message, fields])),
      dev: {
        faults: async () => [],
        setFault: async (fault) => fault,
        clearFaults: async () => {},
        truth: async () => [],
        strike: async () => {},
      },
    },
  })
})
afterAll(() => shop.close())

test(`${requests} requests by chance: no fault of the server's own, no hang, no foreign bytes, every answer as documented`, async () => {
  const { statuses, faults, lookedThrough, operations, reached } = await fuzz({
    url: shop.url,
    adminToken,
    requests,
    seed,
  })
  expect(faults, `seed ${seed}`).toEqual([])
  expect(defects).toEqual([])
  // It has seen more than refusals.
  expect(statuses['200'] ?? 0).toBeGreaterThan(requests / 50)
  expect(statuses['202'] ?? 0).toBeGreaterThan(50)
  expect(lookedThrough).toBeGreaterThan(requests / 2)
  expect(reached).toBeGreaterThan(operations / 2)
  expect((await shop.ask('GET', '/v1/audit:verify')).json.isSound).toBe(true)
}, 300_000)

test('a server that tells what is of another tenant, breaks, or answers what no document tells of is found out', async () => {
  const { createServer } = await import('node:http')
  const { openApi } = await import('../../src/protocol/openapi.ts')
  // Well-behaved while it is furnished; then every other answer breaks, and the rest leak.
  let n = -1
  const bad = createServer((asked, response) => {
    response.setHeader('content-type', 'application/json')
    if (asked.url === '/openapi.json') {
      n = 0
      return void response.end(JSON.stringify(openApi({ version: '1' })))
    }
    if (n < 0) return void response.end('{"token":{},"secret":"s"}')
    response.statusCode = n++ % 2 === 0 ? 500 : 200
    response.end('{"name":"ofTheOthers7f3a91"}')
  })
  await new Promise<void>((resolve) => bad.listen(0, '127.0.0.1', resolve))
  const { port } = bad.address() as { readonly port: number }
  const { faults } = await fuzz({ url: `http://127.0.0.1:${port}`, adminToken, requests: 200, seed: 1 }).finally(() =>
    bad.close(),
  )
  expect(new Set(faults.map(({ what }) => what))).toEqual(
    new Set(['a fault of its own', 'foreign bytes', 'not as documented']),
  )
})
