// What can be asked of an engine without changing anything. Everything is read from the store, as committed.
import type { Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { openOperations } from '../decision/begin-run.ts'
import type { Command } from '../decision/command.ts'
import { decide } from '../decision/decide.ts'
import type { Rejection } from '../decision/decision.ts'
import { Draft } from '../decision/draft.ts'
import { explain, type Explanation, type Pace } from '../decision/explain.ts'
import { isOrphan } from '../decision/ledger.ts'
import {
  parseRunId,
  type EndedRun,
  type Incident,
  type LateResult,
  type LedgerEntry,
  type No,
  type Resource,
  type RunRef,
  type StoredEvent,
} from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type {
  Beside,
  IncidentsQuery,
  JournalEntry,
  ListQuery,
  MaybePromise,
  OfTenant,
  RecordsQuery,
  StatusCount,
  Store,
  StoredIncident,
  StoredRecord,
  TenantEvents,
  WorkerRow,
} from '../store/store.ts'
import type { EngineSettings } from './options.ts'
import { existingNamed, findNamed, read } from './read.ts'
import { endedRunView, liveRunView, type RunView } from './run-view.ts'

export interface Page {
  readonly resources: readonly Resource[]
  /** Give it as `after` for the next page; null: this was the last. */
  readonly next: No | null
}

export interface Orphan {
  readonly resource: Resource
  readonly entry: LedgerEntry
}

/** Where a page of runs begins: among those under way, by resource, or among the ended ones. */
export type RunsFrom = { readonly liveAfter: No } | { readonly endedBefore: number }

export interface RunsAsked extends OfTenant {
  readonly limit?: number
  readonly from?: RunsFrom
}

export interface RunsPage {
  readonly runs: readonly RunView[]
  /** Where the next page begins; null: this was the last. */
  readonly next: RunsFrom | null
}

export interface EventsFor extends TenantEvents {
  /** Retention has removed what was asked for up to this number, his or not; null: nothing is missing. */
  readonly removedTo: number | null
}

type RecordsAsked = Partial<Omit<RecordsQuery, 'kind'>>

const listMax = 1_000
/** Events that are looked at for one page of a tenant's. */
const eventsLooked = 10_000
const historyPage = 200
const firstRun: RunsFrom = { liveAfter: 0 }

export class EngineReads {
  readonly plans: Plans
  readonly settings: EngineSettings
  protected readonly store: Store
  protected readonly clock: Clock

  constructor(context: {
    readonly store: Store
    readonly plans: Plans
    readonly clock: Clock
    readonly settings: EngineSettings
  }) {
    this.store = context.store
    this.plans = context.plans
    this.clock = context.clock
    this.settings = context.settings
  }

  async get(type: string, id: string): Promise<Resource | null> {
    return findNamed(this.store, type, id)
  }

  async getByNo(no: No): Promise<Resource | null> {
    const [found] = await this.store.load([{ ask: 'resource', no }])
    return (found ?? null) as Resource | null
  }

  /** In the order of the numbers given; null for those that are not there. */
  async getMany(nos: readonly No[]): Promise<readonly (Resource | null)[]> {
    if (nos.length === 0) return []
    return (await this.store.load(nos.map((no) => ({ ask: 'resource', no })))) as readonly (Resource | null)[]
  }

  /** Why a command would be refused now; null: it would be accepted. Nothing is done. */
  async wouldRefuse(command: Command): Promise<Rejection | null> {
    return read(this.#from, (situation) => {
      const decision = decide(this.plans, situation, command)
      return decision.accepted ? null : decision.rejection
    })
  }

  /** A record kept beside resources: a token, a webhook, a bulk operation. */
  async record(kind: string, key: string): Promise<StoredRecord | null> {
    return this.store.record(kind, key)
  }

  /** In the order of their keys. */
  async records(
    kind: string,
    { after = '', limit = listMax, tenant }: RecordsAsked = {},
  ): Promise<readonly StoredRecord[]> {
    return this.store.records({ kind, after, tenant, limit: Math.min(limit, listMax) })
  }

  async journal(after: number, limit = listMax): Promise<readonly JournalEntry[]> {
    return this.store.journal(after, Math.min(limit, listMax))
  }

  /** The newest first, of those before a number. */
  async journalBack(before: number | null, limit = listMax): Promise<readonly JournalEntry[]> {
    const last = before === null ? await this.store.journalLength() : before - 1
    const count = Math.min(limit, listMax, last)
    return count <= 0 ? [] : (await this.store.journal(last - count, count)).toReversed()
  }

  async events(after: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.store.events(after, Math.min(limit, listMax))
  }

  /** Those of one tenant, or of all, and how far was looked: others' events may lie between them. */
  async eventsFor(tenant: string | null, after: number, limit: number): Promise<EventsFor> {
    const most = Math.min(limit, listMax)
    if (tenant === null) {
      const events = await this.store.events(after, most)
      return { events, looked: events.at(-1)?.n ?? after, removedTo: removedBefore(events[0], after) }
    }
    const found = await this.store.tenantEvents({ tenant, after, limit: most, look: eventsLooked })
    if (found.looked === after || found.events[0]?.n === after + 1) return { ...found, removedTo: null }
    // Looked at afterwards: what goes meanwhile is told rather once too often.
    const removedTo = removedBefore((await this.store.events(after, 1))[0], after)
    return { ...found, looked: Math.max(found.looked, removedTo ?? 0), removedTo }
  }

  /** By number, from `after` on; a page that is not full is the last. */
  async list(query: Partial<ListQuery> = {}): Promise<Page> {
    const limit = Math.max(1, Math.min(query.limit ?? 100, listMax))
    const resources = await this.store.list({ ...query, limit, after: query.after ?? 0 })
    return { resources, next: resources.length < limit ? null : resources.at(-1)!.no }
  }

  /** Newest first. */
  async history(type: string, id: string, before: number | null = null, limit = 100): Promise<readonly StoredEvent[]> {
    const { no } = await this.existing(type, id)
    return this.store.history(no, before, Math.min(limit, listMax))
  }

  /** A run by its public name, under way or ended. */
  async run(id: string): Promise<RunView> {
    const ref = refOf(id)
    const [found, ended] = await this.store.load([
      { ask: 'resource', no: ref.no },
      { ask: 'endedRun', no: ref.no, begun: ref.begun },
    ])
    const resource = found as Resource | null
    if (resource?.run?.begun === ref.begun) return liveRunView(resource)
    if (ended) return endedRunView(ended as EndedRun)
    throw new HomeostatError('run_not_found', `There is no run ${id}.`)
  }

  /** What a run did: its events, newest first. */
  async runHistory(id: string, limit = 500): Promise<readonly StoredEvent[]> {
    const { no, begun } = refOf(id)
    return (await this.#historyOf(no, new Set([begun]), (found) => found >= limit)).slice(0, limit)
  }

  /** What some runs of one resource did: their events, newest first, as far as they are among its latest `look` ones. */
  async runHistories(no: No, begun: ReadonlySet<number>, look = 1_000): Promise<readonly StoredEvent[]> {
    return this.#historyOf(no, begun, (_, looked) => looked >= look)
  }

  /** Until enough was found, or was looked at. */
  async #historyOf(
    no: No,
    begun: ReadonlySet<number>,
    isEnough: (found: number, looked: number) => boolean,
  ): Promise<readonly StoredEvent[]> {
    const first = Math.min(...begun)
    const found: StoredEvent[] = []
    for (let before: number | null = null, looked = 0; !isEnough(found.length, looked);) {
      const page: readonly StoredEvent[] = await this.store.history(no, before, historyPage)
      found.push(...page.filter((event) => begun.has(event.begun)))
      const oldest = page.at(-1)
      // Events of a run are never older than its acceptance, at this epoch.
      if (oldest === undefined || page.length < historyPage || oldest.epoch < first) break
      before = oldest.n
      looked += page.length
    }
    return found
  }

  /** Of one resource: the run under way and the ended ones, newest first. */
  async runsOf(type: string, id: string, limit = 100): Promise<readonly RunView[]> {
    return (await this.runsPageOf(type, id, { limit })).runs
  }

  /** The same page by page: `before` is the number of an ended run, as `next` is. */
  async runsPageOf(
    type: string,
    id: string,
    { limit = 100, before }: { readonly limit?: number; readonly before?: number | undefined } = {},
  ): Promise<{ readonly runs: readonly RunView[]; readonly next: number | null }> {
    const resource = await this.existing(type, id)
    const live = resource.run === null || before !== undefined ? [] : [liveRunView(resource)]
    const left = Math.max(1, Math.min(limit, listMax)) - live.length
    // One more than there is room for tells whether there is a next page, also where only the live one fits.
    const found = await this.store.endedRuns({ no: resource.no, before, limit: left + 1 })
    const next = found.length <= left ? null : found[left]!.n + 1
    return { runs: [...live, ...found.slice(0, left).map(endedRunView)], next }
  }

  /** Of all resources, or of a tenant's: those under way, then the ended ones, newest first. */
  async runs({ limit = 100, tenant, from = firstRun }: RunsAsked = {}): Promise<RunsPage> {
    const most = Math.max(1, Math.min(limit, listMax))
    const runs: RunView[] = []
    if ('liveAfter' in from) {
      const now = this.clock.now()
      const owners = (await this.store.workers(now)).map((row) => row.no)
      const query = { work: 'ownedBy', owners: [0, ...owners], tenant } as const
      const live = await this.store.work(query, now, most, from.liveAfter)
      // A damaged one may have an owner and no run that can be read.
      runs.push(...live.filter(({ run }) => run !== null).map(liveRunView))
      if (live.length === most) return { runs, next: { liveAfter: live.at(-1)!.no } }
    }
    const before = 'endedBefore' in from ? from.endedBefore : undefined
    const left = most - runs.length
    const ended = await this.store.endedRuns({ tenant, before, limit: left })
    runs.push(...ended.map(endedRunView))
    return { runs, next: ended.length < left ? null : { endedBefore: ended.at(-1)!.n } }
  }

  /** Why it stands where it stands, and what happens next by itself, when. `within`: without the names of what other tenants have. */
  async explain(type: string, id: string, within?: string): Promise<Explanation> {
    // At once: where the store is far, each is a way there and back. A near one may throw on the spot, before the others are waited for.
    const workersNow = async () => this.store.workers(this.clock.now())
    const [resource, workers, held] = await Promise.all([this.existing(type, id), workersNow(), this.healingHeld()])
    const live = new Set(workers.filter((row) => row.state === 'live').map((row) => row.no))
    const { leaseMs, healEveryMs } = this.settings
    const isSwept = (of: string) => this.settings.sweep[of] !== 'list'
    const pace = { leaseMs, healEveryMs, isAlive: (owner: number) => live.has(owner), held, isSwept }
    const lastFailure = await this.#lastFailure(resource)
    return read(this.#from, (situation) => explain(this.plans, situation, resource, pace, { lastFailure, within }))
  }

  /** What may be asked of it now, as far as that can be told without the input. */
  openOperations(resource: Resource): MaybePromise<readonly string[]> {
    const plan = this.plans.get(resource.type)
    if (plan === undefined) return []
    return read(this.#from, (situation) => openOperations(new Draft(this.plans, situation, ''), plan, resource))
  }

  /** Why the attempt before the present one failed. The run itself keeps only what ended a step. */
  async #lastFailure({ no, run }: Resource): Promise<string | null> {
    if (run === null || run.attempt <= 1) return null
    const events = await this.store.history(no, null, 50)
    const failed = events.find((event) => event.kind === 'attemptFailed' && event.begun === run.begun)
    const reason = failed?.detail?.['reason']
    return typeof reason === 'string' ? reason : null
  }

  /** Tells of a stuck resource why it is not healed by itself: what people have set, as it is now. */
  protected async healingHeld(): Promise<Pace['held']> {
    return () => null
  }

  async ledger(type: string, id: string): Promise<readonly LedgerEntry[]> {
    return (await this.existing(type, id)).ledger
  }

  /** The related resources by relation. */
  async related(type: string, id: string): Promise<Readonly<Record<string, readonly Resource[]>>> {
    const resource = await this.existing(type, id)
    const relations = this.plans.get(type)?.relations ?? new Map()
    return read(this.#from, (situation) => {
      const draft = new Draft(this.plans, situation, '')
      const found: Record<string, readonly Resource[]> = {}
      for (const [name, relation] of relations) found[name] = draft.related(resource, relation)
      return found
    })
  }

  async lateResults(type: string, id: string): Promise<readonly LateResult[]> {
    const { no } = await this.existing(type, id)
    return this.store.lateResults(no)
  }

  /** What exists in the real world and nobody owns any more. */
  async orphans(limit = 100, after: No = 0, tenant?: string): Promise<readonly Orphan[]> {
    const found = await this.store.work({ work: 'orphans', tenant }, this.clock.now(), Math.min(limit, listMax), after)
    return found.flatMap((resource) => resource.ledger.filter(isOrphan).map((entry) => ({ resource, entry })))
  }

  /** For how long the oldest of the first runs that are due has waited to be claimed; 0: none waits. */
  async oldestWaitMs(): Promise<number> {
    const now = this.clock.now()
    const waiting = await this.store.work({ work: 'waiting' }, now, 100)
    const waits = waiting.map(({ run }) => (run === null ? 0 : now - Math.max(run.acceptedAt, run.dueAt)))
    return Math.max(0, ...waits)
  }

  /** The open ones, newest first; `before` is the number of one. */
  async incidents(limit = 100, of: Omit<IncidentsQuery, 'limit'> = {}): Promise<readonly StoredIncident[]> {
    return this.store.incidents({ ...of, limit: Math.min(limit, listMax) })
  }

  /** With what is written beside it, in one commit; false: a record is no longer as it was read. */
  async closeIncident(no: No, kind: Incident['kind'], beside?: Beside): Promise<boolean> {
    return this.store.closeIncident(no, kind, beside)
  }

  async workers(): Promise<readonly WorkerRow[]> {
    return this.store.workers(this.clock.now())
  }

  async counts(of?: OfTenant): Promise<readonly StatusCount[]> {
    return this.store.counts(of)
  }

  protected async existing(type: string, id: string): Promise<Resource> {
    return existingNamed(this.store, type, id)
  }

  get #from() {
    return { store: this.store, plans: this.plans, clock: this.clock }
  }
}

/** Numbers have no gaps, and what is removed is the oldest. */
const removedBefore = (first: StoredEvent | undefined, after: number): number | null =>
  first === undefined || first.n === after + 1 ? null : first.n - 1

export function refOf(id: string): RunRef {
  const ref = parseRunId(id)
  if (ref === null) throw new HomeostatError('run_not_found', `'${id}' is no name of a run.`)
  return ref
}
