// Watches a simulated system from outside and says at once what is broken: at every commit, beat, call and answer. By what it has
// seen itself and by the declarations; it asks neither the engine nor the core. G1 to G7 are the promises of docs.
import type { Millis } from '../base/clock.ts'
import type { Incarnation, No, Resource, StoredEvent } from '../decision/state.ts'
import { edgesOf } from '../lifecycle/lifecycle-graph.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Batch, CommitAnswer, Store, Write } from '../store/store.ts'
import { CallChecks } from './call-checks.ts'
import { EventChecks } from './event-checks.ts'
import type { StoreWatch } from './faulty-store.ts'
import { RuleJudge } from './rule-judge.ts'
import { Seen } from './seen.ts'
import type { Timeline } from './simulated-clock.ts'
import { StateChecks } from './state-checks.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import { SituationCounts, type Situation } from './situations.ts'
import type { About } from './story.ts'

export interface Violation {
  /** Which promise: G2, G3, S4, liveness ... */
  readonly promise: string
  readonly text: string
  readonly at: Millis
}

/** Told what happens, for the story; undefined when nobody wants it. */
export type Tell = (lane: string, mark: string, text: string, about?: About) => void

/** What does not change between the simulations of one scenario: made once. */
export class Judgement {
  readonly plans: Plans
  readonly rules: RuleJudge
  readonly edges: ReadonlySet<string>

  constructor(lifecycles: readonly AnyLifecycle[], plans: Plans) {
    this.plans = plans
    this.rules = new RuleJudge(lifecycles)
    this.edges = new Set(
      lifecycles.flatMap((one) => edgesOf(one, lifecycles)).map(({ type, from, to }) => `${type}\n${from}\n${to}`),
    )
  }
}

export interface CheckersParts {
  readonly judgement: Judgement
  readonly timeline: Timeline
  /** A handle of its own, for reading the feed as a subscriber does. */
  readonly reader: Store
  readonly isFar: boolean
  readonly tell: Tell | undefined
}

export class Checkers implements StoreWatch {
  readonly seen: Seen
  readonly calls: CallChecks
  readonly situations = new SituationCounts()
  readonly violations: Violation[] = []
  /** A number that two equal runs agree on. */
  hash = 0
  commits = 0
  /** Everything has settled: nothing may change any more, but for what drift probes write. */
  isQuiet = false
  lastCommitAt: Millis = 0
  readonly #parts: CheckersParts
  readonly #events: EventChecks
  readonly #states: StateChecks
  /** Resources that were imported into a breach: rules bind from their first change on. */
  readonly #excused = new Set<No>()
  readonly #outOfReach = new Set<SimulatedProcess>()
  readonly #written = new WeakSet<Batch>()
  readonly #disowned = new WeakSet<Batch>()
  /** Processes that went on after a freeze, and which incarnation they were then. */
  readonly #thawed = new Map<SimulatedProcess, Incarnation>()
  #read = 0

  constructor(parts: CheckersParts) {
    this.#parts = parts
    this.seen = new Seen(parts.judgement.plans)
    this.calls = new CallChecks(this, parts.isFar)
    this.#events = new EventChecks(this, parts.judgement)
    this.#states = new StateChecks(this)
  }

  get now(): Millis {
    return this.#parts.timeline.now
  }

  /** What leases are judged by: the machine's clock, or the far store's own. */
  get wall(): Millis {
    return this.#parts.timeline.wall
  }

  fail(promise: string, text: string): void {
    this.violations.push({ promise, text, at: this.now })
    this.tell('!', '✗', `${promise}: ${text}`)
  }

  tell(lane: string, mark: string, text: string, about?: About): void {
    this.#parts.tell?.(lane, mark, text, about)
  }

  get isTold(): boolean {
    return this.#parts.tell !== undefined
  }

  mix(number: number): void {
    this.hash = Math.imul(this.hash ^ (number | 0), 0x01000193) >>> 0
  }

  // ---- the store

  saw(situation: Situation): void {
    this.situations.saw(situation)
  }

  /** S2: what the store said not to be written is not there, and will not be. */
  disowned(batch: Batch): void {
    if (this.#written.has(batch)) this.#failDisowned(batch)
    this.#disowned.add(batch)
  }

  committed(process: SimulatedProcess, batch: Batch, answer: CommitAnswer, at: Millis): void {
    if (!answer.committed) return this.#refused(process, batch)
    if (this.#disowned.has(batch)) this.#failDisowned(batch)
    this.#written.add(batch)
    this.commits++
    this.lastCommitAt = at
    this.mix(at)
    this.mix(process.rank)
    if (this.#outOfReach.delete(process)) this.situations.saw('store outage survived')
    if (this.#thawed.size > 0) this.#lookAtThawed(process, batch)
    if (batch.events.length > 0 && answer.first !== this.seen.events + 1) {
      this.fail('S4', `the first event is numbered ${answer.first}, but ${this.seen.events} were written before`)
    }
    this.seen.events += batch.events.length
    if (this.isQuiet) this.#judgeQuiet(batch)
    for (const write of batch.writes) this.#judgeWrite(write)
    this.#events.judge(process, batch, at)
    this.#states.judge(batch)
    for (const { after } of batch.writes) this.seen.take(after, at, process)
    this.#judgeKeys(batch)
    for (const { kind, text } of batch.incidents) {
      // Where somebody has put things by hand, a declared way may end in an undeclared one.
      if (kind === 'declaration_defect' && !this.seen.isByHand)
        this.fail('defect', `the declaration is said to contradict itself: ${text}`)
    }
    if (this.#parts.judgement.rules.hasRules && batch.writes.some(isOfRules)) this.#judgeRules(batch)
    this.#readFeed()
    if (this.isTold) this.#tellCommit(process, batch)
  }

  #failDisowned(batch: Batch): void {
    const told = batch.events.map((event) => event.kind).join(', ')
    this.fail('S2', `the store said that a commit (${told}) had not happened, and it has`)
  }

  #lookAtThawed(process: SimulatedProcess, batch: Batch): void {
    const incarnation = this.#thawed.get(process)
    if (incarnation === undefined || !batch.events.some((event) => event.by === `worker ${incarnation}`)) return
    this.#thawed.delete(process)
    this.situations.saw('pause survived')
  }

  #refused(process: SimulatedProcess, batch: Batch): void {
    this.situations.saw('commit conflict')
    for (const { kind } of batch.events) {
      if (kind === 'resumed' || kind === 'healed') this.situations.saw('heal raced')
      if (kind === 'sweeping') this.situations.saw('orphan sweep raced')
      if (kind === 'stepDone' || kind === 'landed') this.situations.saw('zombie fenced')
    }
    this.tell(process.name, 'x', `refused: ${batch.events.map((event) => event.kind).join(', ')}`)
  }

  /** S3, G4: a write starts from what is stored, and nothing goes back. */
  #judgeWrite({ before, after }: Write): void {
    const stored = this.seen.states.get(after.no)
    const name = `${after.type} ${after.id}`
    if ((before === null) !== (stored === undefined)) {
      return this.fail('S3', `${name} was ${before === null ? 'created twice' : 'changed before it was there'}`)
    }
    if (stored === undefined) {
      if (this.seen.names.has(`${after.type}/${after.id}`)) this.fail('S6', `${name} exists twice`)
      return
    }
    if (before!.revision !== stored.revision || before!.epoch !== stored.epoch) {
      this.fail(
        'G4',
        `${name} was written from revision ${before!.revision}, epoch ${before!.epoch}, but stands at ${stored.revision}, ${stored.epoch}`,
      )
    }
    if (after.revision <= stored.revision) this.fail('S3', `${name}: revision ${stored.revision} to ${after.revision}`)
    if (after.epoch < stored.epoch) this.fail('G4', `${name}: the epoch went from ${stored.epoch} to ${after.epoch}`)
    if (after.type !== stored.type || after.id !== stored.id) this.fail('S6', `${name} was ${stored.type} ${stored.id}`)
  }

  #judgeQuiet(batch: Batch): void {
    for (const { before, after } of batch.writes) {
      const isDrift = before?.run?.kind === 'drift' || after.run?.kind === 'drift'
      // A parked run that loses its dead owner stays parked.
      const isParked = before?.run?.parked != null && after.run?.parked != null
      if ((isDrift || isParked) && before?.status === after.status) continue
      const told = batch.events.map((event) => event.kind).join(', ')
      this.fail('G1', `${after.type} ${after.id} had settled and was changed again: ${told || 'no event'}`)
    }
  }

  #judgeKeys(batch: Batch): void {
    for (const record of batch.keys) {
      if (this.seen.keys.has(record.key)) this.fail('G2', `the key ${record.key} was recorded twice`)
      this.seen.keys.set(record.key, record)
    }
  }

  /** G5: every rule holds in every committed state. */
  #judgeRules(batch: Batch): void {
    const isImport = batch.events.some((event) => event.kind === 'imported')
    const breaches = this.#parts.judgement.rules.breaches(this.seen.states)
    for (const no of this.#excused) if (!breaches.has(no)) this.#excused.delete(no)
    for (const [no, breach] of breaches) {
      if (this.#excused.has(no)) continue
      if (isImport) this.#excused.add(no)
      else this.fail('G5', breach)
    }
  }

  /** S4: a reader sees every number once, in order, and never one before a smaller one. */
  #readFeed(): void {
    const events = this.#parts.reader.events(this.#read, 1_000) as readonly StoredEvent[]
    for (const { n } of events) {
      if (n !== this.#read + 1) this.fail('S4', `a reader saw event ${n} right after ${this.#read}`)
      this.#read = n
    }
    if (this.#read > this.seen.events) this.fail('S4', `a reader saw event ${this.#read} of ${this.seen.events}`)
  }

  #tellCommit(process: SimulatedProcess, batch: Batch): void {
    for (const event of batch.events) {
      const { type, id } = this.seen.states.get(event.no)!
      const where = event.from === event.to ? event.to : `${event.from || '·'} → ${event.to}`
      const detail = event.detail === null ? '' : ` ${JSON.stringify(event.detail)}`
      const about = { resource: { type, id }, event }
      this.tell(process.name, '✓', `${type} ${id} ${event.kind} ${where} e${event.epoch}${detail}`, about)
    }
    for (const late of batch.late) this.tell(process.name, 'x', `late result of ${late.call} e${late.epoch} kept`)
    if (batch.events.length === 0 && batch.writes.length > 0) {
      this.tell(process.name, '✓', `wrote ${batch.writes.map(({ after }) => `${after.type} ${after.id}`).join(', ')}`)
    }
  }

  // ---- leases

  registered(process: SimulatedProcess, no: Incarnation, leaseMs: number, now: Millis): void {
    if (this.seen.workers.has(no)) this.fail('G4', `the incarnation ${no} was given twice`)
    for (const worker of this.seen.workers.values()) if (worker.process === process) this.situations.saw('lease lost')
    this.seen.workers.set(no, { no, process, leaseUntil: now + leaseMs, isEnded: false })
    this.tell(process.name, '○', `is incarnation ${no}`)
  }

  /** S8, G4: an incarnation that has ended is never renewed. */
  beaten(process: SimulatedProcess, no: Incarnation, leaseMs: number, renewed: boolean, now: Millis): void {
    const worker = this.seen.workers.get(no)
    if (!renewed) {
      this.tell(process.name, 'x', `the beat of incarnation ${no} was refused`)
      return
    }
    if (worker === undefined || worker.isEnded) this.fail('G4', `a beat renewed the ended incarnation ${no}`)
    else if (worker.leaseUntil <= now) {
      this.fail('G4', `a beat renewed incarnation ${no}, whose lease was over ${now - worker.leaseUntil} ms ago`)
    } else worker.leaseUntil = now + leaseMs
  }

  endedWorker(process: SimulatedProcess, no: Incarnation, as: string, ended: boolean, now: Millis): void {
    const worker = this.seen.workers.get(no)
    if (!ended || worker === undefined) return
    if (as !== 'ended' && !this.seen.isGone(no, now)) this.fail('G4', `incarnation ${no} was ended as ${as}, but lives`)
    worker.isEnded = true
    this.tell(process.name, '○', `incarnation ${no} has ended (${as})`)
  }

  /** Others took it for dead, and it lives. */
  parted(process: SimulatedProcess, no: Incarnation): void {
    this.seen.workers.get(no)!.isEnded = true
    this.situations.saw('taken for dead')
    this.faulted(process, `incarnation ${no} is taken for dead by others`)
  }

  faulted(process: SimulatedProcess, what: string): void {
    this.mix(process.rank + 77)
    if (what.startsWith('unavailable')) this.#outOfReach.add(process)
    if (/pause|slow|goes on/.test(what)) this.calls.wasSlow(process)
    if (what === 'goes on') this.#thawed.set(process, this.seen.incarnationOf(process))
    const mark = what.startsWith('pause') ? '‖' : what === 'goes on' ? '►' : /crash|vanish|dies/.test(what) ? '!' : '~'
    this.tell(process.name, mark, what)
  }

  // ---- the end

  /** What the store says at the end is what was seen to be committed. */
  judgeStore(): void {
    for (const state of this.seen.states.values()) {
      const [found] = this.#parts.reader.load([{ ask: 'resource', no: state.no }]) as [Resource | null]
      if (found === null || found.revision !== state.revision || found.status !== state.status) {
        this.fail(
          'S2',
          `${state.type} ${state.id} was committed as ${state.status}, but the store has ${found?.status}`,
        )
      }
    }
    const { length } = this.#parts.reader.events(0, this.seen.events + 1) as readonly StoredEvent[]
    if (length !== this.seen.events) this.fail('S11', `${this.seen.events} events were written, ${length} are there`)
  }
}

/** Whether a write changes anything that rules look at. */
const isOfRules = ({ before, after }: Write): boolean =>
  before === null ||
  before.status !== after.status ||
  before.properties !== after.properties ||
  before.links !== after.links
