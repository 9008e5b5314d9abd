// A run that an `ask` step waits for has ended, or was refused.
import type { RelatedRunEnded } from './command.ts'
import { Refusal, type Draft } from './draft.ts'
import { itemFinished } from './item-ended.ts'
import { askKey, owedCalls, stepOf } from './owed.ts'
import type { Resource } from './state.ts'
import type { Plan } from '../lifecycle/plan.ts'

export function relatedRunEnded(draft: Draft, command: RelatedRunEnded): Resource {
  const resource = draft.get(command.no)
  const run = resource?.run
  const item = run?.items?.find((one) => one.no === command.item.no)
  const plan = resource === null ? undefined : draft.planOf(resource)
  if (
    resource === null ||
    run == null ||
    run.kind !== 'operation' ||
    run.begun !== command.begun ||
    run.phase !== 'step' ||
    run.parked !== null ||
    item === undefined ||
    stepOf(plan!, run).asks.length === 0 ||
    isStale(draft, plan!, resource, command)
  ) {
    throw new Refusal('step_not_waiting', `No run of resource number ${command.no} waits for this one any more.`)
  }
  const failed =
    command.outcome === 'succeeded'
      ? null
      : { code: command.outcome === 'refused' ? 'ask_refused' : 'ask_failed', reason: command.reason }
  return itemFinished(draft, plan!, resource, stepOf(plan!, run), item, failed)
}

/** The end of what an earlier step or round asked of the same resource, told late: this one's request was not answered yet. */
function isStale(draft: Draft, plan: Plan, resource: Resource, { item, outcome, no, begun }: RelatedRunEnded): boolean {
  if (outcome === 'refused') return false
  const call = owedCalls(plan, resource).find((one) => one.item === item.no)
  const asked = call === undefined ? null : draft.situation.key(askKey(call.key))
  const running = draft.get(item.no)?.run
  const isUnderWay = running?.askedBy?.no === no && running.askedBy.begun === begun
  return isUnderWay || asked === null || item.begun < asked.begun
}
