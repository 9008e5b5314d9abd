// What the checkers have seen with their own eyes: every committed state, run, event and lease, kept apart from the store.
import type { Millis } from '../base/clock.ts'
import type { Json } from '../base/json.ts'
import { owedCalls } from '../decision/owed.ts'
import type { EndedRun, Incarnation, KeyRecord, No, Resource, Run } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { SimulatedProcess } from './simulated-process.ts'

export interface SeenWorker {
  readonly no: Incarnation
  readonly process: SimulatedProcess
  leaseUntil: Millis
  /** Not live: it said goodbye, or others saw that it was gone. */
  isEnded: boolean
}

export interface SeenRun {
  readonly no: No
  readonly begun: number
  readonly operation: string
  readonly kind: Run['kind']
  readonly input: Json
  /** Steps that were committed as the one at the cursor: they may have begun. */
  readonly steps: Set<number>
  /** Steps whose undo was called, in order, and those whose undo has ended well. */
  readonly undoCalls: number[]
  readonly undone: Set<number>
  wasUndoing: boolean
  itemsMost: number
  ended: EndedRun | null
  endedAt: Millis
  endedBy: SimulatedProcess | null
}

/** A call that some committed state of a run owed: since when, and until when (null: still). */
export interface SeenOwed {
  until: Millis | null
  /** Who committed the change after which it was no longer owed. */
  endedBy: SimulatedProcess | null
}

const runName = (no: No, begun: number): string => `${no.toString(36)}-${begun}`

export class Seen {
  readonly plans: Plans
  readonly states = new Map<No, Resource>()
  readonly names = new Map<string, No>()
  readonly runs = new Map<string, SeenRun>()
  readonly workers = new Map<Incarnation, SeenWorker>()
  readonly keys = new Map<string, KeyRecord>()
  /** Resources that are not settled: a live run that is not parked, or transitional, or with orphans to be swept. */
  readonly unsettled = new Set<No>()
  readonly parked = new Set<No>()
  /** Orphans that a person has taken off the ledger. */
  readonly writtenOff = new Set<string>()
  /** What ended well, as `type.operation`; where something was healed, as `type status`. */
  readonly succeeded = new Set<string>()
  readonly healed = new Set<string>()
  /** Somebody has set a status or brought an object in. */
  isByHand = false
  readonly #owed = new Map<string, SeenOwed>()
  readonly #owedOf = new Map<No, string[]>()
  events = 0

  constructor(plans: Plans) {
    this.plans = plans
  }

  /** Is the incarnation gone: its lease over, its process dead, or ended? */
  isGone(no: Incarnation, at: Millis): boolean {
    const worker = this.workers.get(no)
    return worker === undefined || worker.isEnded || !worker.process.isAlive || worker.leaseUntil <= at
  }

  /** Everything stands where it can stay; what is held by a parked run, or healed with its owner, waits with it. */
  get isSettled(): boolean {
    for (const no of this.unsettled) if (!this.#waitsForParked(this.states.get(no)!)) return false
    return true
  }

  #waitsForParked(resource: Resource): boolean {
    if (resource.run !== null || this.parked.size === 0) return false
    if (resource.holder !== null && this.parked.has(resource.holder.no)) return true
    const plan = this.plans.get(resource.type)!
    const { withOwner } = plan.heal.get(resource.status) ?? { withOwner: [] }
    for (const no of this.parked) {
      const owner = this.states.get(no)!
      const isRelated =
        resource.parent === no ||
        owner.parent === resource.no ||
        Object.values(resource.links).includes(no) ||
        Object.values(owner.links).includes(resource.no)
      if (!isRelated) continue
      if (withOwner.some(({ relation, statuses }) => relation.type === owner.type && statuses.has(owner.status)))
        return true
      // A follower waits for its leader.
      if (plan.pair !== null && !plan.pair.leads && resource.links['pair'] === no) return true
    }
    return false
  }

  /** The latest incarnation of a process. */
  incarnationOf(process: SimulatedProcess): Incarnation {
    let latest = 0
    for (const worker of this.workers.values()) if (worker.process === process) latest = worker.no
    return latest
  }

  runOf(no: No, begun: number): SeenRun | undefined {
    return this.runs.get(runName(no, begun))
  }

  /** Takes a committed state over the one before. */
  take(after: Resource, at: Millis, by: SimulatedProcess): void {
    const before = this.states.get(after.no)
    this.states.set(after.no, after)
    if (before === undefined) this.names.set(`${after.type}/${after.id}`, after.no)
    this.#takeRun(after)
    this.#takeOwed(after, at, by)
    this.#settle(after)
  }

  #takeRun({ no, run }: Resource): void {
    if (run === null) return
    const name = runName(no, run.begun)
    let seen = this.runs.get(name)
    if (seen === undefined) {
      const { begun, operation, kind, input } = run
      seen = {
        no,
        begun,
        operation,
        kind,
        input,
        steps: new Set(),
        undoCalls: [],
        undone: new Set(),
        wasUndoing: false,
        itemsMost: 0,
        ended: null,
        endedAt: 0,
        endedBy: null,
      }
      this.runs.set(name, seen)
    }
    if (run.phase === 'step') seen.steps.add(run.step)
    if (run.phase === 'undo') seen.wasUndoing = true
    if (run.items !== null && run.items.length > seen.itemsMost) seen.itemsMost = run.items.length
  }

  owedBy(no: No, epoch: number, key: string, attempt: number): SeenOwed | undefined {
    return this.#owed.get(`${no} ${epoch} ${attempt} ${key}`)
  }

  /** Calls that were owed and are not any more get their end. */
  #takeOwed(after: Resource, at: Millis, by: SimulatedProcess): void {
    const { no, epoch } = after
    const before = this.#owedOf.get(no)
    const plan = this.plans.get(after.type)
    const now =
      plan === undefined || after.run === null
        ? []
        : owedCalls(plan, after).map(({ key, name }) => `${no} ${epoch} ${name.attempt} ${key}`)
    if (before !== undefined) {
      for (const one of before) {
        if (now.includes(one)) continue
        const owed = this.#owed.get(one)!
        owed.until = at
        owed.endedBy = by
      }
    }
    for (const one of now) {
      const owed = this.#owed.get(one)
      if (owed === undefined) this.#owed.set(one, { until: null, endedBy: null })
      else owed.until = null
    }
    if (now.length > 0 || before !== undefined) this.#owedOf.set(no, now)
  }

  #settle(resource: Resource): void {
    const { no, run } = resource
    const isTransitional = this.plans.kindOf(resource.type, resource.status) === 'transitional'
    const isParked = run !== null && run.parked !== null
    const isBusy = run !== null && run.kind !== 'drift'
    const hasOrphans = resource.ledger.some((entry) => entry.state === 'orphaned' || entry.state === 'sweeping')
    if (isParked) this.parked.add(no)
    else this.parked.delete(no)
    if (((isTransitional || isBusy) && !isParked) || hasOrphans || (resource.queue.length > 0 && !isParked)) {
      this.unsettled.add(no)
    } else this.unsettled.delete(no)
  }
}
