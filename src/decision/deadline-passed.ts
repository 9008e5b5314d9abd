// A step, probe or undo was not done in time. The late success that may still exist is looked for before anything is undone.
import type { Plan } from '../lifecycle/plan.ts'
import { nameOf } from './begin-run.ts'
import { applyOutcome } from './call-ended.ts'
import type { DeadlinePassed } from './command.ts'
import { Refusal, type Draft } from './draft.ts'
import { failStep } from './failure.ts'
import { stepOf } from './owed.ts'
import { isLate, type Resource } from './state.ts'
import { probing, stepUnknown, tellFailed } from './step-ended.ts'
import { undoAttemptFailed } from './undo-ended.ts'

export function deadlinePassed(draft: Draft, command: DeadlinePassed): Resource {
  const resource = draft.get(command.no)
  const run = resource?.run
  if (resource === null || run == null || resource.epoch !== command.epoch) {
    throw new Refusal(
      'fenced',
      `The deadline of an earlier epoch passed for resource number ${command.no}; it has moved on.`,
    )
  }
  if (!isLate(run, draft.now) || run.parked !== null)
    throw new Refusal('timer_not_due', `${nameOf(resource)} is in time.`)
  return deadlinePassedOn(draft, draft.planOf(resource), resource)
}

export function deadlinePassedOn(draft: Draft, plan: Plan, resource: Resource): Resource {
  const run = resource.run!
  switch (run.phase) {
    case 'cascade':
      return resource
    case 'healProbe':
    case 'probe':
      // No answer in time is no answer.
      return applyOutcome(
        draft,
        plan,
        resource,
        { phase: run.phase, step: run.step, item: 0, attempt: run.probes },
        { kind: 'unknown', reason: 'the probe did not answer in time' },
      )
    case 'undo':
      return undoAttemptFailed(draft, plan, resource, {
        code: 'deadline_exceeded',
        reason: 'undoing did not end in time',
        terminal: false,
      })
    case 'step':
      return stepOverdue(draft, plan, resource)
  }
}

function stepOverdue(draft: Draft, plan: Plan, resource: Resource): Resource {
  const run = resource.run!
  const step = stepOf(plan, run)
  const total = run.deadlineAt !== 0 && run.deadlineAt <= draft.now
  // Silence within the deadline: the call is cut, and what it did is unknown.
  if (!total && run.items === null) return stepUnknown(draft, plan, resource, step, 'no progress was heard in time')
  const reason = total ? `${step.name} was not done in time` : `${step.name} made no progress in time`
  const from = resource.status
  if (step.probe !== null && run.items === null && !run.forced) {
    const after = draft.change(resource, {
      run: {
        ...probing(draft, run, step),
        uncertain: true,
        code: 'deadline_exceeded',
        reasons: [...run.reasons, reason],
      },
    })
    draft.tell(after, 'outcomeUnknown', from, { step: step.name, reason, probe: step.probe })
    return after
  }
  const after = failStep(draft, plan, resource, { code: 'deadline_exceeded', reasons: [reason] })
  tellFailed(draft, plan, after, from, run, { step: step.name, code: 'deadline_exceeded', reason })
  return after
}
