// What every commit's events must say: the way of each resource without a gap and along declared edges (G3), by nobody but the
// owner of the epoch (G4), healing only of what was stuck, undoing whole and last first, each sweep once.
import type { Millis } from '../base/clock.ts'
import { canonical } from '../base/json.ts'
import { parseRunId, type Event, type EventKind, type No, type Resource } from '../decision/state.ts'
import { sweepLeaseMs } from '../decision/sweep-orphan.ts'
import type { Batch } from '../store/store.ts'
import type { Checkers, Judgement } from './checkers.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Situation } from './situations.ts'

/** Told only by the owner of a run. */
const ofOwner = new Set([
  'stepDone',
  'stepAgain',
  'attemptFailed',
  'outcomeUnknown',
  'probed',
  'undone',
  'undoFailed',
  'progressed',
])

/** What a kind of event says by itself. */
const plainly: Readonly<Partial<Record<EventKind, Situation>>> = {
  parked: 'parked',
  queued: 'request queued',
  claimed: 'run claimed',
  handedOver: 'handed over',
  timerRefused: 'timer refused',
  swept: 'orphan swept',
}

/** An event with what was and is. */
interface Told {
  readonly event: Event
  readonly before: Resource | undefined
  readonly after: Resource
  readonly process: SimulatedProcess
  /** The first of its resource in the batch. */
  readonly isFirst: boolean
}

const word = ({ detail }: Event, name: string): string => {
  const found = detail?.[name]
  return typeof found === 'string' ? found : ''
}

export class EventChecks {
  readonly #checkers: Checkers
  readonly #judgement: Judgement
  /** Who wrote at each epoch of each resource. */
  readonly #writers = new Map<string, number>()
  readonly #epochs = new Map<No, number>()
  /** Who committed the status in which a timer was armed. */
  readonly #armedBy = new Map<No, SimulatedProcess>()

  constructor(checkers: Checkers, judgement: Judgement) {
    this.#checkers = checkers
    this.#judgement = judgement
  }

  /** Called before what was committed is taken as seen. */
  judge(process: SimulatedProcess, batch: Batch, at: Millis): void {
    const { seen } = this.#checkers
    const written = new Map<No, Resource>()
    const stands = new Map<No, string>()
    for (const { after } of batch.writes) {
      written.set(after.no, after)
      stands.set(after.no, seen.states.get(after.no)?.status ?? '')
    }
    const told = new Set<No>()
    for (const event of batch.events) {
      const after = written.get(event.no)
      if (after === undefined) {
        this.#checkers.fail('S11', `an event ${event.kind} of a resource that was not written`)
        continue
      }
      this.#judgeWay(event, after, stands, isByHand(batch, after) || this.#isApart(after))
      this.#judgeEpoch(event, after, process)
      const before = seen.states.get(event.no)
      if (event.kind === 'healed' || event.kind === 'resumed') seen.healed.add(`${after.type} ${event.from}`)
      this.#judgeMeaning({ event, before, after, process, isFirst: !told.has(event.no) })
      told.add(event.no)
    }
    for (const [no, status] of stands) {
      const after = written.get(no)!
      if (after.status === status) continue
      this.#checkers.fail('S11', `${after.type} ${after.id} stands in ${after.status}, but its events end in ${status}`)
    }
    this.#judgeEnds(process, batch, written, at)
    for (const { no, epoch } of batch.late) this.#late(no, epoch)
    for (const { after } of batch.writes) {
      if (after.timers !== seen.states.get(after.no)?.timers) this.#armedBy.set(after.no, process)
    }
  }

  /** G3: from where it stood, along an edge. */
  #judgeWay(event: Event, { type, id }: Resource, stands: Map<No, string>, byHand: boolean): void {
    const { no, kind, from, to } = event
    if (stands.get(no) !== from) {
      this.#checkers.fail('S11', `${type} ${id}: ${kind} is told from ${from}, but it stood in ${stands.get(no)}`)
    }
    stands.set(no, to)
    this.#checkers.mix(no)
    for (let i = 0; i < to.length; i++) this.#checkers.mix(to.charCodeAt(i))
    this.#checkers.mix(kind.length * 31 + kind.charCodeAt(0))
    if (from === to || byHand || kind === 'imported') return
    if (!this.#judgement.edges.has(`${type}\n${from}\n${to}`)) {
      this.#checkers.fail('G3', `${type} ${id} went from '${from}' to '${to}' (${kind}), which nothing declares`)
    }
  }

  /** A follower that was put elsewhere by hand comes back to its leader from anywhere. */
  #isApart({ no, links }: Resource): boolean {
    const { states } = this.#checkers.seen
    const leader = links['pair'] === undefined ? undefined : states.get(links['pair'])
    return leader !== undefined && leader.status !== states.get(no)?.status
  }

  /** G4: epochs never go back, and at each epoch one incarnation writes. */
  #judgeEpoch(event: Event, after: Resource, process: SimulatedProcess): void {
    const { no, epoch, kind, by } = event
    const { seen } = this.#checkers
    const name = `${after.type} ${after.id}`
    const last = this.#epochs.get(no) ?? 0
    if (epoch < last) this.#checkers.fail('G4', `${name}: ${kind} at epoch ${epoch} after epoch ${last}`)
    this.#epochs.set(no, epoch)
    if (!ofOwner.has(kind) || !by.startsWith('worker ')) return
    const writer = Number(by.slice(7))
    if (seen.workers.get(writer)?.process !== process) {
      this.#checkers.fail('G4', `${process.name} wrote as incarnation ${writer}, which is another process's`)
    }
    const before = seen.states.get(no)
    if (before?.run != null && before.epoch === epoch && before.run.owner !== writer) {
      this.#checkers.fail(
        'G4',
        `${name}: incarnation ${writer} wrote ${kind} at epoch ${epoch}, which ${before.run.owner} owns`,
      )
    }
    const place = `${no} ${epoch}`
    const known = this.#writers.get(place)
    if (known !== undefined && known !== writer) {
      this.#checkers.fail('G4', `${name}: incarnations ${known} and ${writer} both wrote at epoch ${epoch}`)
    }
    this.#writers.set(place, writer)
  }

  #judgeMeaning(told: Told): void {
    const { situations } = this.#checkers
    const { event } = told
    const plain = plainly[event.kind]
    if (plain !== undefined) situations.saw(plain)
    this.#meanings[event.kind]?.(told)
  }

  /** What is looked at more closely, by the kind of event. */
  readonly #meanings: Readonly<Partial<Record<EventKind, (told: Told) => void>>> = {
    accepted: ({ event, before }) => this.#accepted(event, before),
    resumed: (told) => this.#healed(told),
    healed: (told) => this.#healed(told),
    probed: ({ event: { detail } }) => {
      if (detail?.['adopted'] === true) this.#checkers.situations.saw('late success adopted')
      if (detail?.['repeated'] === true) this.#checkers.situations.saw('effect repeated')
    },
    outcomeUnknown: ({ event }) => this.#failed(event),
    failed: ({ event }) => this.#failed(event),
    landed: ({ event }) => this.#failed(event),
    itemFailed: ({ event }) => this.#failed(event),
    parked: (told) => this.#parked(told),
    statusSet: () => void (this.#checkers.seen.isByHand = true),
    imported: () => void (this.#checkers.seen.isByHand = true),
    itemDone: ({ event, process }) => this.#itemDone(event, process),
    retried: ({ event: { detail } }) => {
      if (detail?.['parked'] !== undefined) this.#checkers.situations.saw('parked and retried')
    },
    timerFired: ({ event: { no }, process }) => {
      if (this.#armedBy.get(no) !== process) this.#checkers.situations.saw('timer after restart')
    },
    moved: ({ after }) => {
      if (after.links['pair'] !== undefined) this.#checkers.situations.saw('pair moved')
    },
    sweeping: ({ event, before }) => this.#sweeping(event, before),
    writtenOff: ({ event }) => void this.#checkers.seen.writtenOff.add(word(event, 'orphan')),
    orphaned: ({ event }) => {
      if (!event.by.startsWith('sweeper ')) return
      this.#checkers.situations.saw('sweep failed')
      this.#checkers.calls.sweepOver(word(event, 'orphan'))
    },
  }

  /** A run parks only for reasons that the language has; a step with a probe is never left unknown. */
  #parked({ event, after }: Told): void {
    const code = word(event, 'code')
    // Something stronger may have ended it in the same commit: then it is not left so.
    const run = after.run?.begun === event.begun ? after.run : null
    const step = this.#judgement.plans.get(after.type)?.operations.get(run?.operation ?? '')?.steps[run?.step ?? -1]
    const isWrong =
      (code === 'declaration_defect' && !this.#checkers.seen.isByHand) ||
      code === 'driver_missing' ||
      (code === 'unknown_outcome' && run?.phase === 'step' && step?.probe != null && run.items === null)
    if (isWrong) this.#checkers.fail('defect', `${after.type} ${after.id} was parked: ${word(event, 'reason')}`)
  }

  #failed(event: Event): void {
    const { situations } = this.#checkers
    const code = word(event, 'code')
    if (code === 'deadline_exceeded' || word(event, 'reason').includes('in time')) situations.saw('deadline passed')
    if (code === 'budget_spent') situations.saw('budget spent')
    if (code === 'rule_breached') situations.saw('rule failed a run')
    if (code === 'cancelled') situations.saw('run cancelled')
    if (code === 'ask_refused') situations.saw('ask refused')
    if (event.detail?.['undoFailed'] === true) situations.saw('undo failed')
  }

  #accepted(event: Event, before: Resource | undefined): void {
    const { situations } = this.#checkers
    const preempted = word(event, 'preempted')
    if (preempted === '') return
    const phase = word(event, 'while')
    if (phase === 'undo') situations.saw('delete during rollback')
    else if (phase === 'probe') situations.saw('delete during probe')
    else if (phase === 'healProbe') situations.saw('delete during heal')
    else situations.saw('delete during step')
    if (parseRunId(preempted)?.no !== event.no)
      this.#checkers.fail('G6', `a delete of ${event.no} interrupted ${preempted}`)
    if (before?.run?.operation === word(event, 'operation')) situations.saw('delete after a hang')
  }

  /** Healing is for what is stuck: its owner gone, nobody at work on it, or overdue. */
  #healed({ event, before, after, isFirst }: Told): void {
    const { situations, seen } = this.#checkers
    const detail = event.detail ?? {}
    const found = detail['found']
    const name = `${after.type} ${after.id}`
    const run = before?.run ?? null
    if (isFirst && run !== null && run.kind === 'operation' && run.parked === null) {
      if (found === 'ownerLost' && !seen.isGone(run.owner, this.#checkers.wall)) {
        this.#checkers.fail('G4', `${name} was taken from incarnation ${run.owner}, which lives`)
      }
      if (found === 'unowned') this.#checkers.fail('G4', `${name} has a run, but was healed`)
    }
    if (event.kind === 'resumed') {
      if (detail['phase'] === 'undo') situations.saw('undo resumed')
      if (detail['phase'] === 'cascade') situations.saw('cascade resumed')
      if (detail['phase'] === 'step') situations.saw('step resumed')
      if (detail['probe'] !== undefined) situations.saw('healed by probe')
      const items = run?.items?.length ?? 0
      const most = run === null ? 0 : (seen.runOf(event.no, run.begun)?.itemsMost ?? 0)
      if (items > 0 && items < most) situations.saw('forEach resumed half-way')
    } else if (found === 'drifted') situations.saw('drift found')
    if (found === 'unowned') situations.saw('unowned healed')
    if (found === 'overdue') situations.saw('overdue healed')
    if (detail['attempt'] !== undefined) this.#attempted(word(event, 'attempt'), run, after, name)
  }

  /** A follow-up of healing keeps the original input. */
  #attempted(operation: string, interrupted: Resource['run'], after: Resource, name: string): void {
    this.#checkers.situations.saw('healed with attempt')
    if (interrupted === null || interrupted.operation !== operation || after.run?.operation !== operation) return
    if (after.run.by !== 'healing' || canonical(after.run.input) === canonical(interrupted.input)) return
    this.#checkers.fail(
      'healing',
      `${name}: ${operation} was attempted again with ${canonical(after.run.input)} instead of ${canonical(interrupted.input)}`,
    )
  }

  /** Whoever ended the asked run may have died before it could tell. */
  #itemDone(event: Event, process: SimulatedProcess): void {
    const { seen, situations } = this.#checkers
    if (event.by !== 'a run it asked for') return
    const run = seen.runOf(event.no, event.begun)
    const asked = [...seen.runs.values()].find(
      (one) => one.ended !== null && one.endedBy !== null && one.endedBy !== process && run !== undefined,
    )
    if (asked !== undefined) situations.saw('ask survived')
  }

  /** An orphan is swept by one at a time. */
  #sweeping(event: Event, before: Resource | undefined): void {
    const { no, by } = event
    const at = this.#checkers.wall
    const name = word(event, 'orphan')
    const entry = before?.ledger.find((one) => one.name === name)
    if (entry?.state !== 'sweeping' || `sweeper ${entry.sweeper}` === by || entry.since + sweepLeaseMs <= at) return
    if (this.#checkers.seen.isGone(entry.sweeper, at)) return this.#checkers.saw('sweep taken over from a dead worker')
    this.#checkers.fail('sweeping', `${name} of resource ${no} is swept by ${by} and by ${entry.sweeper} at once`)
  }

  /** A run that ended with its undoing has taken back every begun step that can be taken back. */
  #judgeEnds(process: SimulatedProcess, batch: Batch, written: ReadonlyMap<No, Resource>, at: Millis): void {
    const { seen, situations } = this.#checkers
    for (const ended of batch.ended) {
      const run = seen.runOf(ended.no, ended.begun)
      if (ended.outcome === 'forced') situations.saw('forced delete')
      if (ended.outcome === 'succeeded' || ended.outcome === 'forced')
        seen.succeeded.add(`${written.get(ended.no)!.type}.${ended.operation}`)
      if (run === undefined) continue
      if (run.ended !== null) this.#checkers.fail('G2', `run ${ended.no}-${ended.begun} ended twice`)
      run.ended = ended
      run.endedAt = at
      run.endedBy = process
      if ((ended.outcome === 'failed' || ended.outcome === 'cancelled') && run.wasUndoing) {
        this.#judgeUndone(ended.no, ended.begun, written.get(ended.no)!, batch)
      }
    }
  }

  #judgeUndone(no: No, begun: number, after: Resource, batch: Batch): void {
    const run = this.#checkers.seen.runOf(no, begun)!
    const landed = batch.events.find((event) => event.no === no && event.begun === begun && event.kind === 'landed')
    if (landed === undefined || landed.detail?.['undoFailed'] === true) return
    const steps = this.#judgement.plans.get(after.type)?.operations.get(run.operation)?.steps ?? []
    for (const index of run.steps) {
      if (steps[index]?.undo == null || run.undone.has(index)) continue
      this.#checkers.fail(
        'undo',
        `${after.type} ${after.id}: ${run.operation} ended, but ${steps[index].name} was not undone`,
      )
    }
  }

  #late(no: No, epoch: number): void {
    const { seen, situations } = this.#checkers
    situations.saw('late result kept')
    const stored = seen.states.get(no)
    if (stored !== undefined && stored.epoch > epoch) situations.saw('zombie fenced')
    for (const run of seen.runs.values()) {
      if (run.no !== no || run.ended?.outcome !== 'preempted' || run.begun > epoch) continue
      situations.saw('pre-empted result kept')
      break
    }
  }
}

/** Somebody set its status, or that of the leader of its pair: that may go anywhere. */
const isByHand = (batch: Batch, { no, links }: Resource): boolean =>
  batch.events.some((event) => event.kind === 'statusSet' && (event.no === no || event.no === links['pair']))
