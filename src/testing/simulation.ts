// A whole system from one seed: several processes with the production engine on one store, the world they act upon, people who
// ask, faults, and checkers that watch all of it from outside. First a storm; then faults stop for one process (the others stay
// dead or frozen for ever), everything must settle within the computed bound, and then stay settled.
import type { Command } from '../decision/command.ts'
import { createEngine } from '../engine/engine.ts'
import { defaultSettings, type EngineSettings } from '../engine/options.ts'
import { compilePlans } from '../lifecycle/compile-plan.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plans } from '../lifecycle/plan.ts'
import { createMemoryBackend } from '../store/memory-store.ts'
import type { Store, StoredRecord } from '../store/store.ts'
import { Checkers, Judgement, type Violation } from './checkers.ts'
import { Choices, type ChoiceList } from './choices.ts'
import { drawSetting, FaultPlan, quietSetting, type Near, type Setting, type Strike } from './fault-plan.ts'
import type { Seen } from './seen.ts'
import { Onlookers } from './onlookers.ts'
import { settleBoundMs } from './settle-bound.ts'
import { SimulatedClient } from './simulated-client.ts'
import { beginning, Timeline } from './simulated-clock.ts'
import { CurrentStage, simulatedDrivers, type Drivers, type Results, type Stage } from './simulated-driver.ts'
import { Hosts } from './simulated-hosts.ts'
import type { ProcessStore } from './simulated-process.ts'
import { openServer } from './simulated-server.ts'
import { resourceOf, SimulatedWorld } from './simulated-world.ts'
import { Story } from './story.ts'
import { Workload, type Inventions } from './workload.ts'

export interface Scenario extends Inventions {
  readonly name: string
  readonly lifecycles: readonly AnyLifecycle[]
  /** What steps answer where their schema says too little. */
  readonly results?: Results
  /** What is asked, by milliseconds after the beginning; left out: invented. */
  readonly script?: readonly ScriptLine[]
  readonly setting?: Partial<Setting>
  readonly engine?: Partial<EngineSettings>
}

export interface ScriptLine {
  readonly at: number
  readonly ask: (seen: Seen) => Command | null
}

/** What the simulation is made of; replaced only to see whether it finds planted bugs. */
export interface System {
  readonly createEngine: typeof createEngine
  /** A store that several processes can open. */
  readonly createStore: () => { open(): ProcessStore }
}

const production: System = { createEngine, createStore: () => createMemoryBackend() as { open(): ProcessStore } }

export interface Conditions {
  readonly seed: number
  /** Exactly these choices, instead of those that the seed draws. */
  readonly choices?: ChoiceList | undefined
  readonly strikes?: readonly Strike[] | undefined
  /** Draws a setting from the seed; else all is quiet but for the strikes. */
  readonly isSwarm?: boolean | undefined
  /** Keeps the choices and the story. */
  readonly isTold?: boolean | undefined
  /** What differs from the quiet setting, or from the drawn one. */
  readonly setting?: Partial<Setting> | undefined
  /** What is asked, instead of what the scenario says. */
  readonly script?: readonly ScriptLine[] | undefined
  /** It counts as going round in circles after so many events; left out: far more than any run needs. */
  readonly eventsMost?: number | undefined
  /** For how long it is watched after it has settled; left out: the usual time. */
  readonly stays?: Stay | undefined
}

/**
 * How long everything is watched after it has settled. `brief`: every duty has passed since the last change, and the leases of
 * the gone have run out. `usual`: also what is looked at most rarely while nothing changes was looked at. `long`: ten times as
 * long as settling may take.
 */
export type Stay = 'brief' | 'usual' | 'long'

export interface Outcome {
  readonly violation: Violation | null
  readonly hash: number
  readonly commits: number
  readonly calls: number
  /** Simulated time until everything had settled after the faults stopped. */
  readonly settledMs: number
  readonly situations: ReadonlyMap<string, number>
  /** Operations that ended well, as `type.operation`. */
  readonly succeeded: ReadonlySet<string>
  /** Statuses in which something was healed, as `type status`. */
  readonly healed: ReadonlySet<string>
  readonly choices: ChoiceList
  readonly story: Story | null
  readonly events: number
  /** Where each resource stood at the end, as `type/id`. */
  readonly statuses: ReadonlyMap<string, string>
}

/** Answers faster than people would set it, so that everything happens within minutes. */
const hurriedSettings: Partial<EngineSettings> = {
  lookMs: 15_000,
  inventoryEveryMs: 30_000,
  strayGraceMs: 20_000,
  sweepEveryMs: 20_000,
}

/** Far more than any run needs. */
const eventsMost = 150_000

export class Simulator {
  readonly scenario: Scenario
  readonly plans: Plans
  readonly system: System
  readonly judgement: Judgement
  readonly drivers: Drivers
  stage: Stage | null = null

  constructor(scenario: Scenario, system: System = production) {
    this.scenario = scenario
    this.system = system
    this.plans = compilePlans(scenario.lifecycles)
    this.judgement = new Judgement(scenario.lifecycles, this.plans)
    this.drivers = simulatedDrivers(scenario.lifecycles, () => this.stage!, scenario.results ?? {})
  }

  /** Only outside of microtasks (`outsideMicrotasks`). */
  run(conditions: Conditions): Outcome {
    const outcome = new Simulation(this, conditions).run()
    // Else the whole simulation would be kept until the next one.
    this.stage = null
    return outcome
  }
}

class Simulation {
  readonly #simulator: Simulator
  readonly #conditions: Conditions
  readonly #choices: Choices
  readonly #timeline: Timeline
  readonly #faults: FaultPlan
  readonly #checkers: Checkers
  readonly #client: SimulatedClient
  readonly #workload: Workload
  readonly #world: SimulatedWorld
  readonly #backend: { open(): ProcessStore }
  readonly #reader: Store
  readonly #story: Story | null
  readonly #settings: EngineSettings
  readonly #hosts: Hosts
  readonly #onlookers: Onlookers | null
  #actionsLeft = 0
  /** Drift probes that were under way when the faults stopped. */
  #drifts: { readonly no: number; readonly epoch: number }[] = []

  constructor(simulator: Simulator, conditions: Conditions) {
    this.#simulator = simulator
    this.#conditions = conditions
    const { scenario, judgement, plans } = simulator
    const { seed, choices: list = null, isTold = false, isSwarm = false, strikes = [] } = conditions
    this.#choices = new Choices(seed, { list, record: isTold })
    const drawn = isSwarm ? drawSetting(this.#choices) : quietSetting
    const setting = { ...drawn, ...conditions.setting, ...scenario.setting }
    this.#timeline = new Timeline(setting.shuffle)
    this.#faults = new FaultPlan(setting, this.#choices, strikes, (near) => this.#deleteNear(near))
    this.#settings = {
      ...defaultSettings,
      ...hurriedSettings,
      leaseMs: setting.leaseMs,
      ...setting.engine,
      ...scenario.engine,
    }
    this.#story = isTold ? new Story(() => this.#timeline.now, this.#faults) : null
    const kind = setting.isFar ? setting.server : 'plain'
    const server = kind === 'plain' ? null : openServer()
    this.#backend = server ?? simulator.system.createStore()
    this.#reader = this.#backend.open()
    void this.#reader.useKinds((type, status) => plans.kindOf(type, status))
    this.#checkers = new Checkers({
      judgement,
      timeline: this.#timeline,
      reader: this.#reader,
      isFar: setting.isFar,
      tell: this.#story?.tell,
    })
    this.#world = new SimulatedWorld(this.#timeline, this.#faults, this.#checkers.calls, setting.checksEpoch)
    const asking = this.#choices.stream('asking')
    this.#onlookers = setting.isWatched ? new Onlookers(this.#timeline, this.#checkers) : null
    this.#hosts = new Hosts({
      simulator,
      seed,
      timeline: this.#timeline,
      faults: this.#faults,
      checkers: this.#checkers,
      backend: this.#backend,
      reader: this.#reader,
      server: server?.run(kind, this.#timeline, this.#faults, this.#checkers) ?? null,
      settings: this.#settings,
      stream: this.#choices.stream('process'),
      parting: this.#choices.stream('parting'),
      onlookers: this.#onlookers,
    })
    this.#client = new SimulatedClient(this.#timeline, this.#checkers, asking, () => this.#hosts.counters())
    this.#workload = new Workload(plans, this.#checkers.seen, this.#choices.stream('workload'), scenario)
  }

  run(): Outcome {
    const { seen } = this.#checkers
    this.#simulator.stage = new CurrentStage(this.#world, this.#choices.stream('results'), this.#timeline)
    for (let n = 0; n < this.#faults.setting.processes; n++) this.#hosts.spawn()
    const stormEnds = this.#planStorm()
    this.#runUntil(stormEnds, () => this.#actionsLeft === 0 && this.#conditions.isSwarm !== true && this.#isSettled())
    const calmAt = this.#timeline.now
    const settledMs = this.#settle(calmAt)
    if (this.#isFine) this.#staySettled()
    if (this.#isFine) this.#judgeEnd()
    return {
      violation: this.#checkers.violations[0] ?? null,
      hash: this.#checkers.hash,
      commits: this.#checkers.commits,
      calls: this.#checkers.calls.began,
      settledMs,
      situations: this.#checkers.situations.counts,
      succeeded: seen.succeeded,
      healed: seen.healed,
      choices: this.#conditions.isTold === true ? this.#choices.list() : {},
      story: this.#story,
      events: this.#timeline.count,
      statuses: new Map([...seen.states.values()].map(({ type, id, status }) => [`${type}/${id}`, status])),
    }
  }

  get #isFine(): boolean {
    return this.#checkers.violations.length === 0
  }

  /** Runs events until the time has come, or until something is broken or `isOver`. */
  #runUntil(until: number, isOver: () => boolean): boolean {
    for (;;) {
      if (!this.#isFine) return false
      if (isOver()) return true
      const most = this.#conditions.eventsMost ?? eventsMost
      if (this.#timeline.count > most && !this.#checkers.isQuiet) {
        this.#checkers.fail('G1', `no end after ${most} events: something goes round in circles`)
        return false
      }
      if (!this.#timeline.step(until)) return isOver()
    }
  }

  // ---- the storm

  #ask(command: Command | null): void {
    if (command !== null) this.#client.ask(command, this.#workload.key())
  }

  #deleteNear({ batch, call }: Near): void {
    const { names } = this.#checkers.seen
    const no = batch?.writes[0]?.after.no ?? (call === null ? null : (names.get(resourceOf(call.seen)) ?? null))
    this.#actionsLeft++
    this.#timeline.after(0, null, () => {
      this.#actionsLeft--
      this.#ask(this.#workload.deleteOf(no, this.#timeline.wall))
    })
  }

  /** Plans what is asked and answers when the storm is over. */
  #planStorm(): number {
    const script = this.#conditions.script ?? this.#simulator.scenario.script
    if (script !== undefined) {
      this.#actionsLeft = script.length
      for (const { at, ask } of script) {
        this.#timeline.at(beginning + at, null, () => {
          this.#actionsLeft--
          this.#ask(ask(this.#checkers.seen))
        })
      }
      return beginning + (script.at(-1)?.at ?? 0) + 120_000
    }
    const plan = this.#choices.stream('plan')
    let at = beginning + 100
    const count = 2 + plan.below(7)
    this.#actionsLeft = count
    for (let n = 0; n < count; n++) {
      this.#timeline.at(at, null, () => {
        this.#actionsLeft--
        this.#hosts.disturb()
        this.#hosts.part()
        for (const command of this.#workload.next(this.#timeline.wall)) this.#ask(command)
      })
      at += [100, 10, 700, 3_000, 12_000, 40_000][plan.weighted([6, 5, 5, 4, 3, 1])]!
    }
    return at + [0, 1_000, 8_000, 30_000][plan.below(4)]!
  }

  // ---- the calm

  /** Faults stop; answers how long it took until everything had settled. */
  #settle(calmAt: number): number {
    this.#faults.calm()
    const survivor = this.#hosts.leaveOne()
    this.#story?.tell(survivor.name, '☼', 'faults stop here; the others stay dead or frozen for ever')
    // What a drift probe was answered while there were faults may still be written.
    const { states } = this.#checkers.seen
    this.#drifts = [...states.values()]
      .filter(({ run }) => run?.kind === 'drift')
      .map(({ no, epoch }) => ({ no, epoch }))
    const boundMs = this.#boundMs
    const bound = calmAt + boundMs
    // Messages that dead and frozen processes had sent to a far store still arrive.
    this.#runUntil(calmAt + 60_000, () => !this.#hosts.hasMessages(survivor))
    let isFine = this.#runUntil(bound, () => this.#isSettled() || this.#isBreakerOpen())
    // A mass event needs a look: somebody looks, and lets healing go on.
    for (let round = 0; isFine && round < 20 && this.#isBreakerOpen(); round++) {
      this.#checkers.situations.saw('breaker opened')
      this.#hosts.closeBreakers(survivor)
      this.#runUntil(this.#timeline.now + 1_000, () => false)
      isFine = this.#runUntil(this.#timeline.now + boundMs, () => this.#isSettled() || this.#isBreakerOpen())
    }
    for (let round = 0; isFine && round < 3 && this.#checkers.seen.parked.size > 0; round++) {
      for (const no of this.#checkers.seen.parked) this.#client.ask(this.#workload.retryOf(no), null)
      this.#runUntil(this.#timeline.now + 1_000, () => false)
      isFine = this.#runUntil(bound + boundMs, () => this.#isSettled())
    }
    if (!isFine && this.#isFine) this.#checkers.fail('G1', this.#unsettledWords(boundMs))
    return this.#timeline.now - calmAt
  }

  /** Where the wall clock was put back, what waits for a time waits that much longer. */
  get #boundMs(): number {
    const wrongMs = this.#faults.setting.skewMs + this.#hosts.putBackMs
    return settleBoundMs(this.#simulator.plans, this.#settings, wrongMs)
  }

  #unsettledWords(boundMs: number): string {
    const { seen } = this.#checkers
    const words = [...seen.unsettled].map((no) => {
      const { type, id, status, run, ledger } = seen.states.get(no)!
      const orphans = ledger.filter((entry) => entry.state === 'orphaned' || entry.state === 'sweeping')
      const at = run === null ? 'no run' : `${run.operation} in ${run.phase} ${run.step}, owner ${run.owner}`
      return `${type} ${id} is ${status} (${at}${orphans.length > 0 ? `, orphan ${orphans[0]!.name}` : ''})`
    })
    if (this.#client.pending > 0) words.push(`${this.#client.pending} requests have no answer`)
    return `not settled ${Math.round(boundMs / 1_000)} s after the last fault: ${words.join('; ')}`
  }

  #isBreakerOpen(): boolean {
    if (this.#simulator.scenario.engine?.breakerLimit === undefined) return false
    const breakers = this.#reader.record('healing', 'breakers') as StoredRecord | null
    return Object.keys(breakers?.value ?? {}).length > 0
  }

  #isSettled(): boolean {
    const { states, isSettled } = this.#checkers.seen
    this.#drifts = this.#drifts.filter(({ no, epoch }) => {
      const now = states.get(no)
      return now?.run?.kind === 'drift' && now.epoch === epoch
    })
    return this.#actionsLeft === 0 && isSettled && this.#client.pending === 0 && this.#drifts.length === 0
  }

  /** Nothing changes any more, until the first declared timer is due. */
  #staySettled(): void {
    let until = this.#timeline.now + this.#stayMs
    for (const { timers } of this.#checkers.seen.states.values()) {
      for (const [timer, due] of Object.entries(timers)) {
        if (timer !== 'drift probe')
          until = Math.min(until, due - this.#timeline.jumpedMs - 2_000 - this.#faults.setting.skewMs)
      }
    }
    this.#onlookers?.leave()
    this.#checkers.isQuiet = true
    this.#runUntil(until, () => false)
    this.#checkers.isQuiet = false
  }

  get #stayMs(): number {
    const { leaseMs, healEveryMs, pollMs, lookMs, sweepEveryMs } = this.#settings
    const { stays = 'usual' } = this.#conditions
    switch (stays) {
      case 'brief':
        return Math.max(leaseMs + healEveryMs, pollMs, lookMs, sweepEveryMs) + 1_000
      case 'usual':
        return leaseMs + 62_000
      case 'long':
        return 10 * this.#boundMs
    }
  }

  #judgeEnd(): void {
    if (!this.#world.checksEpoch && this.#checkers.calls.strays(this.#world).length > 0) {
      // What came to be too late is found by comparing inventories.
      const { inventoryEveryMs, strayGraceMs, sweepEveryMs } = this.#settings
      const until = this.#timeline.now + 3 * (inventoryEveryMs + strayGraceMs + sweepEveryMs)
      this.#runUntil(until, () => this.#checkers.calls.strays(this.#world).length === 0)
    }
    this.#checkers.judgeStore()
    this.#checkers.calls.judgeLeaks(this.#world)
    this.#client.judge(this.#reader)
  }
}
