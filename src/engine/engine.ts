// The engine: declarations, drivers and a store put together, started and stopped. What a program or a server talks to.
//
//   new -> starting -> running -> stopping -> stopped
// While running it may lose its lease: requests are then answered with `lease_lost` until it is registered anew.
import { systemClock, type Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { systemRandom, type Random } from '../base/random.ts'
import type { Command, RequestOperation } from '../decision/command.ts'
import { decide } from '../decision/decide.ts'
import type { Accepted, Decision } from '../decision/decision.ts'
import type { Incarnation, Resource } from '../decision/state.ts'
import { compilePlans } from '../lifecycle/compile-plan.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store, Write } from '../store/store.ts'
import { Door } from './door.ts'
import { ForeignWrites } from './foreign-writes.ts'
import { silent, type Log } from './log.ts'
import { defaultSettings, type EngineSettings } from './options.ts'
import type { AnyDriver } from './run-step.ts'
import { Tenure } from './tenure.ts'

export interface EngineParts {
  readonly store: Store
  readonly lifecycles: readonly Lifecycle[]
  /** By type of resource. */
  readonly drivers: Readonly<Record<string, object>>
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly log?: Log | undefined
  readonly options?: Partial<EngineSettings> | undefined
}

const beginAgainMs = 1_000

export function createEngine(parts: EngineParts): Engine {
  return new Engine(parts)
}

export class Engine {
  readonly plans: Plans
  readonly settings: EngineSettings
  readonly #store: Store
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Log
  readonly #drivers: ReadonlyMap<string, AnyDriver>
  readonly #foreign: ForeignWrites
  readonly #door: Door
  #tenure: Tenure | null = null
  #state: 'new' | 'starting' | 'running' | 'stopping' | 'stopped' = 'new'
  #stopListening: (() => void) | null = null
  #cancelRebirth: (() => void) | null = null

  constructor(parts: EngineParts) {
    this.plans = compilePlans(parts.lifecycles)
    this.settings = { ...defaultSettings, ...parts.options }
    this.#store = parts.store
    this.#clock = parts.clock ?? systemClock
    this.#random = parts.random ?? systemRandom
    this.#log = parts.log ?? silent
    this.#drivers = new Map(Object.entries(parts.drivers) as [string, AnyDriver][])
    this.#foreign = new ForeignWrites(parts.store)
    this.#door = new Door({
      store: parts.store,
      plans: this.plans,
      decide,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      foreign: this.#foreign,
      batchLimit: this.settings.batchLimit,
      cacheSize: this.settings.cacheSize,
      claimantFor: (command) => this.#tenure?.claimant(command) ?? 0,
      onCommitted: (writes) => this.#committed(writes),
    })
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') throw new HomeostatError('engine_stopped', 'An engine is started once; create another.')
    this.#state = 'starting'
    await this.#store.useKinds((type, status) => this.plans.kindOf(type, status))
    await this.#beginTenure()
    this.#stopListening = this.#store.onChange(() => this.#tenure?.changed())
    this.#state = 'running'
  }

  /** Starts nothing more, waits for calls under way, gives back the runs. Nothing is left behind: no timer, no promise. */
  async stop(): Promise<void> {
    if (this.#state === 'stopped' || this.#state === 'stopping') return
    this.#state = 'stopping'
    this.#stopListening?.()
    this.#cancelRebirth?.()
    await this.#tenure?.stop(this.settings.stopPatienceMs)
    this.#door.close('engine_stopped', 'The engine is stopping.')
    await this.#door.idle()
    this.#state = 'stopped'
  }

  get incarnation(): Incarnation {
    return this.#tenure?.no ?? 0
  }

  /** Sends a command through the one door; resolves after its commit, accepted or rejected. */
  submit(command: Command): Promise<Decision> {
    return this.#door.ask(command)
  }

  /** Asks for an operation; a rejection is thrown. */
  async request(request: Omit<RequestOperation, 'kind'>): Promise<Accepted> {
    const decision = await this.submit({ kind: 'requestOperation', ...request })
    if (decision.accepted) return decision
    const { code, message, details } = decision.rejection
    throw new HomeostatError(code, message, { details })
  }

  async get(type: string, id: string): Promise<Resource | null> {
    const [found] = await this.#store.load([{ ask: 'named', type, id }])
    return (found ?? null) as Resource | null
  }

  async #beginTenure(): Promise<void> {
    const tenure = new Tenure({
      store: this.#store,
      plans: this.plans,
      drivers: this.#drivers,
      door: this.#door,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      foreign: this.#foreign,
      settings: this.settings,
      isStoreNear: !(this.#store.load([]) instanceof Promise),
      onLost: () => this.#lost(),
    })
    const no = await tenure.begin()
    this.#door.reborn(no)
    this.#tenure = tenure
    tenure.serve()
  }

  #lost(): void {
    this.#door.close('lease_lost', 'This process lost its lease and is being registered anew. Ask again.')
    void this.#door.idle().then(() => this.#beginAgain())
  }

  async #beginAgain(): Promise<void> {
    if (this.#state === 'stopping' || this.#state === 'stopped') return
    try {
      await this.#beginTenure()
    } catch (error) {
      this.#log('warn', 'could not be registered anew; trying again', { error })
      this.#cancelRebirth = this.#clock.after(beginAgainMs, () => void this.#beginAgain())
    }
  }

  #committed(writes: readonly Write[]): void {
    this.#tenure?.committed(writes)
  }
}
