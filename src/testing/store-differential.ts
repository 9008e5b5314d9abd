// The memory store is the model: a stream of batches goes to it and to the store under test, and every answer must agree.
import { canonical, type Json } from '../base/json.ts'
import type { Ask } from '../decision/situation.ts'
import type { No } from '../decision/state.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type {
  Batch,
  IncidentsQuery,
  ListQuery,
  MaybePromise,
  OfTenant,
  RunsQuery,
  Store,
  TenantEventsQuery,
  WorkQuery,
} from '../store/store.ts'
import { BatchStream, sampleKinds } from './store-samples.ts'

/** Throws at the first answer that differs, with the seed and the question. `handles` are handles on one store. */
export async function compareWithModel(handles: readonly Store[], seed: number, batches: number): Promise<void> {
  const model = createMemoryStore()
  model.useKinds(sampleKinds)
  for (const handle of handles) await handle.useKinds(sampleKinds)
  const stream = new BatchStream(seed)
  const agree = async (what: string, ask: (store: Store) => MaybePromise<unknown>, handle: Store) => {
    const expected = canonical(await ask(model as Store))
    const found = canonical(await ask(handle))
    if (found === expected) return
    let at = 0
    while (found[at] === expected[at]) at++
    const near = (text: string) => text.slice(Math.max(0, at - 200), at + 200)
    throw new Error(
      `seed ${seed}: ${what.slice(0, 300)}, from character ${at}\n  model: ${near(expected)}\n  store: ${near(found)}`,
    )
  }
  for (let n = 0; n < batches; n++) {
    const handle = stream.pick(handles)
    // What a decision starts from is sometimes kept from the last commit and sometimes read again.
    if (stream.chance(0.1)) await reload(handle, stream)
    const batch = stream.batch()
    const copy = structuredClone(batch)
    const answer = await handle.commit(batch)
    const expected = model.commit(copy)
    if (canonical(answer) !== canonical(expected)) {
      throw new Error(`seed ${seed}, batch ${n}: model ${canonical(expected)}, store ${canonical(answer)}`)
    }
    if (answer.committed) {
      stream.accepted(batch)
      if (canonical(batch.writes) !== canonical(copy.writes))
        throw new Error(`seed ${seed}, batch ${n}: 'last' differs`)
    }
    const every = n === batches - 1 || stream.chance(0.1)
    for (const question of questions(stream, batch, every))
      await agree(`batch ${n}, ${canonical(question as unknown as Json)}`, asked(question), stream.pick(handles))
  }
}

async function reload(handle: Store, stream: BatchStream): Promise<void> {
  for (const no of stream.states.keys()) {
    const [state] = await handle.load([{ ask: 'resource', no }])
    if (state !== null && state !== undefined && 'revision' in state) stream.states.set(no, state)
  }
}

type Question =
  | { readonly load: readonly Ask[] }
  | { readonly work: WorkQuery; readonly now: number; readonly limit: number; readonly after: No }
  | { readonly list: ListQuery }
  | { readonly history: No; readonly before: number | null; readonly limit: number }
  | { readonly events: number; readonly limit: number }
  | { readonly tenantEvents: TenantEventsQuery }
  | { readonly ended: RunsQuery }
  | { readonly incidents: IncidentsQuery }
  | { readonly counts: OfTenant }
  | { readonly late: No }
  | { readonly other: 'liveShapes' }

function asked(question: Question): (store: Store) => MaybePromise<unknown> {
  if ('load' in question) return (store) => store.load(question.load)
  if ('work' in question) return (store) => store.work(question.work, question.now, question.limit, question.after)
  if ('list' in question) return (store) => store.list(question.list)
  if ('history' in question) return (store) => store.history(question.history, question.before, question.limit)
  if ('events' in question) return (store) => store.events(question.events, question.limit)
  if ('ended' in question) return (store) => store.endedRuns(question.ended)
  if ('late' in question) return (store) => store.lateResults(question.late)
  if ('tenantEvents' in question) return (store) => store.tenantEvents(question.tenantEvents)
  // Their numbers are each store's own: only the order that they give is promised.
  if ('incidents' in question)
    return async (store) => (await store.incidents(question.incidents)).map((one) => ({ ...one, n: 0 }))
  if ('counts' in question) return (store) => store.counts(question.counts)
  return async (store) => [...(await store.liveShapes())].map((shape) => canonical(shape)).sort()
}

function* questions(stream: BatchStream, batch: Batch, every: boolean): Generator<Question> {
  const states = [...stream.states.values()]
  for (const { after } of batch.writes) {
    yield { load: [{ ask: 'resource', no: after.no }] }
    yield { load: [{ ask: 'named', type: after.type, id: after.id }] }
    yield { history: after.no, before: null, limit: 4 }
    if (after.run !== null) yield { load: [{ ask: 'endedRun', no: after.no, begun: after.run.begun - 1 }] }
  }
  if (!every || states.length === 0) return
  const some = Array.from({ length: 10 }, () => stream.pick(states))
  const asks = some.flatMap((state): Ask[] => [
    { ask: 'resource', no: state.no },
    { ask: 'named', type: state.type, id: state.id },
    { ask: 'named', type: 'server', id: state.id },
    { ask: 'children', no: state.no },
    { ask: 'linkedBy', no: state.no, link: 'disk' },
    { ask: 'linkedBy', no: state.no, link: 'pair' },
    ...batch.keys.map((key): Ask => ({ ask: 'key', key: key.key })),
    { ask: 'endedRun', no: state.no, begun: state.epoch - 1 },
    { ask: 'endedRun', no: state.no, begun: 999 },
  ])
  yield { load: asks }
  const now = stream.time
  const works: WorkQuery[] = [
    { work: 'ownedBy', owners: [1, 3] },
    { work: 'waiting' },
    { work: 'withoutRun' },
    { work: 'overdue' },
    { work: 'timers' },
    { work: 'orphans' },
  ]
  for (const work of works) {
    yield { work, now, limit: 1000, after: 0 }
    yield { work, now: now - 500, limit: 3, after: stream.pick(states).no }
  }
  for (const state of some) {
    const limit = 1 + stream.random.below(5)
    const after = stream.chance(0.5) ? 0 : stream.pick(states).no
    yield { list: { limit, after } }
    yield { list: { limit, after, type: state.type } }
    yield { list: { limit, after, type: state.type, status: [state.status, 'available'] } }
    yield { list: { limit, after, tenant: state.tenant, status: [state.status] } }
    yield { list: { limit, after, parent: state.parent ?? state.no } }
    yield { list: { limit, after, name: state.name ?? 'web', type: 'volume' } }
    yield { list: { limit: 1000, after: 0, tenant: 'acme', name: state.name ?? 'web' } }
    yield { history: state.no, before: state.last, limit: 3 }
    yield { history: state.no, before: stream.random.below(state.last + 10), limit: 3 }
    yield { ended: { no: state.no, limit: 3 } }
    yield { late: state.no }
  }
  yield { events: stream.random.below(100), limit: 7 }
  yield { events: 0, limit: 100_000 }
  yield { ended: { limit: 20 } }
  yield { ended: { limit: 5, before: stream.random.below(40) } }
  yield { other: 'liveShapes' }
  yield { counts: {} }
  yield { incidents: { limit: 5 } }
  for (const tenant of ['', 'acme', stream.pick(states).tenant, 'nobody']) yield* ofTenant(stream, tenant, works)
}

function* ofTenant(stream: BatchStream, tenant: string, works: readonly WorkQuery[]): Generator<Question> {
  const now = stream.time
  const states = [...stream.states.values()]
  for (const work of works) {
    yield { work: { ...work, tenant }, now, limit: 1000, after: 0 }
    yield { work: { ...work, tenant }, now, limit: 2, after: stream.pick(states).no }
  }
  const { no } = stream.pick(states)
  yield { counts: { tenant } }
  yield { incidents: { tenant, limit: 5 } }
  yield { incidents: { tenant, no, limit: 5 } }
  yield { ended: { tenant, limit: 4 } }
  yield { ended: { tenant, limit: 3, before: stream.random.below(40) } }
  yield { ended: { tenant, no, limit: 3 } }
  const after = stream.random.below(100)
  yield { tenantEvents: { tenant, after: 0, limit: 100_000, look: 100_000 } }
  yield { tenantEvents: { tenant, after, limit: 3, look: 100_000 } }
  yield { tenantEvents: { tenant, after, limit: 100, look: 7 } }
}
