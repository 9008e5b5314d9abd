// A timer is due: the operation it names is asked for, in the same commit that moves the timer on.
import type { Plan, TimerPlan } from '../lifecycle/plan.ts'
import { attempt } from './attempt.ts'
import { beginRun, type Asked } from './begin-run.ts'
import type { TimerFired } from './command.ts'
import { holds, View } from './conditions.ts'
import { Refusal, type Draft } from './draft.ts'
import { blankRun } from './heal.ts'
import type { Resource } from './state.ts'
import { probeDeadlineMs } from './step-ended.ts'
import { driftTimer, timerAsks } from './timers.ts'

export function timerFired(draft: Draft, command: TimerFired): Resource {
  const resource = draft.get(command.no)
  const due = resource?.timers[command.timer]
  if (resource === null || due === undefined || due > draft.now) {
    throw new Refusal(
      'timer_not_due',
      `Timer '${command.timer}' of resource number ${command.no} is not armed or not due.`,
    )
  }
  const plan = draft.planOf(resource)
  if (command.timer === driftTimer) return probeDrift(draft, plan, resource)
  const timer = plan.timers.find((one) => one.name === command.timer)
  const rest = without(resource, command.timer)
  if (timer === undefined) return draft.change(resource, { timers: rest })
  if (timer.when !== null && !holds(draft, resource, timer.when, new View(draft, plan, resource)))
    return draft.change(resource, { timers: rearmed(draft, resource, rest, timer) })
  const marked = draft.change(resource, { timers: rest })
  const told = draft.events.length
  draft.tell(marked, 'timerFired', resource.status, { timer: timer.name, due }, 0)
  const { begun, reasons } = askAll(draft, marked, timer)
  const after = draft.get(resource.no)!
  if (reasons.length === 0) return after
  if (begun === 0) draft.events.length = told
  const later = draft.change(after, { timers: rearmed(draft, after, after.timers, timer) })
  const again = later.timers[timer.name]
  const detail = { timer: timer.name, reason: reasons.join('; '), ...(again === undefined ? {} : { again }) }
  draft.tell(later, 'timerRefused', later.status, detail, 0)
  return later
}

function without(resource: Resource, timer: string): Record<string, number> {
  const { [timer]: _, ...rest } = resource.timers
  return rest
}

/** Refused, or not yet so: asked again later where that is declared, as long as it stands where the timer runs. */
function rearmed(draft: Draft, resource: Resource, rest: Resource['timers'], timer: TimerPlan): Resource['timers'] {
  if (timer.againMs === 0 || !timer.in.has(resource.status)) return rest
  return { ...rest, [timer.name]: draft.now + timer.againMs }
}

/** Each is asked for itself: one that refuses does not keep the others from beginning. */
function askAll(draft: Draft, resource: Resource, timer: TimerPlan): { begun: number; reasons: string[] } {
  const reasons: string[] = []
  let begun = 0
  for (const { relation, operation } of timer.asks) {
    const targets = relation === null ? [resource] : draft.related(resource, relation)
    for (const target of targets) {
      const refusal = attempt(draft, () => ask(draft, draft.get(target.no) ?? target, operation, timer, resource))
      if (refusal === null) begun++
      else reasons.push(refusal.rejection.message)
    }
  }
  return { begun, reasons }
}

function ask(draft: Draft, target: Resource, name: string, timer: TimerPlan, by: Resource): void {
  const plan = draft.planOf(target)
  const operation = plan.operations.get(name)
  if (operation === undefined) throw new Refusal('operation_unknown', `${plan.type} has no operation ${name}.`)
  const asked: Asked = {
    operation,
    input: undefined,
    by: timerAsks(timer.name, by),
    lane: 'background',
    forced: false,
    reason: '',
    askedBy: null,
  }
  beginRun(draft, plan, target, asked, null)
}

/** A settled resource is asked what is really there. The probe is no operation: whatever is asked meanwhile goes before it. */
function probeDrift(draft: Draft, plan: Plan, resource: Resource): Resource {
  const drift = plan.drift.get(resource.status)
  const rest = without(resource, driftTimer)
  if (drift === undefined) return draft.change(resource, { timers: rest })
  const timers = { ...rest, [driftTimer]: draft.now + drift.everyMs }
  if (resource.run !== null || resource.holder !== null) return draft.change(resource, { timers })
  const epoch = resource.epoch + 1
  return draft.change(resource, {
    epoch,
    timers,
    run: {
      ...blankRun,
      begun: epoch,
      kind: 'drift',
      previous: resource.status,
      lane: 'background',
      acceptedAt: draft.now,
      probe: drift.probe.name,
      found: 'drifted',
      deadlineAt: draft.now + probeDeadlineMs,
      owner: draft.situation.claimant,
    },
  })
}
