// The one door by which every change enters: load, decide, commit, again on conflict.
//
// Commands that arrive while a batch is under way gather; the next turn of the event loop takes them together.
//   idle     -> waiting   a command arrives: the next turn is asked for
//   waiting  -> busy      the turn has come: a batch is taken, decided, committed (at once, or later where the store is far away)
//   busy     -> waiting   the batch is answered and more commands are there; -> idle when none is
//   closed                everything that is or will be here is answered with the reason; a batch under way is still finished
// Answers are given only after the commit. A conflict makes the whole batch be decided again; a batch that goes on conflicting is
// halved, so that one bad command cannot sink the others.
import type { Clock } from '../base/clock.ts'
import { HomeostatError, type ErrorCode } from '../base/errors.ts'
import type { Random } from '../base/random.ts'
import type { Command } from '../decision/command.ts'
import type { Decision, Rejected } from '../decision/decision.ts'
import type { Ask, Situation } from '../decision/situation.ts'
import type { Incarnation, No } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Batch, CommitAnswer, Store, Write } from '../store/store.ts'
import { foresee, isOfRun } from './foresee.ts'
import type { ForeignWrites } from './foreign-writes.ts'
import type { Log } from './log.ts'
import { WorkingSet } from './working-set.ts'

export type Decide = (plans: Plans, situation: Situation, command: Command) => Decision

export interface DoorOptions {
  readonly store: Store
  readonly plans: Plans
  readonly decide: Decide
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly foreign: ForeignWrites
  /** Most commands of one commit. */
  readonly batchLimit?: number | undefined
  readonly cacheSize?: number | undefined
  /** Who claims a run that this command begins: this process's worker, or nobody (0). */
  readonly claimantFor?: ((command: Command) => Incarnation) | undefined
  /** Told every changed resource after each commit, before the answers are given. */
  readonly onCommitted?: ((writes: readonly Write[], lastEvent: number, known: Known) => void) | undefined
}

/** How current a committed state is: the commit was sent at `at` (monotonic), other processes' writes were counted as `asOf`. */
export interface Known {
  readonly at: number
  readonly asOf: number
}

interface Item {
  readonly command: Command
  readonly done: ((decision: Decision) => void) | null
  decision: Decision | null
}

/** After so many conflicts a batch is halved; a command alone is given up after the second figure. */
const conflictsBeforeHalving = 3
const conflictsAlone = 12
/** A decision that keeps asking for facts is broken. */
const loadRoundsMax = 1_000
const retryFirstMs = 50
const retryAtMostMs = 5_000

export class Door {
  readonly #options: DoorOptions
  readonly #store: Store
  readonly #clock: Clock
  readonly #set: WorkingSet
  readonly #batchLimit: number
  #queue: Item[] = []
  #head = 0
  #state: 'idle' | 'waiting' | 'busy' = 'idle'
  #closed: { readonly code: ErrorCode; readonly message: string } | null = null
  #cancelPause: (() => void) | null = null
  #whenIdle: (() => void)[] = []
  #toForget: No[] = []
  #known: Known = { at: 0, asOf: 0 }
  /** How calls ended that were under way when the lease was lost: told again by the next incarnation. */
  #kept: Item[] = []
  /** Commands answered, commits made, conflicts met: for health and benchmarks. */
  readonly figures = { commands: 0, commits: 0, conflicts: 0, storeErrors: 0 }

  constructor(options: DoorOptions) {
    this.#options = options
    this.#store = options.store
    this.#clock = options.clock
    this.#set = new WorkingSet({ plans: options.plans, cacheSize: options.cacheSize ?? 10_000 })
    this.#batchLimit = options.batchLimit ?? 500
  }

  /** Another incarnation works here from now on: numbers of new resources are its own. */
  reborn(incarnation: Incarnation): void {
    this.#set.reborn(incarnation)
    this.#closed = null
    for (const { command, done } of this.#kept) this.submit(command, done)
    this.#kept = []
  }

  /** Sends a command in; `done` is called after the commit, never inside this call. */
  submit(command: Command, done: ((decision: Decision) => void) | null): void {
    this.#queue.push({ command, done, decision: null })
    if (this.#state === 'idle') this.#await()
  }

  /** The same as a promise; never rejected. */
  ask(command: Command): Promise<Decision> {
    return new Promise((resolve) => this.submit(command, resolve))
  }

  /** What is cached of this resource is read again before it is used. */
  forget(no: No): void {
    if (this.#state === 'busy') this.#toForget.push(no)
    else this.#set.forget(no)
  }

  get waiting(): number {
    return this.#queue.length - this.#head
  }

  /** Everything that waits, and all that comes, is answered with this code. */
  close(code: ErrorCode, message: string): void {
    this.#closed = { code, message }
    this.#cancelPause?.()
    if (this.#state === 'idle' && this.waiting > 0) this.#await()
  }

  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void> {
    if (this.#state === 'idle') return Promise.resolve()
    return new Promise((resolve) => this.#whenIdle.push(resolve))
  }

  #await(): void {
    this.#state = 'waiting'
    this.#clock.soon(() => {
      this.#state = 'busy'
      this.#takeBatch().then(
        () => this.#next(),
        (error: unknown) => {
          // Every expected failure is answered inside; what comes here is our own defect. The door stays open for the others.
          this.#options.log('error', 'the door met a defect', { error })
          this.#next()
        },
      )
    })
  }

  #next(): void {
    if (this.waiting > 0) return this.#await()
    this.#state = 'idle'
    const waiters = this.#whenIdle
    this.#whenIdle = []
    for (const resolve of waiters) resolve()
  }

  async #takeBatch(): Promise<void> {
    const size = Math.min(this.waiting, this.#batchLimit)
    const items = this.#queue.slice(this.#head, this.#head + size)
    this.#head += size
    if (this.#head === this.#queue.length) {
      this.#queue = []
      this.#head = 0
    } else if (this.#head > 10_000) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    await this.#settle(items)
  }

  /** Decides and commits until these commands have their answers. */
  async #settle(items: Item[]): Promise<void> {
    let conflicts = 0
    let pauseMs = retryFirstMs
    for (;;) {
      if (this.#closed !== null) return this.#turnAway(items, this.#closed.code, this.#closed.message)
      let answer: CommitAnswer | null
      let batch: Batch | null = null
      try {
        const deciding = this.#decideAll(items)
        if (deciding !== null) await deciding
        batch = this.#set.batch()
        if (!this.#set.dirty && !items.some((item) => item.decision!.accepted)) {
          answer = null
        } else {
          this.#known = { at: this.#clock.monotonic(), asOf: this.#known.asOf }
          const committing = this.#store.commit(batch)
          answer = committing instanceof Promise ? await committing : committing
        }
      } catch (error) {
        this.#set.rollback('all')
        if (isUnavailable(error)) {
          this.figures.storeErrors++
          this.#options.log('warn', 'the store does not answer; trying again', { error })
          await this.#pause(pauseMs + this.#options.random.below(pauseMs))
          pauseMs = Math.min(pauseMs * 2, retryAtMostMs)
          continue
        }
        this.#options.log('error', 'the store refused a batch', { error, commands: items.length })
        if (items.length === 1) return this.#refuse(items, ...asRejection(error))
        return this.#settleHalves(items)
      }
      if (answer === null || answer.committed) {
        this.#set.committed()
        return this.#finish(items, batch, answer === null ? 0 : answer.first + batch.events.length - 1)
      }
      conflicts++
      this.figures.conflicts++
      this.#set.rollback(answer.conflicts.length === 0 && answer.keys.length === 0 ? 'all' : answer.conflicts)
      if (items.length > 1 && conflicts >= conflictsBeforeHalving) return this.#settleHalves(items)
      if (conflicts >= conflictsAlone) {
        return this.#refuse(items, 'store_unavailable', 'Others kept changing the same resources; ask again.')
      }
      if (conflicts >= conflictsBeforeHalving)
        await this.#pause(1 + this.#options.random.below(2 ** Math.min(conflicts, 7)))
    }
  }

  async #settleHalves(items: Item[]): Promise<void> {
    const middle = items.length >>> 1
    await this.#settle(items.slice(0, middle))
    await this.#settle(items.slice(middle))
  }

  /** Decides one after another; facts that are missing are loaded together, until none is. Null: done without waiting. */
  #decideAll(items: Item[]): Promise<unknown> | null {
    for (const no of this.#toForget) this.#set.forget(no)
    this.#toForget = []
    const asOf = this.#options.foreign.look()
    this.#known = { at: this.#clock.monotonic(), asOf }
    this.#set.begin(this.#clock.now(), asOf)
    let asks: Ask[] = []
    for (const item of items) {
      item.decision = null
      this.#set.strict = !isOfRun(item.command)
      foresee(item.command, this.#set, asks)
    }
    asks = distinct(asks)
    if (asks.length > 0) {
      const loading = this.#load(asks)
      if (loading !== null) return loading.then(() => this.#decideWhatCan(items))
    }
    return this.#decideWhatCan(items)
  }

  #decideWhatCan(items: Item[], rounds = 0): Promise<unknown> | null {
    let left = items
    for (let round = rounds; ; round++) {
      const asks: Ask[] = []
      const stuck: Item[] = []
      for (const item of left) {
        if (this.#decideOne(item)) continue
        if (round > loadRoundsMax)
          item.decision = rejected('declaration_defect', 'The decision never stops asking for facts.')
        else {
          for (const ask of this.#set.missing) asks.push(ask)
          stuck.push(item)
        }
      }
      if (stuck.length === 0) return null
      const loading = this.#load(distinct(asks))
      left = stuck
      if (loading !== null) return loading.then(() => this.#decideWhatCan(stuck, round + 1))
    }
  }

  /** False: facts are missing, and what was decided without them is void. */
  #decideOne(item: Item): boolean {
    const set = this.#set
    if (set.missing.length > 0) set.missing = []
    set.strict = !isOfRun(item.command)
    set.claimant = this.#options.claimantFor === undefined ? 0 : this.#options.claimantFor(item.command)
    try {
      const decision = this.#options.decide(this.#options.plans, set, item.command)
      if (set.missing.length > 0) return false
      item.decision = decision
      if (decision.changes !== null) set.apply(decision.changes)
    } catch (error) {
      if (set.missing.length > 0) return false
      this.#options.log('error', 'a decision threw', { error, command: item.command })
      item.decision = rejected('declaration_defect', `Cannot decide ${item.command.kind}: ${textOf(error)}.`)
    }
    return true
  }

  #load(asks: readonly Ask[]): Promise<unknown> | null {
    const loading = this.#store.load(asks)
    if (loading instanceof Promise) return loading.then((answers) => this.#supply(asks, answers))
    this.#supply(asks, loading)
    return null
  }

  #supply(asks: readonly Ask[], answers: Awaited<ReturnType<Store['load']>>): void {
    for (let i = 0; i < asks.length; i++) this.#set.supply(asks[i]!, answers[i]!)
  }

  #finish(items: readonly Item[], batch: Batch, lastEvent: number): void {
    this.figures.commands += items.length
    if (lastEvent > 0 || batch.writes.length > 0) this.figures.commits++
    for (const item of items) {
      const changes = item.decision!.changes
      if (changes === null) continue
      for (const command of changes.followUps) this.submit(command, null)
    }
    if (batch.writes.length > 0) {
      try {
        this.#options.onCommitted?.(batch.writes, lastEvent, this.#known)
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

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        this.#cancelPause = null
        cancel()
        resolve()
      }
      const cancel = this.#clock.after(ms, end)
      this.#cancelPause = end
    })
  }
}

export function rejected(code: ErrorCode, message: string): Rejected {
  return { accepted: false, rejection: { code, message }, changes: null }
}

function distinct(asks: Ask[]): Ask[] {
  if (asks.length < 2) return asks
  const seen = new Set<string>()
  return asks.filter((ask) => {
    const name = nameOfAsk(ask)
    if (seen.has(name)) return false
    seen.add(name)
    return true
  })
}

function nameOfAsk(ask: Ask): string {
  switch (ask.ask) {
    case 'resource':
      return `r${ask.no}`
    case 'named':
      return `n${ask.type}\u0000${ask.id}`
    case 'children':
      return `c${ask.no}`
    case 'linkedBy':
      return `l${ask.no} ${ask.link}`
    case 'key':
      return `k${ask.key}`
    case 'endedRun':
      return `e${ask.no}-${ask.begun}`
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof HomeostatError && error.code === 'store_unavailable'
}

function asRejection(error: unknown): [ErrorCode, string] {
  if (error instanceof HomeostatError) return [error.code, error.message]
  return ['store_unavailable', `The store refused the change: ${textOf(error)}.`]
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
