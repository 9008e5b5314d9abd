// One incarnation of this process as an owner: its lease and everything that acts under it.
//
//   new -> serving   registered; the worker and its companions act
//   serving -> lost  the lease is gone: all calls aborted, nothing written any more; the engine begins another tenure
//   serving -> idle  drained: calls awaited, runs given back; the lease stays, requests are still taken
//   serving -> over  stopped in order: calls awaited, runs given back, goodbye said
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Command } from '../decision/command.ts'
import type { Incarnation } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store, Write } from '../store/store.ts'
import { Claimer } from './claimer.ts'
import type { Door, Known } from './door.ts'
import type { ForeignWrites } from './foreign-writes.ts'
import { Healer } from './healer.ts'
import type { HealingPolicy } from './healing-policy.ts'
import { Historian } from './historian.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import type { Log } from './log.ts'
import type { EngineSettings } from './options.ts'
import type { AnyDriver } from './run-step.ts'
import { Sweeper } from './sweeper.ts'
import { Timekeeper } from './timekeeper.ts'
import { Worker } from './worker.ts'

export interface TenureContext {
  readonly store: Store
  readonly plans: Plans
  readonly drivers: ReadonlyMap<string, AnyDriver>
  readonly door: Door
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly foreign: ForeignWrites
  readonly policy: HealingPolicy
  readonly settings: EngineSettings
  readonly isStoreNear: boolean
  readonly onLost: () => void
}

/** What acts under the lease; none of it in a process that only takes requests. */
export interface Acting {
  readonly worker: Worker
  readonly claimer: Claimer
  readonly healer: Healer
  readonly timekeeper: Timekeeper
  readonly sweeper: Sweeper
  readonly historian: Historian
}

export class Tenure {
  readonly #context: TenureContext
  readonly lease: LeaseKeeper
  acting: Acting | null = null

  constructor(context: TenureContext) {
    this.#context = context
    const { store, clock, log, settings } = context
    this.lease = new LeaseKeeper({
      store,
      clock,
      log,
      name: settings.name,
      leaseMs: settings.leaseMs,
      onLost: () => {
        this.lose()
        context.onLost()
      },
    })
  }

  get no(): Incarnation {
    return this.lease.no
  }

  /** Registers, and makes what will act; nothing acts before `serve`. */
  async begin(): Promise<Incarnation> {
    const me = await this.lease.start()
    const context = this.#context
    const { settings } = context
    if (!settings.worker) return me
    const worker = new Worker({
      ...context,
      lease: this.lease,
      concurrency: settings.concurrency,
      runs: settings.runs,
      onWaiting: () => this.acting?.claimer.hint(),
    })
    this.acting = {
      worker,
      claimer: new Claimer({
        ...context,
        worker,
        lease: this.lease,
        me,
        pollMs: settings.pollMs,
        onDamaged: async (resources) => this.acting?.healer.meet(resources),
      }),
      healer: new Healer({
        ...context,
        ...settings,
        lease: this.lease,
        me,
        ownerForHealed: () => (worker.room.left > 0 ? me : 0),
        onGone: () => this.acting?.sweeper.wake(),
      }),
      timekeeper: new Timekeeper({ ...context, pollMs: settings.pollMs }),
      sweeper: new Sweeper({
        ...context,
        ...settings,
        me,
        lease: this.lease,
        isEnded: (no) => this.acting?.healer.hasEnded(no) ?? false,
        policyOf: (type) => settings.sweep[type] ?? 'sweep',
      }),
      historian: new Historian({ ...context, keepHistoryMs: settings.keepHistoryMs }),
    }
    return me
  }

  serve(): void {
    if (this.acting === null || !this.lease.isLive) return
    const { claimer, healer, timekeeper, sweeper, historian } = this.acting
    healer.start()
    claimer.start()
    timekeeper.start()
    sweeper.start()
    historian.start()
  }

  claimant(command: Command): Incarnation {
    return this.acting === null ? 0 : this.acting.worker.claimant(command)
  }

  committed(writes: readonly Write[], known: Known): void {
    if (this.acting === null) return
    this.acting.worker.committed(writes, known)
    this.acting.healer.committed()
    this.acting.timekeeper.committed(writes)
    this.acting.sweeper.committed(writes)
  }

  /** The store says that something may have been written. */
  changed(): void {
    this.acting?.claimer.wake()
  }

  lose(): void {
    this.acting?.worker.lose()
    void this.#stopCompanions()
  }

  /** Nothing acts here any more; what is under way is waited for, the rest given back. */
  async drain(patienceMs: number): Promise<void> {
    await this.#stopCompanions()
    await this.acting?.worker.stop(patienceMs)
    this.acting = null
  }

  async stop(patienceMs: number): Promise<void> {
    await this.#stopCompanions()
    await this.acting?.worker.stop(patienceMs)
    await this.lease.stop()
  }

  async #stopCompanions(): Promise<void> {
    if (this.acting === null) return
    const { claimer, healer, timekeeper, sweeper, historian } = this.acting
    await Promise.all([claimer.stop(), healer.stop(), timekeeper.stop(), sweeper.stop(), historian.stop()])
  }
}
