// A run that an `ask` step waits for has ended, or was refused.
import type { RelatedRunEnded } from './command.ts'
import { Refusal, type Draft } from './draft.ts'
import { itemFinished } from './item-ended.ts'
import { stepOf } from './owed.ts'
import type { Resource } from './state.ts'

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
    item === undefined ||
    stepOf(plan!, run).asks.length === 0
  ) {
    throw new Refusal('step_not_waiting', `No run of resource number ${command.no} waits for this one any more.`)
  }
  const failed =
    command.outcome === 'succeeded'
      ? null
      : { code: command.outcome === 'refused' ? 'ask_refused' : 'ask_failed', reason: command.reason }
  return itemFinished(draft, plan!, resource, stepOf(plan!, run), item, failed)
}
