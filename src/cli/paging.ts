// Lists that the server gives page by page.

/** Options of a command that lists. */
export interface Limited {
  readonly limit: string
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextPageToken: string | null
}

const pageMost = 500

/** The first items of all pages, at most so many; and whether these are all. */
export async function firstOf<Item>(
  most: number,
  page: (query: { readonly pageSize: number; readonly pageToken?: string }) => Promise<Page<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly isAll: boolean }> {
  const items: Item[] = []
  for (let next: string | null = null; ;) {
    // One more than is wanted: a full page has a next one also where nothing is left.
    const pageSize = Math.min(pageMost, most + 1 - items.length)
    const answer: Page<Item> = await page(next === null ? { pageSize } : { pageSize, pageToken: next })
    items.push(...answer.items)
    next = answer.nextPageToken
    if (next === null || items.length > most) return { items: items.slice(0, most), isAll: items.length <= most }
  }
}

export const moreThan = (most: number): string => `More than ${most}: -n shows more.`
