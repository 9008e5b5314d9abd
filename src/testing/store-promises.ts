// The promises about commits and what is read back: S1 to S7, S9 to S11.
import { canonical } from '../base/json.ts'
import type { Event, No, Resource } from '../decision/state.ts'
import type { Guard } from '../store/store.ts'
import {
  changed,
  sampleBatch,
  sampleEnd,
  sampleEvent,
  sampleKinds,
  sampleResource,
  sampleRun,
} from './store-samples.ts'
import { key, picture, type Suite } from './store-suite.ts'

export function commitPromises({ test, expect }: Suite): void {
  test('S1 a batch of which one part conflicts leaves nothing behind', async (under) => {
    const store = await under.open()
    const one = sampleResource(1)
    await store.commit(sampleBatch([{ before: null, after: one }], { keys: [key('k', 1)] }))
    const before = await picture(store)
    const half = [
      { before: null, after: sampleResource(2, { id: 'two', links: { disk: 1 }, parent: 1 }) },
      { before: one, after: changed(one, { status: 'error' }) },
    ]
    const incidents = [{ no: 2, kind: 'overdue' as const, at: 1, status: 'x', text: '', evidence: {} }]
    const late = [{ no: 1, epoch: 1, call: 'x', at: 1, outcome: {} }]
    const ended = [sampleEnd(one)]
    const answer = await store.commit(sampleBatch(half, { keys: [key('new', 2), key('k', 1)], ended, incidents, late }))
    expect(answer).toEqual({ committed: false, conflicts: [], keys: ['k'] })
    expect(await picture(store)).toEqual(before)
  })

  test('S1 another handle sees all of a batch', async (under) => {
    const [writer, reader] = [await under.open(), await under.open()]
    const writes = [1, 2, 3].map((no) => ({ before: null, after: sampleResource(no, { parent: no === 1 ? null : 1 }) }))
    await writer.commit(sampleBatch(writes))
    expect(await reader.load([1, 2, 3].map((no) => ({ ask: 'resource', no })))).toEqual(
      writes.map(({ after }) => after),
    )
    expect((await reader.events(0, 10)).length).toEqual(3)
  })

  test('S2 what was committed is there after the process is gone', async (under) => {
    const store = await under.open()
    const live = sampleResource(1, { status: 'creating', run: sampleRun({ results: { made: { id: 7 } } }) })
    await store.commit(sampleBatch([{ before: null, after: live }], { keys: [key('k', 1)] }))
    await store.changeSetting('mode', null, { on: true })
    const before = await picture(store)
    await under.crash(store)
    const again = await under.open()
    expect(await picture(again)).toEqual(before)
    expect(await again.setting('mode')).toEqual({ on: true })
    expect(await again.load([{ ask: 'resource', no: 1 }])).toEqual([live])
  })

  const guards: readonly [string, Guard, No][] = [
    ['a revision', { guard: 'revision', no: 1, revision: 7 }, 1],
    ['a resource that is not there', { guard: 'revision', no: 99, revision: 1 }, 99],
    ['children', { guard: 'children', no: 1, members: [] }, 1],
    ['children of which one is another', { guard: 'children', no: 1, members: [3] }, 1],
    ['links', { guard: 'linkedBy', no: 1, link: 'disk', members: [2, 3] }, 1],
    ['absence', { guard: 'absent', type: 'volume', id: 'mine' }, 1],
  ]
  for (const [what, guard, named] of guards) {
    test(`S3 a guard on ${what} that does not hold stops the batch`, async (under) => {
      const store = await under.open()
      const first = sampleResource(1, { id: 'mine' })
      const second = sampleResource(2, { parent: 1, links: { disk: 1 } })
      await store.commit(sampleBatch([first, second].map((after) => ({ before: null, after }))))
      const before = await picture(store)
      const batch = sampleBatch([{ before: null, after: sampleResource(5) }], { guards: [guard] })
      expect(await store.commit(batch)).toEqual({ committed: false, conflicts: [named], keys: [] })
      expect(await picture(store)).toEqual(before)
    })
  }

  test('S3 guards that hold before the batch let it pass, whatever the batch itself changes', async (under) => {
    const store = await under.open()
    const parent = sampleResource(1, { id: 'mine' })
    const child = sampleResource(2, { parent: 1, links: { disk: 1 } })
    await store.commit(sampleBatch([parent, child].map((after) => ({ before: null, after }))))
    const writes = [
      { before: parent, after: changed(parent, { description: 'x' }) },
      { before: child, after: changed(child, { status: 'deleted' }) },
      { before: null, after: sampleResource(3, { parent: 1, id: 'free' }) },
    ]
    const holding: Guard[] = [
      { guard: 'revision', no: 1, revision: 1 },
      { guard: 'children', no: 1, members: [2] },
      { guard: 'linkedBy', no: 1, link: 'disk', members: [2] },
      { guard: 'absent', type: 'volume', id: 'free' },
    ]
    expect(await store.commit(sampleBatch(writes, { guards: holding }))).toEqual({ committed: true, first: 3 })
  })

  for (const [where, state] of [
    ['at rest', {}],
    ['under way', { status: 'creating', run: sampleRun() }],
  ] as const) {
    for (const [what, stale] of [
      ['revision', { revision: 3 }],
      ['epoch', { epoch: 3 }],
    ] as const) {
      test(`S3 a stale ${what} of a resource ${where} stops the batch`, async (under) => {
        const store = await under.open()
        const stored = sampleResource(1, state)
        await store.commit(sampleBatch([{ before: null, after: stored }]))
        const before = await picture(store)
        const old = { ...stored, ...stale }
        const tries: Partial<Resource>[] = [
          {},
          { status: 'available', run: null },
          { status: 'creating', run: sampleRun() },
          { properties: {} },
        ]
        for (const patch of tries) {
          const answer = await store.commit(sampleBatch([{ before: old, after: changed(old, patch) }]))
          expect(answer).toEqual({ committed: false, conflicts: [1], keys: [] })
        }
        expect(await picture(store)).toEqual(before)
      })
    }
  }

  test('S3 who begins second, or on what has meanwhile begun and ended, conflicts', async (under) => {
    const [one, other] = [await under.open(), await under.open()]
    const resting = sampleResource(1)
    await one.commit(sampleBatch([{ before: null, after: resting }]))
    const begun = changed(resting, { status: 'creating', run: sampleRun() })
    await one.commit(sampleBatch([{ before: resting, after: begun }]))
    const late = () =>
      sampleBatch([{ before: resting, after: changed(resting, { status: 'extending', run: sampleRun() }) }])
    const conflict = { committed: false, conflicts: [1], keys: [] }
    expect(await other.commit(late())).toEqual(conflict)
    expect(
      await other.commit(sampleBatch([{ before: resting, after: changed(resting, { status: 'deleted' }) }])),
    ).toEqual(conflict)
    await one.commit(sampleBatch([{ before: begun, after: changed(begun, { status: 'available', run: null }) }]))
    expect(await other.commit(late())).toEqual(conflict)
  })

  test('S4 events are numbered without gaps and chained per resource, over handles', async (under) => {
    const handles = [await under.open(), await under.open()]
    const states = new Map<No, Resource | null>([1, 2, 3].map((no) => [no, null]))
    for (let n = 0; n < 30; n++) {
      const no = 1 + (n % 3)
      const before = states.get(no) ?? null
      const after = before === null ? sampleResource(no) : changed(before, {})
      const events = Array.from({ length: n % 4 }, () => sampleEvent(after, { detail: { n } }))
      const answer = await handles[n % 2]!.commit(sampleBatch([{ before, after }], { events }))
      expect(answer.committed).toEqual(true)
      states.set(no, after)
    }
    const events = await handles[0]!.events(0, 1000)
    expect(events.map((event) => event.n)).toEqual(Array.from({ length: 43 }, (_, n) => n + 1))
    for (const no of [1, 2, 3]) {
      const own = events.filter((event) => event.no === no)
      expect(own.map((event) => event.prev)).toEqual([0, ...own.slice(0, -1).map((event) => event.n)])
      expect(await handles[1]!.history(no, null, 100)).toEqual(own.toReversed())
      expect(await handles[1]!.history(no, own[3]!.n, 2)).toEqual([own[2], own[1]])
      expect(states.get(no)!.last).toEqual(own.at(-1)!.n)
    }
    expect(await handles[1]!.events(40, 2)).toEqual(events.slice(40, 42))
    expect(await handles[1]!.events(43, 2)).toEqual([])
  })

  test('S4 events that tell the same as others tell it all the same', async (under) => {
    const store = await under.open()
    const after = sampleResource(1)
    const [one, other] = [{ step: 'one', tries: [0] }, {}]
    const details = [one, one, null, one, other, null, null, other, one, null]
    const events = details.map((detail) => sampleEvent(after, { detail: detail && { ...detail } }))
    await store.commit(sampleBatch([{ before: null, after }], { events }))
    const told = (found: readonly Event[]) => found.map(({ detail }) => detail)
    expect(told(await store.events(0, 20))).toEqual(details)
    expect(told(await store.events(3, 2))).toEqual(details.slice(3, 5))
    expect(told(await store.history(1, null, 20))).toEqual(details.toReversed())
  })

  test('S5 a key is recorded with its commit and refused a second time', async (under) => {
    const store = await under.open()
    await store.commit(sampleBatch([{ before: null, after: sampleResource(1) }], { keys: [key('k', 1)] }))
    expect(
      await store.load([
        { ask: 'key', key: 'k' },
        { ask: 'key', key: 'other' },
      ]),
    ).toEqual([key('k', 1), null])
    const again = sampleBatch([{ before: null, after: sampleResource(2) }], { keys: [key('k', 2)] })
    expect(await store.commit(again)).toEqual({ committed: false, conflicts: [], keys: ['k'] })
    const twice = sampleBatch([{ before: null, after: sampleResource(2) }], { keys: [key('q', 2), key('q', 2)] })
    expect(await store.commit(twice)).toEqual({ committed: false, conflicts: [], keys: ['q'] })
  })

  test('S6 type and id are unique, also after the end', async (under) => {
    const store = await under.open()
    const first = sampleResource(1, { id: 'mine', status: 'deleted' })
    await store.commit(sampleBatch([{ before: null, after: first }]))
    const second = (patch: Partial<Resource>) =>
      store.commit(sampleBatch([{ before: null, after: sampleResource(2, { id: 'mine', ...patch }) }]))
    expect(await second({})).toEqual({ committed: false, conflicts: [1, 2], keys: [] })
    expect(await second({ type: 'server' })).toEqual({ committed: true, first: 2 })
    const same = [3, 4].map((no) => ({ before: null, after: sampleResource(no, { id: 'twin' }) }))
    expect(await store.commit(sampleBatch(same))).toEqual({ committed: false, conflicts: [3, 4], keys: [] })
    expect(await store.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))).toEqual({
      committed: false,
      conflicts: [1],
      keys: [],
    })
    const names = [
      { ask: 'named', type: 'volume', id: 'mine' },
      { ask: 'named', type: 'volume', id: 'nobody' },
    ] as const
    expect(await store.load(names)).toEqual([first, null])
  })

  test('S7 JSON comes back with the same text', async (under) => {
    const store = await under.open()
    const odd = {
      z: 1,
      a: [null, 1.5, 'ü\u0000"\ud800', {}],
      7: true,
      nested: { y: {}, b: [] },
      ['__proto__']: 1,
      big: 2 ** 53 - 1,
    }
    const run = sampleRun({
      input: odd,
      results: { step: odd },
      reasons: ['\ud800'],
      parked: { code: 'budget_spent', reason: 'x', at: 1.5 },
    })
    const after = sampleResource(1, {
      properties: odd,
      run,
      status: 'creating',
      description: 'a\ud800',
      name: '\u0000',
      tenant: '\ud800',
    })
    const events = [
      sampleEvent(after, { detail: odd, by: '"\ud800"', at: 0.1 + 0.2 }),
      sampleEvent(after, { at: 2 ** 41 + 0.5 }),
    ]
    const ended = [sampleEnd(after, { acceptedAt: 0.3, endedAt: 2 ** 41 + 0.1, by: '\ud800', status: '"' })]
    const keys = [{ ...key('\ud800', 1), hash: '\u0000' }]
    await store.commit(sampleBatch([{ before: null, after }], { events, ended, keys }))
    expect(canonical(await store.endedRuns({ limit: 1 }))).toEqual(canonical([{ ...ended[0], n: 1 }]))
    const [found, record] = await store.load([
      { ask: 'resource', no: 1 },
      { ask: 'key', key: '\ud800' },
    ])
    const text = (state: Resource) =>
      JSON.stringify([state.properties, state.run!.input, state.run!.results, state.run!.reasons])
    expect(text(found as Resource)).toEqual(text(after))
    expect(canonical(found)).toEqual(canonical(after))
    expect(canonical(record)).toEqual(canonical({ ...key('\ud800', 1), hash: '\u0000' }))
    const stored = await store.events(0, 2)
    expect(JSON.stringify(stored[0]!.detail)).toEqual(JSON.stringify(odd))
    expect(stored.map(({ by, at }) => [by, at])).toEqual(events.map(({ by, at }) => [by, at]))
  })

  test('S9 children and links list what is not terminal, in order', async (under) => {
    const store = await under.open()
    const family = [sampleResource(9), ...[8, 3, 5].map((no) => sampleResource(no, { parent: 9, links: { disk: 9 } }))]
    await store.commit(sampleBatch(family.map((after) => ({ before: null, after }))))
    const listed = async () => {
      const lists = await store.load([
        { ask: 'children', no: 9 },
        { ask: 'linkedBy', no: 9, link: 'disk' },
        { ask: 'linkedBy', no: 9, link: 'pair' },
      ])
      return lists.map((list) => (list as readonly Resource[]).map((one) => one.no))
    }
    expect(await listed()).toEqual([[3, 5, 8], [3, 5, 8], []])
    const [, eight, three] = family as [Resource, Resource, Resource]
    const gone = changed(eight, { status: 'deleted' })
    const moved = changed(three, { status: 'creating', run: sampleRun(), links: { pair: 9 } })
    await store.commit(
      sampleBatch([
        { before: eight, after: gone },
        { before: three, after: moved },
      ]),
    )
    expect(await listed()).toEqual([[3, 5], [5], [3]])
    await store.commit(sampleBatch([{ before: gone, after: changed(gone, { status: 'available' }) }]))
    expect(await listed()).toEqual([[3, 5, 8], [5, 8], [3]])
  })

  test('S9 S10 statuses are judged anew when their kind changes', async (under) => {
    const store = await under.open()
    const odd = sampleResource(2, { parent: 1, status: 'paused', links: { disk: 1 } })
    await store.commit(
      sampleBatch(
        [sampleResource(1), odd, sampleResource(3, { status: 'creating' })].map((after) => ({ before: null, after })),
      ),
    )
    const look = async () => [
      ((await store.load([{ ask: 'children', no: 1 }]))[0] as readonly Resource[]).length,
      ((await store.load([{ ask: 'linkedBy', no: 1, link: 'disk' }]))[0] as readonly Resource[]).length,
      (await store.work({ work: 'withoutRun' }, 0, 9)).map((one) => one.no),
      (await store.list({ limit: 9, after: 0 })).length,
    ]
    expect(await look()).toEqual([1, 1, [3], 3])
    await store.useKinds((type, status) =>
      status === 'paused' ? 'transitional' : status === 'creating' ? 'stable' : sampleKinds(type, status),
    )
    expect(await look()).toEqual([1, 1, [2], 3])
    await store.useKinds((type, status) => (status === 'paused' ? 'terminal' : sampleKinds(type, status)))
    expect(await look()).toEqual([0, 0, [3], 3])
    const answer = await store.commit(sampleBatch([{ before: odd, after: changed(odd, { status: 'available' }) }]))
    expect([answer.committed, ...(await look())]).toEqual([true, 1, 1, [3], 3])
  })

  test('S11 later commits leave earlier events as they were', async (under) => {
    const store = await under.open()
    let state = sampleResource(1)
    await store.commit(sampleBatch([{ before: null, after: state }]))
    const seen = await store.events(0, 10)
    for (let n = 0; n < 50; n++) {
      const next = changed(state, { status: n % 2 ? 'available' : 'deleted' })
      await store.commit(sampleBatch([{ before: state, after: next }]))
      state = next
    }
    expect(await store.events(0, 1)).toEqual(seen)
    expect((await store.history(1, null, 100)).at(-1)).toEqual(seen[0])
  })
}
