// A call that a run owed has ended: the run goes on, tries again, is probed, undone or landed. A call that is no longer owed
// changes nothing; what it reports is kept as evidence.
import type { JsonObject } from '../base/json.ts'
import type { Plan } from '../lifecycle/plan.ts'
import { land, landingOf } from './advance.ts'
import { nameOf } from './begin-run.ts'
import type { CallEnded, CallName, Outcome } from './command.ts'
import { DeclarationDefect, Refusal, type Draft } from './draft.ts'
import { healAnswered, landRecovery } from './heal-probe.ts'
import { itemEnded } from './item-ended.ts'
import { cursorOf } from './owed.ts'
import { probeEnded } from './probe-ended.ts'
import type { Resource, Run } from './state.ts'
import { ending, stepEnded } from './step-ended.ts'
import { undoEnded } from './undo-ended.ts'

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
  if (run.parked !== null || run.phase !== call.phase || cursorOf(run) !== call.step) return false
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

/** A landing too large for one commit goes on with its next chunk, or ends. */
function cascadeOn(draft: Draft, plan: Plan, resource: Resource): Resource {
  const run = resource.run!
  const ref = run.landing!
  const from = resource.status
  if (ref.of === 'heal' || ref.of === 'drift') {
    const row = ref.of === 'heal' ? plan.heal.get(resource.status) : plan.drift.get(resource.status)
    const recovery = row?.landings[ref.case]
    if (recovery === undefined)
      throw new DeclarationDefect(resource.no, `${nameOf(resource)}: the landing that it was moving to is gone.`)
    return landRecovery(draft, plan, resource, { recovery, of: ref.of, answer: '' })
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
  return after
}
