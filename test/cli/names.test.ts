// A resource is found by its id or its name alone, however many there are.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { refNamed } from '../../src/cli/names.ts'
import { HttpClient } from '../../src/client/http-client.ts'
import { sampleBatch, sampleResource } from '../../src/testing/store-samples.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { adminToken, openShop, type Shop } from '../server/workshop.ts'

/** More than a server looks through, in one answer, for a part of a text. */
const many = 5_001
let shop: Shop
let api: HttpClient
beforeEach(async () => {
  const store = createMemoryBackend().open() as Store
  shop = await openShop({ store })
  api = new HttpClient({ url: shop.url, token: adminToken })
  const box = (no: number, patch: object) =>
    sampleResource(no, {
      type: 'shop.box',
      status: 'Ready',
      id: `b-${no}`,
      properties: { size: 1 },
      links: {},
      ...patch,
    })
  const boxes = Array.from({ length: many }, (_, index) => box(index + 1, {}))
  const last = [
    box(many + 1, { id: 'twin' }),
    box(many + 2, { id: 'twin', type: 'shop.shelf', status: 'Standing', properties: {} }),
    box(many + 3, { id: 'hat-box', name: 'hats' }),
    box(many + 4, { id: 'old-box', name: 'hats', status: 'Gone' }),
  ]
  await store.commit(sampleBatch([...boxes, ...last].map((after) => ({ before: null, after }))))
})
afterEach(() => shop.close())

test('the last of many', async () => {
  expect(await refNamed(api, `b-${many}`)).toEqual({ type: 'shop.box', id: `b-${many}` })
  expect(await refNamed(api, 'hats')).toEqual({ type: 'shop.box', id: 'hat-box' })
  expect(await refNamed(api, 'old-box')).toEqual({ type: 'shop.box', id: 'old-box' })
  await expect(refNamed(api, 'twin')).rejects.toThrow(/Several have the id 'twin': shop\.(box|shelf)\/twin, shop/)
  await expect(refNamed(api, 'b-x')).rejects.toThrow("There is no resource 'b-x'.")
})
