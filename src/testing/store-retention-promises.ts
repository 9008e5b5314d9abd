// What retention leaves, on every store that has it (S11): the newest, and all of a live run. To be called in a test file.
import { expect, test } from 'vitest'
import { emptyBatch, type MaybePromise, type Store } from '../store/store.ts'
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
    expect(removed).toEqual({ events: 60, runs: 60, keys: 50, late: 0 })
    expect(await store.events(0, 1_000)).toEqual(all.slice(60))
    // The chain of a resource just ends where it was cut.
    expect(await store.history(1, null, 1_000)).toEqual(all.slice(60).toReversed())
    expect(await store.endedRuns({ no: 1, limit: 1_000 })).toHaveLength(40)
    const keys = await store.load([49, 50].map((n) => ({ ask: 'key', key: `k${n}` })))
    expect(keys.map((key) => key !== null)).toEqual([false, true])
    expect(await store.removeHistory!({ before: 60 * hour })).toEqual({ events: 0, runs: 0, keys: 0, late: 0 })
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

  test('late results go with the history of their time; those of a live run stay', async () => {
    const store = await open('late')
    const hour = 3_600_000
    const live = sampleResource(2, { status: 'creating', run: sampleRun({ acceptedAt: 400 * hour }) })
    const late = (no: number, hours: number) => ({
      no,
      epoch: 1,
      call: 'c',
      at: hours * hour,
      outcome: { kind: 'done' },
    })
    const kept = async (no: number) => (await store.lateResults(no)).map(({ at }) => at / hour)
    await store.commit(sampleBatch([sampleResource(1), live].map((after) => ({ before: null, after }))))
    await store.commit({ ...emptyBatch, late: Array.from({ length: 500 }, (_, n) => late(n < 450 ? 1 : 2, n)) })
    expect(await store.removeHistory!({ before: 300 * hour })).toEqual({ events: 0, runs: 0, keys: 0, late: 300 })
    expect((await kept(1))[0]).toBe(300)
    await store.removeHistory!({ before: 1_000 * hour })
    expect((await kept(1))[0]).toBe(400)
    expect(await kept(2)).toHaveLength(50)
    await store.commit(sampleBatch([{ before: live, after: changed(live, { status: 'available', run: null }) }]))
    await store.removeHistory!({ before: 1_000 * hour })
    expect([await kept(1), await kept(2)]).toEqual([[], []])
    await store.commit({ ...emptyBatch, late: [late(1, 2_000)] })
    expect(await kept(1)).toEqual([2_000])
    await store.close()
  })
}
