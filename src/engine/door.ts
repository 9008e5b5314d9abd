// The one door by which every change enters: load, decide, commit, again on conflict.
//
// Commands that arrive while a batch is under way gather; the next turn of the event loop takes them together. How the only call under
// way has ended is taken before the turn is over: nobody else is to be expected, and a turn takes as long as a small decision.
//   idle     -> waiting   a command arrives: the next turn is asked for
//   waiting  -> busy      the turn has come: a batch is taken, decided, sent to the store
//   busy     -> waiting   the batch is answered, or has departed, and more commands are there; -> idle when none is
//   closed                everything that is or will be here is answered with the reason; a batch under way is still finished
// A store that takes several commits at once lets a batch depart: the next is decided meanwhile, without commands about what is
// on its way. Answers are given only after the commit. A conflict makes a batch be decided again, alone; one that goes on
// conflicting is halved, so that one bad command cannot sink the others.
import type { Clock } from '../base/clock.ts'
import type { ErrorCode } from '../base/errors.ts'
import type { Command } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import type { Incarnation, No } from '../decision/state.ts'
import type { Batch, CommitAnswer, Store } from '../store/store.ts'
import type { BatchState } from './batch-state.ts'
import { blamed, withBeside, type BesideOf } from './beside.ts'
import { CommandQueue, type Item } from './command-queue.ts'
import { Decider } from './decider.ts'
import type { DoorOptions, Known } from './door-options.ts'
import { defaultSettings } from './options.ts'
import { Pause } from './pause.ts'
import { asRejection, changedMeanwhile, isUnavailable, rejected } from './rejections.ts'
import { Shares } from './shares.ts'
import { WorkingSet } from './working-set.ts'

export type { Decide, DoorOptions, Known } from './door-options.ts'

/** A batch on its way to the store. */
interface Flight {
  readonly items: Item[]
  readonly batch: Batch
  readonly state: BatchState
  readonly known: Known
}

/** After so many conflicts a batch is halved; a command alone is given up after the second figure. */
const conflictsBeforeHalving = 3
const conflictsAlone = 12
/** So many batches in a row are taken without a turn between: then everybody else has one. */
const atOnceMost = 16
const retryFirstMs = 50
const retryAtMostMs = 5_000

export class Door {
  readonly #options: DoorOptions
  readonly #store: Store
  readonly #clock: Clock
  readonly #set: WorkingSet
  readonly #decider: Decider
  readonly #batchLimit: number
  readonly #shares = new Shares()
  readonly #queue = new CommandQueue()
  readonly #pause: Pause
  #state: 'idle' | 'waiting' | 'busy' = 'idle'
  #closed: { readonly code: ErrorCode; readonly message: string } | null = null
  #whenIdle: (() => void)[] = []
  #toForget: No[] = []
  #known: Known = { at: 0, asOf: 0 }
  #flying = 0
  /** Commands of the batches that are on their way. */
  #aloft = 0
  #atOnce = 0
  /** What came last had no other before it, and expects none after it. */
  #isAlone = false
  /** Batches that came back without having been written: decided again when nothing else is under way. */
  #returned: Item[][] = []
  /** Commands that wait for what a flight has written. */
  #blocked: Item[] = []
  /** How calls ended that were under way when the lease was lost: told again by the next incarnation. */
  #kept: Item[] = []
  /** Commands answered, commits made, conflicts met, late outcomes refused: for health and benchmarks. */
  readonly figures = { commands: 0, commits: 0, conflicts: 0, storeErrors: 0, fenced: 0 }

  constructor(options: DoorOptions) {
    this.#options = options
    this.#store = options.store
    this.#clock = options.clock
    this.#pause = new Pause(options.clock)
    this.#set = new WorkingSet({
      plans: options.plans,
      cacheSize: options.cacheSize ?? defaultSettings.cacheSize,
      relies: options.store.learnsLater ?? false,
    })
    this.#decider = new Decider(options, this.#set)
    this.#batchLimit = options.batchLimit ?? defaultSettings.batchLimit
  }

  /** Another incarnation works here from now on: numbers of new resources are its own. */
  reborn(incarnation: Incarnation): void {
    this.#set.reborn(incarnation)
    this.#closed = null
    for (const { command, done, beside } of this.#kept) this.submit(command, done, beside)
    this.#kept = []
  }

  /** Sends a command in; `done` is called after the commit, never inside this call. */
  submit(command: Command, done: ((decision: Decision) => void) | null, beside?: BesideOf): void {
    this.#queue.add({ command, done, beside, decision: null })
    if (this.#state === 'idle' && this.#mayTake) this.#await()
  }

  /** The same where no other command is to be expected in this turn: it does not wait for its end. */
  submitAlone(command: Command, done: (decision: Decision) => void): void {
    this.#isAlone = this.waiting === 0
    this.submit(command, done)
  }

  /** The same as a promise; never rejected. */
  ask(command: Command, beside?: BesideOf): Promise<Decision> {
    return new Promise((resolve) => this.submit(command, resolve, beside))
  }

  /** What is cached of this resource is read again before it is used. */
  forget(no: No): void {
    if (this.#state === 'busy') this.#toForget.push(no)
    else this.#set.forget(no)
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** There is something to take, and the store would take one more batch. */
  get #mayTake(): boolean {
    if (this.#returned.length > 0) return this.#flying === 0
    return this.waiting > 0 && this.#flying < (this.#store.commitsAtOnce ?? 1)
  }

  /** Everything that waits, and all that comes, is answered with this code. */
  close(code: ErrorCode, message: string): void {
    this.#closed = { code, message }
    this.#pause.cut()
    if (this.#state === 'idle' && this.#mayTake) this.#await()
  }

  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void> {
    if (this.#state === 'idle' && this.#flying === 0 && this.waiting === 0) return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  #await(): void {
    this.#state = 'waiting'
    if (this.#isAlone && this.waiting === 1 && this.#clock.atOnce !== undefined && this.#atOnce < atOnceMost) {
      this.#atOnce++
      return this.#clock.atOnce(() => this.#take())
    }
    this.#clock.soon(() => {
      this.#atOnce = 0
      this.#take()
    })
  }

  #take(): void {
    this.#state = 'busy'
    this.#takeBatch().then(
      () => this.#next(),
      (error: unknown) => {
        // Every expected failure is answered inside; what comes here is our own defect. The door stays open for the others.
        this.#options.log('error', 'the door met a defect', { error })
        this.#next()
      },
    )
  }

  #next(): void {
    this.#state = 'idle'
    if (this.#mayTake) return this.#await()
    // The next landing goes on.
    if (this.#flying > 0) return
    const waiters = this.#whenIdle
    this.#whenIdle = []
    for (const resolve of waiters) resolve()
  }

  async #takeBatch(): Promise<void> {
    this.#isAlone = false
    const returned = this.#returned.shift()
    if (returned !== undefined) return this.#settle(returned, false)
    const share = this.#shares.next(this.waiting, this.#aloft, this.#store.commitsAtOnce ?? 1)
    await this.#settle(this.#queue.take(Math.min(share, this.#batchLimit)))
  }

  /** Decides and commits until these commands have their answers, or are on their way. */
  async #settle(given: Item[], mayDepart = true): Promise<void> {
    let items = given
    let conflicts = 0
    let pauseMs = retryFirstMs
    // What comes back was decided on something that is no longer so.
    let mayHope = mayDepart
    for (;;) {
      if (this.#closed !== null) return this.#turnAway(items, this.#closed.code, this.#closed.message)
      let answer: CommitAnswer | null
      let batch: Batch | null = null
      try {
        for (const no of this.#toForget) this.#set.forget(no)
        this.#toForget = []
        const deciding = this.#decider.decide(items, mayHope)
        mayHope = false
        if (deciding !== null) await deciding
        items = this.#withoutBlocked(items)
        if (items.length === 0) return
        batch = withBeside(this.#set.batch(), items)
        if (batch === null) {
          this.#set.rollback([])
          return this.#settleHalves(items)
        }
        if (!this.#set.mustCommit && !items.some((item) => item.decision!.accepted)) {
          answer = null
        } else {
          this.#known = { at: this.#clock.monotonic(), asOf: this.#decider.asOf }
          const committing = this.#store.commit(batch)
          if (committing instanceof Promise && mayDepart && (this.#store.commitsAtOnce ?? 1) > 1)
            return this.#depart(items, batch, committing)
          answer = committing instanceof Promise ? await committing : committing
        }
      } catch (error) {
        this.#set.rollback('all')
        if (isUnavailable(error)) {
          this.figures.storeErrors++
          this.#options.log('warn', 'the store does not answer; trying again', { error })
          await this.#pause.of(pauseMs + this.#options.random.below(pauseMs))
          pauseMs = Math.min(pauseMs * 2, retryAtMostMs)
          continue
        }
        this.#options.log('error', 'the store refused a batch', { error, commands: items.length })
        if (items.length === 1) return this.#refuse(items, ...asRejection(error))
        return this.#settleHalves(items)
      }
      if (answer === null || answer.committed) {
        this.#set.committed()
        return this.#finish(items, batch, answer === null ? 0 : answer.first + batch.events.length - 1, this.#known)
      }
      conflicts++
      this.figures.conflicts++
      this.#set.rollback(toReload(answer))
      if (answer.records !== undefined) {
        const sorted = blamed(items, answer)
        this.#refuse(sorted.blamed, 'record_conflict', changedMeanwhile)
        items = sorted.others
        if (items.length === 0) return
      }
      if (items.length > 1 && conflicts >= conflictsBeforeHalving) return this.#settleHalves(items)
      if (conflicts >= conflictsAlone) {
        return this.#refuse(items, 'store_unavailable', 'Others kept changing the same resources; ask again.')
      }
      if (conflicts >= conflictsBeforeHalving)
        await this.#pause.of(1 + this.#options.random.below(2 ** Math.min(conflicts, 7)))
    }
  }

  async #settleHalves(items: Item[]): Promise<void> {
    const middle = items.length >>> 1
    await this.#settle(items.slice(0, middle), false)
    await this.#settle(items.slice(middle), false)
  }

  #depart(items: Item[], batch: Batch, committing: Promise<CommitAnswer>): void {
    const flight: Flight = { items, batch, state: this.#set.depart(), known: this.#known }
    this.#flying++
    this.#aloft += items.length
    committing.then(
      (answer) => this.#land(flight, answer),
      (error: unknown) => {
        this.#options.log('warn', 'the store did not take a batch; deciding it again', { error })
        this.#land(flight, null)
      },
    )
  }

  #land({ items, batch, state, known }: Flight, answer: CommitAnswer | null): void {
    this.#flying--
    this.#aloft -= items.length
    this.#queue.putBack(this.#blocked)
    this.#blocked = []
    if (answer?.committed) {
      this.#set.committed(state)
      this.#finish(items, batch, answer.first + batch.events.length - 1, known)
    } else {
      this.figures.conflicts++
      this.#set.rollback(answer === null ? 'all' : toReload(answer), state)
      this.#returned.push(items)
    }
    if (this.#state === 'idle') this.#next()
  }

  /** What could not be decided because of a flight waits for its landing; where that has landed meanwhile, it comes next. */
  #withoutBlocked(items: Item[]): Item[] {
    if (items.every((item) => item.decision !== null)) return items
    const blocked = items.filter((item) => item.decision === null)
    if (this.#flying > 0) this.#blocked.push(...blocked)
    else this.#queue.putBack(blocked)
    return items.filter((item) => item.decision !== null)
  }

  #finish(items: readonly Item[], batch: Batch, lastEvent: number, known: Known): void {
    this.figures.commands += items.length
    if (lastEvent > 0 || batch.writes.length > 0) this.figures.commits++
    for (const item of items) {
      const { changes } = item.decision!
      if (!item.decision!.accepted && item.decision!.rejection.code === 'fenced') this.figures.fenced++
      if (changes === null) continue
      for (const command of changes.followUps) this.submit(command, null)
    }
    if (batch.writes.length > 0) {
      try {
        this.#options.onCommitted?.(batch.writes, lastEvent, known)
      } catch (error) {
        this.#blame(error)
      }
    }
    for (const item of items) this.#answer(item, item.decision!)
  }

  /** What a driver really did must not vanish with a lease: it is evidence, and where nobody took over it still counts. */
  #turnAway(items: readonly Item[], code: ErrorCode, message: string): void {
    const isKept = ({ command }: Item) => code === 'lease_lost' && command.kind === 'callEnded'
    this.#kept.push(...items.filter(isKept))
    this.#refuse(
      items.filter((item) => !isKept(item)),
      code,
      message,
    )
  }

  #refuse(items: readonly Item[], code: ErrorCode, message: string): void {
    const decision = rejected(code, message)
    for (const item of items) this.#answer(item, decision)
  }

  #answer(item: Item, decision: Decision): void {
    if (item.done === null) return
    try {
      item.done(decision)
    } catch (error) {
      this.#blame(error)
    }
  }

  /** A listener's fault is its own. */
  #blame(error: unknown): void {
    this.#options.log('error', 'a listener of the door threw', { error })
  }
}

/** What a conflict makes doubtful: what it names, or everything. */
const toReload = ({ conflicts, keys, records }: CommitAnswer & { committed: false }): readonly No[] | 'all' =>
  conflicts.length === 0 && keys.length === 0 && records === undefined ? 'all' : conflicts
