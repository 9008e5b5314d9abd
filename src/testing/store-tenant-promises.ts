// The promise about tenants (S15): what is asked for one is of that one, and others' rows neither count nor hide anything.
import type { Incident } from '../decision/state.ts'
import type { IncidentsQuery, Store } from '../store/store.ts'
import { sampleBatch, sampleEnd, sampleEvent, sampleResource, sampleRun } from './store-samples.ts'
import type { Suite } from './store-suite.ts'

const incident = (no: number): Incident => ({ no, kind: 'overdue', at: no, status: 'x', text: '', evidence: {} })

/** Number 1 is of `mine`, with one of everything, and oldest; then come many of another tenant. */
async function crowd(store: Store, others: number): Promise<void> {
  const run = sampleRun({ owner: 7, deadlineAt: 1, dueAt: 1 })
  const ledger = [
    { name: 'n', kind: 'k', state: 'orphaned', ref: null, begun: 1, step: 's', since: 1, sweeper: 0 },
  ] as const
  const all = Array.from({ length: others + 1 }, (_, index) =>
    sampleResource(index + 1, {
      tenant: index === 0 ? 'mine' : 'theirs',
      status: 'creating',
      timers: { nap: 5 },
      ledger,
      run,
    }),
  )
  for (let from = 0; from < all.length; from += 500) {
    const some = all.slice(from, from + 500)
    await store.commit(
      sampleBatch(
        some.map((after) => ({ before: null, after })),
        {
          events: some.map((one) => sampleEvent(one)),
          ended: some.map((one) => sampleEnd(one)),
          incidents: some.map(({ no }) => incident(no)),
        },
      ),
    )
  }
}

export function tenantPromises({ test, expect }: Suite): void {
  test('S15 a limit counts what is of the tenant: the rows of others hide nothing', async (under) => {
    const store = await under.open()
    // More than a store looks through before it asks for the tenant's own.
    await crowd(store, 2_500)
    const last = sampleResource(9_000, { tenant: 'mine', status: 'creating', run: sampleRun({ owner: 7 }) })
    await store.commit(
      sampleBatch([{ before: null, after: last }], { events: [sampleEvent(last)], ended: [sampleEnd(last)] }),
    )
    const nos = (found: readonly { readonly no: number }[]) => found.map(({ no }) => no)
    const tenant = 'mine'
    expect(nos(await store.work({ work: 'ownedBy', owners: [7], tenant }, 10, 2))).toEqual([1, 9_000])
    expect(nos(await store.work({ work: 'ownedBy', owners: [7], tenant }, 10, 2, 1))).toEqual([9_000])
    expect(nos(await store.work({ work: 'overdue', tenant }, 10, 2))).toEqual([1])
    expect(nos(await store.work({ work: 'timers', tenant }, 10, 2))).toEqual([1])
    expect(nos(await store.work({ work: 'orphans', tenant }, 10, 2))).toEqual([1])
    expect(nos(await store.incidents({ tenant, limit: 2 }))).toEqual([1])
    expect(nos(await store.endedRuns({ tenant, limit: 3 }))).toEqual([9_000, 1])
    expect(nos(await store.endedRuns({ tenant, limit: 3, before: 2_502 }))).toEqual([1])
    expect(await store.counts({ tenant })).toEqual([{ type: 'volume', status: 'creating', count: 2 }])
    expect(await store.counts({ tenant: 'nobody' })).toEqual([])
    const all = await store.tenantEvents({ tenant, after: 0, limit: 10, look: 10_000 })
    expect([nos(all.events), all.looked]).toEqual([[1, 9_000], 2_502])
    const cut = await store.tenantEvents({ tenant, after: 1, limit: 10, look: 100 })
    expect(cut).toEqual({ events: [], looked: 101 })
    expect(await store.tenantEvents({ tenant, after: 2_502, limit: 1, look: 9 })).toEqual({ events: [], looked: 2_502 })
  })

  test('S15 records are of the tenant that they name', async (under) => {
    const store = await under.open()
    const put = (key: string, value: object) => ({ kind: 'token', key, from: 0, to: value as never })
    await store.commit(
      sampleBatch([], {
        records: [
          put('a', { tenant: 'theirs', note: '"tenant":"mine"' }),
          put('b', { note: '\\u0000 "tenant":"theirs"', tenant: 'mine' }),
          put('c', { tenant: null }),
          put('d', { tenant: 'mine', filter: { tenant: 'theirs' } }),
          put('e', { filter: { tenant: 'mine' } }),
        ],
      }),
    )
    const keys = async (after: string, limit: number) =>
      (await store.records({ kind: 'token', tenant: 'mine', after, limit })).map((one) => one.key)
    expect([await keys('', 9), await keys('', 1), await keys('b', 9)]).toEqual([['b', 'd'], ['b'], ['d']])
  })

  test('S15 incidents page by page, newest first, of all, of a tenant and of a resource; one that is closed takes none with it', async (under) => {
    const [store, other] = [await under.open(), await under.open()]
    const kinds = ['overdue', 'unowned', 'drifted'] as const
    for (const no of [1, 2, 3, 4]) {
      const after = sampleResource(no, { tenant: no === 2 ? 'theirs' : 'mine' })
      const incidents = kinds.map((kind) => ({ ...incident(no), kind }))
      await store.commit(sampleBatch([{ before: null, after }], { incidents }))
    }
    const pages = async (query: Omit<IncidentsQuery, 'limit'>, closing?: () => Promise<unknown>) => {
      const found: string[] = []
      for (let before: number | undefined; ;) {
        const page = await other.incidents({ ...query, before, limit: 2 })
        found.push(...page.map(({ no, kind }) => `${no} ${kind}`))
        if (page.length < 2) return found
        before = page.at(-1)!.n
        await closing?.()
      }
    }
    const of = (...nos: number[]) => nos.flatMap((no) => kinds.toReversed().map((kind) => `${no} ${kind}`))
    expect(await pages({})).toEqual(of(4, 3, 2, 1))
    expect(await pages({ tenant: 'mine' })).toEqual(of(4, 3, 1))
    expect(await pages({ tenant: 'mine', no: 3 })).toEqual(of(3))
    expect(await pages({ tenant: 'mine', no: 2 })).toEqual([])
    expect(await pages({ no: 2 })).toEqual(of(2))
    const closing = async () => store.closeIncident(4, 'unowned')
    expect(await pages({}, closing)).toEqual(of(4, 3, 2, 1))
    expect((await pages({})).length).toEqual(11)
  })

  test('S13 an incident is closed in the commit of what is written beside it, or not at all', async (under) => {
    const [store, other] = [await under.open(), await under.open()]
    await store.commit(
      sampleBatch([{ before: null, after: sampleResource(1) }], { incidents: [incident(1)], journal: ['made'] }),
    )
    const records = [{ kind: 'once', key: 'k', from: 0, to: 'done' }]
    expect(
      await store.closeIncident(1, 'overdue', { records: [{ ...records[0]!, from: 3 }], journal: ['lost'] }),
    ).toEqual(false)
    expect((await other.incidents({ no: 1, limit: 9 })).length).toEqual(1)
    expect(await store.closeIncident(1, 'overdue', { records, journal: ['closed'] })).toEqual(true)
    expect(await store.closeIncident(1, 'overdue', { records, journal: ['lost'] })).toEqual(false)
    expect((await other.journal(0, 9)).map(({ n, value }) => [n, value])).toEqual([
      [1, 'made'],
      [2, 'closed'],
    ])
    expect((await other.record('once', 'k'))?.value).toEqual('done')
    expect(await other.incidents({ no: 1, limit: 9 })).toEqual([])
  })
}
