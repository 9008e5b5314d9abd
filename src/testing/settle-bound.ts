// How long after the last fault everything must be settled at the latest: computed from the declarations and the settings, never
// guessed. B = lease + healing period + the longest way that a run can still have to go.
import { probeDeadlineMs } from '../decision/step-ended.ts'
import type { FailurePlan, OperationPlan, Plans, StepPlan } from '../lifecycle/plan.ts'
import type { EngineSettings } from '../engine/options.ts'

/** Of one run: its steps with their deadlines, then the undoing of all of them. */
function operationMs(operation: OperationPlan): number {
  let ms = operation.graceMs
  for (const step of operation.steps) ms += stepMs(step) + undoMs(step)
  return Math.max(ms, againMs(operation.onFailure))
}

function stepMs(step: StepPlan): number {
  const asking = step.asks.length > 0 ? 2 * 30_000 : 0
  const probing = step.probe === null ? 0 : probesMs(step)
  return step.deadlineMs + probing + asking + againMs(step.onFailure)
}

const probesMs = (step: StepPlan): number => (step.retry.times + 1) * (probeDeadlineMs + step.retry.atMostMs)
const undoMs = (step: StepPlan): number =>
  step.undo === null ? 0 : (step.retry.times + 1) * (step.deadlineMs + step.retry.atMostMs)
const againMs = (failure: FailurePlan | null): number => failure?.tryAgain?.atMostMs ?? 0

/** Depth of asks: a run that waits for others that wait for others. */
const chain = 3

/** Until somebody who has it is known to be gone, or it is known to be overdue, and another has taken it. */
const findingMs = ({ leaseMs, healEveryMs, overdueSlackMs, pollMs }: EngineSettings): number =>
  leaseMs + 60_000 + healEveryMs + overdueSlackMs + pollMs

/** The same for what is known to be on the way, and for nothing else: by the declared deadlines of those operations. */
export function boundOfRunning(
  plans: Plans,
  settings: EngineSettings,
  running: readonly { readonly type: string; readonly operation: string | null }[],
): number {
  let longest = 0
  for (const { type, operation } of running) {
    const plan = plans.get(type)
    const known = operation === null ? undefined : plan?.operations.get(operation)
    // Without a run of its own it is healed: then any of its operations may follow. Where a database has lost what it is, any of all.
    const possible = (plan === undefined ? plans.all : [plan]).flatMap(({ operations }) => [...operations.values()])
    for (const one of known === undefined ? possible : [known]) {
      const isAsking = one.steps.some((step) => step.asks.length > 0)
      longest = Math.max(longest, (isAsking ? chain : 1) * (findingMs(settings) + operationMs(one)))
    }
  }
  const { sweepEveryMs, inventoryEveryMs, strayGraceMs } = settings
  return findingMs(settings) + longest + 2 * (sweepEveryMs + inventoryEveryMs + strayGraceMs)
}

export function settleBoundMs(plans: Plans, settings: EngineSettings, skewMs: number): number {
  let longest = 0
  for (const plan of plans.all) {
    for (const operation of plan.operations.values()) longest = Math.max(longest, operationMs(operation))
    for (const row of plan.heal.values()) {
      if (row.probe !== null) longest = Math.max(longest, 4 * probeDeadlineMs + row.probe.againMs)
    }
  }
  return chain * (findingMs(settings) + longest) + settings.sweepEveryMs + 2 * skewMs
}
