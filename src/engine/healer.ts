// Brings back what is stuck: a look at the present rows, repeated for ever by every worker. Nothing is remembered between two
// passes that would be missed; healing is a command like any other, and only one healer's command wins.
//
// A pass: gone incarnations are ended -> their runs are taken over -> resources without a run, then overdue ones, are healed.
// Owners are healed before owned ones; what is refused because its owner comes first is found again by the next pass.
import type { Clock, Millis } from '../base/clock.ts'
import type { ErrorCode } from '../base/errors.ts'
import { nobody, type Incarnation, type No, type Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store, WorkerRow } from '../store/store.ts'
import type { Door } from './door.ts'
import type { ForeignWrites } from './foreign-writes.ts'
import type { HealingPolicy } from './healing-policy.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { Log } from './log.ts'
import { Rhythm } from './rhythm.ts'
import { findOverdue, findOwnerLost, findUnowned, type Stuck, type StuckContext, type StuckPage } from './stuck.ts'
import { typeOrder } from './type-order.ts'

export interface HealerOptions {
  readonly store: Store
  readonly plans: Plans
  readonly door: Door
  readonly clock: Clock
  readonly log: Log
  readonly foreign: ForeignWrites
  readonly policy: HealingPolicy
  readonly lease: Pick<LeaseKeeper, 'confirm'>
  readonly me: Incarnation
  /** Who carries out a run that is healed: this worker while it has room, else nobody, so that any worker takes it. */
  readonly ownerForHealed: () => Incarnation
  readonly healEveryMs: number
  readonly overdueSlackMs: number
  /** Somebody was found to be gone. */
  readonly onGone?: () => void
  /** Gone incarnations are shown for so long. */
  readonly keepGoneMs: number
}

/** With nothing written since the last look, these are looked for more rarely. */
const idleOverdueMs = 30_000
const idleUnownedMs = 60_000
/** What was refused waits for its owner: so many passes follow at once while something is healed. */
const followingPassesMax = 5
/** So many are remembered as reported. */
const reportedMost = 100_000

/** Answers to what is only reported. */
const isReported: ReadonlySet<ErrorCode> = new Set(['healing_held', 'state_damaged', 'not_stuck'])

export class Healer {
  readonly #options: HealerOptions
  readonly #rhythm: Rhythm
  readonly #order: ReadonlyMap<string, number>
  readonly #context: StuckContext
  #commits = 0
  #seenCommits = -1
  #seenForeign = -1
  #overdueLookedAt = -Infinity
  #unownedLookedAt = -Infinity
  #following = 0
  /** Incarnations that are known to have ended, and those that were found to own nothing. */
  readonly #ended = new Set<Incarnation>()
  readonly #emptied = new Set<Incarnation>()
  /** What is held back and was reported, by its revision: a store would take it again, and do nothing. */
  readonly #reported = new Map<No, number>()
  #isSaturated = false
  /** The policy of this pass is known. */
  #judging: Promise<void> = Promise.resolve()
  /** When the last pass ended well; 0: none yet. */
  lastPassAt: Millis = 0
  readonly figures = { passes: 0, healed: 0, refused: 0, held: 0 }

  constructor(options: HealerOptions) {
    this.#options = options
    this.#order = typeOrder(options.plans)
    this.#context = options
    const { clock, log } = options
    this.#rhythm = new Rhythm({
      clock,
      log,
      name: 'healer',
      pass: () => this.#pass(),
      gapMs: 50,
      afterFailureMs: 1_000,
    })
  }

  start(): void {
    this.#rhythm.start()
  }

  stop(): Promise<void> {
    return this.#rhythm.stop()
  }

  /** A pass is wanted now, whatever the rhythm. */
  wake(): void {
    this.#overdueLookedAt = this.#unownedLookedAt = -Infinity
    this.#rhythm.wake()
  }

  /** Found by whoever looked for work: without its run it is nobody's. */
  async meet(damaged: readonly Resource[]): Promise<void> {
    await this.#options.policy.load()
    await this.#healPage(damaged.map((resource) => ({ resource, found: 'unowned' })))
  }

  committed(): void {
    this.#commits++
  }

  async #pass(): Promise<number> {
    const { store, clock, policy, foreign, healEveryMs, log, lease, me } = this.#options
    const before = { ...this.figures }
    this.#isSaturated = false
    const rows = await store.workers(clock.now())
    const isLive = rows.some(({ no, state }) => no === me && state === 'live')
    if (!isLive && !(await lease.confirm())) return healEveryMs
    const gone = await this.#endGone(rows)
    const asOf = foreign.look()
    const isQuiet = this.#seenCommits === this.#commits && this.#seenForeign === asOf
    const isUnownedDue = !isQuiet || clock.monotonic() - this.#unownedLookedAt >= idleUnownedMs
    const isOverdueDue = !isQuiet || clock.monotonic() - this.#overdueLookedAt >= idleOverdueMs
    this.#seenCommits = this.#commits
    this.#seenForeign = asOf
    const isLostDue = gone.length > 0 && (!isQuiet || gone.some((no) => !this.#emptied.has(no)))
    // Read beside the first page of what it judges.
    this.#judging = isLostDue || isUnownedDue || isOverdueDue ? policy.load() : Promise.resolve()
    this.#judging.catch(() => {})
    if (isLostDue) {
      await this.#takeOver(gone)
      await this.#forget(rows, gone)
    }
    if (isUnownedDue) {
      this.#unownedLookedAt = clock.monotonic()
      await this.#healAll((after) => findUnowned(this.#context, after))
    }
    if (isOverdueDue) {
      this.#overdueLookedAt = clock.monotonic()
      const live = new Set(rows.filter((row) => row.state === 'live').map((row) => row.no))
      await this.#healAll((after) => findOverdue(this.#context, live, after))
    }
    await policy.writeScores()
    this.figures.passes++
    this.lastPassAt = clock.now()
    const healed = this.figures.healed - before.healed
    if (healed > 0) log('info', 'healed', { healed, refused: this.figures.refused - before.refused })
    return this.#isSaturated || this.#mayFollow(healed, this.figures.refused - before.refused) ? 0 : healEveryMs
  }

  #mayFollow(healed: number, refused: number): boolean {
    this.#following = healed > 0 && refused > 0 ? this.#following + 1 : 0
    return this.#following > 0 && this.#following <= followingPassesMax
  }

  /** Seen to have been ended: it cannot renew its lease any more. */
  hasEnded(no: Incarnation): boolean {
    return this.#ended.has(no)
  }

  /** Ends incarnations whose process or lease is gone, and answers all whose runs are to be taken over. */
  async #endGone(rows: readonly WorkerRow[]): Promise<readonly Incarnation[]> {
    const { store, clock, me, log } = this.#options
    const ended = new Set(this.#ended)
    const asked = new Map<Incarnation, WorkerRow>()
    for (const row of rows) {
      const { no, state, name } = row
      if (no === me || ended.has(no) || (state !== 'dead' && state !== 'expired')) continue
      asked.set(no, row)
      if (!(await store.end({ no, as: state, now: clock.now() }))) continue
      ended.add(no)
      log('warn', 'a worker is gone; its runs are taken over', { incarnation: no, name, state })
    }
    // After a refusal looked at again: it may mean that another was faster, or that the lease was renewed at the last moment.
    const isRefused = [...asked.keys()].some((no) => !ended.has(no))
    const after = isRefused ? await store.workers(clock.now()) : rows
    // What only looks gone by now was not ended by anybody, and may live on by its own clock: the next pass asks.
    const isEnded = ({ no, state, leaseUntil }: WorkerRow): boolean =>
      ended.has(no) || (state !== 'dead' && state !== 'expired') || asked.get(no)?.leaseUntil === leaseUntil
    const gone = after.filter((row) => row.no !== me && row.state !== 'live' && isEnded(row)).map((row) => row.no)
    if (gone.some((no) => !this.#ended.has(no))) this.#options.onGone?.()
    for (const no of gone) this.#ended.add(no)
    return gone
  }

  /**
   * Those that were found to own nothing are looked at again too: a frozen one may have begun a run before it learned that it
   * is gone. Apart from the others, so that a store can page through the runs of one owner by its index.
   */
  async #takeOver(gone: readonly Incarnation[]): Promise<void> {
    const emptied = gone.filter((no) => this.#emptied.has(no))
    const groups = [...gone.filter((no) => !this.#emptied.has(no)).map((no) => [no]), emptied]
    this.#emptied.clear()
    for (const owners of groups) {
      if (owners.length === 0) continue
      const found = await this.#healAll((after) => findOwnerLost(this.#context, owners, after))
      if (found === 0) for (const no of owners) this.#emptied.add(no)
    }
  }

  /** Forgets those that are gone for long and own nothing; the store refuses the others. */
  async #forget(rows: readonly WorkerRow[], gone: readonly Incarnation[]): Promise<void> {
    const { store, clock, keepGoneMs } = this.#options
    const old = rows.filter((row) => gone.includes(row.no) && row.leaseUntil < clock.now() - keepGoneMs)
    if (old.length > 0) await store.forgetWorkers(old.map((row) => row.no))
  }

  /** Answers how many were found. */
  async #healAll(find: (after: No) => Promise<StuckPage>): Promise<number> {
    let found = 0
    for (let after: No | null = 0; after !== null;) {
      const [page]: [StuckPage, void] = await Promise.all([find(after), this.#judging])
      await this.#healPage(page.stuck)
      found += page.stuck.length
      after = page.next
    }
    return found
  }

  /** One type after the other, owners first. */
  async #healPage(stuck: readonly Stuck[]): Promise<void> {
    const byRank = new Map<number, Stuck[]>()
    for (const one of stuck) {
      const rank = this.#order.get(one.resource.type) ?? 0
      const group = byRank.get(rank)
      if (group === undefined) byRank.set(rank, [one])
      else group.push(one)
    }
    for (const rank of [...byRank.keys()].sort((a, b) => a - b)) {
      await Promise.all(byRank.get(rank)!.map((one) => this.#heal(one)))
    }
  }

  async #heal({ resource, found }: Stuck): Promise<void> {
    const { door, policy, plans, ownerForHealed } = this.#options
    if (resource.damaged !== undefined && !isHealable(plans, resource))
      return this.#report({ resource, found }, 'damaged')
    const held = policy.held(resource, found)
    if (held !== null) {
      this.figures.held++
      if (found !== 'ownerLost') await this.#report({ resource, found }, held)
      return
    }
    if (!policy.takeTurn(resource.type, found)) {
      this.#isSaturated = true
      this.#overdueLookedAt = this.#unownedLookedAt = -Infinity
      return
    }
    const { no, revision } = resource
    const decision = await door.ask({ kind: 'heal', no, found, revision, owner: ownerForHealed(), by: 'healing' })
    if (decision.accepted) {
      this.figures.healed++
      await policy.healed(resource, found)
    } else this.figures.refused++
  }

  /** What no crash explains is an incident also while healing is held back: a person is to see that it waits. Once as it stands. */
  async #report({ resource, found }: Stuck, held: string): Promise<void> {
    const { no, revision } = resource
    if (Object.is(this.#reported.get(no), revision)) return
    const command = { kind: 'heal', no, found, revision, owner: nobody, by: 'healing', held } as const
    const decision = await this.#options.door.ask(command)
    if (decision.accepted || !isReported.has(decision.rejection.code)) return
    if (this.#reported.size >= reportedMost) this.#reported.clear()
    this.#reported.set(no, revision)
  }
}

/** Of what stands in a transitional status, healing needs no record of the run. */
const isHealable = (plans: Plans, { type, status, damaged }: Resource): boolean =>
  damaged!.isRunOnly && plans.kindOf(type, status) === 'transitional'
