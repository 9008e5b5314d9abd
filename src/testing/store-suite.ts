// What the groups of the conformance suite share: how a test is given its store, and a picture of everything in it.
import { canonical } from '../base/json.ts'
import type { No } from '../decision/state.ts'
import type { Store } from '../store/store.ts'

/** A store of its own for one test; handles know the sample kinds. */
export interface Tested {
  open(): Promise<Store>
  crash(store: Store): Promise<void>
}

export interface Suite {
  /** The title starts with the number of the promise. */
  readonly test: (title: string, body: (under: Tested) => Promise<void>) => void
  readonly expect: (value: unknown) => { toEqual(expected: unknown): void }
}

export const key = (text: string, no: No) => ({ key: text, hash: 'h', no, begun: 1, at: 1000 })

/** Everything that can be asked, to see that nothing changed. */
export async function picture(store: Store): Promise<string> {
  const listed = await store.list({ limit: 1000, after: 0 })
  const related = await store.load(
    [1, 2, 3].flatMap((no) => [{ ask: 'children', no } as const, { ask: 'linkedBy', no, link: 'disk' } as const]),
  )
  const logs = [
    await store.events(0, 1000),
    await store.endedRuns({ limit: 1000 }),
    await store.lateResults(1),
    await store.incidents({ limit: 1000 }),
  ]
  const keys = await store.load([
    { ask: 'key', key: 'k' },
    { ask: 'key', key: 'new' },
  ])
  return canonical([listed, related, logs, keys, await store.counts(), await store.liveShapes()])
}
