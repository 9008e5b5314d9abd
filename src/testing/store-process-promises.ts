// The promises about processes: leases (S8) and several handles on one store (S12).
import { sampleBatch, sampleResource, sampleRun } from './store-samples.ts'
import { systemClock } from '../base/clock.ts'
import type { Store } from '../store/store.ts'
import type { Suite } from './store-suite.ts'

/** So many looks after which a store that learns later has heard of everything, if anybody does nothing else meanwhile. */
const looks = 50

/**
 * Others have written, in so many commits: it is told at once, or as soon as the store has learned of it. Told once; where a store learns
 * later, once for each commit at most, and then no more.
 */
async function heard(store: Store, commits = 1): Promise<void> {
  while (!store.othersWrote()) {
    if (!store.learnsLater) throw new Error('the other handle has written, and this one does not know')
    await new Promise<void>((resolve) => systemClock.soon(resolve))
  }
  let again = 0
  for (let look = 0; look < (store.learnsLater ? looks : 1); look++) {
    if (store.othersWrote()) again++
    if (store.learnsLater) await new Promise<void>((resolve) => systemClock.soon(resolve))
  }
  if (again > (store.learnsLater ? commits : 0)) throw new Error('what was told once is told again')
}

export function processPromises({ test, expect }: Suite): void {
  test('S8 a beat renews a lease that runs, and none that has ended', async (under) => {
    const [store, other] = [await under.open(), await under.open()]
    const no = await store.register({ name: 'one', leaseMs: 100, now: 1000 })
    const second = await other.register({ name: 'two', leaseMs: 1000, now: 1000 })
    expect(second > no).toEqual(true)
    expect(await store.beat({ no, leaseMs: 100, now: 1050 })).toEqual(true)
    const states = async (now: number) => (await other.workers(now)).map((row) => [row.no, row.state, row.leaseUntil])
    expect(await states(1149)).toEqual([
      [no, 'live', 1150],
      [second, 'live', 2000],
    ])
    expect((await states(1150))[0]).toEqual([no, 'expired', 1150])
    expect(await store.beat({ no, leaseMs: 100, now: 1150 })).toEqual(false)
    expect(await other.end({ no: second, as: 'expired', now: 1500 })).toEqual(false)
    expect(await other.end({ no, as: 'expired', now: 1150 })).toEqual(true)
    expect(await other.end({ no, as: 'dead', now: 1150 })).toEqual(false)
    expect(await store.beat({ no, leaseMs: 100, now: 1149 })).toEqual(false)
    await under.crash(other)
    expect((await store.workers(1200)).map((row) => row.state)).toEqual(['expired', 'dead'])
    expect(await store.end({ no: second, as: 'dead', now: 1200 })).toEqual(true)
    const owned = sampleResource(1, { status: 'creating', run: sampleRun({ owner: second }) })
    await store.commit(
      sampleBatch([
        { before: null, after: owned },
        { before: null, after: sampleResource(2, { run: sampleRun({ owner: 77 }) }) },
      ]),
    )
    const third = await store.register({ name: 'three', leaseMs: 100, now: 1200 })
    await store.forgetWorkers([no, second, third])
    const rows = (await store.workers(1200)).map((row) => [row.no, row.state])
    expect(rows).toEqual([
      [second, 'dead'],
      [third, 'live'],
      [77, 'dead'],
    ])
  })

  test('S12 a handle learns that another has written, and of its own commits at once', async (under) => {
    const [one, other] = [await under.open(), await under.open()]
    one.othersWrote()
    other.othersWrote()
    let woken = 0
    const stop = one.onChange(() => woken++)
    await one.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))
    expect([one.othersWrote(), woken]).toEqual([false, 1])
    await heard(other)
    await other.commit(sampleBatch([{ before: null, after: sampleResource(2) }]))
    await one.commit(sampleBatch([{ before: null, after: sampleResource(3) }]))
    await heard(one)
    await heard(other)
    const no = await one.register({ name: 'one', leaseMs: 100, now: 0 })
    await one.beat({ no, leaseMs: 100, now: 1 })
    // One that learns later may be told of the same commits once more, however late.
    if (!other.learnsLater) expect(other.othersWrote()).toEqual(false)
    stop()
    const before = woken
    await one.commit(sampleBatch([{ before: null, after: sampleResource(4) }]))
    expect(woken).toEqual(before)
  })

  test('S12 a setting changes for one of two who both saw the same', async (under) => {
    const [one, other] = [await under.open(), await under.open()]
    expect(await one.changeSetting('mode', null, { a: 1, b: 2 })).toEqual(true)
    expect(await other.changeSetting('mode', null, 'mine')).toEqual(false)
    expect(await other.changeSetting('mode', { b: 2, a: 1 }, 'mine')).toEqual(true)
    expect([await one.setting('mode'), await one.setting('none')]).toEqual(['mine', null])
    const incident = { no: 1, kind: 'overdue' as const, at: 1, status: 'x', text: 'first', evidence: {} }
    await one.commit(sampleBatch([], { incidents: [incident] }))
    await one.commit(
      sampleBatch([], {
        incidents: [
          { ...incident, text: 'again' },
          { ...incident, no: 2 },
        ],
      }),
    )
    expect((await other.incidents({ limit: 9 })).map((row) => [row.no, row.text])).toEqual([
      [2, 'first'],
      [1, 'first'],
    ])
    await other.closeIncident(1, 'overdue')
    expect((await one.incidents({ limit: 9 })).map((row) => row.no)).toEqual([2])
  })
}
