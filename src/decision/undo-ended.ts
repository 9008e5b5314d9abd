// A step was taken back, or could not be.
import type { Plan } from '../lifecycle/plan.ts'
import type { FailedOutcome, Outcome } from './command.ts'
import type { Draft } from './draft.ts'
import { continueUndo, failureIn, failUndo, nextAttempt } from './failure.ts'
import { takenBack } from './ledger.ts'
import { undoneStep } from './owed.ts'
import type { Resource } from './state.ts'
import { again, ending } from './step-ended.ts'

export function undoEnded(draft: Draft, plan: Plan, resource: Resource, outcome: Outcome): Resource {
  const run = resource.run!
  const step = undoneStep(plan, run)
  if (outcome.kind === 'again') return again(draft, resource, outcome.afterMs, step)
  const from = resource.status
  if (outcome.kind === 'done') {
    const taken = draft.change(resource, { ledger: takenBack(resource, step, run.begun) })
    const after = continueUndo(draft, plan, taken)
    draft.tell(
      after,
      after.run === null ? 'landed' : 'undone',
      from,
      { undone: step.name, ...(after.run === null ? { failed: true, ...ending(run, after) } : {}) },
      run.begun,
    )
    return after
  }
  return undoAttemptFailed(draft, plan, resource, failureIn(outcome))
}

export function undoAttemptFailed(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  { code, reason, terminal }: Omit<FailedOutcome, 'kind'>,
): Resource {
  const run = resource.run!
  const step = undoneStep(plan, run)
  const next = terminal ? null : nextAttempt(draft, step, resource, run.attempt)
  if (next !== null) {
    const after = draft.change(resource, { run: { ...run, ...next, deadlineAt: next.dueAt + step.deadlineMs } })
    draft.tell(after, 'undoFailed', resource.status, {
      undo: step.undo,
      attempt: run.attempt,
      code,
      reason,
      nextAt: next.dueAt,
    })
    return after
  }
  const from = resource.status
  const after = failUndo(draft, plan, resource, reason)
  draft.tell(
    after,
    'landed',
    from,
    { undo: step.undo, code, reason, undoFailed: true, failed: true, ...ending(run, after) },
    run.begun,
  )
  return after
}
