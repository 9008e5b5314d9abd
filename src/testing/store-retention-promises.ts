// What retention leaves, on every store that has it (S11): the newest, and all of a live run. To be called in a test file.
import { expect, test } from 'vitest'
import type { MaybePromise, Store } from '../store/store.ts'
import { changed, sampleBatch, sampleEnd, sampleEvent, sampleResource, sampleRun } from './store-samples.ts'

/** `open` gives a new store each time, under the name that it is given. */
export function retentionPromises(open: (name: string) => MaybePromise<Store>): void {
  test('what is old is removed, events, ends and keys; the rest reads as before', async () => {
    const store = await open('retained')
    const hour = 3_600_000
    let state = sampleResource(1)
    let before: typeof state | null = null
    for (let n = 0; n < 100; n++) {
      const at = n * hour
      const [one, ended] = [sampleEvent(state, { at, from: state.status }), sampleEnd(state, { endedAt: at, begun: n })]
      const keys = [{ key: `k${n}`, hash: 'h', no: 1, begun: n, at }]
      await store.commit(sampleBatch([{ before, after: state }], { events: [one], ended: [ended], keys }))
      before = state
      state = changed(state, {})
    }
    const all = await store.events(0, 1_000)
    expect(all).toHaveLength(100)
    const removed = await store.removeHistory!({ before: 60 * hour, keysBefore: 50 * hour })
    expect(removed).toMatchObject({ events: 60, runs: 60, keys: 50 })
    expect(await store.events(0, 1_000)).toEqual(all.slice(60))
    // The chain of a resource just ends where it was cut.
    expect(await store.history(1, null, 1_000)).toEqual(all.slice(60).toReversed())
    expect(await store.endedRuns({ no: 1, limit: 1_000 })).toHaveLength(40)
    const keys = await store.load([49, 50].map((n) => ({ ask: 'key', key: `k${n}` })))
    expect(keys.map((key) => key !== null)).toEqual([false, true])
    expect(await store.removeHistory!({ before: 60 * hour })).toMatchObject({ events: 0, runs: 0, keys: 0 })
    await store.close()
  })

  test('nothing of a live run is removed, however old it is', async () => {
    const store = await open('live_kept')
    const day = 86_400_000
    const live = sampleResource(1, { status: 'creating', run: sampleRun({ acceptedAt: 10 * day }) })
    const commit = (no: number, at: number, after = sampleResource(no)) =>
      store.commit(sampleBatch([{ before: null, after }], { events: [sampleEvent(after, { at })] }))
    await commit(2, 8 * day)
    await commit(1, 10 * day, live)
    await commit(3, 12 * day)
    expect(await store.removeHistory!({ before: 20 * day })).toMatchObject({ events: 1 })
    expect((await store.events(0, 10)).map(({ n }) => n)).toEqual([2, 3])
    await store.commit(
      sampleBatch([{ before: live, after: changed(live, { status: 'available', run: null }) }], { events: [] }),
    )
    expect(await store.removeHistory!({ before: 20 * day })).toMatchObject({ events: 1 })
    // The newest chunk always stays: numbers go on from it.
    expect((await store.events(0, 10)).map(({ n }) => n)).toEqual([3])
    await store.close()
  })
}
