// One item of a forEach or ask step has ended. Each item's end is a commit of its own; the step ends with the last one.
import type { JsonObject } from '../base/json.ts'
import type { Plan, StepPlan } from '../lifecycle/plan.ts'
import { progressFrom } from './advance.ts'
import type { FailedOutcome, Outcome } from './command.ts'
import type { Draft } from './draft.ts'
import { failStep, failureIn, invalidResult, nextAttempt } from './failure.ts'
import { moveTo } from './landing.ts'
import { confirmed, doubted } from './ledger.ts'
import { afterMsOf } from './next-attempt.ts'
import { stepOf } from './owed.ts'
import { checkAgainst } from './schema-check.ts'
import type { Item, Resource, Run } from './state.ts'
import { goOn, tellFailed } from './step-ended.ts'

export function itemEnded(draft: Draft, plan: Plan, resource: Resource, no: number, outcome: Outcome): Resource {
  const run = resource.run!
  const step = stepOf(plan, run)
  const item = run.items!.find((one) => one.no === no)!
  if (outcome.kind === 'again')
    return itemLater(
      draft,
      resource,
      item,
      step,
      { attempt: item.attempt, dueAt: draft.now + afterMsOf(outcome.afterMs) },
      'stepAgain',
      { step: step.name, afterMs: afterMsOf(outcome.afterMs) },
    )
  const failed = outcome.kind === 'done' ? garbageIn(step, outcome.result) : failureIn(outcome)
  if (failed === null) return itemFinished(draft, plan, resource, step, item, null)
  const { code, reason, terminal } = failed
  const next = terminal ? null : nextAttempt(draft, step, resource, item.attempt)
  if (next !== null)
    return itemLater(draft, resource, item, step, next, 'attemptFailed', {
      step: step.name,
      code,
      reason,
      nextAt: next.dueAt,
    })
  return itemFinished(draft, plan, resource, step, item, failed)
}

/** What the schema of the step refuses; null: nothing. */
function garbageIn(step: StepPlan, result: unknown): FailedOutcome | null {
  const faults = step.result === null ? null : checkAgainst(step.result, result).faults
  return faults === null ? null : invalidResult(faults.join('; '))
}

function itemLater(
  draft: Draft,
  resource: Resource,
  item: Item,
  step: StepPlan,
  patch: { attempt: number; dueAt: number },
  kind: 'stepAgain' | 'attemptFailed',
  detail: JsonObject,
): Resource {
  const run = resource.run!
  const items = run.items!.map((one) => (one === item ? { ...one, ...patch } : one))
  const after = draft.change(resource, { run: { ...run, items, progressAt: heard(draft, run, step, items) } })
  draft.tell(after, kind, resource.status, {
    ...detail,
    item: draft.get(item.no)?.id ?? String(item.no),
    attempt: item.attempt,
  })
  return after
}

/** Something was heard: the step hangs only when nothing is heard after the next call is due. */
function heard(draft: Draft, run: Run, step: StepPlan, items: readonly Item[]): number {
  if (run.forced || step.progressMs === 0) return 0
  const next = items.reduce((earliest, { dueAt }) => Math.min(earliest, dueAt), Number.POSITIVE_INFINITY)
  return progressFrom(step, Math.max(draft.now, next))
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
      relation: each!.relation,
      overBusy: true,
      holder: { no: resource.no, begun: run.begun },
    })
  }
  const name = related?.id ?? String(item.no)
  const goesOn = failed !== null && (step.asks.find((ask) => ask.relation === item.relation)?.goOn ?? false)
  const reasons = failed === null || goesOn ? run.reasons : [...run.reasons, `${name}: ${failed.reason}`]
  const code = failed === null || goesOn || run.code !== '' ? run.code : failed.code
  const stops = failed !== null && each?.stopAtFirst === true && !run.forced
  const items = stops ? [] : run.items!.filter((one) => one.no !== item.no || one.relation !== item.relation)
  const kind = failed === null ? 'itemDone' : 'itemFailed'
  const detail = {
    step: step.name,
    item: name,
    ...(failed === null ? {} : { code: failed.code, reason: failed.reason }),
  }
  if (items.length > 0) {
    const kept = draft.change(resource, {
      run: { ...run, items, reasons, code, progressAt: heard(draft, run, step, items) },
    })
    draft.tell(kept, kind, from, { ...detail, left: items.length })
    return kept
  }
  const over = draft.change(resource, { run: { ...run, items, reasons, code, dueAt: 0 } })
  if (reasons.length > 0 && !run.forced) {
    // The reasons stand in the run already.
    const after = failStep(draft, plan, over, { code, reasons: [] })
    tellFailed(draft, plan, after, from, run, detail)
    return after
  }
  // A forced run in which anything failed confirms nothing: the sweeper looks after it.
  const isDone = !run.forced || code === ''
  const ledger = isDone ? confirmed(over, step, run.begun, null, draft.now) : doubted(over.ledger, run.begun, draft.now)
  return goOn(draft, plan, draft.change(over, { ledger }), from, detail, kind)
}
