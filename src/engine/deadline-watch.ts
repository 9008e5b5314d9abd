// Watches the deadlines of owned runs with one sparse timer: no run that was entered since the last look can be due earlier than
// the shortest declared deadline, so nothing is armed per step.
import type { Clock } from '../base/clock.ts'
import type { NumberMap } from '../base/number-map.ts'
import { overdueAt } from '../decision/state.ts'
import { probeDeadlineMs } from '../decision/step-ended.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Door } from './door.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { OwnedRun } from './owned-run.ts'

/** A deadline that was told and is still there is looked at again after this long. */
const lookAgainMs = 1_000
/** Wall time that passed while this process had none of it: the machine slept. */
const sleptMs = 1_000

export interface DeadlineContext {
  readonly clock: Clock
  readonly plans: Plans
  readonly door: Door
  readonly by: string
  readonly lease: Pick<LeaseKeeper, 'mayStart' | 'isRenewedSince'>
  /** What is known of the run may be old. */
  readonly refused: (owned: OwnedRun) => void
}

export class DeadlineWatch {
  readonly #context: DeadlineContext
  readonly #clock: Clock
  readonly #runs: NumberMap<OwnedRun>
  readonly #shortestMs: number
  #cancel: (() => void) | null = null
  #now = 0
  #monotonic = 0
  #wokeAt = -Infinity

  constructor(context: DeadlineContext, runs: NumberMap<OwnedRun>) {
    this.#context = context
    this.#clock = context.clock
    this.#runs = runs
    this.#shortestMs = shortestDeadlineMs(context.plans)
  }

  /** Called with every run that is taken on; looks until there is none. */
  start(): void {
    if (this.#cancel !== null) return
    this.#lookAtClocks()
    this.#lookIn(this.#shortestMs)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #lookIn(ms: number): void {
    this.#cancel = this.#clock.after(Math.max(10, ms), () => {
      this.#cancel = null
      const next = this.#look()
      if (this.#runs.size > 0 && this.#cancel === null) this.#lookIn(next)
    })
  }

  /** A process that stood still, or whose machine slept, used up nobody's time: whoever takes its runs over gives them theirs anew. */
  #isAwake(): boolean {
    const { lease } = this.#context
    const slept = this.#lookAtClocks()
    if (slept > sleptMs) this.#wokeAt = this.#monotonic
    return lease.mayStart() && lease.isRenewedSince(this.#wokeAt)
  }

  /** By how much the wall clock ran ahead of the other one, which stops with the machine, since the last look. */
  #lookAtClocks(): number {
    const [now, monotonic] = [this.#clock.now(), this.#clock.monotonic()]
    const ahead = now - this.#now - (monotonic - this.#monotonic)
    this.#now = now
    this.#monotonic = monotonic
    return ahead
  }

  #look(): number {
    if (!this.#isAwake()) return lookAgainMs
    const now = this.#now
    let next = this.#shortestMs
    for (const owned of this.#runs.values()) {
      const run = owned.resource.run!
      if (run.parked !== null) continue
      const due = overdueAt(run)
      if (due > now) next = Math.min(next, due - now)
      else if (due > 0) {
        next = Math.min(next, lookAgainMs)
        if (owned.overdueTold !== owned.resource.revision) this.#tell(owned)
      }
    }
    return next
  }

  #tell(owned: OwnedRun): void {
    const { door, by, refused } = this.#context
    const { revision, epoch } = owned.resource
    owned.overdueTold = revision
    door.submit({ kind: 'deadlinePassed', no: owned.no, epoch, by }, (decision) => {
      if (decision.accepted || owned.overdueTold !== revision) return
      owned.overdueTold = 0
      refused(owned)
    })
  }
}

/** The shortest time in which any declared call can become overdue. */
function shortestDeadlineMs(plans: Plans): number {
  let shortest = probeDeadlineMs
  for (const plan of plans.all) {
    for (const operation of plan.operations.values()) {
      if (operation.forceMs > 0) shortest = Math.min(shortest, operation.forceMs)
      for (const step of operation.steps) {
        if (step.deadlineMs > 0) shortest = Math.min(shortest, step.deadlineMs)
        if (step.progressMs > 0) shortest = Math.min(shortest, step.progressMs)
      }
    }
  }
  return shortest
}
