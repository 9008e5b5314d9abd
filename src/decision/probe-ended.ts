// The probe of a cut step has answered: its effect is adopted, the call is repeated, or the step has failed.
import type { Plan } from '../lifecycle/plan.ts'
import { beginQueued } from './begin-run.ts'
import type { Outcome } from './command.ts'
import type { Draft } from './draft.ts'
import { failStep, nextAttempt } from './failure.ts'
import { stepOf } from './owed.ts'
import { checkAgainst } from './schema-check.ts'
import type { Resource } from './state.ts'
import { again, probeDeadlineMs, stepDone, tellFailed } from './step-ended.ts'

/** The first declared answer means that the step's effect is there; any other, that it is not. */
export function probeEnded(draft: Draft, plan: Plan, resource: Resource, outcome: Outcome): Resource {
  const run = resource.run!
  const step = stepOf(plan, run)
  const answers = plan.probes.get(step.probe!) ?? []
  const answer = outcome.kind === 'answered' ? outcome.answer : 'unknown'
  if (outcome.kind === 'again') return again(draft, resource, outcome.afterMs, step)
  const pastDeadline = run.code === 'deadline_exceeded'
  if (answer === answers[0]) {
    const cleared = draft.change(resource, {
      run: { ...run, phase: 'step', code: '', reasons: pastDeadline ? [] : run.reasons, uncertain: false },
    })
    const observed = outcome.kind === 'answered' ? outcome.observed : null
    draft.tell(cleared, 'probed', resource.status, { step: step.name, probe: step.probe, answer, adopted: true })
    const schemaFits = step.result === null || checkAgainst(step.result, observed).faults === null
    // What the step would have answered is unknown: the same key is called once more, and a driver that knows it answers again.
    if (!schemaFits)
      return draft.change(cleared, { run: { ...cleared.run!, dueAt: 0, deadlineAt: draft.now + step.deadlineMs } })
    return stepDone(draft, plan, cleared, step, step.result === null ? null : observed)
  }
  if (pastDeadline) {
    const from = resource.status
    const after = failStep(draft, plan, draft.change(resource, { run: { ...run, phase: 'step' } }), {
      code: 'deadline_exceeded',
      reasons: [],
    })
    tellFailed(draft, plan, after, from, run, { step: step.name, code: 'deadline_exceeded', probe: answer })
    return beginQueued(draft, plan, after)
  }
  const next = nextAttempt(draft, step, resource, run.attempt)
  if (answers.includes(answer) && next !== null) {
    const after = draft.change(resource, {
      run: {
        ...run,
        phase: 'step',
        attempt: next.attempt,
        dueAt: 0,
        deadlineAt: draft.now + step.deadlineMs,
        progressAt: step.progressMs === 0 ? 0 : draft.now + step.progressMs,
        uncertain: false,
      },
    })
    draft.tell(after, 'probed', resource.status, { step: step.name, probe: step.probe, answer, repeated: true })
    return after
  }
  const reason =
    outcome.kind === 'failed' || outcome.kind === 'unknown' ? outcome.reason : `${step.probe} answered ${answer}`
  const asked = answers.includes(answer) ? null : nextAttempt(draft, step, resource, run.probes)
  if (asked !== null) {
    const after = draft.change(resource, {
      run: { ...run, probes: asked.attempt, dueAt: asked.dueAt, deadlineAt: asked.dueAt + probeDeadlineMs },
    })
    draft.tell(after, 'attemptFailed', resource.status, {
      step: step.name,
      probe: step.probe,
      attempt: run.probes,
      reason,
      nextAt: asked.dueAt,
    })
    return after
  }
  const from = resource.status
  const after = failStep(draft, plan, draft.change(resource, { run: { ...run, phase: 'step' } }), {
    code: 'unknown_outcome',
    reasons: [`nobody can tell whether ${step.name} happened: ${reason}`],
  })
  tellFailed(draft, plan, after, from, run, { step: step.name, code: 'unknown_outcome', reason })
  return beginQueued(draft, plan, after)
}
