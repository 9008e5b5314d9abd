// A timer is due: the operation it names is asked for, in the same commit that moves the timer on.
import type { Plan, TimerPlan } from '../lifecycle/plan.ts'
import { beginRun, nameOf, type Asked } from './begin-run.ts'
import type { TimerFired } from './command.ts'
import { holds, View } from './conditions.ts'
import { Refusal, type Draft } from './draft.ts'
import { blankRun } from './heal.ts'
import type { Resource } from './state.ts'
import { probeDeadlineMs } from './step-ended.ts'
import { driftTimer } from './timers.ts'

/** `refused` is the reason of an earlier try of this decision: the timer then only says so. */
export function timerFired(draft: Draft, command: TimerFired, refused: string | null): Resource {
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
  const rearmed = timer.againMs === 0 ? rest : { ...rest, [timer.name]: draft.now + timer.againMs }
  const view = new View(draft, plan, resource)
  if (timer.when !== null && !holds(draft, resource, timer.when, view))
    return draft.change(resource, { timers: rearmed })
  const marked = draft.change(resource, { timers: rearmed })
  if (refused !== null) {
    draft.tell(marked, 'timerRefused', resource.status, {
      timer: timer.name,
      reason: refused,
      ...(timer.againMs === 0 ? {} : { again: draft.now + timer.againMs }),
    })
    return marked
  }
  draft.tell(marked, 'timerFired', resource.status, { timer: timer.name, due })
  ask(draft, plan, marked, timer)
  return draft.get(resource.no)!
}

function without(resource: Resource, timer: string): Record<string, number> {
  const { [timer]: _, ...rest } = resource.timers
  return rest
}

function ask(draft: Draft, plan: Plan, resource: Resource, timer: TimerPlan): void {
  for (const { relation, operation: name } of timer.asks) {
    const targets = relation === null ? [resource] : draft.related(resource, relation)
    for (const target of targets) {
      const targetPlan = draft.planOf(target)
      const operation = targetPlan.operations.get(name)
      if (operation === undefined)
        throw new Refusal('operation_unknown', `${targetPlan.type} has no operation ${name}.`)
      const asked: Asked = {
        operation,
        input: undefined,
        by: `timer ${timer.name} of ${nameOf(resource)}`,
        lane: 'background',
        forced: false,
        reason: '',
        askedBy: null,
      }
      beginRun(draft, targetPlan, draft.get(target.no) ?? target, asked, null)
    }
  }
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
      ...blankRun(resource),
      begun: epoch,
      kind: 'drift',
      lane: 'background',
      acceptedAt: draft.now,
      probe: drift.probe.name,
      found: 'drifted',
      deadlineAt: draft.now + probeDeadlineMs,
      owner: draft.situation.claimant,
    },
  })
}
