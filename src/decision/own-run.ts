// Who carries out a run: claimed by a worker, given back by one that stops, kept alive by what it says of its progress.
import { progressFrom } from './advance.ts'
import { nameOf } from './begin-run.ts'
import type { Claim, HandOver, ProgressReported } from './command.ts'
import { Refusal, type Draft } from './draft.ts'
import { takenOver } from './heal.ts'
import { stepOf } from './owed.ts'
import { nobody, runId, type Resource } from './state.ts'

export function claim(draft: Draft, command: Claim): Resource {
  const resource = draft.get(command.no)
  const run = resource?.run
  if (resource === null || run == null)
    throw new Refusal('run_not_found', `Resource number ${command.no} has no run to claim.`)
  if (run.owner !== nobody)
    throw new Refusal(
      'operation_in_progress',
      `Run ${runId({ no: resource.no, begun: run.begun })} of ${nameOf(resource)} has an owner already.`,
    )
  if (run.parked !== null) throw new Refusal('run_not_found', `${nameOf(resource)} is parked: ${run.parked.reason}`)
  // Nothing was begun unless a former owner gave it back in the middle. The time it waited for a worker is not the step's.
  const next = takenOver(draft, draft.planOf(resource), { ...run, owner: command.owner }, false)
  const after = draft.change(resource, { epoch: resource.epoch + 1, run: next })
  draft.tell(after, 'claimed', resource.status, null)
  return after
}

export function handOver(draft: Draft, command: HandOver): Resource {
  const resource = draft.get(command.no)
  const run = resource?.run
  if (resource === null || run == null || resource.epoch !== command.epoch) {
    throw new Refusal('fenced', `Resource number ${command.no} has moved on; there is nothing to hand over.`)
  }
  const mayBeCalling = run.phase === 'step' && run.parked === null && run.owner !== nobody && run.dueAt <= draft.now
  const after = draft.change(resource, {
    epoch: resource.epoch + 1,
    run: { ...run, owner: nobody, uncertain: run.uncertain || mayBeCalling },
  })
  draft.tell(after, 'handedOver', resource.status, null)
  return after
}

/** Fenced like every other write: an owner that lost its run cannot even say that it is working. */
export function progressReported(draft: Draft, command: ProgressReported): Resource {
  const resource = draft.get(command.no)
  const run = resource?.run
  if (resource === null || run == null || resource.epoch !== command.epoch || run.parked !== null) {
    throw new Refusal(
      'fenced',
      `Progress for resource number ${command.no} came at epoch ${command.epoch}, which is over.`,
    )
  }
  const isWatched = run.phase === 'step' && run.progressAt !== 0
  const text = command.text.slice(0, 500)
  const after = draft.change(resource, {
    run: {
      ...run,
      progress: text,
      progressAt: isWatched ? progressFrom(stepOf(draft.planOf(resource), run), draft.now) : run.progressAt,
    },
  })
  draft.tell(after, 'progressed', resource.status, { text })
  return after
}
