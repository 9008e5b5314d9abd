// One incarnation of this process as an owner: its lease and everything that acts under it.
//
//   new -> serving   registered; the worker and its companions act
//   serving -> lost  the lease is gone: all calls aborted, nothing written any more; the engine begins another tenure
//   serving -> over  stopped in order: calls awaited, runs given back, goodbye said
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Command } from '../decision/command.ts'
import type { Incarnation } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store, Write } from '../store/store.ts'
import { Claimer } from './claimer.ts'
import type { Door } from './door.ts'
import type { ForeignWrites } from './foreign-writes.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import type { Log } from './log.ts'
import type { EngineSettings } from './options.ts'
import type { AnyDriver } from './run-step.ts'
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
  readonly settings: EngineSettings
  readonly isStoreNear: boolean
  readonly onLost: () => void
}

export class Tenure {
  readonly #context: TenureContext
  readonly lease: LeaseKeeper
  worker: Worker | null = null
  #claimer: Claimer | null = null

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
    if (!this.#context.settings.worker) return me
    const { settings } = this.#context
    this.worker = new Worker({
      ...this.#context,
      lease: this.lease,
      concurrency: settings.concurrency,
      runs: settings.runs,
      onWaiting: () => this.#claimer?.hint(),
    })
    this.#claimer = new Claimer({ ...this.#context, worker: this.worker, me, pollMs: settings.pollMs })
    return me
  }

  serve(): void {
    this.#claimer?.start()
  }

  claimant(command: Command): Incarnation {
    return this.worker === null ? 0 : this.worker.claimant(command)
  }

  committed(writes: readonly Write[]): void {
    this.worker?.committed(writes)
  }

  /** The store says that something may have been written. */
  changed(): void {
    this.#claimer?.wake()
  }

  lose(): void {
    this.worker?.lose()
    void this.#stopCompanions()
  }

  async stop(patienceMs: number): Promise<void> {
    await this.#stopCompanions()
    await this.worker?.stop(patienceMs)
    await this.lease.stop()
  }

  async #stopCompanions(): Promise<void> {
    await this.#claimer?.stop()
  }
}
