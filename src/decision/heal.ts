// A stuck resource is brought back: resumed where its run is recorded and the declaration says so, else probed or landed.
import type { Plan } from '../lifecycle/plan.ts'
import { nameOf } from './begin-run.ts'
import type { Found, Heal } from './command.ts'
import { Refusal, type Draft } from './draft.ts'
import { deadlinePassedOn } from './deadline-passed.ts'
import { failStep, failUndo } from './failure.ts'
import { healingBudget, landByRow } from './heal-probe.ts'
import { holderLives, takeStatusOf } from './landing.ts'
import { suspicionMs } from './next-attempt.ts'
import { stepOf, undoneStep } from './owed.ts'
import { isLate, nobody, type Resource, type Run } from './state.ts'
import { ending, probeDeadlineMs, probing, tellFailed, watched } from './step-ended.ts'

/** Undoing is given up much later than doing: what it leaves behind is worse than another try. */
const undoBudget = healingBudget * 5

export function heal(draft: Draft, command: Heal): Resource {
  const resource = draft.get(command.no)
  if (resource === null) throw new Refusal('resource_not_found', `There is no resource number ${command.no}.`)
  if (resource.revision !== command.revision) {
    throw new Refusal('not_stuck', `${nameOf(resource)} has moved on since it was found stuck: nothing to heal.`)
  }
  const plan = draft.planOf(resource)
  const run = resource.run
  // A parked run waits for a person, not for a worker; only its dead owner is taken off it.
  if (run !== null && run.parked !== null && command.override !== true) {
    if (command.found === 'ownerLost' && run.owner !== nobody) return release(draft, resource)
    throw new Refusal('not_stuck', `${nameOf(resource)} is parked: ${run.parked.reason}`)
  }
  if (command.override !== true) refuseWronglyFound(draft, resource, command.found)
  if (command.found !== 'ownerLost') reportFound(draft, resource, command)
  if (run !== null) refuseHeld(command)
  if (run !== null && run.phase === 'cascade') return resume(draft, plan, resource, command)
  if (run !== null && run.kind === 'drift') return draft.change(resource, { run: null, epoch: resource.epoch + 1 })
  if (!draft.isTransitional(resource))
    throw new Refusal(
      'not_stuck',
      `${nameOf(resource)} is ${resource.status}, which is no transitional status: nothing to heal.`,
    )
  const row = plan.heal.get(resource.status)!
  if (run !== null && run.kind === 'operation' && row.resume) return resume(draft, plan, resource, command)
  // One with a run of its own is busy: its owner waits for it, so it cannot wait for its owner.
  for (const { relation, statuses } of run === null ? row.withOwner : []) {
    if (draft.related(resource, relation).some((owner) => statuses.has(owner.status))) {
      throw new Refusal('healed_with_owner', `${nameOf(resource)} is healed with its ${relation.name}.`)
    }
  }
  if (holderLives(draft, resource))
    throw new Refusal('healed_with_owner', `${nameOf(resource)} is held by a run that is under way.`)
  const leader = leaderOf(draft, plan, resource)
  if (leader !== undefined && draft.isTransitional(leader))
    throw new Refusal('healed_with_owner', `${nameOf(resource)} is healed with ${nameOf(leader)}.`)
  refuseHeld(command)
  return leader === undefined ? recover(draft, plan, resource, command) : follow(draft, leader, resource)
}

/** The report of what was found is kept, so that a person sees it while it waits; nothing else is done. */
function refuseHeld({ held }: Heal): void {
  if (held !== undefined) throw new Refusal('healing_held', `Not healed by itself: ${held}.`)
}

function refuseWronglyFound(draft: Draft, resource: Resource, found: Found): void {
  const { run } = resource
  const name = nameOf(resource)
  if (found === 'drifted') throw new Refusal('not_stuck', `${name}: drift is found by its probe, not healed by hand.`)
  if (run === null) return
  if (found === 'unowned') throw new Refusal('not_stuck', `${name} has a run under way: it is not without an owner.`)
  if (found === 'overdue' && run.owner === nobody)
    throw new Refusal('not_stuck', `${name} waits for a worker: nobody is late.`)
  if (found === 'overdue' && !isLate(run, draft.now)) throw new Refusal('not_stuck', `${name} is in time.`)
}

function release(draft: Draft, resource: Resource): Resource {
  const after = draft.change(resource, { epoch: resource.epoch + 1, run: { ...resource.run!, owner: nobody } })
  draft.tell(after, 'handedOver', resource.status, { found: 'ownerLost' })
  return after
}

/** Whom it follows in a pair, if it does. */
function leaderOf(draft: Draft, { pair, relations }: Plan, resource: Resource): Resource | undefined {
  if (pair === null || pair.leads) return undefined
  return draft.related(resource, relations.get(pair.relation)!)[0]
}

/** A follower is put right by its leader's healing; alone it takes the leader's status. */
function follow(draft: Draft, leader: Resource, resource: Resource): Resource {
  const after = takeStatusOf(draft, leader, resource, { no: leader.no, begun: 0 })
  return draft.change(after, { epoch: resource.epoch + 1 })
}

/** What no crash explains is a bug to report. */
function reportFound(draft: Draft, resource: Resource, { found, held }: Heal): void {
  const run = resource.run
  const text =
    found === 'overdue'
      ? `${nameOf(resource)} was overdue in ${resource.status} although its worker was alive.`
      : `${nameOf(resource)} stood in ${resource.status} with no run: imported, edited by hand, or a bug.`
  draft.report({
    no: resource.no,
    kind: found === 'overdue' ? 'overdue' : 'unowned',
    status: resource.status,
    text: held === undefined ? text : `${text} When it was found, it was not healed by itself: ${held}.`,
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
function resume(draft: Draft, plan: Plan, resource: Resource, command: Heal): Resource {
  const run = resource.run!
  const from = resource.status
  const heals = healsOf(draft, resource)
  const budget = run.phase === 'undo' ? undoBudget : healingBudget
  const isSpent = run.resumed >= budget && command.override !== true && run.phase !== 'cascade'
  const counts = mayHaveBegun(draft, run) && !isSpent
  const resumed = run.resumed + (counts ? 1 : 0)
  const owned: Run = { ...run, owner: command.owner, parked: null, resumed, progress: '' }
  if (isSpent) {
    const taken = draft.change(resource, { epoch: resource.epoch + 1, heals, run: owned })
    return giveUp(draft, plan, taken, command.found)
  }
  const isOverdue = command.found === 'overdue' && isLate(run, draft.now)
  const taken = isOverdue ? owned : takenOver(draft, plan, owned, run.owner !== nobody)
  const next = counts && !isOverdue ? suspected(draft, plan, resource, taken, run.resumed) : taken
  const what = run.operation === '' ? 'its landing' : run.operation
  const after = draft.change(resource, {
    epoch: resource.epoch + 1,
    heals,
    run: next,
    description: `Found in ${from}: ${isOverdue ? 'its step was overdue' : 'its worker was lost'}. Healed: goes on with ${what}.`,
  })
  draft.tell(after, 'resumed', from, { found: command.found, phase: next.phase, resumed: next.resumed })
  return isOverdue ? deadlinePassedOn(draft, plan, after) : after
}

/**
 * Was it at work when its worker died? A call that was not due cannot have been begun; one that was suspected before says in the
 * record when it begins (the worker reports progress first).
 */
const mayHaveBegun = (draft: Draft, run: Run | null): boolean =>
  run === null || (run.dueAt <= draft.now && (run.resumed === 0 || run.progress !== ''))

const healsOf = (draft: Draft, resource: Resource): number =>
  resource.heals + (mayHaveBegun(draft, resource.run) ? 1 : 0)

/**
 * Whoever was at work when its worker died is suspected of having killed it. The first time everybody goes on at once; after
 * that each waits a while of its own, so that one that kills every worker soon dies alone and the others are not counted with it.
 */
function suspected(draft: Draft, plan: Plan, resource: Resource, run: Run, resumedBefore: number): Run {
  if (resumedBefore === 0 || run.phase === 'cascade') return run
  return watched(draft, plan, { ...run, dueAt: draft.now + suspicionMs(resumedBefore, resource.no) })
}

/** Resumed too often without an end: the failure answer of what it was at. */
function giveUp(draft: Draft, plan: Plan, resource: Resource, found: Found): Resource {
  const run = resource.run!
  const from = resource.status
  const what = run.phase === 'undo' ? undoneStep(plan, run).undo! : stepOf(plan, run).name
  const reason = `${what} was resumed ${run.resumed} times and never ended`
  const code = 'budget_spent'
  if (run.phase === 'undo') {
    const after = failUndo(draft, plan, resource, reason)
    const detail = { undo: what, code, reason, found, undoFailed: true, failed: true, ...ending(run, after) }
    draft.tell(after, 'landed', from, detail, run.begun)
    return after
  }
  const stopped = draft.change(resource, { run: { ...run, phase: 'step' } })
  const after = failStep(draft, plan, stopped, { code, reasons: [reason] })
  tellFailed(draft, plan, after, from, run, { code, reason, found })
  return after
}

/** A run in new hands: what its former owner may have begun is uncertain, and the time of its step begins anew. */
export function takenOver(draft: Draft, plan: Plan, run: Run, wasOwned: boolean): Run {
  if (run.phase !== 'step') return watched(draft, plan, run)
  const step = stepOf(plan, run)
  const begun = (wasOwned || run.uncertain) && run.dueAt <= draft.now && step.asks.length === 0
  if (begun && step.probe !== null && run.items === null && !run.forced)
    return { ...probing(draft, run, step), uncertain: true }
  // Asked runs are asked for again at once: the same keys find them.
  const items =
    step.asks.length > 0 && run.items !== null ? run.items.map((item) => ({ ...item, dueAt: 0 })) : run.items
  return { ...watched(draft, plan, run), items, uncertain: begun || run.uncertain }
}

function recover(draft: Draft, plan: Plan, resource: Resource, command: Heal): Resource {
  const healed = beginHealRun(draft, plan, resource, command)
  if (healed.run!.probe === '') return landByRow(draft, plan, healed)
  draft.tell(healed, 'resumed', resource.status, { found: command.found, probe: healed.run!.probe })
  return healed
}

/** The recorded run, if any, becomes a heal run; it keeps the name, so that what it holds stays held. */
export function beginHealRun(draft: Draft, plan: Plan, resource: Resource, command: Heal): Resource {
  const recorded = resource.run
  const epoch = resource.epoch + 1
  const isSpent = resource.heals >= healingBudget && command.override !== true
  const row = plan.heal.get(resource.status)!
  const isUnowned = (recorded === null || recorded.operation === '') && row.unowned.length > 0
  const run: Run = {
    ...(recorded ?? blankRun),
    begun: recorded?.begun ?? epoch,
    kind: 'heal',
    by: 'healing',
    lane: 'heal',
    phase: 'healProbe',
    acceptedAt: recorded?.acceptedAt ?? draft.now,
    items: null,
    undoing: [],
    landing: null,
    probe: isUnowned ? '' : (row.probe?.name ?? ''),
    found: command.found,
    probes: 1,
    attempt: 1,
    dueAt: 0,
    deadlineAt: draft.now + probeDeadlineMs,
    progressAt: 0,
    parked: null,
    owner: command.owner,
    // The budget that the landing looks at: what it may still attempt.
    resumed: isSpent ? healingBudget : 0,
  }
  // Whoever held it is gone: it has a run of its own now.
  return draft.change(resource, { epoch, heals: healsOf(draft, resource), run, holder: null })
}

/** Stands in for a run nobody recorded. Of drift runs: `previous` is where they stand. */
export const blankRun: Run = {
  begun: 0,
  kind: 'heal',
  operation: '',
  input: null,
  by: 'healing',
  lane: 'heal',
  forced: false,
  previous: '',
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
