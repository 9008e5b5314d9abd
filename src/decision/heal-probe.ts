// Lands a stuck or drifted resource by one of its declared recoveries, after a probe where one is declared.
import type { JsonObject } from '../base/json.ts'
import type { Plan, ProbePlan, RecoveryPlan } from '../lifecycle/plan.ts'
import { land } from './advance.ts'
import { beginQueued, beginRun, nameOf, type Asked } from './begin-run.ts'
import type { Outcome } from './command.ts'
import { Refusal, type Draft } from './draft.ts'
import { tellAsker } from './landing.ts'
import { checkAgainst } from './schema-check.ts'
import { nextProbe } from './next-attempt.ts'
import type { LandingRef, Resource, Run } from './state.ts'

/** Healings of one resource without a landing that an operation earned; then nothing is attempted again by itself. */
export const healingBudget = 5
const probeDeadlineMs = 60_000

/** The driver answered what is really there (phase `healProbe` of a heal or drift run). */
export function healAnswered(draft: Draft, plan: Plan, resource: Resource, outcome: Outcome): Resource {
  const run = resource.run!
  const drifts = run.kind === 'drift'
  const probe: ProbePlan | undefined = drifts
    ? plan.drift.get(resource.status)?.probe
    : (plan.heal.get(resource.status)?.probe ?? undefined)
  if (probe === undefined)
    return drifts ? endDrift(draft, resource) : landRecovery(draft, plan, resource, null, 'heal', 'unknown')
  if (outcome.kind === 'again') {
    const after = draft.change(resource, { run: { ...run, dueAt: draft.now + outcome.afterMs } })
    draft.tell(after, 'stepAgain', resource.status, { probe: probe.name, afterMs: outcome.afterMs })
    return after
  }
  const answer = outcome.kind === 'answered' ? outcome.answer : 'unknown'
  const reason =
    outcome.kind === 'failed' || outcome.kind === 'unknown' ? outcome.reason : `${probe.name} answered ${answer}`
  // A probe that could not be asked is asked again a few times before "unknown" is believed.
  if (outcome.kind !== 'answered' && run.probes < 3)
    return askAgain(draft, resource, probe, nextProbe(run.probes, resource.no), reason)
  const recovery = probe.answers.get(answer) ?? probe.answers.get('unknown')
  if (recovery === undefined) return askAgain(draft, resource, probe, probe.againMs, reason)
  const observed = outcome.kind === 'answered' ? observedProperties(plan, resource, outcome.observed) : null
  return landRecovery(
    draft,
    plan,
    observed === null ? resource : draft.change(resource, { properties: observed }),
    recovery,
    drifts ? 'drift' : 'heal',
    answer,
  )
}

function askAgain(draft: Draft, resource: Resource, probe: ProbePlan, afterMs: number, reason: string): Resource {
  const run = resource.run!
  const dueAt = draft.now + Math.max(1_000, afterMs)
  const after = draft.change(resource, {
    run: { ...run, probes: run.probes + 1, dueAt, deadlineAt: dueAt + probeDeadlineMs },
  })
  draft.tell(after, 'attemptFailed', resource.status, { probe: probe.name, reason, nextAt: dueAt })
  return after
}

/** What the probe saw goes through the schema, over what is recorded; garbage is ignored. */
function observedProperties(plan: Plan, resource: Resource, observed: unknown): JsonObject | null {
  if (typeof observed !== 'object' || observed === null) return null
  const checked = checkAgainst(plan.properties, { ...resource.properties, ...observed })
  return checked.faults === null ? (checked.value as JsonObject) : null
}

/** As recorded, or nothing declared: the drift run ends and leaves no trace but the next probe's time. */
function endDrift(draft: Draft, resource: Resource): Resource {
  return draft.change(resource, { run: null })
}

const foundWords: Record<string, string> = {
  ownerLost: 'its worker was lost',
  overdue: 'its step was overdue',
  unowned: 'nobody was working on it',
  drifted: 'the real state differs from the record',
}

/**
 * The landing of healing: closes the recorded run as healed, says what was found and done, and attempts the declared operation
 * again with its original input, all in one commit. `resource.run` is the heal run.
 */
export function landRecovery(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  recovery: RecoveryPlan | null,
  of: 'heal' | 'drift',
  answer: string,
): Resource {
  const run = resource.run!
  const from = resource.status
  if (recovery === null) throw new Refusal('not_stuck', `${nameOf(resource)}: no recovery is declared for ${from}.`)
  const status = recovery.status === undefined ? from : (recovery.status ?? run.previous)
  if (of === 'drift' && status === from && recovery.changes === null && recovery.attempt === null)
    return endDrift(draft, resource)

  const spent = run.resumed >= healingBudget
  const attempt = recovery.attempt !== null && !spent ? recovery.attempt : null
  const does = [
    status === from ? null : `put to ${status}`,
    attempt === null ? null : `${attempt} is attempted again`,
  ].filter((one) => one !== null)
  const text = `Found in ${from}: ${foundWords[run.found] ?? run.found}${answer === '' ? '' : ` (${answer})`}. Healed: ${does.join(', ') || 'changes made'}.`
  const detail: JsonObject = {
    found: run.found,
    from,
    ...(answer === '' ? {} : { answer }),
    ...(attempt === null ? {} : { attempt }),
    ...(recovery.attempt !== null && spent ? { budgetSpent: recovery.attempt } : {}),
  }
  if (of === 'drift') {
    draft.report({
      no: resource.no,
      kind: 'drifted',
      status: from,
      text: `${nameOf(resource)} was recorded as ${from}, but the probe answered ${answer}.`,
      evidence: { recorded: from, answer, properties: resource.properties },
    })
  }
  // A row that only attempts begins the operation from the status it was found in.
  if (recovery.status === undefined && attempt !== null) {
    return attemptFollowUp(
      draft,
      plan,
      draft.change(resource, { run: null, holder: null }),
      run,
      attempt,
      text,
      detail,
      true,
    )
  }
  const ref: LandingRef = { of, step: -1, case: recovery.index, undoFailed: false }
  const landed = land(draft, plan, resource, {
    ref,
    landing: { status, changes: recovery.changes },
    outcome: 'healed',
    description: recovery.changes?.say ?? text,
    heals: resource.heals,
    asksAgain: attempt !== null,
  })
  if (landed.run !== null) {
    draft.tell(landed, 'moved', from, { ...detail, cascade: true }, run.begun)
    return landed
  }
  draft.tell(landed, 'healed', from, detail, run.begun)
  if (attempt !== null) return attemptFollowUp(draft, plan, landed, run, attempt, text, detail, false)
  return beginQueued(draft, plan, landed)
}

/** A refused attempt leaves the landing, and the reason in the description. */
function attemptFollowUp(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  run: Run,
  name: string,
  text: string,
  detail: JsonObject,
  tellHealed: boolean,
): Resource {
  const operation = plan.operations.get(name)!
  const input = run.operation === name ? run.input : null
  const asked: Asked = {
    operation,
    input: input ?? undefined,
    by: 'healing',
    lane: 'heal',
    forced: run.forced && operation.forceMs > 0,
    reason: run.reasons[0] ?? 'forced before',
    askedBy: run.askedBy,
  }
  const from = resource.status
  if (tellHealed) {
    draft.end({
      no: resource.no,
      begun: run.begun,
      operation: run.operation,
      kind: run.kind,
      outcome: 'healed',
      status: from,
      acceptedAt: run.acceptedAt,
      endedAt: draft.now,
      by: run.by,
    })
    draft.tell(resource, 'healed', from, detail, run.begun)
  }
  try {
    const begun = beginRun(draft, plan, resource, asked, null)
    const previous = tellHealed ? run.previous : begun.resource.run?.previous
    return begun.resource.run === null || previous === undefined
      ? begun.resource
      : draft.change(begun.resource, { description: text, run: { ...begun.resource.run, previous } })
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    tellAsker(draft, resource, run, 'failed', thrown.rejection.message)
    return draft.change(resource, { description: `${text} The attempt was refused: ${thrown.rejection.message}` })
  }
}
