// What people (and callbacks) do to a run under way: cancel, retry, skip, complete.
import type { Json } from '../base/json.ts'
import type { Plan, StepPlan } from '../lifecycle/plan.ts'
import { nameOf } from './begin-run.ts'
import { applyOutcome } from './call-ended.ts'
import type { CancelRun, CompleteStep, RetryRun, SkipStep } from './command.ts'
import { Refusal, type Draft } from './draft.ts'
import { failStep, refuseIfNeverGivesUp } from './failure.ts'
import { landByRow } from './heal-probe.ts'
import { cancelAsked } from './landing.ts'
import { doubted } from './ledger.ts'
import { owedCalls, stepOf } from './owed.ts'
import { checkAgainst } from './schema-check.ts'
import { isSameRef, runId, type Resource, type Run, type RunRef } from './state.ts'
import { goOn, tellFailed, watched } from './step-ended.ts'

interface Steered {
  readonly resource: Resource
  readonly run: Run
  readonly plan: Plan
}

function steered(draft: Draft, command: { readonly no: number; readonly begun?: number | undefined }): Steered {
  const resource = draft.get(command.no)
  const run = resource?.run
  if (
    resource === null ||
    run == null ||
    run.kind === 'drift' ||
    (command.begun !== undefined && run.begun !== command.begun)
  ) {
    throw new Refusal(
      'run_not_found',
      resource === null
        ? `There is no resource number ${command.no}.`
        : `${nameOf(resource)} has no such run under way: it is ${resource.status}.`,
    )
  }
  return { resource, run, plan: draft.planOf(resource) }
}

/** What was asked for and still waits its turn. */
function withdraw(draft: Draft, resource: Resource, asker: RunRef, reason: string): Resource {
  const gone = resource.queue.filter((one) => isSameRef(one.askedBy, asker))
  if (gone.length === 0)
    throw new Refusal('run_not_found', `${nameOf(resource)} has no run that was asked for by ${runId(asker)}.`)
  const after = draft.change(resource, { queue: resource.queue.filter((one) => !gone.includes(one)) })
  for (const { operation } of gone) draft.tell(after, 'dropped', after.status, { operation, reason }, 0)
  return after
}

/** A failure with the code `cancelled`: the declared answer follows, undo included. */
export function cancelRun(draft: Draft, command: CancelRun): Resource {
  const { resource, run, plan } = steered(draft, command)
  const asker = command.askedBy
  if (asker !== undefined && !isSameRef(run.askedBy, asker)) return withdraw(draft, resource, asker, command.reason)
  if (run.kind !== 'operation' || run.phase === 'undo' || run.phase === 'cascade') {
    throw new Refusal(
      'operation_not_allowed',
      `Cannot cancel run ${runId({ no: resource.no, begun: run.begun })} of ${nameOf(resource)}: it is already being brought to its end.`,
    )
  }
  refuseIfNeverGivesUp(plan, resource)
  const from = resource.status
  const stopped = draft.change(resource, {
    epoch: resource.epoch + 1,
    run: { ...run, phase: 'step', parked: null, owner: run.owner || draft.situation.claimant },
  })
  const reason = `cancelled by ${command.by}: ${command.reason}`
  const after = failStep(draft, plan, stopped, { code: 'cancelled', reasons: [reason] })
  tellFailed(draft, plan, after, from, run, { code: 'cancelled', reason })
  return after
}

/** At once: a parked run with a new family of keys, a waiting one as it is. */
export function retryRun(draft: Draft, command: RetryRun): Resource {
  const { resource, run, plan } = steered(draft, command)
  const waits = run.dueAt > draft.now || (run.items?.some((item) => item.dueAt > draft.now) ?? false)
  if (run.parked === null && !waits) {
    throw new Refusal(
      'run_not_parked',
      `Run ${runId({ no: resource.no, begun: run.begun })} of ${nameOf(resource)} is neither parked nor waiting: there is nothing to retry.`,
    )
  }
  const isParked = run.parked !== null
  const again: Run = {
    ...run,
    parked: null,
    family: isParked ? run.family + 1 : run.family,
    attempt: 1,
    probes: run.probes === 0 ? 0 : 1,
    dueAt: 0,
    items: run.items?.map((item) => ({ ...item, dueAt: 0, attempt: 1 })) ?? null,
    owner: draft.situation.claimant,
    uncertain: false,
    resumed: 0,
  }
  const after = draft.change(resource, {
    epoch: resource.epoch + 1,
    description: isParked ? '' : resource.description,
    heals: isParked ? 0 : resource.heals,
    run: watched(draft, plan, again),
  })
  draft.tell(after, 'retried', resource.status, isParked ? { parked: run.parked.reason } : null)
  // A healing that asks no probe has nothing to wait for.
  return run.phase === 'healProbe' && run.probe === '' ? landByRow(draft, plan, after) : after
}

/** A person vouches that the step is done, or does not matter. Nobody confirmed what it makes or removes: the ledger keeps it. */
export function skipStep(draft: Draft, command: SkipStep): Resource {
  const { resource, run, plan } = steered(draft, command)
  if (command.reason.trim() === '')
    throw new Refusal('reason_required', `Skipping a step of ${nameOf(resource)} needs a reason.`)
  if (run.kind !== 'operation' || (run.phase !== 'step' && run.phase !== 'probe')) {
    throw new Refusal(
      'operation_not_allowed',
      `Run ${runId({ no: resource.no, begun: run.begun })} of ${nameOf(resource)} is in no step that could be skipped.`,
    )
  }
  const step = stepOf(plan, run)
  const result = vouched(step, command.result)
  cancelAsked(draft, resource, `skipped: ${command.reason}`)
  const taken = draft.change(resource, {
    epoch: resource.epoch + 1,
    description: run.parked === null ? resource.description : '',
    ledger: doubted(resource.ledger, run.begun, draft.now),
    run: {
      ...run,
      phase: 'step',
      parked: null,
      items: null,
      results: result === undefined ? run.results : { ...run.results, [step.name]: result },
      dueAt: 0,
      owner: run.owner || draft.situation.claimant,
    },
  })
  return goOn(draft, plan, taken, resource.status, { step: step.name, reason: command.reason, skip: true }, 'skipped')
}

/** What the person says the step answered: none at all, or what its schema takes. */
function vouched(step: StepPlan, given: unknown): Json | undefined {
  if (given === undefined || given === null) return undefined
  const checked = step.result === null ? { value: given, faults: null } : checkAgainst(step.result, given)
  if (checked.faults === null) return checked.value as Json
  throw new Refusal('input_invalid', `The result of ${step.name} does not fit: ${checked.faults.join('; ')}.`, [
    ...checked.faults,
  ])
}

/** A step that waits for a callback ends by it; the key is the permission. */
export function completeStep(draft: Draft, command: CompleteStep): Resource {
  const { resource, plan } = steered(draft, { no: command.no })
  const owed = owedCalls(plan, resource).find((one) => one.key === command.key && one.does === 'driver')
  if (owed === undefined)
    throw new Refusal(
      'step_not_waiting',
      `${nameOf(resource)} waits for no call with this key: it ended already, or the run did.`,
    )
  return applyOutcome(draft, plan, resource, owed.name, command.outcome)
}
