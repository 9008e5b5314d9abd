// What the port leaves open and this store gives: shares of waiting runs, reads that a thread waits for, words to other processes.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lane, Resource } from '../../src/decision/state.ts'
import { openPostgresStore, type PostgresStore } from '../../src/postgres.ts'
import { sampleBatch, sampleKinds, sampleResource, sampleRun } from '../../src/testing/store-samples.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
let schemas = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

async function handles(count: number): Promise<PostgresStore[]> {
  const schema = `beyond_${++schemas}`
  const stores: PostgresStore[] = []
  for (let i = 0; i < count; i++) {
    const store = await openPostgresStore({ url: server.url, schema, durability: 'none', clock: 'given' })
    await store.useKinds(sampleKinds)
    stores.push(store)
  }
  return stores
}
const close = async (stores: readonly PostgresStore[]) => {
  for (const store of stores) await store.close()
}

const waiting = (no: number, lane: Lane = 'user', dueAt = 0): Resource =>
  sampleResource(no, { status: 'creating', run: sampleRun({ owner: 0, lane, dueAt }) })
const offered = async (store: PostgresStore, now: number, limit: number, owner = 1) =>
  (await store.offerWaiting!({ now, limit, owner })).map((one) => one.no)

test('no two workers are offered the same waiting run; what is not claimed is offered again', async () => {
  const stores = await handles(2)
  const [one, other] = stores as [PostgresStore, PostgresStore]
  const runs = Array.from({ length: 40 }, (_, i) => waiting(i + 1))
  await one.commit(sampleBatch(runs.map((after) => ({ before: null, after }))))
  const at = 1_000
  const found = await Promise.all([one, other, one, other].map((store) => offered(store, at, 10)))
  const all = found.flat()
  expect(new Set(all).size).toBe(all.length)
  expect(all.length).toBe(40)
  expect(await offered(one, at + 999, 100)).toEqual([])
  expect((await offered(other, at + 1_000, 100)).length).toBeGreaterThan(0)
  // Who looks without claiming sees all of them, whoever they are offered to.
  expect(await one.work({ work: 'waiting' }, at, 100)).toHaveLength(40)
  await close(stores)
})

test('the most urgent lane is offered first, and nothing before it is due', async () => {
  const stores = await handles(1)
  const [store] = stores as [PostgresStore]
  const lanes: Lane[] = ['background', 'user', 'heal', 'delete']
  const runs = [...lanes.map((lane, i) => waiting(i + 1, lane)), waiting(9, 'delete', 5_000)]
  await store.commit(sampleBatch(runs.map((after) => ({ before: null, after }))))
  const order: number[] = []
  for (let i = 0; i < lanes.length; i++) order.push(...(await offered(store, 1_000, 1)))
  expect(order).toEqual([4, 3, 2, 1])
  expect(await offered(store, 1_000, 10)).toEqual([])
  // By then the others were not claimed in time, and are offered again.
  expect([...(await offered(store, 5_000, 1)), ...(await offered(store, 5_000, 1))]).toEqual([4, 9])
  await close(stores)
})

test('what is declared elsewhere alone is not offered, nor what is left to others', async () => {
  const stores = await handles(2)
  const [one, other] = stores as [PostgresStore, PostgresStore]
  await one.commit(sampleBatch([waiting(1), waiting(2)].map((after) => ({ before: null, after }))))
  const { type, status } = waiting(1)
  await other.useKinds(() => 'transitional', [{ type: 'other.type', status }])
  expect(await offered(other, 1_000, 10)).toEqual([])
  await other.useKinds(() => 'transitional', [{ type, status }])
  const found = await other.offerWaiting!({ now: 1_000, limit: 10, owner: 1, except: [1] })
  expect(found.map((one) => one.no)).toEqual([2])
  expect(await offered(one, 1_000, 10)).toEqual([1])
  await close(stores)
})

test('a read that the thread waits for answers as any other', async () => {
  const stores = await handles(2)
  const [store, other] = stores as [PostgresStore, PostgresStore]
  const family = [sampleResource(1, { id: 'mine' }), sampleResource(2, { parent: 1, links: { disk: 1 } })]
  await store.commit(sampleBatch(family.map((after) => ({ before: null, after }))))
  const asks = [
    { ask: 'named', type: 'volume', id: 'mine' },
    { ask: 'children', no: 1 },
    { ask: 'linkedBy', no: 1, link: 'disk' },
    { ask: 'resource', no: 3 },
  ] as const
  expect(other.loadNow!(asks)).toEqual(await store.load(asks))
  // It sees what was committed since, by whomever.
  await store.commit(sampleBatch([{ before: null, after: sampleResource(3) }]))
  expect(other.loadNow!(asks)).toEqual(await store.load(asks))
  await close(stores)
  expect(() => other.loadNow!(asks)).toThrow(expect.objectContaining({ code: 'store_unavailable' }))
})

test('others are told of a commit without asking', async () => {
  const stores = await handles(2)
  const [one, other] = stores as [PostgresStore, PostgresStore]
  other.othersWrote()
  const woken = new Promise<void>((resolve) => other.onChange(resolve))
  await one.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))
  await woken
  expect(other.othersWrote()).toBe(true)
  await close(stores)
})
