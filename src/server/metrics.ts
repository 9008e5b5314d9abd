// Figures for Prometheus. Counters follow the events of the installation as this process sees them; gauges are read when asked for.
// No ids and no tenants are labels: their number has no bound.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, Registry } from '@platformatic/prom-client'
import type { Clock } from '../base/clock.ts'
import type { JsonObject } from '../base/json.ts'
import type { EventKind, StoredEvent } from '../decision/state.ts'
import type { Engine } from '../engine/engine.ts'
import { unlessAway } from './unless-away.ts'
import type { Wire } from './wire.ts'

export interface MetricsOptions {
  readonly engine: Engine
  readonly wire: Wire
  readonly clock: Clock
  readonly version: string
  readonly openStreams: () => number
  readonly openConnections: () => number
  /** Who else is told every event. */
  readonly told: (event: StoredEvent, type: string) => void
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200]
/** Runs whose beginning is remembered, to measure them. */
const runsMax = 50_000

/**
 * Whether one is stuck depends on its holder and on the declarations loaded here, how many things an owner lost on its ledger: no index
 * counts that, each is read. More than so many are not, so that a look is cheap also while much is to be healed.
 */
const readMost = 1_000

/** Nobody looks at the figures more often than this. */
const readEveryMs = 50

/** What is read from the store. */
interface Stored {
  readonly counts: Awaited<ReturnType<Engine['counts']>>
  readonly stuck: Awaited<ReturnType<Engine['heal']['stuck']>>
  readonly orphans: Awaited<ReturnType<Engine['orphans']>>
  /** Types whose breaker is open; null: nobody knows. */
  readonly breakers: readonly string[] | null
}

const textIn = (detail: JsonObject, name: string): string => {
  const value = detail[name]
  return typeof value === 'string' ? value : ''
}

const runOf = ({ no, begun }: StoredEvent): string => `${no}-${begun}`

export class Metrics {
  readonly #options: MetricsOptions
  readonly #registry = new Registry()
  readonly #begun = new Map<string, { readonly at: number; readonly operation: string }>()
  readonly #delay = monitorEventLoopDelay({ resolution: 20 })
  #stop: (() => Promise<void>) | null = null
  /** How far counters are that follow a figure of the engine. */
  readonly #seen = new Map<Counter, number>()

  readonly #resources = this.#gauge('homeostat_resources', 'Resources by status.', ['type', 'state', 'state_class'])
  readonly #stateAge = this.#gauge(
    'homeostat_resource_state_age_seconds',
    'How long the oldest resource that is stuck has been in its status.',
    ['type', 'state'],
  )
  readonly #operations = this.#counter('homeostat_operations_total', 'Operations that ended.', [
    'type',
    'operation',
    'outcome',
  ])
  readonly #durations = this.#histogram('homeostat_operation_duration_seconds', 'From acceptance to the end.', [
    'type',
    'operation',
  ])
  readonly #toStable = this.#histogram('homeostat_time_to_stable_seconds', 'From acceptance to a stable status.', [
    'type',
    'operation',
  ])
  readonly #attempts = this.#counter('homeostat_step_attempts_total', 'Attempts of steps by their result.', [
    'type',
    'step',
    'result',
  ])
  readonly #preemptions = this.#counter('homeostat_preemptions_total', 'Runs that were pre-empted.', ['type'])
  readonly #heals = this.#counter('homeostat_heals_total', 'Healings.', ['type', 'state', 'rule', 'result'])
  readonly #breakers = this.#gauge('homeostat_heal_breaker_open', '1: healing of the type is held.', ['type'])
  readonly #lastPass = this.#gauge('homeostat_heal_last_pass_timestamp_seconds', 'When the last healing pass ended.')
  readonly #stuck = this.#gauge(
    'homeostat_stuck_resources',
    `Resources that are stuck now, counted up to ${readMost}.`,
    ['type', 'state'],
  )
  readonly #orphans = this.#gauge(
    'homeostat_orphans',
    `Things in the real world that nobody owns, of up to ${readMost} resources.`,
    ['type'],
  )
  readonly #leaseLost = this.#counter('homeostat_lease_lost_total', 'Runs that were taken over from a lost owner.', [])
  readonly #fenced = this.#counter('homeostat_fenced_writes_total', 'Late outcomes that were refused.', [])
  readonly #claimWait = this.#histogram('homeostat_claim_wait_seconds', 'From acceptance to the first claim.', ['lane'])
  readonly #lag = this.#gauge(
    'homeostat_worker_event_loop_lag_seconds',
    'The 99th percentile of the event loop, since it was last asked for.',
  )
  readonly #waiting = this.#gauge('homeostat_door_waiting', 'Commands that wait for their commit.')
  readonly #commands = this.#counter('homeostat_commands_total', 'Commands answered.', [])
  readonly #commits = this.#counter('homeostat_commits_total', 'Commits made.', [])
  readonly #streams = this.#gauge('homeostat_event_streams', 'Open event streams.')
  readonly #connections = this.#gauge('homeostat_http_connections', 'Open connections of clients.')
  readonly #storeUp = this.#gauge(
    'homeostat_store_up',
    '1: the store answers. 0: it does not, and what is read from it is left out.',
  )
  readonly #build = this.#gauge('homeostat_build_info', 'Which program this is.', ['version'])
  readonly requests = this.#histogram('homeostat_http_request_duration_seconds', 'HTTP requests.', ['route', 'status'])

  constructor(options: MetricsOptions) {
    this.#options = options
    this.#build.labels(options.version).set(1)
  }

  /** Answers with the number of the event after which it counts. */
  async start(): Promise<number> {
    this.#delay.enable()
    const { engine, wire, told } = this.#options
    const latest = await engine.latestEvent()
    const count = async (events: readonly StoredEvent[]) => {
      const names = await wire.names(events.map(({ no }) => no))
      for (const event of events) {
        const type = names.get(event.no)?.type ?? ''
        this.#count(event, type)
        told(event, type)
      }
    }
    this.#stop = engine.subscribe(latest, count, readEveryMs)
    return latest
  }

  async stop(): Promise<void> {
    this.#delay.disable()
    await this.#stop?.()
  }

  /** Also while the store is away: what is read from it is left out then, rather than told as it was. */
  async text(): Promise<string> {
    const stored = await this.#stored()
    this.#storeUp.set(stored === null ? 0 : 1)
    this.#readStored(stored ?? { counts: [], stuck: [], orphans: [], breakers: null })
    this.#readProcess()
    return this.#registry.metrics()
  }

  #count(event: StoredEvent, type: string): void {
    const detail = event.detail ?? {}
    this.#counting[event.kind]?.(event, type, detail)
  }

  /** What an event of a kind says about the figures; the other kinds say nothing. */
  readonly #counting: Partial<Record<EventKind, (event: StoredEvent, type: string, detail: JsonObject) => void>> = {
    accepted: (event, _, detail) =>
      this.#remember(runOf(event), { at: event.at, operation: textIn(detail, 'operation') }),
    claimed: (event) => this.#claimWait.labels('all').observe(this.#since(runOf(event), event.at) ?? 0),
    stepDone: (_, type, detail) => this.#attempts.labels(type, textIn(detail, 'step'), 'done').inc(),
    attemptFailed: (_, type, detail) => this.#attempts.labels(type, textIn(detail, 'step'), 'failed').inc(),
    outcomeUnknown: (_, type, detail) => this.#attempts.labels(type, textIn(detail, 'step'), 'unknown').inc(),
    preempted: (event, type) => {
      this.#preemptions.labels(type).inc()
      this.#ended(event, type, 'preempted')
    },
    resumed: (event, type, detail) => {
      if (detail['found'] === 'ownerLost') this.#leaseLost.inc()
      this.#heals.labels(type, event.from, textIn(detail, 'found'), 'resumed').inc()
    },
    healed: (event, type, detail) => {
      this.#heals.labels(type, event.from, textIn(detail, 'found'), 'healed').inc()
      this.#ended(event, type, 'healed')
    },
    landed: (event, type, detail) => {
      const isWell = detail['code'] === undefined && detail['reason'] === undefined
      // The last step of a run ends with it.
      if (isWell && detail['step'] !== undefined) this.#attempts.labels(type, textIn(detail, 'step'), 'done').inc()
      this.#ended(event, type, isWell ? 'succeeded' : 'failed')
    },
  }

  #remember(run: string, begun: { at: number; operation: string }): void {
    if (this.#begun.size >= runsMax) this.#begun.delete(this.#begun.keys().next().value!)
    this.#begun.set(run, begun)
  }

  #since(run: string, at: number): number | null {
    const begun = this.#begun.get(run)
    return begun === undefined ? null : Math.max(0, at - begun.at) / 1_000
  }

  #ended(event: StoredEvent, type: string, outcome: string): void {
    const run = runOf(event)
    const operation = textIn(event.detail ?? {}, 'operation') || (this.#begun.get(run)?.operation ?? '')
    const took = this.#since(run, event.at)
    this.#begun.delete(run)
    this.#operations.labels(type, operation, outcome).inc()
    if (took === null) return
    this.#durations.labels(type, operation).observe(took)
    if (this.#options.engine.plans.kindOf(type, event.to) === 'stable')
      this.#toStable.labels(type, operation).observe(took)
  }

  /** Null: the store does not answer, or not in time for whoever reads figures. */
  async #stored(): Promise<Stored | null> {
    const { engine, clock } = this.#options
    const read = async (): Promise<Stored> => ({
      counts: await engine.counts(),
      stuck: await engine.heal.stuck(readMost),
      orphans: await engine.orphans(readMost),
      breakers: Object.keys(await engine.heal.breakers()),
    })
    return unlessAway(clock, read())
  }

  #readStored({ counts, stuck, orphans, breakers }: Stored): void {
    const { engine, clock } = this.#options
    for (const gauge of [this.#resources, this.#stateAge, this.#breakers, this.#stuck, this.#orphans]) gauge.reset()
    for (const { type, status, count } of counts)
      this.#resources.labels(type, status, engine.plans.kindOf(type, status)).set(count)
    const now = clock.now()
    const oldest = new Map<string, { type: string; status: string; since: number }>()
    for (const { resource } of stuck) {
      const { type, status, since } = resource
      this.#stuck.labels(type, status).inc()
      const key = `${type}\n${status}`
      if ((oldest.get(key)?.since ?? Infinity) > since) oldest.set(key, { type, status, since })
    }
    for (const { type, status, since } of oldest.values())
      this.#stateAge.labels(type, status).set(Math.max(0, now - since) / 1_000)
    for (const { resource } of orphans) this.#orphans.labels(resource.type).inc()
    if (breakers === null) return
    for (const { type } of engine.plans.all) this.#breakers.labels(type).set(0)
    for (const type of breakers) this.#breakers.labels(type).set(1)
  }

  #readProcess(): void {
    const { engine, clock, openStreams, openConnections } = this.#options
    const { lastHealingPassAgeMs, door } = engine.health()
    // A process without a worker heals nothing, and says nothing about it: a 0 would be taken for the year 1970.
    if (lastHealingPassAgeMs === null) this.#lastPass.remove()
    else this.#lastPass.set((clock.now() - lastHealingPassAgeMs) / 1_000)
    // Since it was last asked for: what was hours ago would hide what is now.
    this.#lag.set(this.#delay.count === 0 ? 0 : this.#delay.percentile(99) / 1e9)
    this.#delay.reset()
    this.#waiting.set(door.waiting)
    this.#follow(this.#commands, door.commands)
    this.#follow(this.#commits, door.commits)
    this.#streams.set(openStreams())
    this.#connections.set(openConnections())
    this.#follow(this.#fenced, door.fenced)
    this.#leaseLost.inc(0)
  }

  #follow(counter: Counter, value: number): void {
    counter.inc(value - (this.#seen.get(counter) ?? 0))
    this.#seen.set(counter, value)
  }

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] })
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #histogram(name: string, help: string, labelNames: string[]): Histogram {
    return new Histogram({ name, help, labelNames, buckets: seconds, registers: [this.#registry] })
  }
}
