// What a worker keeps in memory of a run it owns, and of each call it makes for it.
import type { Outcome } from '../decision/command.ts'
import type { OwedCall } from '../decision/owed.ts'
import type { Lane, No, Resource, Run } from '../decision/state.ts'
import type { Plan } from '../lifecycle/plan.ts'
import { Abort, type Loaded, type Progress } from './driver-call.ts'
import type { Waiting } from './lanes.ts'
import type { StartedCall } from './run-step.ts'

export { givenUp } from './driver-call.ts'

export class OwnedRun {
  readonly no: No
  readonly plan: Plan
  resource: Resource
  calls: RunCall[] = []
  /** Calls of this resource that were aborted and have not ended yet. */
  detached = 0
  /** The earliest alarm that is set; 0: none. */
  alarmAt = 0
  /** The run (its `begun`) that pre-empted one owned here. */
  graceOf = 0
  /** The revision at which its deadline was reported. */
  overdueTold = 0
  /** When it was last known to be as it is here. */
  trustedAt = 0
  /** The count of foreign writes at that time. */
  asOf = 0
  isGivenBack = false
  /** It waits for runs of others, and for nothing else. */
  isAsking = false

  constructor(resource: Resource, plan: Plan) {
    this.no = resource.no
    this.resource = resource
    this.plan = plan
  }

  add(call: RunCall): void {
    // A list of one is no longer than that.
    if (this.calls.length === 0) this.calls = [call]
    else this.calls.push(call)
  }

  find(owed: OwedCall): RunCall | undefined {
    for (const call of this.calls) if (call.epoch === this.resource.epoch && call.is(owed)) return call
    return undefined
  }

  /** The first calls of a pre-empting run need not wait: the interrupted call was made here and has ended. */
  get isGraceOver(): boolean {
    const run = this.resource.run!
    if (this.detached > 0 || this.graceOf !== run.begun) return false
    return run.phase === 'step' && run.attempt === 1 && run.rounds === 0 && this.#isInFirstCalls(run)
  }

  /** Steps over related resources of which there were none are begun and done without a call. */
  #isInFirstCalls(run: Run): boolean {
    if (run.steps.length === 1) return true
    const steps = this.plan.operations.get(run.operation)?.steps
    return run.steps.every((index) => {
      const step = steps?.[index]
      return index === run.step || (step !== undefined && (step.forEach !== null || step.asks.length > 0))
    })
  }
}

/** Who is told what becomes of a call. */
export interface CallListener {
  progressed(call: RunCall, text: string): void
  mayBegin(call: RunCall): boolean
  ended(call: RunCall, outcome: Outcome): void
}

export class RunCall extends Abort implements Waiting, StartedCall {
  readonly #listener: CallListener
  readonly owned: OwnedRun
  readonly owed: OwedCall
  readonly epoch: number
  readonly lane: Lane
  readonly tenant: string
  /** As it was when the call was made. */
  resource: Resource
  progress: Progress | null = null
  loaded: Loaded | null = null
  state: 'queued' | 'running' | 'reporting' | 'detached' | 'gone' = 'queued'
  refusals = 0
  cancelReport: (() => void) | null = null

  constructor(owned: OwnedRun, owed: OwedCall, listener: CallListener) {
    super()
    this.#listener = listener
    this.owned = owned
    this.resource = owned.resource
    this.owed = owed
    this.epoch = owned.resource.epoch
    this.lane = owned.resource.run!.lane
    this.tenant = owned.resource.tenant
  }

  get plan(): Plan {
    return this.owned.plan
  }

  onProgress(text: string): void {
    this.#listener.progressed(this, text)
  }

  mayBegin(): boolean {
    return this.#listener.mayBegin(this)
  }

  onEnd(outcome: Outcome): void {
    this.#listener.ended(this, outcome)
  }

  get no(): No {
    return this.owned.no
  }

  get isWithdrawn(): boolean {
    return this.state !== 'queued'
  }

  /** The driver is at it, or its outcome is not committed yet. An ask waits for others and counts for nothing here. */
  get isUnderWay(): boolean {
    return (this.state === 'running' || this.state === 'reporting') && this.owed.does === 'driver'
  }

  is(owed: OwedCall): boolean {
    return this.owed.name.attempt === owed.name.attempt && this.owed.isSame(owed)
  }

  /** Still owed by the run as it is now. */
  isAmong(owed: readonly OwedCall[]): boolean {
    if (this.epoch !== this.owned.resource.epoch) return false
    for (const one of owed) if (this.is(one)) return true
    return false
  }
}
