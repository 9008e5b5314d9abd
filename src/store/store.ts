// The port to what is remembered. No rule of any lifecycle is in it: a store loads, commits, lists and keeps leases.
//
// Promises, quoted by number in the conformance suite:
// S1  A commit is visible whole or not at all, to every reader, also after a crash of the process at any moment.
// S2  Once `commit` has answered `committed`, the batch survives the death of the process (SQLite: and of the machine).
// S3  A commit whose `before` or guard is no longer so writes nothing and answers with the conflict.
// S4  Events are numbered 1, 2, 3 ... without gaps in the order of commits; a number that a reader sees means that all
//     smaller ones are visible. `prev` chains the events of one resource.
// S5  A key is recorded with its commit; a second commit with the same key conflicts and writes nothing.
// S6  Type and id are unique among all resources, terminal ones included.
// S7  What is read back equals what was written, byte for byte in its JSON.
// S8  A beat renews only an incarnation that has not ended; a lease that ended stays ended.
// S9  `children` and `linkedBy` list exactly the resources that are not terminal, in the order of their numbers.
// S10 `work` lists live runs and unowned transitional resources by the asked criterion; it misses none that was committed before.
// S11 Nothing ever changes or removes an event, except retention, which removes the oldest and never one of a live run.
// S12 Two handles on one store (two processes) keep all the promises together.
// S13 Records are changed in the same commit as the rest of the batch, each only if it is still at the version that the change names;
//     else nothing of the batch is written and the answer names the records that differ.
// S14 Entries of the journal are numbered 1, 2, 3 ... without gaps in the order of commits. The hash of each is made from the hash
//     before it and from itself (`chain.ts`). Nothing changes or removes an entry.
// S15 What is asked for one tenant is of that tenant and nothing else, and a limit counts only what is of it.
import type { Clock, Millis } from '../base/clock.ts'
import type { Json } from '../base/json.ts'
import type { Ask } from '../decision/situation.ts'
import type { StatusKind } from '../lifecycle/resource-type.ts'
import type {
  EndedRun,
  Event,
  Incarnation,
  Incident,
  KeyRecord,
  LateResult,
  No,
  Resource,
  StoredEvent,
} from '../decision/state.ts'

/** Stores in the same process answer at once; others later. The door handles both. */
export type MaybePromise<T> = T | Promise<T>

export interface Write {
  /** The state the decision started from (its revision and epoch are verified); null: the resource must not exist. */
  readonly before: Resource | null
  readonly after: Resource
}

/** How a store learns what a status means: it knows no lifecycle itself. */
export type KindOf = (type: string, status: string) => StatusKind
/** A status that resources may stand in: a store can prepare for it before the first does. */
export interface Declared {
  readonly type: string
  readonly status: string
}

/** Facts that decisions read from the store: verified in the commit, against the store as it is before the batch. */
export type Guard =
  | { readonly guard: 'revision'; readonly no: No; readonly revision: number }
  | { readonly guard: 'children'; readonly no: No; readonly members: readonly No[] }
  | { readonly guard: 'linkedBy'; readonly no: No; readonly link: string; readonly members: readonly No[] }
  /** Nobody has this type and id. */
  | { readonly guard: 'absent'; readonly type: string; readonly id: string }

/** A small fact beside resources (a token, a webhook, how far a bulk operation is), found by kind and key: ASCII, 300 characters at most. */
export interface StoredRecord {
  readonly kind: string
  readonly key: string
  /** Null: it is damaged and cannot be read. */
  readonly value: Json
  /** 1 when it was made; one more with each change. */
  readonly version: number
}

export interface RecordChange {
  readonly kind: string
  readonly key: string
  /** The version it was read at; 0: there must be none. */
  readonly from: number
  /** Null removes it. */
  readonly to: Json
}

export interface JournalEntry {
  readonly n: number
  readonly value: Json
  readonly hash: string
}

/** What is written beside resources, in the same commit. */
export interface Beside {
  /** At most one change per record. */
  readonly records?: readonly RecordChange[] | undefined
  readonly journal?: readonly Json[] | undefined
}

export interface Batch extends Beside {
  /** At most one write per resource: the door folds. */
  readonly writes: readonly Write[]
  readonly guards: readonly Guard[]
  /** Each of a resource that is written in the same batch: its state carries the end of its chain. */
  readonly events: readonly Event[]
  readonly ended: readonly EndedRun[]
  readonly keys: readonly KeyRecord[]
  readonly late: readonly LateResult[]
  readonly incidents: readonly Incident[]
}

/** What is written only beside resources is added to it. */
export const emptyBatch: Batch = { writes: [], guards: [], events: [], ended: [], keys: [], late: [], incidents: [] }

export type CommitAnswer =
  | { readonly committed: true; /** Number of the batch's first event. */ readonly first: number }
  /** Nothing was written. What is named has changed; empty: anything may have. */
  | {
      readonly committed: false
      readonly conflicts: readonly No[]
      readonly keys: readonly string[]
      /** Only where there are some, in the order of the batch. */
      readonly records?: readonly RecordName[]
    }

export type RecordName = Pick<StoredRecord, 'kind' | 'key'>

/** Answers in the order of the questions: a resource or null; a list; a key record or null; an ended run or null. */
export type Answer = Resource | null | readonly Resource[] | KeyRecord | EndedRun

export interface WorkerRow {
  readonly no: Incarnation
  readonly name: string
  readonly startedAt: Millis
  readonly beatAt: Millis
  readonly leaseUntil: Millis
  /** live: its lease runs. ended: it said goodbye. dead: its process is known to be gone. expired: its lease ran out. */
  readonly state: 'live' | 'ended' | 'dead' | 'expired'
}

/** A heartbeat that does not depend on the event loop being free. */
export interface Heartbeat {
  /** Milliseconds since the last successful renewal was sent, by a clock that never goes back. */
  lastRenewalAgeMs(): number
  /** A beat was refused: the incarnation has ended. */
  lost(): boolean
  stop(): MaybePromise<void>
}

/** What to look for among resources that have a live run or stand in a transitional status. In the order of their numbers. */
export type WorkQuery = WorkCriterion & OfTenant

/** Only what is of resources of this tenant; left out: of all. */
export interface OfTenant {
  readonly tenant?: string | undefined
}

export type WorkCriterion =
  /** Runs of these owners (of incarnations that are gone). */
  | { readonly work: 'ownedBy'; readonly owners: readonly Incarnation[] }
  /** Runs that wait for a worker (owner 0) and are due. Parked ones wait for a person and are not listed. */
  | { readonly work: 'waiting' }
  /** Transitional, without a run of their own. Held ones included: the caller knows who the holder is. */
  | { readonly work: 'withoutRun' }
  /** Runs whose deadline or progress deadline has passed. */
  | { readonly work: 'overdue' }
  /** Resources with a timer that is due, earliest first; `after` does not apply. */
  | { readonly work: 'timers' }
  /** Resources with a ledger entry that is orphaned or being swept: the caller knows whether the sweeper lives. */
  | { readonly work: 'orphans' }

export interface ListQuery {
  readonly type?: string | undefined
  readonly status?: readonly string[] | undefined
  readonly tenant?: string | undefined
  readonly parent?: No | undefined
  readonly name?: string | undefined
  readonly limit: number
  /** Only numbers above this one. */
  readonly after: No
}

/** An ended run as a store gives it back: 1, 2, 3 ... without gaps in the order of commits. */
export interface StoredRun extends EndedRun {
  readonly n: number
}

export interface RunsQuery extends OfTenant {
  readonly no?: No | undefined
  /** Only numbers below this one. */
  readonly before?: number | undefined
  readonly limit: number
}

/** An open incident as a store gives it back: the later it was opened, the larger its number. */
export interface StoredIncident extends Incident {
  readonly n: number
}

export interface IncidentsQuery extends OfTenant {
  readonly no?: No | undefined
  /** Only numbers below this one. */
  readonly before?: number | undefined
  readonly limit: number
}

export interface TenantEventsQuery {
  readonly tenant: string
  readonly after: number
  readonly limit: number
  /** So many events are looked at, at most: those of others are among them. */
  readonly look: number
}

export interface TenantEvents {
  readonly events: readonly StoredEvent[]
  /** The number of the last event that was looked at: the next page begins after it. As given, when there was none. */
  readonly looked: number
}

export interface RecordsQuery extends OfTenant {
  readonly kind: string
  /** '': from the first. */
  readonly after: string
  readonly limit: number
}

export interface StatusCount {
  readonly type: string
  readonly status: string
  readonly count: number
}

export interface Retention {
  /** Events, ended runs and late results from before this time go. */
  readonly before: Millis
  /** Idempotency keys from before this time go: whoever asks again with one of these is not recognised any more. */
  readonly keysBefore?: Millis | undefined
  /** Fires when there is no more time: the rest is left to another call. */
  readonly signal?: AbortSignal | undefined
}

export interface Removed {
  readonly events: number
  readonly runs: number
  readonly keys: number
  /** Late results. */
  readonly late: number
}

/** Clocks of processes differ: what is younger than the oldest live run by less than this stays too. */
export const retentionSkewMs = 600_000

export interface Store {
  /** Called before anything else: by it a store tells terminal and transitional statuses. What is stored is judged anew where it differs. */
  useKinds(kindOf: KindOf, declared?: readonly Declared[]): MaybePromise<void>

  /** Registers a new incarnation with a lease of `leaseMs` and starts to know whether its process lives. */
  register(worker: { readonly name: string; readonly leaseMs: number; readonly now: Millis }): MaybePromise<Incarnation>
  /** Renews the lease. False: it has ended, stop everything. A lease that ends at t is over at t. */
  beat(worker: { readonly no: Incarnation; readonly leaseMs: number; readonly now: Millis }): MaybePromise<boolean>
  /** Ends an incarnation: `ended` by itself, or `dead`/`expired` by another who saw it. Answers true when this call ended it; false when it had ended already or (for `expired`) was renewed meanwhile. */
  end(worker: {
    readonly no: Incarnation
    readonly as: 'ended' | 'dead' | 'expired'
    readonly now: Millis
  }): MaybePromise<boolean>
  /**
   * All incarnations that have not been forgotten, with their state as it is now: dead processes and lapsed leases are found here.
   * An owner of a live run that nobody knows any more (its row was forgotten or lost) is listed as dead.
   */
  workers(now: Millis): MaybePromise<readonly WorkerRow[]>
  /** Forgets ended incarnations that own nothing any more. */
  forgetWorkers(nos: readonly Incarnation[]): MaybePromise<void>

  /** The clock that all processes of the store share, where there is one: the times that they write are then of one clock. */
  readonly clock?: Clock | undefined

  /** Beats from outside the event loop, where a store can; else the engine beats by its clock. */
  keepBeating?(worker: { readonly no: Incarnation; readonly leaseMs: number }): Heartbeat

  /** How many commits may be asked for before the first is answered, of batches that write different resources. Default: 1. */
  readonly commitsAtOnce?: number | undefined
  load(asks: readonly Ask[]): MaybePromise<readonly Answer[]>
  /** The same, and this thread waits for the answer: where a store is far away, for the rare reader that cannot wait otherwise. */
  loadNow?(asks: readonly Ask[]): readonly Answer[]
  /**
   * Sets `last` of each written `after`. Throws `store_unavailable` only when nothing was written. A batch that writes no resource
   * may be asked for at any time, however many others are under way.
   */
  commit(batch: Batch): MaybePromise<CommitAnswer>
  /** True when another handle may have committed since the last call (commits here do not count): what is cached must be read again. */
  othersWrote(): boolean
  /** True: `othersWrote` may learn of a commit a while after it was answered. What is cached is then never known to be current. */
  readonly learnsLater?: boolean | undefined

  work(query: WorkQuery, now: Millis, limit: number, after?: No): MaybePromise<readonly Resource[]>
  /**
   * Waiting runs for one worker to claim, the most urgent lane first: a fair share, and for a moment nobody else is given the same ones.
   * Where a store has many workers on many machines, so that they do not all try the same. Else `work` is asked. None of what is declared
   * elsewhere alone (`useKinds`), and none of `except`: whoever can carry them out would wait for who cannot.
   */
  offerWaiting?(ask: {
    readonly now: Millis
    readonly limit: number
    readonly owner: Incarnation
    readonly except?: readonly No[]
  }): MaybePromise<readonly Resource[]>
  list(query: ListQuery): MaybePromise<readonly Resource[]>
  counts(of?: OfTenant): MaybePromise<readonly StatusCount[]>
  /** Newest first; `before` is an event number. */
  history(no: No, before: number | null, limit: number): MaybePromise<readonly StoredEvent[]>
  events(after: number, limit: number): MaybePromise<readonly StoredEvent[]>
  /** Those of one tenant. Numbers of others lie between them. */
  tenantEvents(query: TenantEventsQuery): MaybePromise<TenantEvents>
  /** Newest first. */
  endedRuns(query: RunsQuery): MaybePromise<readonly StoredRun[]>
  lateResults(no: No): MaybePromise<readonly LateResult[]>
  /** Newest first. One that is reported again while open stays as it was first seen. */
  incidents(query: IncidentsQuery): MaybePromise<readonly StoredIncident[]>
  /** With what is written beside it, in one commit. False: a record is no longer as it was read, and nothing was done. */
  closeIncident(no: No, kind: Incident['kind'], beside?: Beside): MaybePromise<boolean>

  /** Small facts of the whole installation: the scoreboard of healing. Compare-and-set: false when `from` is not so. */
  setting(name: string): MaybePromise<Json>
  changeSetting(name: string, from: Json, to: Json): MaybePromise<boolean>

  record(kind: string, key: string): MaybePromise<StoredRecord | null>
  /** Of one kind, in the order of their keys, those above `after`. A record is of the tenant that its value names as `tenant`. */
  records(query: RecordsQuery): MaybePromise<readonly StoredRecord[]>
  /** Removes old history, never of a live run, and nothing that present states depend on. Left out: all of it is kept. */
  readonly removeHistory?: ((wanted: Retention) => MaybePromise<Removed>) | undefined

  journal(after: number, limit: number): MaybePromise<readonly JournalEntry[]>
  /** The number of the latest entry. */
  journalLength(): MaybePromise<number>

  /** Where live resources stand: what a changed declaration would strand. Without a run the operation is '' and the step -1. */
  liveShapes(): MaybePromise<
    readonly {
      readonly type: string
      readonly status: string
      readonly operation: string
      readonly step: number
      readonly count: number
    }[]
  >

  /** Calls `wake` when something may have been written (by anybody). */
  onChange(wake: () => void): () => void
  close(): MaybePromise<void>
}
