// The first of all pages, however the server cuts them.
import { expect, test } from 'vitest'
import { firstOf } from './paging.ts'

/** A server that has this many items and gives at most three at a time; as ours, it knows only by the next page whether a full one was the last. */
const serverOf = (count: number) => async (query: { readonly pageSize: number; readonly pageToken?: string }) => {
  const from = Number(query.pageToken ?? 0)
  const most = Math.min(3, query.pageSize)
  const to = Math.min(count, from + most)
  const items = Array.from({ length: to - from }, (_, index) => from + index)
  return { items, nextPageToken: items.length < most ? null : String(to) }
}

test.each([
  [0, 10, [], true],
  [4, 10, [0, 1, 2, 3], true],
  [4, 4, [0, 1, 2, 3], true],
  [3, 3, [0, 1, 2], true],
  [5, 4, [0, 1, 2, 3], false],
  [5, Infinity, [0, 1, 2, 3, 4], true],
])('of %i items the first %d', async (count, most, items, isAll) => {
  expect(await firstOf(most, serverOf(count))).toEqual({ items, isAll })
})

test('a page longer than was asked for is cut, and known not to be all', async () => {
  const page = async () => ({ items: [1, 2, 3], nextPageToken: null })
  expect(await firstOf(2, page)).toEqual({ items: [1, 2], isAll: false })
})
