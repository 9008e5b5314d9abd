// A store as one simulated process sees it: answers can be late, calls can fail with nothing written, and the process can die or
// freeze around every commit. It keeps the port's word: `commit` throws only when nothing was written. An answer that is lost is
// a process that dies or freezes before it sees it.
//
// Near: like a file on this machine; answers come at once. Far: like a server; every call is a message there and one back, a
// message that is under way arrives although its sender has died meanwhile, and the store's own clock counts. It takes one commit at a
// time, at once; a server that takes several is in `server-store.ts`.
import type { Millis } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Ask } from '../decision/situation.ts'
import type { Incarnation, Incident, No } from '../decision/state.ts'
import type {
  Batch,
  Beside,
  CommitAnswer,
  Declared,
  IncidentsQuery,
  KindOf,
  ListQuery,
  MaybePromise,
  OfTenant,
  RecordsQuery,
  RunsQuery,
  Store,
  TenantEventsQuery,
  WorkQuery,
} from '../store/store.ts'
import type { Timeline } from './simulated-clock.ts'
import type { ExchangeFault } from './simulated-committer.ts'
import type { ProcessStore, SimulatedProcess } from './simulated-process.ts'
import type { Situation } from './situations.ts'

/** What happens around a commit. `unavailable`: nothing is written; `slow`: the answer takes long. */
export type CommitFault =
  | 'none'
  | 'crashBefore'
  | 'crashAfter'
  | 'vanishBefore'
  | 'vanishAfter'
  | 'pauseBefore'
  | 'pauseAfter'
  | 'unavailable'
  | 'slow'
  | Exclude<ExchangeFault, 'none'>

export interface StoreFaults {
  atCommit(process: SimulatedProcess, batch: Batch): CommitFault
  atCall(process: SimulatedProcess): 'none' | 'unavailable' | 'slow'
  atExchange(): ExchangeFault
  /** How long after a commit has arrived its connection, or the server, is gone. */
  noticeMs(): number
  downMs(): number
  /** One way of a message to a far store. */
  latencyMs(process: SimulatedProcess): number
  slowMs(process: SimulatedProcess): number
  pauseMs(process: SimulatedProcess): number
  /** How long after a commit another process is woken; null: it is not told. */
  wakeMs(process: SimulatedProcess): number | null
}

/** Who watches from outside. */
export interface StoreWatch {
  committed(process: SimulatedProcess, batch: Batch, answer: CommitAnswer, at: Millis): void
  /** The store has said that nothing of it was written. */
  disowned(batch: Batch): void
  saw(situation: Situation): void
  registered(process: SimulatedProcess, no: Incarnation, leaseMs: number, now: Millis): void
  beaten(process: SimulatedProcess, no: Incarnation, leaseMs: number, renewed: boolean, now: Millis): void
  endedWorker(process: SimulatedProcess, no: Incarnation, as: string, ended: boolean, now: Millis): void
  faulted(process: SimulatedProcess, what: string): void
}

export interface FaultyStoreParts {
  readonly inner: ProcessStore
  readonly process: SimulatedProcess
  readonly timeline: Timeline
  readonly faults: StoreFaults
  readonly watch: StoreWatch
  readonly isFar: boolean
}

export const unavailable = () => new HomeostatError('store_unavailable', 'The simulated store is away.')
export const never = <T>(): Promise<T> => new Promise<T>(() => {})

export class FaultyStore implements Store {
  readonly #parts: FaultyStoreParts
  readonly #inner: ProcessStore
  readonly #process: SimulatedProcess
  readonly #timeline: Timeline
  #isWaking = false

  constructor(parts: FaultyStoreParts) {
    this.#parts = parts
    this.#inner = parts.inner
    this.#process = parts.process
    this.#timeline = parts.timeline
  }

  /** A server takes several commits at once; their messages may overtake each other. */
  get commitsAtOnce(): number {
    return this.#parts.isFar ? 2 : 1
  }

  useKinds(kindOf: KindOf, declared?: readonly Declared[]): MaybePromise<void> {
    return this.#inner.useKinds(kindOf, declared)
  }

  commit(batch: Batch): MaybePromise<CommitAnswer> {
    const { faults, watch } = this.#parts
    if (!this.#process.isAlive) return never()
    const fault = faults.atCommit(this.#process, batch)
    if (fault !== 'none') watch.faulted(this.#process, `${fault} at a commit`)
    return this.take(batch, fault)
  }

  protected take(batch: Batch, fault: CommitFault): MaybePromise<CommitAnswer> {
    const { faults, watch, isFar } = this.#parts
    const write = () => {
      const answer = this.#inner.commit(batch) as CommitAnswer
      watch.committed(this.#process, batch, answer, this.#timeline.now)
      return answer
    }
    switch (fault) {
      case 'crashBefore':
      case 'vanishBefore':
        this.#process.die(fault === 'crashBefore' ? 'crash' : 'vanish')
        return never()
      case 'crashAfter':
      case 'vanishAfter':
        write()
        this.#process.die(fault === 'crashAfter' ? 'crash' : 'vanish')
        return never()
      case 'unavailable':
      case 'cutRequest':
      case 'cutReply':
      case 'serverDies':
        return this.#fail(unavailable())
      case 'pauseBefore':
        this.#process.pause(faults.pauseMs(this.#process), () => watch.faulted(this.#process, 'goes on'))
        return this.#reply(write)
      case 'pauseAfter': {
        const answer = write()
        this.#process.pause(faults.pauseMs(this.#process), () => watch.faulted(this.#process, 'goes on'))
        return this.#reply(() => answer)
      }
      case 'slow': {
        const slowMs = faults.slowMs(this.#process)
        if (isFar) return this.#far(write, slowMs)
        // A near store that is slow keeps the whole process waiting.
        this.#process.pause(slowMs)
        return this.#reply(write)
      }
      case 'none':
        return isFar ? this.#far(write, 0) : write()
    }
  }

  register({ name, leaseMs, now }: { name: string; leaseMs: number; now: Millis }): MaybePromise<Incarnation> {
    return this.#call(() => {
      const at = this.#now(now)
      const no = this.#inner.register({ name, leaseMs, now: at }) as Incarnation
      this.#parts.watch.registered(this.#process, no, leaseMs, at)
      return no
    })
  }

  beat({ no, leaseMs, now }: { no: Incarnation; leaseMs: number; now: Millis }): MaybePromise<boolean> {
    return this.#call(() => {
      const at = this.#now(now)
      const renewed = this.#inner.beat({ no, leaseMs, now: at }) as boolean
      this.#parts.watch.beaten(this.#process, no, leaseMs, renewed, at)
      return renewed
    })
  }

  end({ no, as, now }: { no: Incarnation; as: 'ended' | 'dead' | 'expired'; now: Millis }): MaybePromise<boolean> {
    return this.#call(() => {
      const at = this.#now(now)
      const ended = this.#inner.end({ no, as, now: at }) as boolean
      this.#parts.watch.endedWorker(this.#process, no, as, ended, at)
      return ended
    })
  }

  workers(now: Millis) {
    return this.#call(() => this.#inner.workers(this.#now(now)))
  }

  forgetWorkers(nos: readonly Incarnation[]) {
    return this.#call(() => this.#inner.forgetWorkers(nos))
  }

  load(asks: readonly Ask[]) {
    return this.#call(() => this.#inner.load(asks))
  }

  /** A near store knows it exactly; a far one can only say that somebody may have. */
  othersWrote(): boolean {
    if (!this.#process.isAlive) return false
    return this.#inner.othersWrote() || this.#parts.isFar
  }

  work(query: WorkQuery, now: Millis, limit: number, after?: No) {
    return this.#call(() => this.#inner.work(query, this.#now(now), limit, after))
  }

  list(query: ListQuery) {
    return this.#call(() => this.#inner.list(query))
  }

  counts(of?: OfTenant) {
    return this.#call(() => this.#inner.counts(of))
  }

  history(no: No, before: number | null, limit: number) {
    return this.#call(() => this.#inner.history(no, before, limit))
  }

  events(after: number, limit: number) {
    return this.#call(() => this.#inner.events(after, limit))
  }

  tenantEvents(query: TenantEventsQuery) {
    return this.#call(() => this.#inner.tenantEvents(query))
  }

  endedRuns(query: RunsQuery) {
    return this.#call(() => this.#inner.endedRuns(query))
  }

  lateResults(no: No) {
    return this.#call(() => this.#inner.lateResults(no))
  }

  incidents(query: IncidentsQuery) {
    return this.#call(() => this.#inner.incidents(query))
  }

  closeIncident(no: No, kind: Incident['kind'], beside?: Beside) {
    return this.#call(() => this.#inner.closeIncident(no, kind, beside))
  }

  setting(name: string) {
    return this.#call(() => this.#inner.setting(name))
  }

  changeSetting(name: string, from: Json, to: Json) {
    return this.#call(() => this.#inner.changeSetting(name, from, to))
  }

  record(kind: string, key: string) {
    return this.#call(() => this.#inner.record(kind, key))
  }

  records(query: RecordsQuery) {
    return this.#call(() => this.#inner.records(query))
  }

  journal(after: number, limit: number) {
    return this.#call(() => this.#inner.journal(after, limit))
  }

  journalLength() {
    return this.#call(() => this.#inner.journalLength())
  }

  liveShapes() {
    return this.#call(() => this.#inner.liveShapes())
  }

  /** Processes are woken by messages, which take time and can be lost. Several that are under way are one. */
  onChange(wake: () => void): () => void {
    return this.#inner.onChange(() => {
      if (this.#isWaking || !this.#process.isAlive) return
      const ms = this.#parts.faults.wakeMs(this.#process) ?? this.lostWakeMs
      if (ms === null) return
      this.#isWaking = true
      this.#timeline.after(ms, this.#process, () => {
        this.#isWaking = false
        this.woken()
        wake()
      })
    })
  }

  /** When a process hears of something after all, although it was not told; null: never. */
  protected get lostWakeMs(): number | null {
    return null
  }

  /** A process is told that something was written. */
  protected woken(): void {}

  /** Throws when nobody is there to answer. */
  protected mustBeUp(): void {}

  protected call<T>(answer: () => MaybePromise<T>): MaybePromise<T> {
    return this.#call(answer)
  }

  close(): MaybePromise<void> {
    return this.#process.isAlive ? this.#inner.close() : undefined
  }

  /** The clock that counts: of this machine when near, the store's own when far. */
  #now(now: Millis): Millis {
    return this.#parts.isFar ? this.#timeline.now : now
  }

  #call<T>(answer: () => MaybePromise<T>): MaybePromise<T> {
    if (!this.#process.isAlive) return never()
    const { faults, isFar } = this.#parts
    const fault = faults.atCall(this.#process)
    if (fault !== 'none') this.#parts.watch.faulted(this.#process, `${fault} at a call of the store`)
    if (fault === 'unavailable') return this.#fail(unavailable())
    if (fault === 'slow') {
      const slowMs = faults.slowMs(this.#process)
      if (isFar) return this.#far(answer as () => T, slowMs)
      this.#process.pause(slowMs)
      return this.#reply(answer as () => T)
    }
    return isFar ? this.#far(answer as () => T, 0) : answer()
  }

  /** Thrown at once by a near store, later by a far one. */
  #fail<T>(error: HomeostatError): Promise<T> {
    if (!this.#parts.isFar) throw error
    return new Promise((_, reject) => {
      this.#timeline.after(this.#parts.faults.latencyMs(this.#process), this.#process, () => reject(error))
    })
  }

  /** An answer of a near store to a process that stands still: the first thing it sees when it goes on. */
  #reply<T>(answer: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#timeline.next(this.#process, () => {
        try {
          resolve(answer())
        } catch (error) {
          reject(error as Error)
        }
      })
    })
  }

  /** A message there, and one back. */
  #far<T>(answer: () => T, extraMs: number): Promise<T> {
    const { faults } = this.#parts
    const there = faults.latencyMs(this.#process)
    const back = faults.latencyMs(this.#process)
    this.#process.messages++
    return new Promise((resolve, reject) => {
      // Half of an extra delay on each way: a commit may be written long before it is known, or long after it was asked for.
      this.#timeline.after(there + Math.floor(extraMs / 2), null, () => {
        let settle: () => void
        this.#process.messages--
        try {
          this.mustBeUp()
          const value = answer()
          settle = () => resolve(value)
        } catch (error) {
          settle = () => reject(error as Error)
        }
        this.#timeline.after(back + Math.ceil(extraMs / 2), this.#process, settle)
      })
    })
  }
}
