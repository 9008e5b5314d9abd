// A call of a step has ended: done, to be looked at again, cut, or failed. The one file that every usual step walks through.
import type { Json, JsonObject } from '../base/json.ts'
import type { Plan, StepPlan } from '../lifecycle/plan.ts'
import { enterNext, entered, progressFrom } from './advance.ts'
import type { FailedOutcome, Outcome } from './command.ts'
import type { Draft } from './draft.ts'
import { failStep, failureIn, invalidResult, neverGivesUp, nextAttempt } from './failure.ts'
import { confirmed } from './ledger.ts'
import { afterMsOf, attemptInRound, firstAttempt } from './next-attempt.ts'
import { stepOf, undoneStep } from './owed.ts'
import { checkAgainst } from './schema-check.ts'
import { traced, type Resource, type Run } from './state.ts'

/** How long a probe may take. */
export const probeDeadlineMs = 60_000

export function stepEnded(draft: Draft, plan: Plan, resource: Resource, outcome: Outcome): Resource {
  const run = resource.run!
  const step = stepOf(plan, run)
  switch (outcome.kind) {
    case 'done':
      return stepDone(draft, plan, resource, step, outcome.result)
    case 'again':
      return again(draft, resource, outcome.afterMs, step)
    case 'unknown':
      return stepUnknown(draft, plan, resource, step, outcome.reason)
    case 'failed':
      return stepFailed(draft, plan, resource, step, outcome)
    case 'answered':
      return stepFailed(draft, plan, resource, step, invalidResult('the driver answered a step as if it were a probe'))
  }
}

/** The usual way, walked by every step of every run: kept short. */
export function stepDone(draft: Draft, plan: Plan, resource: Resource, step: StepPlan, given: unknown): Resource {
  const run = resource.run!
  let result: Json = (given ?? null) as Json
  if (step.result !== null) {
    const checked = checkAgainst(step.result, given)
    if (checked.faults !== null) {
      const reason = `${step.name} answered what its schema refuses: ${checked.faults.join('; ')}`
      return stepFailed(draft, plan, resource, step, invalidResult(reason))
    }
    result = (checked.value ?? null) as Json
  }
  const from = resource.status
  const results = result === null ? run.results : withResult(run.results, step.name, result)
  const operation = plan.operations.get(run.operation)!
  const next = operation.steps[run.step + 1]
  const ledger = confirmed(resource, step, run.begun, result, draft.now)
  if (next !== undefined && draft.writes.length === 0 && !run.forced && isPlain(next, plan, resource)) {
    const after = draft.put(resource, plainNext(draft, resource, next, results, ledger))
    draft.tell(
      after,
      'stepDone',
      from,
      result === null ? { step: step.name, next: next.name } : { step: step.name, next: next.name, result },
    )
    return after
  }
  const kept = draft.change(resource, {
    run: { ...run, results, dueAt: 0 },
    ledger,
  })
  return goOn(draft, plan, kept, from, result === null ? { step: step.name } : { step: step.name, result })
}

/** Copied first and then added to: three times as fast as both at once. */
function withResult(results: JsonObject, step: string, result: Json): JsonObject {
  const more: Record<string, Json> = { ...results }
  more[step] = result
  return more
}

/** The step at the cursor is over: the next one is entered, or the run lands; either way it is told. */
export function goOn(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  from: string,
  detail: JsonObject,
  kind: 'stepDone' | 'itemDone' | 'itemFailed' | 'skipped' = 'stepDone',
): Resource {
  const run = resource.run!
  const skips = { words: null as string[] | null }
  const after = enterNext(draft, plan, resource, run.step, skips)
  draft.tell(
    after,
    after.run === null ? 'landed' : kind,
    from,
    wholeDetail(detail, skips.words, after.run === null ? ending(run, after) : entered(plan, after)),
    run.begun,
  )
  return after
}

function wholeDetail(detail: JsonObject, skipped: string[] | null, more: JsonObject): JsonObject {
  const whole: Record<string, Json> = { ...detail }
  if (skipped !== null) whole['skipped'] = skipped
  for (const name in more) whole[name] = more[name]!
  return whole
}

/** Nothing happens between the two steps but to the cursor, the status and the ledger. */
function isPlain(next: StepPlan, plan: Plan, resource: Resource): boolean {
  return (
    next.changes === null &&
    next.when === null &&
    next.forEach === null &&
    next.asks.length === 0 &&
    next.creates === null &&
    (next.status === resource.status || (plan.pair === null && plan.timers.length === 0))
  )
}

/** Every field is named: this is made for nearly every step, and copying what will be replaced costs more than naming it. */
function plainNext(
  draft: Draft,
  resource: Resource,
  next: StepPlan,
  results: JsonObject,
  ledger: Resource['ledger'],
): Resource {
  const run = resource.run!
  const after: Run = {
    begun: run.begun,
    kind: run.kind,
    operation: run.operation,
    input: run.input,
    by: run.by,
    lane: run.lane,
    forced: run.forced,
    previous: run.previous,
    askedBy: run.askedBy,
    acceptedAt: run.acceptedAt,
    phase: 'step',
    step: next.index,
    steps: [...run.steps, next.index],
    results,
    items: null,
    undoing: run.undoing,
    landing: run.landing,
    reasons: run.reasons,
    code: run.code,
    probe: run.probe,
    found: run.found,
    attempt: 1,
    probes: 0,
    rounds: 0,
    family: run.family,
    dueAt: 0,
    deadlineAt: draft.now + next.deadlineMs,
    progressAt: next.progressMs === 0 ? 0 : draft.now + next.progressMs,
    progress: '',
    parked: null,
    uncertain: false,
    owner: run.owner,
    resumed: 0,
  }
  return {
    no: resource.no,
    id: resource.id,
    type: resource.type,
    tenant: resource.tenant,
    name: resource.name,
    parent: resource.parent,
    links: resource.links,
    status: next.status,
    description: resource.description,
    properties: resource.properties,
    revision: resource.revision + 1,
    epoch: resource.epoch,
    since: resource.status === next.status ? resource.since : draft.now,
    createdAt: resource.createdAt,
    run: traced(after, run.trace),
    holder: resource.holder,
    queue: resource.queue,
    ledger,
    timers: resource.timers,
    heals: resource.heals,
    last: resource.last,
  }
}

/** How a run ended, for the history. */
export function ending(run: Run, after: Resource): JsonObject {
  const { description } = after
  return description === '' ? { operation: run.operation } : { operation: run.operation, description }
}

/** Not a failure: no attempt is spent, and something was heard. */
export function again(draft: Draft, resource: Resource, givenMs: number, step: StepPlan): Resource {
  const run = resource.run!
  const afterMs = afterMsOf(givenMs)
  const dueAt = draft.now + afterMs
  const progressAt = run.phase === 'step' && !run.forced ? progressFrom(step, dueAt) : 0
  const after = draft.change(resource, { run: { ...run, dueAt, progressAt } })
  draft.tell(after, 'stepAgain', resource.status, { call: run.phase, step: step.name, afterMs })
  return after
}

/** What the run is at has all its time before it: deadline and progress deadline count from now, or from when it is due. */
export function watched(draft: Draft, plan: Plan, run: Run): Run {
  const start = Math.max(draft.now, run.dueAt)
  const operation = plan.operations.get(run.operation)
  switch (run.phase) {
    case 'cascade':
      return run
    case 'probe':
    case 'healProbe':
      return { ...run, deadlineAt: start + probeDeadlineMs, progressAt: 0 }
    case 'undo':
      return { ...run, deadlineAt: start + undoneStep(plan, run).deadlineMs, progressAt: 0 }
    case 'step': {
      const step = stepOf(plan, run)
      if (run.forced) return { ...run, deadlineAt: start + operation!.forceMs, progressAt: 0 }
      return { ...run, deadlineAt: start + step.deadlineMs, progressAt: progressFrom(step, start) }
    }
  }
}

/** The call was cut. With a probe the driver is asked before anything is repeated; without, the same key is tried by policy. */
export function stepUnknown(draft: Draft, plan: Plan, resource: Resource, step: StepPlan, reason: string): Resource {
  const run = resource.run!
  if (step.probe !== null && !run.forced) {
    const after = draft.change(resource, { run: { ...probing(draft, run, step), uncertain: true } })
    draft.tell(after, 'outcomeUnknown', resource.status, { step: step.name, reason, probe: step.probe })
    return after
  }
  const next = nextAttempt(draft, step, resource, run.attempt)
  const failed = failureIn({ kind: 'unknown', reason })
  if (next !== null) return retry(draft, resource, step, next, failed)
  // What is tried until it works, or goes on whatever happens, needs nobody's word to be repeated.
  if (run.forced || neverGivesUp(plan, run))
    return stepFailed(draft, plan, resource, step, { ...failed, terminal: true })
  return park(
    draft,
    resource,
    'unknown_outcome',
    `${step.name} was cut ${run.attempt} times and has no probe: nobody knows whether it happened (${reason}). Look, then retry, skip or cancel.`,
  )
}

/** Probes are counted on, so that the answer of one that hung is not taken for the answer of this one. */
export const probing = (draft: Draft, run: Run, { retry }: StepPlan): Run => ({
  ...run,
  phase: 'probe',
  probes: firstAttempt(retry, Math.ceil(run.probes / (retry.times + 1))),
  dueAt: 0,
  deadlineAt: draft.now + probeDeadlineMs,
  progressAt: 0,
})

/** Stops the run until somebody acts. It keeps its place and blocks like a running one. */
export function park(
  draft: Draft,
  resource: Resource,
  code: NonNullable<Run['parked']>['code'],
  reason: string,
): Resource {
  const after = draft.change(resource, {
    run: { ...resource.run!, parked: { code, reason, at: draft.now }, deadlineAt: 0, progressAt: 0 },
    description: `Parked: ${reason}`,
  })
  draft.tell(after, 'parked', resource.status, { code, reason })
  return after
}

function stepFailed(draft: Draft, plan: Plan, resource: Resource, step: StepPlan, failed: FailedOutcome): Resource {
  const run = resource.run!
  const { code, reason, terminal } = failed
  const next = terminal ? null : nextAttempt(draft, step, resource, run.attempt)
  if (next !== null) return retry(draft, resource, step, next, failed)
  const from = resource.status
  const after = failStep(draft, plan, resource, { code, reasons: [reason] })
  tellFailed(draft, plan, after, from, run, { step: step.name, code, reason })
  return after
}

export function tellFailed(
  draft: Draft,
  plan: Plan,
  after: Resource,
  from: string,
  run: Run,
  detail: JsonObject,
): void {
  const ended = after.run === null || after.run.begun !== run.begun
  draft.tell(
    after,
    ended ? 'landed' : 'failed',
    from,
    {
      ...detail,
      failed: true,
      ...(ended ? ending(run, after) : { phase: after.run!.phase, ...entered(plan, after) }),
      ...(!ended && after.run!.dueAt > draft.now ? { nextAt: after.run!.dueAt } : {}),
    },
    run.begun,
  )
}

function retry(
  draft: Draft,
  resource: Resource,
  step: StepPlan,
  next: { attempt: number; dueAt: number },
  { code, reason }: FailedOutcome,
): Resource {
  const run: Run = { ...resource.run!, ...next, progressAt: progressFrom(step, next.dueAt) }
  const after = draft.change(resource, { run })
  draft.tell(after, 'attemptFailed', resource.status, {
    step: step.name,
    attempt: attemptInRound(step.retry, next.attempt - 1),
    ...(run.rounds === 0 ? {} : { round: run.rounds + 1 }),
    code,
    reason,
    nextAt: next.dueAt,
  })
  return after
}
