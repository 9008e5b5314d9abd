// The reference: the plainest code that keeps the promises of the port. One backend holds the state; each handle opened on it
// stands for a process, so that a simulation can run several on one store and let them die.
import { unreachable } from '../base/assert.ts'
import type { Millis } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { canonical, type Json } from '../base/json.ts'
import type { Ask } from '../decision/situation.ts'
import type { EndedRun, Incarnation, Incident, LateResult, No, Resource, StoredEvent } from '../decision/state.ts'
import { isWork, wakeOf } from './facts.ts'
import { Listeners } from './listeners.ts'
import { Backend, byNo, nameOf, type Process } from './memory-backend.ts'
import type {
  Answer,
  Batch,
  Beside,
  CommitAnswer,
  IncidentsQuery,
  JournalEntry,
  KindOf,
  ListQuery,
  OfTenant,
  RecordsQuery,
  RunsQuery,
  StatusCount,
  Store,
  StoredIncident,
  StoredRecord,
  StoredRun,
  TenantEvents,
  TenantEventsQuery,
  WorkerRow,
  WorkQuery,
} from './store.ts'
import { emptyBatch } from './store.ts'

/** All answers come at once: nothing here is a promise. */
type Now<T> = T extends (...args: infer Args) => infer Result ? (...args: Args) => Awaited<Result> : T
type SynchronousStore = {
  readonly [
    Method in Exclude<
      keyof Store,
      'clock' | 'keepBeating' | 'commitsAtOnce' | 'learnsLater' | 'loadNow' | 'offerWaiting' | 'removeHistory'
    >
  ]: Now<Store[Method]>
}

export interface MemoryStore extends SynchronousStore {
  /** The process is gone at once: its incarnations are dead, and nothing can be asked through this handle any more. */
  crash(): void
}

export interface MemoryBackend {
  /** One handle is one process. */
  open(): MemoryStore
  /** For checkers that look from outside. */
  readonly resources: ReadonlyMap<No, Resource>
  readonly history: readonly StoredEvent[]
  readonly endedRuns: readonly EndedRun[]
}

/** A store of its own with one handle. */
export const createMemoryStore = (): MemoryStore => createMemoryBackend().open()

export function createMemoryBackend(state = new Backend()): MemoryBackend {
  return {
    open: () => new Handle(state),
    resources: state.resources,
    history: state.history,
    endedRuns: state.ended,
  }
}

class Handle implements MemoryStore, Process {
  private readonly state: Backend
  private readonly listeners = new Listeners()
  private foreign = false
  isOpen = true

  constructor(state: Backend) {
    this.state = state
    state.handles.add(this)
  }

  useKinds(kindOf: KindOf): void {
    this.state.useKinds(kindOf)
  }

  register({ name, leaseMs, now }: { name: string; leaseMs: number; now: Millis }): Incarnation {
    this.mustBeOpen()
    const no = ++this.state.incarnations
    const row = {
      no,
      name,
      startedAt: now,
      beatAt: now,
      leaseUntil: now + leaseMs,
      state: 'live',
      process: this,
    } as const
    this.state.workers.set(no, row)
    return no
  }

  beat({ no, leaseMs, now }: { no: Incarnation; leaseMs: number; now: Millis }): boolean {
    this.mustBeOpen()
    const worker = this.state.workers.get(no)
    if (worker === undefined || worker.state !== 'live' || worker.leaseUntil <= now) return false
    this.state.workers.set(no, { ...worker, beatAt: now, leaseUntil: now + leaseMs })
    return true
  }

  end({ no, as, now }: { no: Incarnation; as: 'ended' | 'dead' | 'expired'; now: Millis }): boolean {
    this.mustBeOpen()
    const worker = this.state.workers.get(no)
    if (worker === undefined || worker.state !== 'live') return false
    if (as === 'expired' && worker.leaseUntil > now) return false
    this.state.workers.set(no, { ...worker, state: as })
    return true
  }

  workers(now: Millis): readonly WorkerRow[] {
    this.mustBeOpen()
    const rows: WorkerRow[] = []
    for (const { no, name, startedAt, beatAt, leaseUntil, state, process } of this.state.workers.values()) {
      const found = !process.isOpen ? 'dead' : leaseUntil <= now ? 'expired' : 'live'
      rows.push({ no, name, startedAt, beatAt, leaseUntil, state: state === 'live' ? found : state })
    }
    for (const no of this.owners()) {
      if (this.state.workers.has(no)) continue
      rows.push({ no, name: '', startedAt: 0, beatAt: 0, leaseUntil: 0, state: 'dead' })
    }
    return rows.sort((a, b) => a.no - b.no)
  }

  forgetWorkers(nos: readonly Incarnation[]): void {
    this.mustBeOpen()
    const owners = this.owners()
    for (const no of nos) {
      if (this.state.workers.get(no)?.state !== 'live' && !owners.has(no)) this.state.workers.delete(no)
    }
  }

  load(asks: readonly Ask[]): readonly Answer[] {
    this.mustBeOpen()
    return asks.map((ask) => this.answer(ask))
  }

  commit(batch: Batch): CommitAnswer {
    this.mustBeOpen()
    const { conflicts, keys, records } = this.state.conflictsOf(batch)
    if (conflicts.size > 0 || keys.size > 0 || records.length > 0) {
      const answer = { committed: false, conflicts: [...conflicts].sort(byNo), keys: [...keys].sort() } as const
      return records.length === 0 ? answer : { ...answer, records }
    }
    const first = this.state.apply(batch)
    for (const handle of this.state.handles) handle.changed(handle !== this)
    return { committed: true, first }
  }

  changed(foreign: boolean): void {
    this.foreign ||= foreign
    this.listeners.wake()
  }

  othersWrote(): boolean {
    this.mustBeOpen()
    const wrote = this.foreign
    this.foreign = false
    return wrote
  }

  work(query: WorkQuery, now: Millis, limit: number, after: No = 0): readonly Resource[] {
    this.mustBeOpen()
    const { live, timed, orphaned } = this.state
    const among = query.work === 'timers' ? timed : query.work === 'orphans' ? orphaned : live
    const found: Resource[] = []
    for (const no of among) {
      const resource = this.state.resources.get(no)!
      if (query.work !== 'timers' && no <= after) continue
      if (!isOf(query, resource)) continue
      if (isWork(query, resource, this.state.kind(resource), now)) found.push(resource)
    }
    found.sort((a, b) => (query.work === 'timers' ? wakeOf(a.timers)! - wakeOf(b.timers)! : 0) || a.no - b.no)
    return found.slice(0, limit)
  }

  list(query: ListQuery): readonly Resource[] {
    this.mustBeOpen()
    const found: Resource[] = []
    for (const resource of this.state.resources.values()) if (fits(resource, query)) found.push(resource)
    return found.sort((a, b) => a.no - b.no).slice(0, query.limit)
  }

  counts(of: OfTenant = {}): readonly StatusCount[] {
    this.mustBeOpen()
    const counts = new Map<string, StatusCount>()
    for (const resource of this.state.resources.values()) {
      if (!isOf(of, resource)) continue
      const { type, status } = resource
      const key = nameOf(type, status)
      counts.set(key, { type, status, count: (counts.get(key)?.count ?? 0) + 1 })
    }
    return [...counts.keys()].sort().map((key) => counts.get(key)!)
  }

  history(no: No, before: number | null, limit: number): readonly StoredEvent[] {
    this.mustBeOpen()
    const page: StoredEvent[] = []
    for (let n = this.state.resources.get(no)?.last ?? 0; n > 0 && page.length < limit;) {
      const event = this.state.history[n - 1]!
      if (before === null || n < before) page.push(event)
      n = event.prev
    }
    return page
  }

  events(after: number, limit: number): readonly StoredEvent[] {
    this.mustBeOpen()
    return this.state.history.slice(after, after + limit)
  }

  tenantEvents({ tenant, after, limit, look }: TenantEventsQuery): TenantEvents {
    const found: StoredEvent[] = []
    let looked = after
    for (const event of this.events(after, look)) {
      if (found.length === limit) break
      if (this.state.resources.get(event.no)?.tenant === tenant) found.push(event)
      looked = event.n
    }
    return { events: found, looked }
  }

  endedRuns({ no, tenant, before = Infinity, limit }: RunsQuery): readonly StoredRun[] {
    this.mustBeOpen()
    const found: StoredRun[] = []
    for (let n = Math.min(before - 1, this.state.ended.length); n > 0 && found.length < limit; n--) {
      const run = this.state.ended[n - 1]!
      if (no !== undefined && run.no !== no) continue
      if (tenant === undefined || this.state.resources.get(run.no)?.tenant === tenant) found.push({ ...run, n })
    }
    return found
  }

  lateResults(no: No): readonly LateResult[] {
    this.mustBeOpen()
    return this.state.late.get(no) ?? []
  }

  incidents({ no, tenant, before = Infinity, limit }: IncidentsQuery): readonly StoredIncident[] {
    this.mustBeOpen()
    const fitting = [...this.state.incidents.values()].filter(
      (one) =>
        one.n < before &&
        (no === undefined || one.no === no) &&
        (tenant === undefined || this.state.resources.get(one.no)?.tenant === tenant),
    )
    return fitting.reverse().slice(0, limit)
  }

  closeIncident(no: No, kind: Incident['kind'], beside: Beside = {}): boolean {
    if (!this.commit({ ...emptyBatch, ...beside }).committed) return false
    this.state.incidents.delete(`${no} ${kind}`)
    return true
  }

  setting(name: string): Json {
    this.mustBeOpen()
    return this.state.settings.get(name) ?? null
  }

  changeSetting(name: string, from: Json, to: Json): boolean {
    if (canonical(this.setting(name)) !== canonical(from)) return false
    this.state.settings.set(name, to)
    return true
  }

  record(kind: string, key: string): StoredRecord | null {
    this.mustBeOpen()
    return this.state.records.get(nameOf(kind, key)) ?? null
  }

  records({ kind, tenant, after, limit }: RecordsQuery): readonly StoredRecord[] {
    this.mustBeOpen()
    const found = [...this.state.records.values()].filter(
      (one) => one.kind === kind && one.key > after && (tenant === undefined || tenantIn(one.value) === tenant),
    )
    return found.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit)
  }

  journal(after: number, limit: number): readonly JournalEntry[] {
    this.mustBeOpen()
    return this.state.journal.slice(after, after + limit)
  }

  journalLength(): number {
    this.mustBeOpen()
    return this.state.journal.length
  }

  liveShapes() {
    this.mustBeOpen()
    const shapes = new Map<string, { type: string; status: string; operation: string; step: number; count: number }>()
    for (const { type, status, run } of this.state.find(this.state.live)) {
      const shape = { type, status, operation: run?.operation ?? '', step: run?.step ?? -1 }
      const key = canonical(shape)
      shapes.set(key, { ...shape, count: (shapes.get(key)?.count ?? 0) + 1 })
    }
    return [...shapes.keys()].sort().map((key) => shapes.get(key)!)
  }

  onChange(wake: () => void): () => void {
    return this.listeners.add(wake)
  }

  close(): void {
    this.crash()
  }

  crash(): void {
    this.isOpen = false
    this.listeners.clear()
    this.state.handles.delete(this)
  }

  private mustBeOpen(): void {
    if (!this.isOpen) throw new HomeostatError('store_unavailable', 'The store is closed. Open it again.')
  }

  private owners(): Set<Incarnation> {
    const owners = new Set<Incarnation>()
    for (const no of this.state.live) {
      const owner = this.state.resources.get(no)!.run?.owner ?? 0
      if (owner !== 0) owners.add(owner)
    }
    return owners
  }

  private answer(ask: Ask): Answer {
    const { state } = this
    switch (ask.ask) {
      case 'resource':
        return state.resources.get(ask.no) ?? null
      case 'named':
        return state.named(ask.type, ask.id)
      case 'children':
        return state.find(state.children.get(ask.no))
      case 'linkedBy':
        return state.find(state.linked.get(`${ask.link} ${ask.no}`))
      case 'key':
        return state.keys.get(ask.key) ?? null
      case 'endedRun':
        return state.endedOf.get(ask.no)?.find((run) => run.begun === ask.begun) ?? null
      default:
        return unreachable(ask)
    }
  }
}

const isOf = ({ tenant }: OfTenant, resource: Resource): boolean => tenant === undefined || resource.tenant === tenant

const tenantIn = (value: Json): unknown => (value as { readonly tenant?: unknown } | null)?.tenant

function fits(resource: Resource, query: ListQuery): boolean {
  return (
    resource.no > query.after &&
    (query.type === undefined || resource.type === query.type) &&
    (query.status === undefined || query.status.includes(resource.status)) &&
    isOf(query, resource) &&
    (query.parent === undefined || resource.parent === query.parent) &&
    (query.name === undefined || resource.name === query.name)
  )
}
