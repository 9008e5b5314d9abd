// The simulated processes with their engines: started, disturbed, started again when they die, and at last left alone but for one.
import { seededRandom } from '../base/random.ts'
import type { Command } from '../decision/command.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineSettings } from '../engine/options.ts'
import { StepOrders } from '../engine/step-orders.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store } from '../store/store.ts'
import type { Checkers } from './checkers.ts'
import { mixed, type Stream } from './choices.ts'
import type { FaultPlan } from './fault-plan.ts'
import { FaultyStore } from './faulty-store.ts'
import type { Onlookers } from './onlookers.ts'
import type { Counter } from './simulated-client.ts'
import { SimulatedClock, type Timeline } from './simulated-clock.ts'
import { SimulatedProcess, type Death, type ProcessStore } from './simulated-process.ts'
import type { ServerBackend } from './simulated-server.ts'
import { ServerStore } from './server-store.ts'
import type { Simulator } from './simulation.ts'

interface Host {
  readonly process: SimulatedProcess
  readonly engine: Engine
  /** Else it only takes requests. */
  readonly isWorker: boolean
  isStarted: boolean
  isStopping: boolean
}

export interface HostsParts {
  readonly simulator: Simulator
  readonly seed: number
  readonly timeline: Timeline
  readonly faults: FaultPlan
  readonly checkers: Checkers
  readonly backend: { open(): ProcessStore }
  /** For what others do to a process. */
  readonly reader: Store
  /** Null: commits are taken one at a time. */
  readonly server: ServerBackend | null
  readonly settings: EngineSettings
  readonly stream: Stream
  readonly parting: Stream
  /** Null: nobody looks on. */
  readonly onlookers: Onlookers | null
}

/** No more processes than this in one simulation, dead ones included. */
const spawnedMost = 6

export class Hosts {
  readonly #parts: HostsParts
  readonly #hosts: Host[] = []

  constructor(parts: HostsParts) {
    this.#parts = parts
  }

  spawn(): Host {
    const { simulator, seed, timeline, faults, checkers, backend, server, settings, stream } = this.#parts
    const { scenario, system, drivers } = simulator
    const rank = this.#hosts.length + 1
    const inner = backend.open()
    const process = new SimulatedProcess(`p${rank}`, rank, {
      timeline,
      inner,
      onDied: (one) => this.#died(one),
    })
    const { isFar, skewMs, hasClerk } = faults.setting
    // Processes on one machine have one clock; those of a far store may each have their own.
    const isWorker = !(hasClerk && rank === 1)
    // A server's clock is followed by all.
    const skew = skewMs === 0 || !isFar || server !== null ? 0 : stream.below(2 * skewMs) - skewMs
    const seen = { inner, process, timeline, faults, watch: checkers, isFar }
    const engine = system.createEngine({
      store: server === null ? new FaultyStore(seen) : new ServerStore(seen, server),
      lifecycles: scenario.lifecycles,
      drivers,
      clock: new SimulatedClock(timeline, process, skew),
      random: seededRandom(mixed(seed, `random ${rank}`)),
      log: (level, message, fields) => this.#log(process, level, message, fields),
      options: { ...settings, name: process.name, worker: isWorker },
    })
    // The store has been used with these declarations before: what is simulated begins with requests, not with what a first start writes.
    if (rank === 1) void keepOrders(inner as unknown as Store, engine.plans)
    const host: Host = { process, engine, isWorker, isStarted: false, isStopping: false }
    this.#hosts.push(host)
    timeline.after(0, process, () => {
      engine.start().then(
        () => {
          host.isStarted = true
          this.#parts.onlookers?.watch(process, engine)
        },
        () => this.#die(host, 'crash', 'could not start'),
      )
    })
    return host
  }

  /** An engine that says "error" has a defect, but for the loss of its lease. */
  #log(process: SimulatedProcess, level: string, message: string, fields: unknown): void {
    const { checkers } = this.#parts
    if (level === 'error' && message !== 'this worker is no longer an owner') {
      const { error } = (fields ?? {}) as { error?: unknown }
      const text = error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(fields)
      checkers.fail('defect', `${message}: ${text}`)
    }
    checkers.tell(process.name, '·', message)
  }

  #die({ process }: Host, how: Death, why: string): void {
    if (!process.isAlive) return
    this.#parts.checkers.faulted(process, `dies: ${why}`)
    process.die(how)
  }

  /** Somebody starts another one after a while, or never. */
  #died(process: SimulatedProcess): void {
    const { faults, stream } = this.#parts
    const host = this.#hosts.find((one) => one.process === process)
    if (faults.isCalm || host?.isStopping === true || this.#hosts.length >= spawnedMost) return
    const delayMs = [2_000, 200, 20_000, null][stream.below(4)]
    if (typeof delayMs === 'number') this.#spawnIn(delayMs)
  }

  #able(): Host[] {
    return this.#hosts.filter((host) => host.process.isRunning && host.isStarted && !host.isStopping)
  }

  /** Where can be asked now. A request arrives as an event of its process. */
  counters(): Counter[] {
    return this.#able().map(({ process, engine }) => ({
      process,
      submit: (command: Command, done: Parameters<Counter['submit']>[1]) =>
        void this.#parts.timeline.after(0, process, () => engine.submitWith(command, done)),
    }))
  }

  /** The connection that stands for a process breaks, and others end it as dead: it lives on, and hears of that with its next beat. */
  part(): void {
    const { faults, parting, checkers, reader, timeline } = this.#parts
    const rate = faults.setting.rates.parting
    if (rate === 0 || !parting.chance(rate)) return
    const able = this.#able()
    if (able.length === 0) return
    const { process } = able[parting.below(able.length)]!
    const no = checkers.seen.incarnationOf(process)
    if (reader.end({ no, as: 'dead', now: timeline.now }) === true) checkers.parted(process, no)
  }

  /** A process dies, freezes or is stopped in order, at any moment. */
  disturb(): void {
    const { faults, stream, checkers } = this.#parts
    const rate = faults.setting.rates.process
    if (rate === 0 || !stream.chance(rate)) return
    const running = this.#hosts.filter((host) => host.process.isRunning)
    if (running.length === 0) return
    const host = running[stream.below(running.length)]!
    switch (stream.below(faults.setting.hasJumps ? 5 : 4)) {
      case 0:
        return this.#die(host, 'crash', 'at any moment')
      case 1:
        return this.#die(host, 'vanish', 'at any moment, unseen')
      case 2:
        checkers.faulted(host.process, 'pauses at any moment')
        return host.process.pause(faults.pauseMs(), () => checkers.faulted(host.process, 'goes on'))
      case 3:
        return this.#stop(host)
      default:
        return this.#jump()
    }
  }

  /** How far the wall clock was put back in all. */
  putBackMs = 0

  /** Somebody sets the machine's clock. */
  #jump(): void {
    const { timeline, stream, checkers } = this.#parts
    const ms = [60_000, -60_000, 3_600_000, -300_000][stream.below(4)]!
    timeline.jumpedMs += ms
    this.putBackMs += Math.max(0, -ms)
    checkers.tell('clock', '~', `is set by ${ms / 1_000} s`)
  }

  #stop(host: Host): void {
    const { checkers, timeline, faults } = this.#parts
    if (!host.isStarted || host.isStopping) return
    host.isStopping = true
    checkers.faulted(host.process, 'stops in order')
    timeline.after(0, host.process, () => void host.engine.stop().then(() => host.process.die('crash')))
    if (!faults.isCalm && this.#hosts.length < spawnedMost) this.#spawnIn(1_000)
  }

  #spawnIn(ms: number): void {
    const { timeline, faults } = this.#parts
    timeline.after(ms, null, () => {
      if (!faults.isCalm) this.spawn()
    })
  }

  /** Whether something that the others have sent is still on its way to a far store. */
  hasMessages(survivor: SimulatedProcess): boolean {
    return this.#hosts.some(({ process }) => process !== survivor && process.messages > 0)
  }

  /** A person has looked at what was healed so often, and lets healing go on. */
  closeBreakers(process: SimulatedProcess): void {
    const { heal } = this.#hosts.find((host) => host.process === process)!.engine
    const close = async () => {
      for (const type of Object.keys(await heal.breakers())) await heal.closeBreaker(type)
    }
    this.#parts.timeline.after(0, process, () => void close())
  }

  /** One goes on; the others die or freeze for ever. */
  leaveOne(): SimulatedProcess {
    const { stream } = this.#parts
    const able = this.#able().filter((host) => host.isWorker)
    const survivor = able.length === 0 ? this.spawn() : able[stream.below(able.length)]!
    for (const host of this.#hosts) {
      if (host === survivor || !host.process.isAlive) continue
      if (stream.below(2) === 0) this.#die(host, 'vanish', 'for good')
      else host.process.freeze()
    }
    return survivor.process
  }
}

const keepOrders = async (store: Store, plans: Plans): Promise<unknown> =>
  (await StepOrders.of(store)).keep(store, plans)
