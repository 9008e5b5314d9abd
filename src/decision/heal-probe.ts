// Lands a stuck or drifted resource by one of its declared recoveries, after a probe where one is declared.
import { canonical, type JsonObject } from '../base/json.ts'
import type { Plan, ProbePlan, RecoveryPlan } from '../lifecycle/plan.ts'
import { fillReasons, land } from './advance.ts'
import { attempt } from './attempt.ts'
import { beginRun, nameOf, type Asked } from './begin-run.ts'
import type { Outcome } from './command.ts'
import { holds, View } from './conditions.ts'
import { DeclarationDefect, type Draft } from './draft.ts'
import { endOf, matchMoves, passHolds, setProperties, tellAsker } from './landing.ts'
import { doubted } from './ledger.ts'
import { afterMsOf, nextProbe, suspicionMs } from './next-attempt.ts'
import { checkAgainst } from './schema-check.ts'
import type { LandingRef, Resource, Run } from './state.ts'
import { park, probeDeadlineMs, watched } from './step-ended.ts'
import { driftTimer } from './timers.ts'

/** Healings of one resource without a landing that an operation earned; then nothing is attempted again by itself. */
export const healingBudget = 5
/** Where attempting again is all that is declared there is nowhere to land: it goes on for long, ever more rarely, before it parks. */
const onlyAttemptBudget = healingBudget * 4
/** A probe that could not be asked is asked so often before "unknown" is believed. */
const probesMax = 3

/** The driver answered what is really there (phase `healProbe` of a heal or drift run). */
export function healAnswered(draft: Draft, plan: Plan, resource: Resource, outcome: Outcome): Resource {
  const run = resource.run!
  const drifts = run.kind === 'drift'
  const probe = drifts ? plan.drift.get(resource.status)?.probe : plan.heal.get(resource.status)?.probe
  if (probe == null) return drifts ? endDrift(draft, resource, null) : landByRow(draft, plan, resource)
  if (outcome.kind === 'again') {
    const afterMs = afterMsOf(outcome.afterMs)
    const after = draft.change(resource, { run: { ...run, dueAt: draft.now + afterMs } })
    if (!drifts) draft.tell(after, 'stepAgain', resource.status, { probe: probe.name, afterMs })
    return after
  }
  const answer = outcome.kind === 'answered' ? outcome.answer : 'unknown'
  const reason =
    outcome.kind === 'failed' || outcome.kind === 'unknown' ? outcome.reason : `${probe.name} answered ${answer}`
  if (outcome.kind !== 'answered' && run.probes < probesMax)
    return askAgain(draft, resource, probe, nextProbe(run.probes, resource.no), reason)
  const recovery = probe.answers.get(answer) ?? probe.answers.get('unknown')
  if (recovery === undefined)
    return drifts
      ? endDrift(draft, resource, draft.now + probe.againMs)
      : askAgain(draft, resource, probe, probe.againMs, reason)
  const observed = outcome.kind === 'answered' ? observedProperties(plan, resource, outcome.observed) : null
  const seen = observed === null ? resource : draft.change(resource, { properties: observed })
  return drifts
    ? landDrift(draft, plan, seen, recovery, answer)
    : landRecovery(draft, plan, seen, { recovery: landable(draft, plan, seen, recovery), of: 'heal', answer })
}

function askAgain(draft: Draft, resource: Resource, probe: ProbePlan, afterMs: number, reason: string): Resource {
  const run = resource.run!
  const dueAt = draft.now + Math.max(1_000, afterMs)
  const after = draft.change(resource, {
    run: { ...run, probes: run.probes + 1, dueAt, deadlineAt: dueAt + probeDeadlineMs },
  })
  if (run.kind !== 'drift')
    draft.tell(after, 'attemptFailed', resource.status, { probe: probe.name, reason, nextAt: dueAt })
  return after
}

/** What the probe saw goes through the schema, over what is recorded; garbage, and nothing new, is ignored. */
function observedProperties(plan: Plan, resource: Resource, observed: unknown): JsonObject | null {
  if (typeof observed !== 'object' || observed === null) return null
  const checked = checkAgainst(plan.properties, { ...resource.properties, ...observed })
  if (checked.faults !== null || canonical(checked.value) === canonical(resource.properties)) return null
  return checked.value as JsonObject
}

/** The drift run ends and leaves no trace but the next probe's time. */
function endDrift(draft: Draft, resource: Resource, next: number | null): Resource {
  const timers = next === null ? resource.timers : { ...resource.timers, [driftTimer]: next }
  return draft.change(resource, { run: null, timers })
}

/** As recorded, nothing happens; else the landing, and an incident where the status was wrong. */
function landDrift(draft: Draft, plan: Plan, resource: Resource, recovery: RecoveryPlan, answer: string): Resource {
  const from = resource.status
  const status = recovery.status ?? from
  if (status === from && recovery.attempt === null && !changesAnything(draft, plan, resource, recovery)) {
    const ended = endDrift(draft, resource, null)
    const isSeen = draft.situation.resource(resource.no)?.properties !== ended.properties
    if (isSeen) draft.tell(ended, 'observed', from, { probe: resource.run!.probe, answer }, resource.run!.begun)
    return ended
  }
  if (status !== from)
    draft.report({
      no: resource.no,
      kind: 'drifted',
      status: from,
      text: `${nameOf(resource)} was recorded as ${from}, but the probe answered ${answer}.`,
      evidence: { recorded: from, answer, properties: resource.properties },
    })
  return landRecovery(draft, plan, resource, { recovery, of: 'drift', answer })
}

function changesAnything(draft: Draft, plan: Plan, resource: Resource, { changes }: RecoveryPlan): boolean {
  if (changes === null) return false
  const view = new View(draft, plan, resource)
  if (changes.add.length > 0 || changes.link.length > 0) return true
  if (matchMoves(draft, resource, changes.move, view).some(({ items }) => items.length > 0)) return true
  return canonical(setProperties(plan, resource, changes.set, view)) !== canonical(resource.properties)
}

/** The row's landing without a probe: the first case that holds. */
export function landByRow(draft: Draft, plan: Plan, resource: Resource): Resource {
  const row = plan.heal.get(resource.status)!
  const unowned = resource.run!.operation === '' && row.unowned.length > 0
  const cases = unowned || row.cases.length === 0 ? row.unowned : row.cases
  const view = new View(draft, plan, resource)
  const recovery = cases.find((one) => holds(draft, resource, one.when, view))
  if (recovery === undefined)
    throw new DeclarationDefect(resource.no, `${nameOf(resource)}: no recovery is declared for ${resource.status}.`)
  return landRecovery(draft, plan, resource, {
    recovery: landable(draft, plan, resource, recovery),
    of: 'heal',
    answer: '',
  })
}

/** A creation, and whatever interrupted one, came from nowhere: where the row leads back, what it says of one without a run counts. */
function landable(draft: Draft, plan: Plan, resource: Resource, recovery: RecoveryPlan): RecoveryPlan {
  if (recovery.status !== null || resource.run!.previous !== '') return recovery
  const view = new View(draft, plan, resource)
  const { unowned } = plan.heal.get(resource.status)!
  return unowned.find((one) => holds(draft, resource, one.when, view)) ?? recovery
}

const foundWords: Record<string, string> = {
  ownerLost: 'its worker was lost',
  overdue: 'its step was overdue',
  unowned: 'nobody was working on it',
  drifted: 'the real state differs from the record',
}

interface Recovering {
  readonly recovery: RecoveryPlan
  readonly of: 'heal' | 'drift'
  readonly answer: string
}

/**
 * The landing of healing: closes the recorded run as healed, says what was found and done, and attempts the declared operation
 * again with its original input, all in one commit. `resource.run` is the heal run.
 */
export function landRecovery(draft: Draft, plan: Plan, resource: Resource, recovering: Recovering): Resource {
  const { recovery, of, answer } = recovering
  const run = resource.run!
  const from = resource.status
  const isOnlyAttempt = recovery.status === undefined && recovery.attempt !== null
  const isSpent = run.resumed >= healingBudget && (!isOnlyAttempt || resource.heals > onlyAttemptBudget)
  const follows = isSpent ? null : recovery.attempt
  if (recovery.status === undefined && follows === null && isSpent)
    return park(
      draft,
      resource,
      'budget_spent',
      `${nameOf(resource)} was healed ${resource.heals} times and is in ${from} again. Look, then retry, or set its status.`,
    )
  const status = recovery.status === undefined ? from : (recovery.status ?? run.previous)
  const text = healedText(run, from, status, follows, answer)
  const detail: JsonObject = {
    found: run.found,
    from,
    ...(answer === '' ? {} : { answer }),
    ...(follows === null ? {} : { attempt: follows }),
    ...(recovery.attempt !== null && isSpent ? { budgetSpent: recovery.attempt } : {}),
  }
  // A row that only attempts begins the operation from the status it was found in.
  if (recovery.status === undefined && follows !== null) {
    const ledger = doubted(resource.ledger, run.begun, draft.now)
    const freed = draft.change(resource, { run: null, holder: null, ledger })
    draft.end(endOf(draft, resource, 'healed', from))
    draft.tell(freed, 'healed', from, detail, run.begun)
    return followUp(draft, plan, freed, { run, operation: follows, text, previous: run.previous })
  }
  const ref: LandingRef = { of, step: -1, case: recovery.index, undoFailed: false }
  const landed = land(draft, plan, resource, {
    ref,
    landing: { status, changes: recovery.changes },
    outcome: 'healed',
    description: recovery.changes?.say == null ? text : fillReasons(recovery.changes.say, run.reasons),
    asksAgain: follows !== null,
  })
  if (landed.run !== null) {
    draft.tell(landed, 'moved', from, { ...detail, cascade: true }, run.begun)
    return landed
  }
  draft.tell(landed, 'healed', from, detail, run.begun)
  return follows === null ? landed : followUp(draft, plan, landed, { run, operation: follows, text, previous: null })
}

function healedText(run: Run, from: string, status: string, follows: string | null, answer: string): string {
  const does = [
    status === from ? null : `put to ${status}`,
    follows === null ? null : `${follows} is attempted again`,
  ].filter((one) => one !== null)
  const found = `${foundWords[run.found] ?? run.found}${answer === '' ? '' : ` (${answer})`}`
  return `Found in ${from}: ${found}. Healed: ${does.join(', ') || 'changes made'}.`
}

/** Attempted again and again: each waits a while of its own, as a resumed run does (see `suspected` in heal.ts). */
function waiting(draft: Draft, plan: Plan, resource: Resource, run: Run): Run {
  if (resource.heals < 2 || run.phase === 'cascade') return run
  return watched(draft, plan, { ...run, resumed: 1, dueAt: draft.now + suspicionMs(resource.heals - 1, resource.no) })
}

interface FollowUp {
  /** The run that was healed. */
  readonly run: Run
  readonly operation: string
  readonly text: string
  /** Where the healed run came from, when healing did not land; null: where healing landed. */
  readonly previous: string | null
}

/** A refused attempt leaves the landing, and the reason in the description. */
function followUp(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  { run, operation, text, previous }: FollowUp,
): Resource {
  const refusal = attempt(draft, () => {
    const operationPlan = plan.operations.get(operation)!
    const isSame = run.operation === operation
    const asked: Asked = {
      operation: operationPlan,
      input: isSame ? run.input : undefined,
      isRecorded: isSame,
      by: 'healing',
      lane: 'heal',
      forced: run.forced && operationPlan.forceMs > 0,
      reason: run.reasons[0] ?? 'forced before',
      askedBy: run.askedBy,
      trace: run.trace,
    }
    // Where healing landed nowhere, the new run goes on with what the healed one holds.
    if (previous !== null) passHolds(draft, plan, resource, run.begun, resource.epoch + 1)
    const begun = beginRun(draft, plan, resource, asked, null).resource
    if (begun.run !== null)
      draft.change(begun, {
        description: text,
        run: waiting(draft, plan, begun, previous === null ? begun.run : { ...begun.run, previous }),
      })
  })
  if (refusal === null) return draft.get(resource.no)!
  const reason = refusal.rejection.message
  tellAsker(draft, resource, run, 'failed', reason)
  return draft.change(resource, { description: `${text} The attempt was refused: ${reason}` })
}
