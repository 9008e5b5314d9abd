// The shortest time in which any declared call can become overdue: how often deadlines must be looked at, at the least.
import { probeDeadlineMs } from '../decision/step-ended.ts'
import type { Plans } from '../lifecycle/plan.ts'

export function shortestDeadlineMs(plans: Plans): number {
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
  return Math.max(10, shortest)
}
