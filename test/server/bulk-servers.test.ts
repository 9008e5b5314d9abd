// Two servers on one store: a bulk operation is worked off by one of them at a time, at the rate that was asked for, and goes on in the
// other when that one is gone.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { bulkId, itemKey } from '../../src/server/bulk-runner.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import { emptyBatch, type Batch, type Store } from '../../src/store/store.ts'
import { openShop, type Shop } from './workshop.ts'

vi.setConfig({ testTimeout: 120_000 })

let shops: Shop[] = []
beforeEach(async () => {
  const backend = createMemoryBackend()
  shops = [await openShop({ store: backend.open() as Store }), await openShop({ store: backend.open() as Store })]
})
afterEach(async () => {
  for (const shop of shops) await shop.close()
})

async function begin(targets: number, perSecond: number): Promise<string> {
  const [shop] = shops as [Shop]
  for (let n = 0; n < targets; n++)
    await shop.engine.create('shop.box', { id: `b-${n}`, properties: { size: 1 } }, { by: 'test' })
  await vi.waitFor(async () => {
    const counts = await shop.engine.counts()
    expect(counts.find(({ status }) => status === 'Ready')?.count).toBe(targets)
  }, 60_000)
  const body = { filter: { type: 'shop.box' }, operation: 'seal', reason: 'test', perSecond, expected: targets }
  return (await shop.ask('POST', '/v1/bulk', { body })).json.bulk.id
}

const stateOf = async (shop: Shop, id: string) => (await shop.ask('GET', `/v1/bulk/${id}`)).json

test('the rate is that of all servers together', async () => {
  const id = await begin(40, 20)
  await vi.waitFor(async () => expect(await stateOf(shops[1]!, id)).toMatchObject({ state: 'done', accepted: 40 }), {
    timeout: 60_000,
    interval: 100,
  })
  const accepted = (await shops[0]!.engine.events(0, 1_000)).filter(
    ({ kind, detail }) => kind === 'accepted' && detail?.['operation'] === 'seal',
  )
  expect(accepted).toHaveLength(40)
  // A few may be asked at once at the beginning; from then on it is never quicker than the rate, however quick the machine is.
  const tookMs = accepted.at(-1)!.at - accepted[0]!.at
  expect(tookMs).toBeGreaterThan(((40 - 4) / 20) * 1_000 * 0.9)
})

test('what a server leaves is gone on with by the other, and nothing is asked twice', async () => {
  const id = await begin(30, 20)
  await vi.waitFor(async () => expect((await stateOf(shops[1]!, id)).accepted).toBeGreaterThan(3), 60_000)
  await shops.shift()!.close()
  const [left] = shops as [Shop]
  await vi.waitFor(async () => expect(await stateOf(left, id)).toMatchObject({ state: 'done', accepted: 30 }), {
    timeout: 60_000,
    interval: 100,
  })
  const accepted = (await left.engine.events(0, 1_000)).filter(
    ({ kind, detail }) => kind === 'accepted' && detail?.['operation'] === 'seal',
  )
  expect(new Set(accepted.map(({ no }) => no)).size).toBe(30)
  expect(accepted).toHaveLength(30)
})

test('the same request at two servers at once is one bulk operation, and leaves no list of targets behind', async () => {
  const backend = createMemoryBackend()
  // Both have read that nobody asked before; then both write their lists.
  let writing = 0
  let goOn = () => {}
  const both = new Promise<void>((resolve) => (goOn = resolve))
  const open = () => {
    const store = backend.open() as Store
    return new Proxy(store, {
      get(target, name) {
        const found: unknown = Reflect.get(target, name)
        if (name !== 'commit') return typeof found === 'function' ? (found.bind(target) as unknown) : found
        return async (batch: Batch) => {
          if (batch.records?.some(({ kind }) => kind === 'bulk item') && ++writing === 2) goOn()
          if (writing > 0) await both
          return target.commit(batch)
        }
      },
    })
  }
  for (const shop of shops) await shop.close()
  shops = [await openShop({ store: open() }), await openShop({ store: open() })]
  const [shop] = shops as [Shop]
  for (let n = 0; n < 5; n++)
    await shop.engine.create('shop.box', { id: `b-${n}`, properties: { size: 1 } }, { by: 'test' })
  const body = { filter: { type: 'shop.box' }, operation: 'seal', reason: 'test', perSecond: 1 }
  const headers = { 'idempotency-key': 'once' }
  const answers = await Promise.all(shops.map((one) => one.ask('POST', '/v1/bulk', { body, headers })))
  expect(answers.map(({ status }) => status)).toEqual([201, 201])
  const [id, other] = answers.map(({ json }) => json.bulk.id as string)
  expect(other).toBe(id)
  const kept = await shop.engine.records('bulk item')
  expect(kept.map(({ key }) => key.split('/')[0])).toEqual(Array(5).fill(id))
})

test('a list of targets whose server died before the bulk operation began is forgotten, a young one is left', async () => {
  const backend = createMemoryBackend()
  const before = backend.open() as Store
  const lists = [bulkId(Date.now() - 3_600_000, 'old'), bulkId(Date.now(), 'young'), bulkId(0, 'oldest')]
  const item = { no: 1, state: 'waiting', run: null, code: null, message: '' }
  const records = lists.flatMap((id) =>
    [0, 1].map((n) => ({ kind: 'bulk item', key: itemKey(id, n), from: 0, to: item })),
  )
  await before.commit({ ...emptyBatch, records })
  const shop = await openShop({ store: backend.open() as Store })
  const left = async () => (await shop.engine.records('bulk item')).map(({ key }) => key)
  await vi.waitFor(async () => expect(await left()).toEqual([0, 1].map((n) => itemKey(lists[1]!, n))))
  await shop.close()
})
