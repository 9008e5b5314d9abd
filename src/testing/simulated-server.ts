// A database server to which several processes commit at once, as PostgreSQL behaves: a transaction takes time, holds locks until its
// end, and is seen by nobody before that. Two kinds:
//
// snapshot      Each statement sees what was committed when it began. Rows are locked in a fixed order and verified when the lock is
//               had; then the one row that numbers events is locked, and what was only read is checked after that: nobody else can
//               commit meanwhile. This is how the PostgreSQL store does it.
// serializable  The whole transaction sees what was committed when it began. Whoever meets a change that was committed since, on what
//               it writes or on what it has read, fails at once or at its end, and is tried again.
//
//   begun -> waits for a lock -> numbered -> flushing -> committed
//        any of them -> undone   something is not as it should be, two waited for each other, or the server died
import { assert } from '../base/assert.ts'
import type { Millis } from '../base/clock.ts'
import type { Lane, No, Resource } from '../decision/state.ts'
import { Backend, nameOf } from '../store/memory-backend.ts'
import { createMemoryBackend } from '../store/memory-store.ts'
import type { Batch, CommitAnswer, Guard, Write } from '../store/store.ts'
import type { Timeline } from './simulated-clock.ts'
import type { ProcessStore, SimulatedProcess } from './simulated-process.ts'
import type { Situation } from './situations.ts'

export type ServerKind = 'plain' | 'snapshot' | 'serializable'

export type ServerAnswer =
  | { readonly is: 'committed'; readonly first: number }
  /** Something is not as the batch says: the client looks what. */
  | { readonly is: 'mismatch' }
  /** A serialization failure, or two that waited for each other: nothing was written, it may be tried again. */
  | { readonly is: 'again' }
  /** The connection broke: the server died, or somebody has forbidden the commit. */
  | { readonly is: 'gone' }

export interface ServerFaults {
  /** How long a transaction takes before its next lock. */
  lockMs(): number
  flushMs(): number
  /** Whether a commit that was being flushed when the server died is there afterwards. */
  isFlushed(): boolean
  /** From now on everything works. */
  readonly isCalm: boolean
}

export interface ServerWatch {
  saw(situation: Situation): void
  /** Told in the moment from which on everybody sees it. */
  committed(process: SimulatedProcess, batch: Batch, answer: CommitAnswer, at: Millis): void
}

export interface Transaction {
  /** Its own number: by it the outcome is found out when the answer is lost. */
  readonly id: number
  readonly batch: Batch
  /** Whose handle and process commit. */
  readonly handle: object
  readonly process: SimulatedProcess
  readonly answer: (answer: ServerAnswer) => void
}

export interface ServerBackend {
  readonly server: SimulatedServer
  readonly state: Backend
}

/** What processes open. Events are found by their numbers, as by an index: one that is missing does not hide those after it. */
export function openServer() {
  const state = new Backend()
  const backend = createMemoryBackend(state)
  const events = (after: number, limit: number) => state.history.slice(after, after + limit).filter(() => true)
  return {
    open: () => Object.assign(backend.open(), { events }) as unknown as ProcessStore,
    run: (kind: ServerKind, timeline: Timeline, faults: ServerFaults, watch: ServerWatch): ServerBackend => ({
      state,
      server: new SimulatedServer({ state, kind, timeline, faults, watch }),
    }),
  }
}

class Open {
  readonly transaction: Transaction
  readonly locks: readonly string[]
  /** Commits that it sees. */
  readonly snapshot: number
  had = 0
  waitsFor: string | null = null
  first = 0
  isFlushing = false
  isOver = false
  /** Who wants to know its end. */
  readonly ending: (() => void)[] = []

  constructor(transaction: Transaction, snapshot: number) {
    this.transaction = transaction
    this.locks = locksOf(transaction)
    this.snapshot = snapshot
  }
}

/** The row by which events are numbered. */
const feed = 'feed'
/** Two that wait for each other are noticed after so long. */
const deadlockMs = 1_000
/** Who is offered a run and does not claim it within this time has lost it to the next who asks. */
const offeredForMs = 1_000
const offeredMost = 16
const laneOrder: Readonly<Record<Lane, number>> = { delete: 0, heal: 1, user: 2, background: 3 }

export class SimulatedServer {
  readonly #state: Backend
  readonly #timeline: Timeline
  readonly #faults: ServerFaults
  readonly #watch: ServerWatch
  readonly #isSerializable: boolean
  readonly #open = new Set<Open>()
  readonly #holders = new Map<string, Open>()
  readonly #waiting = new Map<string, Open[]>()
  /** By lock: the count of commits with the last one that changed what it stands for. */
  readonly #changedAt = new Map<string, number>()
  /** Commits by their own numbers: the first event, or that it never may happen. */
  readonly #outcomes = new Map<number, number | 'forbidden'>()
  readonly #offered = new Map<No, number>()
  #commits = 0
  #numbered = 0
  #isDown = false

  constructor(parts: {
    readonly state: Backend
    readonly kind: ServerKind
    readonly timeline: Timeline
    readonly faults: ServerFaults
    readonly watch: ServerWatch
  }) {
    this.#state = parts.state
    this.#timeline = parts.timeline
    this.#faults = parts.faults
    this.#watch = parts.watch
    this.#isSerializable = parts.kind === 'serializable'
  }

  begin(transaction: Transaction): void {
    if (this.isDown) return transaction.answer({ is: 'gone' })
    const open = new Open(transaction, this.#commits)
    this.#open.add(open)
    // The snapshot is taken here: what it shows to be wrong is wrong, whatever others do meanwhile.
    if (this.#isSerializable && this.hasConflicts(transaction.batch)) return this.#undo(open, { is: 'mismatch' })
    this.#go(open)
  }

  hasConflicts(batch: Batch): boolean {
    const { conflicts, keys, records } = this.#state.conflictsOf(batch)
    return conflicts.size > 0 || keys.size > 0 || records.length > 0
  }

  /** Somebody does not know what became of a commit: if it has not happened, it never will. Waits for one that is being flushed. */
  forbid(id: number, answer: (answer: ServerAnswer) => void): void {
    if (this.isDown) return answer({ is: 'gone' })
    const outcome = this.#outcomes.get(id)
    if (typeof outcome === 'number') return answer({ is: 'committed', first: outcome })
    const holder = this.#holders.get(lockOfBatch(id))
    if (holder !== undefined) {
      this.#watch.saw('unknown commit waited for')
      holder.ending.push(() => this.forbid(id, answer))
      return
    }
    this.#outcomes.set(id, 'forbidden')
    answer({ is: 'again' })
  }

  /** Everything that is under way is undone, but for what may have been flushed. */
  die(): void {
    if (this.isDown || this.#faults.isCalm) return
    this.#isDown = true
    if (this.#open.size > 0) this.#watch.saw('server died in a commit')
    for (const open of this.#open) {
      if (open.isFlushing && this.#faults.isFlushed()) this.#write(open)
      this.#undo(open, { is: 'gone' })
    }
  }

  comeBack(): void {
    this.#isDown = false
  }

  get isDown(): boolean {
    return this.#isDown && !this.#faults.isCalm
  }

  /** Waiting runs for one worker, the most urgent first; for a moment nobody else is given the same. */
  offer(waiting: readonly Resource[], limit: number): readonly Resource[] {
    const { now } = this.#timeline
    const free = waiting.filter(({ no }) => (this.#offered.get(no) ?? 0) <= now)
    free.sort((a, b) => laneOrder[a.run!.lane] - laneOrder[b.run!.lane] || a.no - b.no)
    const found = free.slice(0, Math.min(limit, offeredMost))
    for (const { no } of found) this.#offered.set(no, now + offeredForMs)
    return found.sort((a, b) => a.no - b.no)
  }

  /** Takes one lock after another, as far as it gets. */
  #go(open: Open): void {
    while (!open.isOver && open.had < open.locks.length) {
      const lock = open.locks[open.had]!
      const holder = this.#holders.get(lock)
      // The batch itself makes the same name or key twice.
      if (holder === open) return this.#undo(open, { is: 'mismatch' })
      if (holder !== undefined) return this.#wait(open, lock)
      this.#holders.set(lock, open)
      open.had++
      const wrong = this.#wrongWith(open, lock)
      if (wrong !== null) return this.#undo(open, wrong)
      const ms = this.#faults.lockMs()
      if (ms > 0) {
        this.#timeline.after(ms, null, () => this.#go(open))
        return
      }
    }
    if (open.isOver || open.isFlushing) return
    open.isFlushing = true
    this.#timeline.after(this.#faults.flushMs(), null, () => {
      if (open.isOver) return
      this.#write(open)
      this.#undo(open, { is: 'committed', first: open.first })
    })
  }

  #wait(open: Open, lock: string): void {
    this.#watch.saw(lock === feed ? 'commit waited for its number' : 'commit waited for a lock')
    open.waitsFor = lock
    const waiting = this.#waiting.get(lock)
    if (waiting === undefined) this.#waiting.set(lock, [open])
    else waiting.push(open)
    this.#timeline.after(deadlockMs, null, () => {
      if (open.waitsFor !== null && this.#isInCircle(open)) this.#undo(open, { is: 'again' })
    })
  }

  #isInCircle(open: Open): boolean {
    let next = this.#holders.get(open.waitsFor!)
    for (let n = 0; next !== undefined && next !== open && n < this.#open.size; n++) {
      next = next.waitsFor === null ? undefined : this.#holders.get(next.waitsFor)
    }
    return next === open
  }

  /** What is locked is looked at when the lock is had. Null: it is as it should be. */
  #wrongWith(open: Open, lock: string): ServerAnswer | null {
    const { id, batch } = open.transaction
    if (lock === lockOfBatch(id)) return this.#outcomes.has(id) ? { is: 'gone' } : null
    if (lock === feed) return this.#number(open)
    if (this.#isSerializable) return this.#isChanged(open, lock) ? this.#failure() : null
    // What was committed while it waited is seen now.
    return isAsBatchSays(this.#state, batch, lock) ? null : { is: 'mismatch' }
  }

  /** From here on nobody else commits until this one has ended: what is checked now stays so. */
  #number(open: Open): ServerAnswer | null {
    const { guards, events } = open.transaction.batch
    if (this.#isSerializable) {
      if (guards.some((guard) => this.#isChanged(open, lockOfGuard(guard)))) return this.#failure()
    } else if (guards.some((guard) => this.#state.brokenBy(guard) !== null)) {
      this.#watch.saw('stale snapshot refused')
      return { is: 'mismatch' }
    }
    open.first = this.#numbered + 1
    this.#numbered += events.length
    return null
  }

  #isChanged({ snapshot }: Open, lock: string): boolean {
    return (this.#changedAt.get(lock) ?? 0) > snapshot
  }

  #failure(): ServerAnswer {
    this.#watch.saw('serialization failure retried')
    return { is: 'again' }
  }

  #write(open: Open): void {
    const { batch, id, handle, process } = open.transaction
    const changed = ++this.#commits
    if (this.#isSerializable) for (const lock of changedBy(batch)) this.#changedAt.set(lock, changed)
    this.#state.apply(batch, open.first)
    this.#outcomes.set(id, open.first)
    this.#watch.committed(process, batch, { committed: true, first: open.first }, this.#timeline.now)
    for (const other of this.#state.handles) other.changed(other !== handle)
  }

  /** Its locks are free; what it has written, if it has, stays. */
  #undo(open: Open, answer: ServerAnswer): void {
    assert(!open.isOver, 'a transaction ends once')
    open.isOver = true
    this.#open.delete(open)
    const { id, batch } = open.transaction
    if (open.first > 0 && typeof this.#outcomes.get(id) !== 'number') this.#numbered -= batch.events.length
    if (open.waitsFor !== null) {
      const waiting = this.#waiting.get(open.waitsFor)!
      waiting.splice(waiting.indexOf(open), 1)
      open.waitsFor = null
    }
    for (const lock of open.locks.slice(0, open.had)) this.#release(open, lock)
    open.transaction.answer(answer)
    for (const tell of open.ending) tell()
  }

  #release(open: Open, lock: string): void {
    if (this.#holders.get(lock) !== open) return
    this.#holders.delete(lock)
    const next = this.#waiting.get(lock)?.shift()
    if (next === undefined) return
    next.waitsFor = null
    this.#timeline.after(0, null, () => this.#go(next))
  }
}

const lockOfBatch = (id: number): string => `batch ${id}`
const lockOfRow = (no: No): string => `row ${no}`
const lockOfName = (type: string, id: string): string => `name ${nameOf(type, id)}`
const lockOfKey = (key: string): string => `key ${key}`
const lockOfRecord = (kind: string, key: string): string => `record ${nameOf(kind, key)}`
const lockOfFamily = (no: No, link: string): string => `family ${no} ${link}`

/** In the order in which the PostgreSQL store writes: steps, other changes, what is new; each by its number. */
function locksOf({ id, batch }: Transaction): readonly string[] {
  const writes = [...batch.writes].sort((a, b) => a.after.no - b.after.no)
  const locks = [...writes.filter(isStep), ...writes.filter((write) => !isStep(write))].map(({ after }) =>
    lockOfRow(after.no),
  )
  for (const { before, after } of writes) if (before === null) locks.push(lockOfName(after.type, after.id))
  for (const { key } of batch.keys) locks.push(lockOfKey(key))
  for (const { kind, key } of batch.records ?? []) locks.push(lockOfRecord(kind, key))
  return [...locks, feed, lockOfBatch(id)]
}

const isStep = ({ before, after }: Write): boolean =>
  before?.run != null && after.run !== null && before.epoch === after.epoch && before.status === after.status

/** Whether what was just locked is as the batch expects it. */
function isAsBatchSays(state: Backend, batch: Batch, lock: string): boolean {
  for (const { before, after } of batch.writes) {
    const stored = state.resources.get(after.no)
    if (lock === lockOfRow(after.no)) {
      if (before === null) return stored === undefined
      return stored?.revision === before.revision && stored.epoch === before.epoch
    }
    if (before === null && lock === lockOfName(after.type, after.id)) return state.named(after.type, after.id) === null
  }
  for (const { key } of batch.keys) if (lock === lockOfKey(key)) return !state.keys.has(key)
  for (const { kind, key, from } of batch.records ?? []) {
    if (lock === lockOfRecord(kind, key)) return (state.records.get(nameOf(kind, key))?.version ?? 0) === from
  }
  return true
}

function lockOfGuard(guard: Guard): string {
  switch (guard.guard) {
    case 'revision':
      return lockOfRow(guard.no)
    case 'children':
      return lockOfFamily(guard.no, '')
    case 'linkedBy':
      return lockOfFamily(guard.no, guard.link)
    case 'absent':
      return lockOfName(guard.type, guard.id)
  }
}

/** Everything that somebody may have looked at and that is different after it. */
function changedBy(batch: Batch): readonly string[] {
  const changed: string[] = []
  for (const { before, after } of batch.writes) {
    changed.push(lockOfRow(after.no))
    if (before === null) changed.push(lockOfName(after.type, after.id))
    if (
      before !== null &&
      before.status === after.status &&
      before.parent === after.parent &&
      before.links === after.links
    )
      continue
    for (const one of before === null ? [after] : [before, after]) {
      if (one.parent !== null) changed.push(lockOfFamily(one.parent, ''))
      for (const link in one.links) changed.push(lockOfFamily(one.links[link]!, link))
    }
  }
  for (const { key } of batch.keys) changed.push(lockOfKey(key))
  for (const { kind, key } of batch.records ?? []) changed.push(lockOfRecord(kind, key))
  return changed
}
