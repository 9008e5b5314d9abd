// A call that a run owed has ended: the run goes on, tries again, is probed, undone or landed. A call that is no longer owed
// changes nothing; what it reports is kept as evidence.
import type { Json, JsonObject } from '../base/json.ts'
import type { Plan, StepPlan } from '../lifecycle/plan.ts'
import { enterNext, entered, land, landingOf } from './advance.ts'
import { beginQueued, nameOf } from './begin-run.ts'
import type { CallEnded, CallName, Outcome } from './command.ts'
import { Refusal, type Draft } from './draft.ts'
import { continueUndo, failStep, failUndo, nextAttempt } from './failure.ts'
import { healAnswered, landRecovery } from './heal-probe.ts'
import { moveTo } from './landing.ts'
import { confirmed, takenBack } from './ledger.ts'
import { checkAgainst } from './schema-check.ts'
import { stepOf, undoneStep } from './owed.ts'
import type { Item, Resource, Run } from './state.ts'

/** How long a probe may take. */
export const probeDeadlineMs = 60_000

export function callEnded(draft: Draft, command: CallEnded): Resource {
  const resource = draft.get(command.no)
  if (
    resource === null ||
    resource.run === null ||
    resource.epoch !== command.epoch ||
    !owes(resource.run, command.call)
  ) {
    throw fenced(draft, command, resource)
  }
  return applyOutcome(draft, draft.planOf(resource), resource, command.call, command.outcome)
}

/** Ownership moved on: nothing changes, not even the history; what the call did is evidence. */
function fenced(draft: Draft, command: CallEnded, resource: Resource | null): Refusal {
  if (resource !== null) {
    const { phase, step, item, attempt } = command.call
    ;(draft.late ??= []).push({
      no: command.no,
      epoch: command.epoch,
      call: `${phase}/${step}/${item}/${attempt}`,
      at: draft.now,
      outcome: { ...(command.outcome as unknown as JsonObject), by: command.by },
    })
  }
  const name = resource === null ? `resource number ${command.no}` : nameOf(resource)
  return new Refusal(
    'fenced',
    `The outcome of a call for ${name} came at epoch ${command.epoch}, which is over. It is kept as evidence.`,
  )
}

/** Is this the call that the run owes now? Told twice, or told late, it is not. */
export function owes(run: Run, call: CallName): boolean {
  if (run.parked !== null || run.phase !== call.phase) return false
  if (run.phase === 'undo' ? false : run.step !== call.step) return false
  if (run.phase === 'step' && run.items !== null)
    return run.items.some((item) => item.no === call.item && item.attempt === call.attempt)
  return (
    call.item === 0 && call.attempt === (run.phase === 'probe' || run.phase === 'healProbe' ? run.probes : run.attempt)
  )
}

export function applyOutcome(draft: Draft, plan: Plan, resource: Resource, call: CallName, outcome: Outcome): Resource {
  const run = resource.run!
  switch (run.phase) {
    case 'step':
      return run.items === null
        ? stepEnded(draft, plan, resource, outcome)
        : itemEnded(draft, plan, resource, call.item, outcome)
    case 'probe':
      return probeEnded(draft, plan, resource, outcome)
    case 'undo':
      return undoEnded(draft, plan, resource, outcome)
    case 'healProbe':
      return healAnswered(draft, plan, resource, outcome)
    case 'cascade':
      return cascadeOn(draft, plan, resource)
  }
}

// ---- a step without items

function stepEnded(draft: Draft, plan: Plan, resource: Resource, outcome: Outcome): Resource {
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
      return stepFailed(draft, plan, resource, step, outcome.code, outcome.reason, outcome.terminal)
    case 'answered':
      return stepFailed(
        draft,
        plan,
        resource,
        step,
        'invalid_result',
        'the driver answered a step as if it were a probe',
        false,
      )
  }
}

/** The usual way, walked by every step of every run: kept short. */
export function stepDone(draft: Draft, plan: Plan, resource: Resource, step: StepPlan, given: unknown): Resource {
  const run = resource.run!
  let result: Json = (given ?? null) as Json
  if (step.result !== null) {
    const checked = checkAgainst(step.result, given)
    if (checked.faults !== null) {
      return stepFailed(
        draft,
        plan,
        resource,
        step,
        'invalid_result',
        `${step.name} answered what its schema refuses: ${checked.faults.join('; ')}`,
        false,
      )
    }
    result = (checked.value ?? null) as Json
  }
  const from = resource.status
  const results = result === null ? run.results : { ...run.results, [step.name]: result }
  const operation = plan.operations.get(run.operation)!
  const next = operation.steps[run.step + 1]
  if (next !== undefined && draft.writes.length === 0 && !run.forced && isPlain(next, plan, resource, step)) {
    const after = draft.put(plainNext(draft, resource, run, results, next))
    draft.tell(
      after,
      'stepDone',
      from,
      result === null ? { step: step.name, next: next.name } : { step: step.name, next: next.name, result },
    )
    return after
  }
  const kept = draft.change(resource, {
    run: { ...run, results },
    ledger: confirmed(resource, step, run.begun, result, draft.now),
  })
  const skips = { words: null as string[] | null }
  const after = enterNext(draft, plan, kept, run.step, skips)
  draft.tell(
    after,
    after.run === null ? 'landed' : 'stepDone',
    from,
    {
      step: step.name,
      ...(result === null ? {} : { result }),
      ...(skips.words === null ? {} : { skipped: skips.words }),
      ...(after.run === null ? ending(run, after) : entered(plan, after)),
    },
    run.begun,
  )
  return beginQueued(draft, plan, after)
}

/** Nothing happens between the two steps but the cursor and the status. */
function isPlain(next: StepPlan, plan: Plan, resource: Resource, done: StepPlan): boolean {
  return (
    next.changes === null &&
    next.when === null &&
    next.forEach === null &&
    next.asks.length === 0 &&
    next.creates === null &&
    done.creates === null &&
    done.destroys === null &&
    (next.status === resource.status || (plan.pair === null && plan.timers.length === 0))
  )
}

function plainNext(draft: Draft, resource: Resource, run: Run, results: JsonObject, next: StepPlan): Resource {
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
    run: {
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
      resumed: run.resumed,
    },
    holder: resource.holder,
    queue: resource.queue,
    ledger: resource.ledger,
    timers: resource.timers,
    heals: resource.heals,
    last: resource.last,
  }
}

/** How a run ended, for the history. */
export function ending(run: Run, after: Resource): JsonObject {
  return { operation: run.operation, ...(after.description === '' ? {} : { description: after.description }) }
}

/** Not a failure: no attempt is spent, and something was heard. */
function again(draft: Draft, resource: Resource, afterMs: number, step: StepPlan): Resource {
  const run = resource.run!
  const after = draft.change(resource, {
    run: {
      ...run,
      dueAt: draft.now + Math.max(0, afterMs),
      progressAt: step.progressMs === 0 ? 0 : draft.now + Math.max(step.progressMs, afterMs),
    },
  })
  draft.tell(after, 'stepAgain', resource.status, { call: run.phase, step: step.name, afterMs })
  return after
}

/** The call was cut. With a probe the driver is asked before anything is repeated; without, the same key is tried by policy. */
export function stepUnknown(draft: Draft, plan: Plan, resource: Resource, step: StepPlan, reason: string): Resource {
  const run = resource.run!
  if (step.probe !== null) {
    const after = draft.change(resource, { run: { ...probing(draft, run), uncertain: true } })
    draft.tell(after, 'outcomeUnknown', resource.status, { step: step.name, reason, probe: step.probe })
    return after
  }
  const next = nextAttempt(draft, step, resource, run.attempt)
  if (next !== null) return retry(draft, resource, step, next, 'unknown_outcome', reason)
  if (run.forced) return stepFailed(draft, plan, resource, step, 'unknown_outcome', reason, true)
  return park(
    draft,
    resource,
    'unknown_outcome',
    `${step.name} was cut ${run.attempt} times and has no probe: nobody knows whether it happened (${reason}). Look, then retry, skip or cancel.`,
  )
}

export const probing = (draft: Draft, run: Run): Run => ({
  ...run,
  phase: 'probe',
  probes: 1,
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

function stepFailed(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  step: StepPlan,
  code: string,
  reason: string,
  terminal: boolean,
): Resource {
  const run = resource.run!
  const next = terminal ? null : nextAttempt(draft, step, resource, run.attempt)
  if (next !== null) return retry(draft, resource, step, next, code, reason)
  const from = resource.status
  const after = failStep(draft, plan, resource, { code, reasons: [reason] })
  tellFailed(draft, plan, after, from, run, { step: step.name, code, reason })
  return beginQueued(draft, plan, after)
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
    { ...detail, failed: true, ...(ended ? ending(run, after) : { phase: after.run!.phase, ...entered(plan, after) }) },
    run.begun,
  )
}

function retry(
  draft: Draft,
  resource: Resource,
  step: StepPlan,
  next: { attempt: number; dueAt: number },
  code: string,
  reason: string,
): Resource {
  const after = draft.change(resource, { run: { ...resource.run!, ...next } })
  draft.tell(after, 'attemptFailed', resource.status, {
    step: step.name,
    attempt: next.attempt - 1,
    code,
    reason,
    nextAt: next.dueAt,
  })
  return after
}

// ---- one item of a forEach step

function itemEnded(draft: Draft, plan: Plan, resource: Resource, no: number, outcome: Outcome): Resource {
  const run = resource.run!
  const step = stepOf(plan, run)
  const item = run.items!.find((one) => one.no === no)!
  if (outcome.kind === 'again')
    return itemLater(
      draft,
      resource,
      item,
      { attempt: item.attempt, dueAt: draft.now + outcome.afterMs },
      'stepAgain',
      { step: step.name, afterMs: outcome.afterMs },
    )
  if (outcome.kind === 'done') return itemFinished(draft, plan, resource, step, item, null)
  const [code, reason] =
    outcome.kind === 'failed'
      ? [outcome.code, outcome.reason]
      : outcome.kind === 'unknown'
        ? ['unknown_outcome', outcome.reason]
        : ['invalid_result', 'answered as if it were a probe']
  const terminal = outcome.kind === 'failed' && outcome.terminal
  const next = terminal ? null : nextAttempt(draft, step, resource, item.attempt)
  if (next !== null)
    return itemLater(draft, resource, item, next, 'attemptFailed', {
      step: step.name,
      code,
      reason,
      nextAt: next.dueAt,
    })
  return itemFinished(draft, plan, resource, step, item, { code, reason })
}

function itemLater(
  draft: Draft,
  resource: Resource,
  item: Item,
  patch: { attempt: number; dueAt: number },
  kind: 'stepAgain' | 'attemptFailed',
  detail: JsonObject,
): Resource {
  const run = resource.run!
  const items = run.items!.map((one) => (one === item ? { ...one, ...patch } : one))
  const after = draft.change(resource, { run: { ...run, items } })
  draft.tell(after, kind, resource.status, {
    ...detail,
    item: draft.get(item.no)?.id ?? String(item.no),
    attempt: item.attempt,
  })
  return after
}

/** Each item's end is a commit of its own; the step ends with the last one. */
export function itemFinished(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  step: StepPlan,
  item: Item,
  failed: { code: string; reason: string } | null,
): Resource {
  const run = resource.run!
  const from = resource.status
  const related = draft.get(item.no)
  const each = step.forEach
  const to = failed === null ? each?.done : each?.failed
  // Gone meanwhile counts as done.
  if (related !== null && to != null && related.status !== to && !draft.isTerminal(related)) {
    moveTo(draft, resource, related, {
      to,
      properties: related.properties,
      overBusy: true,
      holder: { no: resource.no, begun: run.begun },
    })
  }
  const name = related?.id ?? String(item.no)
  const goesOn = failed !== null && (step.asks.find((ask) => ask.relation === item.relation)?.goOn ?? false)
  const reasons = failed === null || goesOn ? run.reasons : [...run.reasons, `${name}: ${failed.reason}`]
  const code = failed === null || goesOn || run.code !== '' ? run.code : failed.code
  const stops = failed !== null && each?.stopAtFirst === true
  const items = stops ? [] : run.items!.filter((one) => one.no !== item.no || one.relation !== item.relation)
  const kept = draft.change(resource, { run: { ...run, items, reasons, code } })
  const kind = failed === null ? 'itemDone' : 'itemFailed'
  const detail = {
    step: step.name,
    item: name,
    ...(failed === null ? {} : { code: failed.code, reason: failed.reason }),
  }
  if (items.length > 0) {
    draft.tell(kept, kind, from, { ...detail, left: items.length })
    return kept
  }
  if (reasons.length > 0 && !run.forced) {
    // The reasons stand in the run already.
    const after = failStep(draft, plan, kept, { code, reasons: [] })
    tellFailed(draft, plan, after, from, run, detail)
    return beginQueued(draft, plan, after)
  }
  const closed = draft.change(kept, { ledger: confirmed(kept, step, run.begun, null, draft.now) })
  const after = enterNext(draft, plan, closed, run.step)
  draft.tell(
    after,
    after.run === null ? 'landed' : kind,
    from,
    { ...detail, ...(after.run === null ? ending(run, after) : entered(plan, after)) },
    run.begun,
  )
  return beginQueued(draft, plan, after)
}

// ---- the probe of a step

/** The first declared answer means that the step's effect is there; any other, that it is not. */
function probeEnded(draft: Draft, plan: Plan, resource: Resource, outcome: Outcome): Resource {
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

// ---- undoing

function undoEnded(draft: Draft, plan: Plan, resource: Resource, outcome: Outcome): Resource {
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
    return beginQueued(draft, plan, after)
  }
  const [code, reason] =
    outcome.kind === 'failed'
      ? [outcome.code, outcome.reason]
      : outcome.kind === 'unknown'
        ? ['unknown_outcome', outcome.reason]
        : ['invalid_result', 'answered as if it were a probe']
  return undoAttemptFailed(draft, plan, resource, code, reason, outcome.kind === 'failed' && outcome.terminal)
}

export function undoAttemptFailed(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  code: string,
  reason: string,
  terminal: boolean,
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
  return beginQueued(draft, plan, after)
}

// ---- a landing too large for one commit

function cascadeOn(draft: Draft, plan: Plan, resource: Resource): Resource {
  const run = resource.run!
  const ref = run.landing!
  const from = resource.status
  if (ref.of === 'heal' || ref.of === 'drift') {
    const row = ref.of === 'heal' ? plan.heal.get(resource.status) : plan.drift.get(resource.status)
    return landRecovery(draft, plan, resource, row?.landings[ref.case] ?? null, ref.of, '')
  }
  const after = land(draft, plan, resource, {
    ref,
    landing: landingOf(plan, run, ref),
    outcome:
      ref.of === 'to' ? (run.forced ? 'forced' : 'succeeded') : run.code === 'cancelled' ? 'cancelled' : 'failed',
    description: resource.description,
  })
  draft.tell(
    after,
    after.run === null ? 'landed' : 'moved',
    from,
    { cascade: true, ...(after.run === null ? ending(run, after) : { chunk: run.attempt }) },
    run.begun,
  )
  return beginQueued(draft, plan, after)
}
