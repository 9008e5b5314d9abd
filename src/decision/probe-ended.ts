// The probe of a cut step has answered: its effect is adopted, the call is repeated, or the step has failed.
import type { Plan, StepPlan } from '../lifecycle/plan.ts'
import type { Outcome } from './command.ts'
import type { Draft } from './draft.ts'
import { failStep, nextAttempt } from './failure.ts'
import { stepOf } from './owed.ts'
import { checkAgainst } from './schema-check.ts'
import type { Resource, Run } from './state.ts'
import { again, probeDeadlineMs, stepDone, tellFailed, watched } from './step-ended.ts'

/** The first declared answer means that the step's effect is there; any other, that it is not. */
export function probeEnded(draft: Draft, plan: Plan, resource: Resource, outcome: Outcome): Resource {
  const run = resource.run!
  const step = stepOf(plan, run)
  const answers = plan.probes.get(step.probe!) ?? []
  const answer = outcome.kind === 'answered' ? outcome.answer : 'unknown'
  if (outcome.kind === 'again') return again(draft, resource, outcome.afterMs, step)
  const pastDeadline = run.code === 'deadline_exceeded'
  if (answer === answers[0]) return adopt(draft, plan, resource, step, outcome)
  // The reason stands in the run already.
  if (pastDeadline) return failed(draft, plan, resource, run, { code: 'deadline_exceeded', reason: '', probe: answer })
  const next = nextAttempt(draft, step, resource, run.attempt)
  if (answers.includes(answer) && next !== null) {
    const repeated: Run = { ...run, phase: 'step', attempt: next.attempt, dueAt: 0, uncertain: false }
    const after = draft.change(resource, { run: watched(draft, plan, repeated) })
    draft.tell(after, 'probed', resource.status, { step: step.name, probe: step.probe, answer, repeated: true })
    return after
  }
  const reason =
    outcome.kind === 'failed' || outcome.kind === 'unknown' ? outcome.reason : `${step.probe} answered ${answer}`
  if (answers.includes(answer))
    return failed(draft, plan, resource, run, {
      code: 'not_done',
      reason: `${step.name} was cut and did not happen (${reason}), ${run.attempt} times`,
    })
  const asked = nextAttempt(draft, step, resource, run.probes)
  if (asked !== null) return askAgain(draft, resource, step, asked, reason)
  return failed(draft, plan, resource, run, {
    code: 'unknown_outcome',
    reason: `nobody can tell whether ${step.name} happened: ${reason}`,
  })
}

/** The effect is there: the step is done, if what the probe saw can stand for the step's own answer. */
function adopt(draft: Draft, plan: Plan, resource: Resource, step: StepPlan, outcome: Outcome): Resource {
  const run = resource.run!
  const answer = outcome.kind === 'answered' ? outcome.answer : 'unknown'
  const reasons = run.code === 'deadline_exceeded' ? [] : run.reasons
  const cleared = draft.change(resource, { run: { ...run, phase: 'step', code: '', reasons, uncertain: false } })
  draft.tell(cleared, 'probed', resource.status, { step: step.name, probe: step.probe, answer, adopted: true })
  if (step.result === null) return stepDone(draft, plan, cleared, step, null)
  const observed = outcome.kind === 'answered' ? outcome.observed : null
  if (checkAgainst(step.result, observed).faults === null) return stepDone(draft, plan, cleared, step, observed)
  // What the step would have answered is unknown: the same key is called once more, and a driver that knows it answers again.
  const call = nextAttempt(draft, step, cleared, run.attempt)
  if (call !== null)
    return draft.change(cleared, { run: watched(draft, plan, { ...cleared.run!, attempt: call.attempt, dueAt: 0 }) })
  return failed(draft, plan, cleared, run, {
    code: 'unknown_outcome',
    reason: `${step.name} happened, but nobody can tell what it answered`,
  })
}

function askAgain(
  draft: Draft,
  resource: Resource,
  step: StepPlan,
  next: { readonly attempt: number; readonly dueAt: number },
  reason: string,
): Resource {
  const run = resource.run!
  const after = draft.change(resource, {
    run: { ...run, probes: next.attempt, dueAt: next.dueAt, deadlineAt: next.dueAt + probeDeadlineMs },
  })
  draft.tell(after, 'attemptFailed', resource.status, {
    step: step.name,
    probe: step.probe,
    attempt: run.probes,
    reason,
    nextAt: next.dueAt,
  })
  return after
}

function failed(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  run: Run,
  { code, reason, ...detail }: { code: string; reason: string; probe?: string },
): Resource {
  const stopped = draft.change(resource, { run: { ...resource.run!, phase: 'step' } })
  const after = failStep(draft, plan, stopped, { code, reasons: reason === '' ? [] : [reason] })
  const told = reason === '' ? run.reasons.join(', ') : reason
  tellFailed(draft, plan, after, resource.status, run, { step: stepOf(plan, run).name, code, reason: told, ...detail })
  return after
}
