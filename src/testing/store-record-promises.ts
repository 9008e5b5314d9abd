// The promises about what is kept beside resources: records (S13) and the journal (S14).
import type { Json } from '../base/json.ts'
import { chainHash, chainStart } from '../store/chain.ts'
import type { JournalEntry, RecordChange } from '../store/store.ts'
import { changed, sampleBatch, sampleResource } from './store-samples.ts'
import { key, picture, type Suite } from './store-suite.ts'

const put = (name: string, from: number, to: Json): RecordChange => ({ kind: 'token', key: name, from, to })
const alone = (...records: RecordChange[]) => sampleBatch([], { records })

export function recordPromises({ test, expect }: Suite): void {
  test('S13 a record is made, changed and removed, each time from the version that was read', async (under) => {
    const store = await under.open()
    expect(await store.record('token', 'a')).toEqual(null)
    await store.commit(alone(put('a', 0, { role: 'viewer', odd: ['\u0000', 'ü✓', 1.5, null] })))
    expect(await store.record('token', 'a')).toEqual({
      kind: 'token',
      key: 'a',
      value: { role: 'viewer', odd: ['\u0000', 'ü✓', 1.5, null] },
      version: 1,
    })
    await store.commit(alone(put('a', 1, 'second')))
    expect(await store.record('token', 'a')).toEqual({ kind: 'token', key: 'a', value: 'second', version: 2 })
    expect(await store.record('other', 'a')).toEqual(null)
    await store.commit(alone(put('a', 2, null)))
    expect(await store.record('token', 'a')).toEqual(null)
    expect((await store.commit(alone(put('a', 0, 'again')))).committed).toEqual(true)
  })

  for (const [what, change] of [
    ['is there already', put('a', 0, 'x')],
    ['has changed since', put('a', 7, 'x')],
    ['is gone', put('b', 1, 'x')],
    ['is to be removed and has changed since', put('a', 7, null)],
    ['is to be removed and is gone', put('b', 1, null)],
  ] as const) {
    test(`S13 a record that ${what} stops the whole batch`, async (under) => {
      const store = await under.open()
      const one = sampleResource(1)
      await store.commit(sampleBatch([{ before: null, after: one }], { records: [put('a', 0, 'first')] }))
      const before = await picture(store)
      const answer = await store.commit(
        sampleBatch([{ before: one, after: changed(one, { status: 'error' }) }], {
          keys: [key('new', 1)],
          records: [put('c', 0, 'new'), change],
          journal: ['lost'],
        }),
      )
      expect(answer).toEqual({
        committed: false,
        conflicts: [],
        keys: [],
        records: [{ kind: change.kind, key: change.key }],
      })
      expect(await picture(store)).toEqual(before)
      expect(await store.record('token', 'c')).toEqual(null)
      expect((await store.record('token', 'a'))?.value).toEqual('first')
      expect(await store.journal(0, 10)).toEqual([])
    })
  }

  test('S13 a resource that conflicts stops the records of its batch', async (under) => {
    const store = await under.open()
    const one = sampleResource(1)
    await store.commit(sampleBatch([{ before: null, after: one }]))
    const stale = changed(one, { revision: 9 })
    const answer = await store.commit(
      sampleBatch([{ before: stale, after: changed(stale, {}) }], { records: [put('a', 0, 'x')], journal: ['lost'] }),
    )
    expect(answer).toEqual({ committed: false, conflicts: [1], keys: [] })
    expect(await store.record('token', 'a')).toEqual(null)
    expect(await store.journal(0, 10)).toEqual([])
  })

  test('S13 records of a kind are listed in the order of their keys, page by page', async (under) => {
    const store = await under.open()
    const names = ['b', 'a/2', 'a/10', 'a', '~', 'C']
    await store.commit(alone(...names.map((name) => put(name, 0, name))))
    await store.commit(sampleBatch([], { records: [{ kind: 'tokens', key: 'x', from: 0, to: 1 }] }))
    const all = await store.records({ kind: 'token', after: '', limit: 100 })
    expect(all.map((one) => one.key)).toEqual(names.toSorted())
    const first = await store.records({ kind: 'token', after: '', limit: 2 })
    const rest = await store.records({ kind: 'token', after: first[1]!.key, limit: 100 })
    expect([...first, ...rest]).toEqual(all)
  })

  test('S13 of two handles that change the same record one is told of the conflict', async (under) => {
    const [one, other] = [await under.open(), await under.open()]
    await one.commit(alone(put('a', 0, 'first')))
    const answers = await Promise.all([one.commit(alone(put('a', 1, 'x'))), other.commit(alone(put('a', 1, 'y')))])
    expect(answers.filter((answer) => answer.committed).length).toEqual(1)
    expect((await other.record('token', 'a'))?.version).toEqual(2)
  })

  test('S14 entries of the journal are numbered and chained, over handles and crashes', async (under) => {
    const [one, other] = [await under.open(), await under.open()]
    expect(await other.journalLength()).toEqual(0)
    await one.commit(sampleBatch([{ before: null, after: sampleResource(1) }], { journal: [{ who: 'ann' }, 'two'] }))
    await other.commit(sampleBatch([], { journal: [{ b: 1, a: [null, 'ü'] }] }))
    await under.crash(one)
    const again = await under.open()
    await again.commit(sampleBatch([], { journal: [4] }))
    const entries = await other.journal(0, 10)
    expect(entries.map(({ n, value }) => [n, value])).toEqual([
      [1, { who: 'ann' }],
      [2, 'two'],
      [3, { b: 1, a: [null, 'ü'] }],
      [4, 4],
    ])
    let before = chainStart
    for (const { n, value, hash } of entries as readonly JournalEntry[]) {
      expect(hash).toEqual(chainHash(before, n, value))
      before = hash
    }
    expect((await other.journal(2, 1)).map(({ n }) => n)).toEqual([3])
    expect(await other.journalLength()).toEqual(4)
  })
}
