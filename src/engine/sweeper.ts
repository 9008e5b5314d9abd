// Destroys, or lists, what exists in the real world and nobody owns: orphans of the ledger, and by `strays.ts` what no ledger names. An
// orphan is claimed first, so that only one sweeper is at it; from one whose incarnation is gone it is taken over. Destroying twice does
// no harm. Types do not wait for one another.
import type { Clock, Millis } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Incarnation, LedgerEntry, Resource } from '../decision/state.ts'
import { sweepLeaseMs } from '../decision/sweep-orphan.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Beside, Store, Write } from '../store/store.ts'
import type { BesideOf } from './beside.ts'
import type { Door } from './door.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { Log } from './log.ts'
import { Rhythm } from './rhythm.ts'
import type { AnyDriver } from './run-step.ts'
import { Strays, type Stray } from './strays.ts'
import { OrphansByType } from './orphans-by-type.ts'
import { SweeperCalls } from './sweeper-calls.ts'

export type SweepPolicy = 'sweep' | 'list'

export interface SweeperOptions {
  readonly store: Store
  readonly plans: Plans
  readonly drivers: ReadonlyMap<string, AnyDriver>
  readonly door: Door
  readonly clock: Clock
  readonly log: Log
  readonly me: Incarnation
  readonly lease: Pick<LeaseKeeper, 'mayStart'>
  /** Ended by somebody: a lease that only seems to have lapsed may live on by its owner's clock. */
  readonly isEnded: (no: Incarnation) => boolean
  readonly policyOf: (type: string) => SweepPolicy
  readonly sweepEveryMs: number
  readonly inventoryEveryMs: number
  /** A thing that no ledger names is left alone for so long after it was first seen. */
  readonly strayGraceMs: number
}

interface Orphan {
  readonly resource: Resource
  readonly entry: LedgerEntry
}

/** What is written beside the two commits of a sweep: before the driver is called, and after. */
export interface SweepNoted {
  readonly begun?: BesideOf
  readonly ended?: (fault: string | null) => Beside
}

const pageSize = 200
const retryFirstMs = 30_000
const retryAtMostMs = 3_600_000

export class Sweeper {
  readonly #options: SweeperOptions
  readonly #rhythm: Rhythm
  readonly #calls: SweeperCalls
  readonly #orphans = new OrphansByType<Orphan>({
    sweep: (orphan) => this.#sweepOne(orphan),
    onRoom: () => this.#rhythm.wake(),
  })
  /** Orphans that could not be destroyed: tries so far, and when the next one is. */
  readonly #failed = new Map<string, { tries: number; nextAt: Millis }>()
  readonly #strays: Strays
  #inventoryAt = -Infinity
  /** Under way beside the sweeping: a driver that takes long for its inventory holds up nobody's orphans. */
  #comparing: Promise<void> | null = null
  readonly figures = { swept: 0, failed: 0 }

  constructor(options: SweeperOptions) {
    this.#options = options
    const { clock, log, drivers, policyOf } = options
    this.#calls = new SweeperCalls(drivers, clock)
    this.#strays = new Strays({ ...options, calls: this.#calls, mayDestroy: (type) => policyOf(type) === 'sweep' })
    this.#rhythm = new Rhythm({
      clock,
      log,
      name: 'sweeper',
      pass: () => this.#pass(),
      gapMs: 200,
      afterFailureMs: 5_000,
    })
  }

  start(): void {
    this.#rhythm.start()
  }

  async stop(): Promise<void> {
    const stopped = Promise.all([this.#rhythm.stop(), this.#orphans.stop()])
    this.#calls.stop()
    await stopped
    await this.#comparing
  }

  get strays(): readonly Stray[] {
    return this.#strays.all
  }

  /** A worker is gone, and with it perhaps a sweep. */
  wake(): void {
    this.#rhythm.wake()
  }

  committed(writes: readonly Write[]): void {
    for (const { before, after } of writes) {
      if (before?.ledger !== after.ledger && after.ledger.some((entry) => entry.state === 'orphaned'))
        this.#rhythm.wake()
    }
  }

  async #pass(): Promise<number> {
    const { store, clock, sweepEveryMs, inventoryEveryMs } = this.#options
    const forgotten = new Set(this.#failed.keys())
    for (let after = 0; ;) {
      const found = await store.work({ work: 'orphans' }, clock.now(), pageSize, after)
      const gone = await this.#goneAmong(found)
      if (this.#calls.isStopping) return sweepEveryMs
      for (const resource of found) {
        for (const { name } of resource.ledger) forgotten.delete(name)
        for (const entry of this.#sweepable(resource, gone))
          this.#orphans.offer(resource.type, entry.name, { resource, entry })
      }
      if (found.length < pageSize) break
      after = found.at(-1)!.no
    }
    // Another has swept them, or somebody vouched for them.
    for (const name of forgotten) this.#failed.delete(name)
    if (this.#comparing === null && clock.monotonic() - this.#inventoryAt >= inventoryEveryMs) {
      this.#inventoryAt = clock.monotonic()
      this.#comparing = this.#strays.compareAll().finally(() => (this.#comparing = null))
    }
    return Math.min(sweepEveryMs, this.#nextRetryMs())
  }

  #nextRetryMs(): number {
    const now = this.#options.clock.now()
    let next = Infinity
    // Those that are due have been offered, or are when there is room.
    for (const { nextAt } of this.#failed.values()) if (nextAt > now) next = Math.min(next, nextAt - now)
    return next
  }

  /** Sweepers of these that are no more: their process died, their lease ran out, or they said goodbye in the middle of it. */
  async #goneAmong(resources: readonly Resource[]): Promise<ReadonlySet<Incarnation>> {
    const { store, clock, me, isEnded } = this.#options
    const gone = new Set<Incarnation>()
    for (const { ledger } of resources) {
      for (const { state, sweeper } of ledger) if (state === 'sweeping' && sweeper !== me) gone.add(sweeper)
    }
    if (gone.size === 0) return gone
    for (const { no, state } of await store.workers(clock.now()))
      if (state === 'live' || (state === 'expired' && !isEnded(no))) gone.delete(no)
    return gone
  }

  #sweepable(resource: Resource, gone: ReadonlySet<Incarnation>): readonly LedgerEntry[] {
    const { clock, policyOf, me } = this.#options
    if (policyOf(resource.type) !== 'sweep' || !this.#calls.canDestroy(resource.type)) return []
    return resource.ledger.filter((entry) => {
      if ((this.#failed.get(entry.name)?.nextAt ?? 0) > clock.now()) return false
      if (entry.state === 'orphaned') return true
      if (entry.state !== 'sweeping') return false
      return entry.sweeper === me || gone.has(entry.sweeper) || entry.since + sweepLeaseMs <= clock.now()
    })
  }

  async #sweepOne({ resource, entry }: Orphan): Promise<void> {
    try {
      await this.#sweep(resource, entry)
    } catch (error) {
      // Whoever else has taken one sweeps it.
      if (error instanceof HomeostatError) return
      const { type } = resource
      this.#options.log('warn', 'an orphan could not be swept', { type, name: entry.name, error })
    }
  }

  /** At somebody's wish. Null: it is gone; else why it is not. A refusal is thrown. */
  async sweepNow(resource: Resource, name: string, by: string, noted: SweepNoted = {}): Promise<string | null> {
    const entry = resource.ledger.find((one) => one.name === name)
    if (entry === undefined) throw new HomeostatError('orphan_not_found', `The ledger has no orphan '${name}'.`)
    if (!this.#calls.canDestroy(resource.type))
      throw new HomeostatError(
        'worker_absent',
        `The driver of ${resource.type} has no sweeper here: destroy it by hand, then write it off.`,
      )
    return this.#sweep(resource, entry, by, noted)
  }

  async #sweep(
    resource: Resource,
    entry: LedgerEntry,
    by = `sweeper ${this.#options.me}`,
    noted: SweepNoted = {},
  ): Promise<string | null> {
    const { door, me, lease } = this.#options
    const { no } = resource
    const [gone] = await this.#goneAmong([{ ...resource, ledger: [entry] }])
    const taken = await door.ask({ kind: 'sweepOrphan', no, name: entry.name, sweeper: me, gone, by }, noted.begun)
    if (!taken.accepted) {
      const { code, message } = taken.rejection
      throw new HomeostatError(code, message)
    }
    // This process may have stood still since, past its lease: then another has taken the orphan over.
    if (!lease.mayStart())
      throw new HomeostatError('lease_lost', `The worker that took '${entry.name}' lost its lease; another sweeps it.`)
    const fault = await this.#calls.destroy(resource.type, entry)
    const how = fault === null ? 'swept' : 'sweepFailed'
    this.#count(entry.name, fault)
    const ended = { kind: 'orphanEnded', no, name: entry.name, how, sweeper: me, reason: fault ?? '', by } as const
    await door.ask(ended, noted.ended === undefined ? undefined : () => noted.ended!(fault))
    return fault
  }

  #count(name: string, fault: string | null): void {
    if (fault === null) {
      this.figures.swept++
      this.#failed.delete(name)
      return
    }
    this.figures.failed++
    const tries = (this.#failed.get(name)?.tries ?? 0) + 1
    const waitMs = Math.min(retryAtMostMs, retryFirstMs * 2 ** Math.min(tries - 1, 20))
    this.#failed.set(name, { tries, nextAt: this.#options.clock.now() + waitMs })
  }
}
