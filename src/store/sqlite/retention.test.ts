// Retention on SQLite: what all stores promise, and a history of many chunks that goes in several transactions.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { retentionPromises } from '../../testing/store-retention-promises.ts'
import { sampleBatch, sampleEvent, sampleKinds, sampleResource } from '../../testing/store-samples.ts'
import { openSqliteStore } from './sqlite-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
afterAll(() => rmSync(folder, { recursive: true }))

const open = async (name: string) => {
  const store = openSqliteStore({ file: join(folder, `${name}.db`) })
  await store.useKinds(sampleKinds)
  return store
}

retentionPromises(open)

test('a long history goes in several transactions, beside commits; numbers go on, and other handles see it', async () => {
  const [store, other] = [await open('long'), await open('long')]
  const commit = (no: number) => {
    const after = sampleResource(no)
    return store.commit(sampleBatch([{ before: null, after }], { events: [sampleEvent(after, { at: no * 1_000 })] }))
  }
  for (let no = 1; no <= 1_000; no++) await commit(no)
  // One that must stop does what it has begun; another goes on from there.
  const stopped = new AbortController()
  const begun = store.removeHistory!({ before: 900_000, signal: stopped.signal })
  stopped.abort()
  const { events } = await begun
  expect(events).toBeLessThan(899)
  const removing = store.removeHistory!({ before: 900_000 })
  await commit(1_001)
  expect(await removing).toEqual({ events: 899 - events, runs: 0, keys: 0, late: 0 })
  await commit(1_002)
  const numbers = (await other.events(0, 1_000)).map(({ n }) => n)
  expect([numbers[0], numbers.at(-1), numbers.length]).toEqual([900, 1_002, 103])
  expect(await other.history(1, null, 10)).toEqual([])
  expect(await other.load([{ ask: 'resource', no: 1 }])).toMatchObject([{ no: 1 }])
  await store.close()
  await other.close()
})
