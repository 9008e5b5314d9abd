// Watches the deadlines of owned runs with one sparse timer: no run that was entered since the last look can be due earlier than
// the shortest declared deadline, so nothing is armed per step.
import type { Clock } from '../base/clock.ts'
import type { NumberMap } from '../base/number-map.ts'
import { overdueAt } from '../decision/state.ts'
import { probeDeadlineMs } from '../decision/step-ended.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Door } from './door.ts'
import type { OwnedRun } from './owned-run.ts'

/** A deadline that was told and is still there is looked at again after this long. */
const lookAgainMs = 1_000

export interface DeadlineContext {
  readonly clock: Clock
  readonly plans: Plans
  readonly door: Door
  readonly by: string
  /** What is known of the run may be old. */
  readonly refused: (owned: OwnedRun) => void
}

export class DeadlineWatch {
  readonly #context: DeadlineContext
  readonly #clock: Clock
  readonly #runs: NumberMap<OwnedRun>
  readonly #shortestMs: number
  #cancel: (() => void) | null = null

  constructor(context: DeadlineContext, runs: NumberMap<OwnedRun>) {
    this.#context = context
    this.#clock = context.clock
    this.#runs = runs
    this.#shortestMs = shortestDeadlineMs(context.plans)
  }

  /** Called with every run that is taken on. */
  start(): void {
    if (this.#cancel === null) this.#lookIn(this.#shortestMs)
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

  #look(): number {
    const now = this.#clock.now()
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
