// The one place where a run's failures are answered: retry, undo, landing, or trying again later. Steps know nothing of it.
import { assert } from '../base/assert.ts'
import type { FailureCasePlan, FailurePlan, OperationPlan, Plan, StepPlan } from '../lifecycle/plan.ts'
import type { FailedOutcome, Outcome } from './command.ts'
import { holds, View } from './conditions.ts'
import { Refusal, type Draft } from './draft.ts'
import { enterNext, fillReasons, freezeItems, land, landingOf, progressFrom } from './advance.ts'
import { arrive, cancelAsked } from './landing.ts'
import { doubted } from './ledger.ts'
import { attemptDelayMs, attemptInRound, firstAttempt } from './next-attempt.ts'
import type { LandingRef, Resource, Run } from './state.ts'

export interface Failed {
  readonly code: string
  /** One per thing that failed. */
  readonly reasons: readonly string[]
}

/** The driver's answer cannot be used. */
export const invalidResult = (reason: string): FailedOutcome => ({
  kind: 'failed',
  code: 'invalid_result',
  reason,
  terminal: false,
})

/** What the end of a step or undo that did not succeed counts as. */
export function failureIn(outcome: Extract<Outcome, { kind: 'failed' | 'unknown' | 'answered' }>): FailedOutcome {
  switch (outcome.kind) {
    case 'failed':
      return outcome
    case 'unknown':
      return { kind: 'failed', code: 'unknown_outcome', reason: outcome.reason, terminal: false }
    case 'answered':
      return invalidResult('answered as if it were a probe')
  }
}

/** The step at the cursor has failed for good: the declared answer follows. */
export function failStep(draft: Draft, plan: Plan, resource: Resource, { code, reasons }: Failed): Resource {
  const run = resource.run!
  cancelAsked(draft, resource, reasons.join(', ') || 'the asking step failed')
  const operation = plan.operations.get(run.operation)!
  const step = operation.steps[run.step]!
  const kept = draft.change(resource, {
    run: {
      ...run,
      items: run.items === null ? null : [],
      reasons: [...run.reasons, ...reasons],
      code: run.code === '' ? code : run.code,
      dueAt: 0,
    },
    ledger: doubted(resource.ledger, run.begun, draft.now),
  })
  // A forced run goes on whatever happens; what it could not confirm is orphaned at its landing.
  if (run.forced) return enterNext(draft, plan, kept, run.step)
  const answer = step.onFailure ?? operation.onFailure
  if (answer.tryAgain !== null) return tryAgainLater(draft, plan, operation, step, kept, answer)

  const view = new View(draft, plan, kept)
  const at = answer.cases.findIndex(
    (one) => (one.codes === null || one.codes.has(code)) && holds(draft, kept, one.when, view),
  )
  assert(
    at >= 0,
    `${plan.type}.${operation.name}: no failure case holds for ${code}; checkLifecycles should have said so`,
  )
  const chosen = answer.cases[at]!
  const ref: LandingRef = {
    of: 'failure',
    step: step.onFailure === null ? -1 : step.index,
    case: at,
    undoFailed: false,
  }
  return chosen.undo
    ? beginUndo(draft, plan, operation, kept, chosen, ref)
    : landFailure(draft, plan, operation, kept, ref)
}

/** Stays in its status and tries the same step again, for ever, ever more rarely. Nothing but this never gives up. */
function tryAgainLater(
  draft: Draft,
  plan: Plan,
  operation: OperationPlan,
  step: StepPlan,
  resource: Resource,
  answer: FailurePlan,
): Resource {
  const run = resource.run!
  const { againMs, atMostMs } = answer.tryAgain!
  const dueAt = draft.now + Math.min(atMostMs, againMs * 2 ** Math.min(run.rounds, 30))
  const rounds = run.rounds + 1
  const attempt = firstAttempt(step.retry, rounds)
  const items = run.items === null ? null : freezeItems(draft, plan, resource, step, attempt)
  const next: Run = {
    ...run,
    phase: 'step',
    attempt,
    items,
    rounds,
    // Only the latest round's reasons: a delete that fails for a week must not grow without bound.
    reasons: [],
    code: '',
    dueAt,
    deadlineAt: dueAt + step.deadlineMs,
    progressAt: progressFrom(step, dueAt),
    uncertain: false,
  }
  const description = failureText(operation, run.reasons, null)
  if (items === null || items.length > 0) return draft.change(resource, { run: next, description })
  // Nothing is left to go over by now: the step is done.
  return enterNext(draft, plan, draft.change(resource, { run: { ...next, dueAt: 0 }, description }), run.step)
}

function beginUndo(
  draft: Draft,
  plan: Plan,
  operation: OperationPlan,
  resource: Resource,
  chosen: FailureCasePlan,
  ref: LandingRef,
): Resource {
  const run = resource.run!
  // The failed step is undone too: it may have half happened.
  const undoing = run.steps.filter((index) => operation.steps[index]!.undo !== null).reverse()
  if (undoing.length === 0) return landFailure(draft, plan, operation, resource, ref)
  const next = undoRun(draft, operation, run, undoing, ref)
  const status = chosen.during ?? resource.status
  if (status === resource.status) return draft.change(resource, { run: next })
  return arrive(draft, plan, resource, {
    status,
    changes: null,
    view: new View(draft, plan, resource),
    run: next,
    overBusy: false,
    mover: { no: resource.no, begun: run.begun },
  })
}

function undoRun(
  draft: Draft,
  operation: OperationPlan,
  run: Run,
  undoing: readonly number[],
  landing: LandingRef,
): Run {
  const step = operation.steps[undoing[0]!]!
  return {
    ...run,
    phase: 'undo',
    undoing,
    landing,
    items: null,
    attempt: 1,
    dueAt: 0,
    deadlineAt: draft.now + step.deadlineMs,
    progressAt: 0,
    uncertain: false,
    resumed: 0,
  }
}

/** One step is taken back: the next one, or the landing that was chosen when undoing began. */
export function continueUndo(draft: Draft, plan: Plan, resource: Resource): Resource {
  const run = resource.run!
  const operation = plan.operations.get(run.operation)!
  const undoing = run.undoing.slice(1)
  if (undoing.length > 0) return draft.change(resource, { run: undoRun(draft, operation, run, undoing, run.landing!) })
  return landFailure(draft, plan, operation, resource, run.landing!)
}

/** Undoing failed for good: stop, land where that is said, leave the rest to the sweeper. Both reasons are told. */
export function failUndo(draft: Draft, plan: Plan, resource: Resource, reason: string): Resource {
  const run = resource.run!
  const operation = plan.operations.get(run.operation)!
  const told = draft.change(resource, { run: { ...run, reasons: [...run.reasons, reason] } })
  const ref: LandingRef = { ...run.landing!, undoFailed: true }
  draft.report({
    no: resource.no,
    kind: 'undo_failed',
    status: resource.status,
    text: `Undoing ${run.operation} of ${resource.type} ${resource.id} failed: ${reason}`,
    evidence: { reasons: [...run.reasons, reason], ledger: resource.ledger.map((entry) => entry.name) },
  })
  return landFailure(draft, plan, operation, told, ref)
}

function landFailure(
  draft: Draft,
  plan: Plan,
  operation: OperationPlan,
  resource: Resource,
  ref: LandingRef,
): Resource {
  const run = resource.run!
  const landing = landingOf(plan, run, ref)
  return land(draft, plan, resource, {
    ref,
    landing,
    outcome: run.code === 'cancelled' ? 'cancelled' : 'failed',
    description: failureText(operation, run.reasons, landing.changes?.say ?? null),
  })
}

/** The status description after a failure, in the declaration's own form. */
export function failureText(operation: OperationPlan, reasons: readonly string[], say: string | null): string {
  return fillReasons(say ?? operation.failureText ?? `${operation.name} failed: {reasons}`, reasons)
}

/** Another attempt of the present call, or null when the policy is spent. */
export function nextAttempt(
  draft: Draft,
  step: StepPlan,
  resource: Resource,
  attempt: number,
): { attempt: number; dueAt: number } | null {
  const inRound = attemptInRound(step.retry, attempt)
  if (resource.run!.forced || inRound > step.retry.times) return null
  return { attempt: attempt + 1, dueAt: draft.now + attemptDelayMs(step.retry, inRound, resource.no) }
}

/** The step at the cursor is declared to be tried until it works. */
export function neverGivesUp(plan: Plan, run: Run): boolean {
  const operation = plan.operations.get(run.operation)
  const answer = operation?.steps[run.step]?.onFailure ?? operation?.onFailure
  return answer !== undefined && answer.tryAgain !== null
}

/** Cancelling is a failure with the code `cancelled`; what goes on whatever happens cannot be cancelled. */
export function refuseIfNeverGivesUp(plan: Plan, resource: Resource): void {
  const run = resource.run!
  if (run.forced) {
    throw new Refusal(
      'operation_not_allowed',
      `Cannot cancel ${run.operation} of ${resource.type} ${resource.id}: it is forced, and goes on whatever happens.`,
    )
  }
  if (neverGivesUp(plan, run)) {
    throw new Refusal(
      'operation_not_allowed',
      `Cannot cancel ${run.operation} of ${resource.type} ${resource.id}: it is declared to be tried until it works. Retry it, or force it where that is allowed.`,
    )
  }
}
