// A stuck resource is brought back: resumed where its run is recorded and the declaration says so, else probed or landed.
import type { Plan } from '../lifecycle/plan.ts'
import { nameOf } from './begin-run.ts'
import type { Heal } from './command.ts'
import { holds, View } from './conditions.ts'
import { Refusal, type Draft } from './draft.ts'
import { deadlinePassedOn } from './deadline-passed.ts'
import { failStep } from './failure.ts'
import { healingBudget, landRecovery } from './heal-probe.ts'
import { holderLives } from './landing.ts'
import { stepOf } from './owed.ts'
import { nobody, type Resource, type Run } from './state.ts'
import { probeDeadlineMs, probing, tellFailed } from './step-ended.ts'

export function heal(draft: Draft, command: Heal): Resource {
  const resource = draft.get(command.no)
  if (resource === null) throw new Refusal('resource_not_found', `There is no resource number ${command.no}.`)
  if (resource.revision !== command.revision) {
    throw new Refusal('not_stuck', `${nameOf(resource)} has moved on since it was found stuck: nothing to heal.`)
  }
  const plan = draft.planOf(resource)
  if (command.found !== 'ownerLost') reportFound(draft, resource, command)
  const run = resource.run
  if (run !== null && run.kind === 'drift') return draft.change(resource, { run: null, epoch: resource.epoch + 1 })
  if (!draft.isTransitional(resource))
    throw new Refusal(
      'not_stuck',
      `${nameOf(resource)} is ${resource.status}, which is no transitional status: nothing to heal.`,
    )
  const row = plan.heal.get(resource.status)!
  // A parked run waits for a person, not for a worker; only its dead owner is taken off it.
  if (run !== null && run.parked !== null && command.found === 'ownerLost') return release(draft, resource)
  if (run !== null && run.parked !== null && command.override !== true) {
    throw new Refusal('not_stuck', `${nameOf(resource)} is parked: ${run.parked.reason}`)
  }
  const heals = resource.heals + 1
  if (run !== null && ((run.kind === 'operation' && row.resume) || run.phase === 'cascade'))
    return resume(draft, plan, resource, command, heals)
  for (const { relation, statuses } of row.withOwner) {
    if (draft.related(resource, relation).some((owner) => statuses.has(owner.status))) {
      throw new Refusal('healed_with_owner', `${nameOf(resource)} is healed with its ${relation.name}.`)
    }
  }
  if (holderLives(draft, resource))
    throw new Refusal('healed_with_owner', `${nameOf(resource)} is held by a run that is under way.`)
  refusePairFollower(draft, plan, resource)
  return recover(draft, plan, resource, command, heals)
}

function release(draft: Draft, resource: Resource): Resource {
  const after = draft.change(resource, { epoch: resource.epoch + 1, run: { ...resource.run!, owner: nobody } })
  draft.tell(after, 'handedOver', resource.status, { found: 'ownerLost' })
  return after
}

/** A follower is put right by its leader's healing; alone it takes the leader's status. */
function refusePairFollower(draft: Draft, plan: Plan, resource: Resource): void {
  if (plan.pair === null || plan.pair.leads) return
  const leader = draft.related(resource, plan.relations.get(plan.pair.relation)!)[0]
  if (leader !== undefined && draft.isTransitional(leader))
    throw new Refusal('healed_with_owner', `${nameOf(resource)} is healed with ${nameOf(leader)}.`)
}

/** What no crash explains is a bug to report. */
function reportFound(draft: Draft, resource: Resource, { found }: Heal): void {
  if (found === 'drifted') return
  const run = resource.run
  draft.report({
    no: resource.no,
    kind: found === 'overdue' ? 'overdue' : 'unowned',
    status: resource.status,
    text:
      found === 'overdue'
        ? `${nameOf(resource)} was overdue in ${resource.status} although its worker was alive.`
        : `${nameOf(resource)} stood in ${resource.status} with no run: imported, edited by hand, or a bug.`,
    evidence: {
      since: resource.since,
      description: resource.description,
      properties: resource.properties,
      ...(run === null
        ? {}
        : {
            operation: run.operation,
            phase: run.phase,
            step: run.step,
            attempt: run.attempt,
            owner: run.owner,
            deadlineAt: run.deadlineAt,
            progress: run.progress,
          }),
    },
  })
}

/** Goes on at the recorded step under a new epoch; the driver is asked first where a call may have been cut and a probe is declared. */
function resume(draft: Draft, plan: Plan, resource: Resource, command: Heal, heals: number): Resource {
  const run = resource.run!
  const from = resource.status
  if (run.resumed >= healingBudget && command.override !== true && run.phase === 'step') {
    const taken = draft.change(resource, { epoch: resource.epoch + 1, heals, run: { ...run, owner: command.owner } })
    const after = failStep(draft, plan, taken, {
      code: 'budget_spent',
      reasons: [`${stepOf(plan, run).name} was resumed ${run.resumed} times and never ended`],
    })
    tellFailed(draft, plan, after, from, run, { code: 'budget_spent', found: command.found })
    return after
  }
  const next = takenOver(draft, plan, resource, {
    ...run,
    resumed: run.resumed + 1,
    parked: null,
    owner: command.owner,
  })
  const after = draft.change(resource, {
    epoch: resource.epoch + 1,
    heals,
    run: next,
    description: `Found in ${from}: ${command.found === 'ownerLost' ? 'its worker was lost' : 'its step was overdue'}. Healed: goes on with ${run.operation}.`,
  })
  draft.tell(after, 'resumed', from, { found: command.found, phase: next.phase, resumed: next.resumed })
  return command.found === 'overdue' ? deadlinePassedOn(draft, plan, after) : after
}

/** A run in new hands: what its former owner may have begun is uncertain. */
export function takenOver(draft: Draft, plan: Plan, resource: Resource, run: Run): Run {
  if (run.phase !== 'step') return run
  const step = stepOf(plan, run)
  const begun = run.dueAt <= draft.now && step.asks.length === 0
  if (begun && step.probe !== null && run.items === null) return { ...probing(draft, run), uncertain: true }
  // Asked runs are asked for again at once: the same keys find them.
  const items =
    step.asks.length > 0 && run.items !== null ? run.items.map((item) => ({ ...item, dueAt: 0 })) : run.items
  return { ...run, items, uncertain: begun }
}

function recover(draft: Draft, plan: Plan, resource: Resource, command: Heal, heals: number): Resource {
  const row = plan.heal.get(resource.status)!
  const recorded = resource.run
  const epoch = resource.epoch + 1
  const spent = resource.heals >= healingBudget && command.override !== true
  const healing: Run = {
    ...(recorded ?? blankRun(resource)),
    begun: recorded?.begun ?? epoch,
    kind: 'heal',
    by: 'healing',
    lane: 'heal',
    phase: 'healProbe',
    acceptedAt: recorded?.acceptedAt ?? draft.now,
    items: null,
    undoing: [],
    landing: null,
    probe: row.probe?.name ?? '',
    found: command.found,
    probes: 1,
    attempt: 1,
    dueAt: 0,
    deadlineAt: draft.now + probeDeadlineMs,
    progressAt: 0,
    parked: null,
    owner: command.owner,
    // The budget that the landing looks at: what it may still attempt.
    resumed: spent ? healingBudget : 0,
  }
  const healed = draft.change(resource, { epoch, heals, run: healing })
  const useUnowned = (recorded === null || recorded.operation === '') && row.unowned.length > 0
  if (row.probe !== null && !useUnowned) {
    draft.tell(healed, 'resumed', resource.status, { found: command.found, probe: row.probe.name })
    return healed
  }
  const cases = useUnowned ? row.unowned : row.cases.length > 0 ? row.cases : row.unowned
  const view = new View(draft, plan, healed)
  const recovery = cases.find((one) => holds(draft, healed, one.when, view))
  return landRecovery(draft, plan, healed, recovery ?? null, 'heal', '')
}

/** Stands in for a run nobody recorded. */
export function blankRun(resource: Resource): Run {
  return {
    begun: 0,
    kind: 'heal',
    operation: '',
    input: null,
    by: 'healing',
    lane: 'heal',
    forced: false,
    previous: resource.status,
    askedBy: null,
    acceptedAt: 0,
    phase: 'healProbe',
    step: 0,
    steps: [],
    results: {},
    items: null,
    undoing: [],
    landing: null,
    reasons: [],
    code: '',
    probe: '',
    found: '',
    attempt: 1,
    probes: 1,
    rounds: 0,
    family: 0,
    dueAt: 0,
    deadlineAt: 0,
    progressAt: 0,
    progress: '',
    parked: null,
    uncertain: false,
    owner: 0,
    resumed: 0,
  }
}
