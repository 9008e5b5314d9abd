// One item of a forEach or ask step has ended. Each item's end is a commit of its own; the step ends with the last one.
import type { JsonObject } from '../base/json.ts'
import type { Plan, StepPlan } from '../lifecycle/plan.ts'
import { enterNext, entered } from './advance.ts'
import { beginQueued } from './begin-run.ts'
import type { Outcome } from './command.ts'
import type { Draft } from './draft.ts'
import { failStep, nextAttempt } from './failure.ts'
import { moveTo } from './landing.ts'
import { confirmed } from './ledger.ts'
import { stepOf } from './owed.ts'
import type { Item, Resource } from './state.ts'
import { ending, tellFailed } from './step-ended.ts'

export function itemEnded(draft: Draft, plan: Plan, resource: Resource, no: number, outcome: Outcome): Resource {
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
