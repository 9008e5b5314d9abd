// Takes runs that wait for a worker: accepted where none was, given back by one that stopped, or left over when all were full.
// Woken when something may wait; else looks slowly, as the net under a lost wake-up.
import type { Clock } from '../base/clock.ts'
import type { Incarnation, No, Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store } from '../store/store.ts'
import type { Door } from './door.ts'
import type { ForeignWrites } from './foreign-writes.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { Log } from './log.ts'
import { Rhythm } from './rhythm.ts'
import { isKnownHere } from './strangers.ts'
import type { Worker } from './worker.ts'

export interface ClaimerOptions {
  readonly store: Store
  readonly plans: Plans
  readonly door: Door
  readonly clock: Clock
  readonly log: Log
  readonly foreign: ForeignWrites
  readonly worker: Worker
  readonly lease: Pick<LeaseKeeper, 'confirm'>
  readonly me: Incarnation
  readonly pollMs: number
  /** Something waits here whose record cannot be read. */
  readonly onDamaged: (resources: readonly Resource[]) => Promise<void>
}

const pageSize = 200
/** Where the store sees to it that each worker has its share. */
const offeredAtOnce = 500
const gapMs = 20
/** What another worker was offered and does not claim is offered again after about this long. */
const offeredAgainMs = 1_100
/** What was offered here and nobody here can carry out is left to the others for so long; so many are remembered. */
const strangeForMs = 60_000
const strangeMost = 1_000

export class Claimer {
  readonly #options: ClaimerOptions
  readonly #rhythm: Rhythm
  /** Something is known to wait: accepted here while this worker was full, or given back. */
  #isHinted = true
  #seenForeign = 0
  #lookedAt = -Infinity
  /** Runs that were offered and cannot be carried out here, and until when they are left alone. */
  readonly #strange = new Map<No, number>()

  constructor(options: ClaimerOptions) {
    this.#options = options
    const { clock, log } = options
    this.#rhythm = new Rhythm({ clock, log, name: 'claimer', pass: () => this.#pass(), gapMs, afterFailureMs: 1_000 })
  }

  start(): void {
    this.#rhythm.start()
  }

  stop(): Promise<void> {
    return this.#rhythm.stop()
  }

  /** The store says that something may have been written. */
  wake(): void {
    this.#rhythm.wake()
  }

  /** A run waits for a worker. */
  hint(): void {
    this.#isHinted = true
    this.#rhythm.wake()
  }

  async #pass(): Promise<number> {
    const { store, foreign, clock, worker, pollMs } = this.#options
    const asOf = foreign.look()
    const isPollDue = clock.monotonic() - this.#lookedAt >= pollMs
    if (!this.#isHinted && asOf === this.#seenForeign && !isPollDue) return pollMs
    const wasHinted = this.#isHinted
    this.#isHinted = false
    this.#seenForeign = asOf
    this.#lookedAt = clock.monotonic()
    for (let after = 0; ;) {
      const room = Math.min(worker.room.left, store.offerWaiting ? offeredAtOnce : pageSize)
      if (room <= 0) {
        await this.#makeRoom()
        // Looked at again when there is room: the poll, or the next end of a run, finds it.
        this.#isHinted = true
        return gapMs * 10
      }
      if (store.offerWaiting) return this.#takeOffered(room, wasHinted)
      const found = await store.work({ work: 'waiting' }, clock.now(), room, after)
      await this.#take(found)
      if (found.length < room) return pollMs
      after = found.at(-1)!.no
    }
  }

  /** Where the store sees to it that each worker has its share. */
  async #takeOffered(limit: number, wasHinted: boolean): Promise<number> {
    const { store, clock, me, pollMs } = this.#options
    const now = clock.monotonic()
    for (const [no, until] of this.#strange) if (until <= now) this.#strange.delete(no)
    const found = await store.offerWaiting!({ now: clock.now(), limit, owner: me, except: [...this.#strange.keys()] })
    const taken = await this.#take(found)
    for (const { no, damaged } of found) {
      const isStrange = !taken.has(no) && damaged === undefined
      if (isStrange && this.#strange.size < strangeMost) this.#strange.set(no, now + strangeForMs)
    }
    if (found.length === 0 && !wasHinted) return pollMs
    this.#lookedAt = -Infinity
    // What is known to wait may have been offered to one who cannot carry it out.
    if (found.length === 0) return Math.min(pollMs, offeredAgainMs)
    // Others have their turn before the next share.
    this.#isHinted ||= wasHinted || taken.size > 0
    return gapMs
  }

  /** Answers those that were claimed. */
  async #take(found: readonly Resource[]): Promise<ReadonlySet<No>> {
    const claimable = found.filter((one) => this.#isClaimable(one)).map((one) => one.no)
    const nos = claimable.length > 0 && (await this.#options.lease.confirm()) ? claimable : []
    await this.#claim(nos)
    const damaged = found.filter((one) => one.damaged !== undefined)
    if (damaged.length > 0) await this.#options.onDamaged(damaged)
    return new Set(nos)
  }

  /** While others wait for a worker, nobody keeps its room who waits for a time. */
  async #makeRoom(): Promise<void> {
    const { store, clock, worker } = this.#options
    const { length: resting } = worker.room.resting(clock.now())
    let wanted = 0
    for (let after = 0; wanted < resting;) {
      const waiting = await store.work({ work: 'waiting' }, clock.now(), pageSize, after)
      wanted += waiting.filter((one) => this.#isClaimable(one)).length
      if (waiting.length < pageSize) break
      after = waiting.at(-1)!.no
    }
    for (const owned of worker.room.resting(clock.now()).slice(0, wanted)) worker.giveBack(owned)
  }

  #isClaimable(resource: Resource): boolean {
    return resource.damaged === undefined && isKnownHere(this.#options.plans, resource)
  }

  async #claim(nos: readonly number[]): Promise<void> {
    const { door, me } = this.#options
    await Promise.all(nos.map((no) => door.ask({ kind: 'claim', no, owner: me, by: `worker ${me}` })))
  }
}
