// The engine: declarations, drivers and a store put together, started and stopped. What a program or a server talks to.
//
//   new -> starting -> running -> stopping -> stopped
// While running it may lose its lease: requests are then answered with `lease_lost` until it is registered anew.
import { held, systemClock, type Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { systemRandom, type Random } from '../base/random.ts'
import type { Command, RequestOperation } from '../decision/command.ts'
import { decide } from '../decision/decide.ts'
import type { Accepted, Decision } from '../decision/decision.ts'
import type { Incarnation, Resource } from '../decision/state.ts'
import type { Client } from '../lifecycle/client.ts'
import { completes, type Driver } from '../lifecycle/driver.ts'
import { typeOf, type AnyLifecycle } from '../lifecycle/lifecycle.ts'
import { emptyBatch, type Beside, type Store, type Write } from '../store/store.ts'
import type { Agreeing } from './agreement.ts'
import type { BesideOf } from './beside.ts'
import { Door, type Known } from './door.ts'
import { EngineReads, refOf } from './engine-reads.ts'
import { EventFeed, type EventListener } from './event-feed.ts'
import { ForeignWrites } from './foreign-writes.ts'
import type { Pace } from '../decision/explain.ts'
import { HealControl } from './heal-control.ts'
import { healthOf, type Health } from './health.ts'
import { HealingPolicy } from './healing-policy.ts'
import { silent, type Log } from './log.ts'
import { settingsOf, type EngineSettings } from './options.ts'
import { Rhythm } from './rhythm.ts'
import type { AnyDriver } from './run-step.ts'
import type { RunView } from './run-view.ts'
import { isNear } from './read.ts'
import { isReborn } from './rebirth.ts'
import { RunWaiter } from './run-waiter.ts'
import { plansOf, requireDrivers } from './start-checks.ts'
import { declaredBy, kindsFor, lookForStrangers, settleStrangers } from './strangers.ts'
import type { Stray } from './strays.ts'
import type { SweepNoted } from './sweeper.ts'
import { Tenure } from './tenure.ts'
import { createClient, type LifecycleSet } from './typed-client.ts'

interface Surroundings {
  readonly store: Store
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  /** Silent when left out. */
  readonly log?: Log | undefined
  readonly options?: Partial<EngineSettings> | undefined
}

/** Lifecycles by the names they are used under, each with its driver under the same name. */
export interface EngineParts<Set extends LifecycleSet> extends Surroundings {
  readonly lifecycles: Set
  /** Left out in a process without a worker. */
  readonly drivers?: { readonly [K in keyof Set]?: Driver<Set[K]> } | undefined
}

/** A plain list of lifecycles, with drivers by type of resource. */
export interface UntypedEngineParts extends Surroundings {
  readonly lifecycles: readonly AnyLifecycle[]
  readonly drivers?: Readonly<Record<string, object>> | undefined
}

/** Throws `lifecycle_invalid` with all faults of the declarations, or `driver_missing` with all missing functions. */
export function createEngine<const Set extends LifecycleSet>(parts: EngineParts<Set>): Engine<Set>
export function createEngine(parts: UntypedEngineParts): Engine
export function createEngine(parts: EngineParts<LifecycleSet> | UntypedEngineParts): Engine {
  return new Engine(parts)
}

/** A store that did not take a new incarnation is asked again after this long. */
const beginAgainMs = 1_000

export class Engine<Set extends LifecycleSet = LifecycleSet> extends EngineReads {
  /** Healing in people's hands. */
  readonly heal: HealControl
  readonly #set: Set
  readonly #random: Random
  readonly #log: Log
  readonly #drivers: ReadonlyMap<string, AnyDriver>
  readonly #foreign: ForeignWrites
  readonly #door: Door
  readonly #policy: HealingPolicy
  readonly #feed: EventFeed
  readonly #waiter: RunWaiter
  #tenure: Tenure | null = null
  #state: 'new' | 'starting' | 'running' | 'stopping' | 'stopped' = 'new'
  #stopListening: (() => void) | null = null
  #cancelRebirth: (() => void) | null = null
  #drained: Promise<void> | null = null
  #stopped: Promise<void> | null = null
  /** For stores that tell only of what was written here: asks from time to time whether others wrote. */
  readonly #listener: Rhythm
  #heard = 0

  constructor(parts: EngineParts<Set> | UntypedEngineParts) {
    const { store } = parts
    const clock = parts.clock ?? store.clock ?? systemClock
    const log = parts.log ?? silent
    const settings = settingsOf(parts.options)
    const set = byName(parts.lifecycles)
    const lifecycles = Object.values(set)
    super({ store, clock, settings, plans: plansOf(lifecycles, log) })
    this.#set = set as Set
    this.#random = parts.random ?? systemRandom
    this.#log = log
    this.#drivers = driversByType(set, parts.drivers ?? {})
    if (settings.worker) requireDrivers(this.plans, this.#drivers)
    this.#foreign = new ForeignWrites(store)
    const context = { store, clock, log, plans: this.plans }
    this.#door = new Door({
      ...context,
      decide,
      random: this.#random,
      foreign: this.#foreign,
      batchLimit: settings.batchLimit,
      cacheSize: settings.cacheSize,
      claimantFor: (command) => this.#tenure?.claimant(command) ?? 0,
      onCommitted: (writes, _, known) => this.#committed(writes, known),
    })
    this.#policy = new HealingPolicy(store, clock, {
      breakerLimit: settings.breakerLimit,
      breakerWindowMs: settings.breakerWindowMs,
      ratePerSecond: settings.healRatePerSecond,
    })
    this.#feed = new EventFeed({ ...context, pollMs: settings.pollMs })
    this.#waiter = new RunWaiter(context)
    this.#listener = new Rhythm({
      ...context,
      name: 'listener',
      pass: () => this.#listen(),
      gapMs: 100,
      afterFailureMs: 1_000,
    })
    this.heal = new HealControl({
      ...context,
      door: this.#door,
      policy: this.#policy,
      overdueSlackMs: settings.overdueSlackMs,
      wake: () => this.#tenure?.acting?.healer.wake(),
    })
  }

  /**
   * Throws `lifecycle_missing` when stored resources stand where no declaration knows a way, `lifecycle_differs` when processes at work
   * have other steps.
   */
  async start(): Promise<void> {
    if (this.#state !== 'new') throw new HomeostatError('engine_stopped', 'An engine is started once. Create another.')
    this.#state = 'starting'
    await this.store.useKinds(kindsFor(this.plans), declaredBy(this.plans))
    const found = await lookForStrangers(this.plans, this.store, this.settings.moved)
    await this.#beginTenure()
    try {
      await settleStrangers(this.#agreeing(this.settings.leaseMs), this.#door, found, this.settings.moved)
    } catch (error) {
      await this.stop()
      throw error
    }
    this.#serve()
    this.#waiter.start()
    this.#stopListening = this.store.onChange(() => this.#changed())
    this.#listener.start()
    this.#state = 'running'
  }

  /** Not before strangers are moved: what stands at a step that is another now must not be carried on. */
  #serve(): void {
    if (this.#state === 'starting' || this.#state === 'running') this.#tenure?.serve()
  }

  /** Takes on no more work: waits for calls under way, gives the runs to other workers. It still answers, until it is stopped. */
  async drain(): Promise<void> {
    this.#drained ??= this.#tenure?.drain(this.settings.stopPatienceMs) ?? Promise.resolve()
    await held(this.clock, () => this.#drained!)
  }

  /** Whether it was asked to take on no more work. */
  get isDraining(): boolean {
    return this.#drained !== null
  }

  /** Starts nothing more, waits for calls under way, gives back the runs. Nothing is left behind: no timer, no promise. */
  stop(): Promise<void> {
    return (this.#stopped ??= held(this.clock, () => this.#end()))
  }

  async #end(): Promise<void> {
    this.#state = 'stopping'
    this.#stopListening?.()
    this.#cancelRebirth?.()
    const close = () => this.#door.close('engine_stopped', 'The engine is stopping.')
    // A store that does not answer cannot hold the stop up for ever.
    const cancel = this.clock.after(2 * this.settings.stopPatienceMs, close)
    await this.#listener.stop()
    await Promise.all([this.#tenure?.stop(this.settings.stopPatienceMs), this.#feed.stop(), this.#waiter.stop()])
    close()
    await this.#door.idle()
    cancel()
    this.#state = 'stopped'
  }

  /** The declarations, as they were given. */
  get lifecycles(): readonly AnyLifecycle[] {
    return Object.values(this.#set)
  }

  /** The number of this process's present tenure as an owner; 0 before the start. */
  get incarnation(): Incarnation {
    return this.#tenure?.no ?? 0
  }

  /** Sends a command through the one door; resolves after its commit, accepted or rejected. What `beside` makes is in the same commit. */
  submit(command: Command, beside?: BesideOf): Promise<Decision> {
    return this.#door.ask(command, beside)
  }

  /** Writes records and entries of the journal on their own; false: a record is no longer as it was read. */
  async writeBeside(beside: Beside): Promise<boolean> {
    return (await this.store.commit({ ...emptyBatch, ...beside })).committed
  }

  /** The same without a promise: `done` is called after the commit. */
  submitWith(command: Command, done: (decision: Decision) => void): void {
    this.#door.submit(command, done)
  }

  /** Asks for an operation; a rejection is thrown. */
  async request(request: Omit<RequestOperation, 'kind'>): Promise<Accepted> {
    const decision = await this.submit({ kind: 'requestOperation', ...request })
    if (decision.accepted) return decision
    const { code, message, details } = decision.rejection
    throw new HomeostatError(code, message, { details })
  }

  /** Creates a resource by the operation that the lifecycle declares for it (`create` unless said otherwise). */
  create(
    type: string,
    given: NonNullable<RequestOperation['create']> & { readonly id?: string },
    request: { readonly by: string; readonly operation?: string; readonly input?: unknown; readonly key?: string },
  ): Promise<Accepted> {
    const { id, ...create } = given
    return this.request({ type, id, operation: 'create', create, ...request })
  }

  /** Asks for an operation of a resource that is there. */
  operate(
    type: string,
    id: string,
    operation: string,
    request: Pick<RequestOperation, 'by' | 'input' | 'key' | 'force' | 'reason' | 'ifRevision' | 'tenant' | 'lane'>,
  ): Promise<Accepted> {
    return this.request({ type, id, operation, ...request })
  }

  /** Operations as typed functions, for the lifecycles this engine was given by name. */
  client(by: string): Client<Set> {
    return createClient(this, this.#set, by)
  }

  /** Resolves when the run has ended or the time is over; the view says which. */
  async waitForRun(id: string, { timeoutMs }: { readonly timeoutMs: number }): Promise<RunView> {
    const view = await this.run(id)
    if (view.isOver) return view
    await this.#waiter.wait(refOf(id), timeoutMs)
    return this.run(id)
  }

  /** Calls `listener` with every event after this number, in order, now and in future; the answer ends it. `gapMs`: how long it can wait. */
  subscribe(after: number, listener: EventListener, gapMs?: number): () => Promise<void> {
    return this.#feed.subscribe(after, listener, gapMs)
  }

  /** The number of the latest event: where a subscriber begins that wants only what is new. */
  latestEvent(): Promise<number> {
    return this.#feed.latest()
  }

  /** What drivers' inventories hold that no ledger names. */
  get strays(): readonly Stray[] {
    return this.#tenure?.acting?.sweeper.strays ?? []
  }

  /** A person has an orphan destroyed now, whatever the policy says. Null: it is gone; else why it is not. */
  async sweepNow(resource: Resource, name: string, by: string, noted?: SweepNoted): Promise<string | null> {
    const sweeper = this.#tenure?.acting?.sweeper
    if (sweeper === undefined)
      throw new HomeostatError(
        'worker_absent',
        'This process has no worker that could sweep. Ask a server that has one.',
      )
    return sweeper.sweepNow(resource, name, by, noted)
  }

  /** The step for which a driver elsewhere was given this token, by its type and key; null: it is no such token. */
  stepOfToken(token: string): { readonly type: string; readonly key: string } | null {
    for (const [type, driver] of this.#drivers) {
      const find = (driver as { readonly [completes]?: (token: string) => string | null })[completes]
      const key = find?.(token) ?? null
      if (key !== null) return { type, key }
    }
    return null
  }

  protected override async healingHeld(): Promise<Pace['held']> {
    await this.#policy.load()
    return (resource, found) => this.#policy.held(resource, found)
  }

  health(): Health {
    return healthOf({
      isRunning: this.#state === 'running',
      clock: this.clock,
      settings: this.settings,
      door: this.#door,
      tenure: this.#tenure,
    })
  }

  async #beginTenure(): Promise<void> {
    const tenure = new Tenure({
      store: this.store,
      plans: this.plans,
      drivers: this.#drivers,
      door: this.#door,
      clock: this.clock,
      random: this.#random,
      log: this.#log,
      foreign: this.#foreign,
      policy: this.#policy,
      // One that was drained begins anew as one that only answers.
      settings: this.#drained === null ? this.settings : { ...this.settings, worker: false },
      isStoreNear: isNear(this.store),
      onLost: () => this.#lost(),
    })
    if (this.#state === 'starting') await tenure.begin()
    else if (!(await isReborn(tenure, this.#agreeing()))) return
    if (this.#state === 'stopping' || this.#state === 'stopped') return tenure.stop(0)
    this.#door.reborn(tenure.no)
    this.#tenure = tenure
    if (this.#state === 'running') tenure.serve()
  }

  /** One that is under way looks again by itself. */
  #agreeing(patienceMs = 0): Agreeing {
    const { store, plans, clock, incarnation: me } = this
    return { store, plans, clock, log: this.#log, me, patienceMs, isOver: () => this.#state !== 'starting' }
  }

  #lost(): void {
    this.#door.close('lease_lost', 'This process lost its lease and is being registered anew. Ask again.')
    void this.#door.idle().then(() => this.#beginAgain())
  }

  async #beginAgain(): Promise<void> {
    if (this.#state === 'stopping' || this.#state === 'stopped') return
    try {
      await this.#beginTenure()
      this.#log('info', 'registered anew')
    } catch (error) {
      this.#log('warn', 'could not be registered anew; trying again', { error })
      this.#cancelRebirth = this.clock.after(beginAgainMs, () => void this.#beginAgain())
    }
  }

  #committed(writes: readonly Write[], known: Known): void {
    this.#tenure?.committed(writes, known)
    this.#waiter.committed(writes)
  }

  #listen(): number {
    const count = this.#foreign.look()
    if (count !== this.#heard) this.#changed()
    this.#heard = count
    return this.settings.lookMs
  }

  #changed(): void {
    this.#tenure?.changed()
    this.#feed.wake()
    this.#waiter.wake()
  }
}

function byName(lifecycles: LifecycleSet | readonly AnyLifecycle[]): LifecycleSet {
  if (!Array.isArray(lifecycles)) return lifecycles as LifecycleSet
  // A type that is declared twice is told by the check, so both are kept.
  return Object.fromEntries((lifecycles as readonly AnyLifecycle[]).map((one, i) => [`${typeOf(one)}#${i}`, one]))
}

function driversByType(set: LifecycleSet, drivers: object): ReadonlyMap<string, AnyDriver> {
  const given = drivers as Readonly<Record<string, AnyDriver | undefined>>
  const byType = new Map<string, AnyDriver>()
  for (const [name, lifecycle] of Object.entries(set)) {
    const driver = given[typeOf(lifecycle)] ?? given[name]
    if (driver !== undefined) byType.set(typeOf(lifecycle), driver)
  }
  return byType
}
