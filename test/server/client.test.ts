// The typed client against a real server: operations, waiting, watching, and changes that happen once over broken connections.
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startDroppingProxy } from '../../scripts/endure/dropping-proxy.ts'
import { createClient, type CloudEvent, type HomeostatClient } from '../../src/client.ts'
import { adminToken, openShop, shop as lifecycles, type Shop } from './workshop.ts'

// Processes are started and killed, or many streams served: a busy machine may take its time.
vi.setConfig({ testTimeout: 240_000 })

let shop: Shop
let client: HomeostatClient<typeof lifecycles>
beforeEach(async () => {
  shop = await openShop()
  client = createClient({ url: shop.url, token: adminToken, lifecycles, retryMs: 10 })
})
afterEach(() => shop.close())

const portOf = (url: string): number => Number(new URL(url).port)

test('operations, inputs and statuses are those of the lifecycles', async () => {
  const { resource, run } = await client.box.create({ id: 'b-1', properties: { size: 1 } })
  expect(resource).toMatchObject({ id: 'b-1', status: 'Making' })
  const steps: string[] = []
  expect(await client.wait(run!, { onProgress: (one) => steps.push(one.state) })).toMatchObject({ state: 'succeeded' })
  expect(steps.at(-1)).toBe('succeeded')
  const grown = await client.box.grow('b-1', { size: 4 })
  await client.wait(grown.run!)
  const found = await client.box.get('b-1')
  expect(found?.properties.size).toBe(4)
  expect(
    found?.status satisfies
      | 'Ready'
      | 'Sealed'
      | 'Making'
      | 'Growing'
      | 'Sealing'
      | 'Deleting'
      | 'Broken'
      | 'Gone'
      | undefined,
  ).toBe('Ready')
  expect(await client.box.get('nobody')).toBeNull()
  expect((await client.box.list({ kind: 'stable', total: 'true' })).total).toBe(1)
  expect((await client.box.explain('b-1')).because.length).toBeGreaterThan(0)
  await client.wait((await client.box.remove('b-1')).run!)
  // What creates is given a resource, whatever its name.
  expect((await client.shelf.inherit({ id: 's-1', properties: { boards: 3 } })).resource).toMatchObject({
    id: 's-1',
    status: 'Standing',
    properties: { boards: 3 },
  })
  // @ts-expect-error it makes one: there is no id yet
  await expect(client.shelf.inherit('s-1')).rejects.toMatchObject({ code: expect.any(String) })
  // What is not declared does not compile.
  // @ts-expect-error there is no such operation
  await expect(client.box.fly('b-1')).rejects.toMatchObject({ code: 'operation_unknown' })
  // @ts-expect-error the input is missing its size
  await expect(client.box.grow('b-1', {})).rejects.toMatchObject({ code: expect.any(String) })
  // @ts-expect-error the name of the type is another one
  createClient<typeof lifecycles>({ url: '', types: { shelf: 'shop.shelf', tray: 'shop.tray', box: 'shop.bx' } })
})

test('every other row of the contract is called by its name', async () => {
  const line = { id: 'i-1', status: 'Ready', properties: { size: 1 } }
  const given = { path: { type: 'shop.box' }, query: { reason: 'moved here' }, body: [line, { ...line, id: 'i-2' }] }
  expect(await client.api.call('importResources', given)).toEqual({ imported: 2, refused: [] })
  expect((await client.api.call('listStuck', {})).items).toEqual([])
  expect(await client.api.call('drawMermaid', { path: { type: 'shop.box' } })).toContain('stateDiagram')
})

test('a refusal is thrown with its code and the details of the problem', async () => {
  await client.wait((await client.box.create({ id: 'b-1', properties: { size: 1 } })).run!)
  await expect(client.box.unseal('b-1')).rejects.toMatchObject({
    code: 'operation_not_allowed',
    details: { status: 409, details: { status: 'Ready' } },
  })
  const { etag } = (await client.box.get('b-1'))!
  await client.wait((await client.box.with({ ifMatch: etag }).seal('b-1')).run!)
  await expect(client.box.with({ ifMatch: etag }).unseal('b-1')).rejects.toMatchObject({ code: 'revision_conflict' })
})

test('watching gives every event once and in order, also when the connection is cut again and again', async () => {
  const proxy = await startDroppingProxy(portOf(shop.url), 0)
  const seen: CloudEvent[] = []
  const stop = new AbortController()
  const through = createClient({ url: `http://127.0.0.1:${proxy.port}`, token: adminToken, lifecycles, retryMs: 10 })
  const watching = (async () => {
    for await (const event of through.watch({ after: 0, signal: stop.signal, retryMs: 10 })) seen.push(event)
  })()
  for (let n = 0; n < 30; n++) {
    const { run } = await client.box.create({ id: `b-${n}`, properties: { size: 1 } })
    if (n % 3 === 0) proxy.cut()
    await client.wait(run!)
  }
  const all = await shop.engine.events(0, 1_000)
  await expect.poll(() => seen.length).toBe(all.length)
  expect(seen.map((event) => event.data.n)).toEqual(all.map((event) => event.n))
  stop.abort()
  await watching
  await proxy.close()
})

test('creates through a connection that drops half of the answers happen exactly once each', async () => {
  const proxy = await startDroppingProxy(portOf(shop.url), 2)
  const through = createClient({
    url: `http://127.0.0.1:${proxy.port}`,
    token: adminToken,
    lifecycles,
    retryMs: 1,
    retries: 30,
  })
  // CREATES=10000 for the long run.
  const count = Number(process.env['CREATES'] ?? 160)
  const ids = new Set<string>()
  for (let from = 0; from < count; from += 20) {
    const some = Array.from({ length: 20 }, () => through.box.create({ properties: { size: 1 } }))
    for (const { resource } of await Promise.all(some)) ids.add(resource.id)
  }
  expect(ids.size).toBe(count)
  expect((await client.box.list({ total: 'true' })).total).toBe(count)
  expect(proxy.dropped).toBeGreaterThan(count / 4)
  await proxy.close()
}, 600_000)

test('the client loads nothing that only Node has', () => {
  const seen = new Set<string>()
  const load = (file: URL): void => {
    if (seen.has(file.href)) return
    seen.add(file.href)
    const text = readFileSync(file, 'utf8')
    for (const [, kind, from] of text.matchAll(/^(?:import|export)( type)?[^;'"]*? from '([^']+)'/gm)) {
      if (kind !== undefined) continue
      expect(from, file.pathname).not.toMatch(/^node:/)
      if (from!.startsWith('.')) load(new URL(from!, file))
      else expect(from).toBe('zod')
    }
  }
  load(new URL('../../src/client.ts', import.meta.url))
  expect(seen.size).toBeGreaterThan(8)
})
