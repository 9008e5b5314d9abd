// The rules' one entry: a situation and a command give a decision. Pure and synchronous; the same situation, the same answer.
// A fact that is not loaded yet is the situation's to tell: what is decided without it is void.
import { unreachable } from '../base/assert.ts'
import type { ErrorCode } from '../base/errors.ts'
import type { Plans } from '../lifecycle/plan.ts'
import { beginQueued } from './begin-run.ts'
import { callEnded } from './call-ended.ts'
import type { Command, Heal } from './command.ts'
import { deadlinePassed } from './deadline-passed.ts'
import type { Changes, Decision } from './decision.ts'
import { damageReport, damageWords, isDamaged } from './damage.ts'
import { DeclarationDefect, Draft, Refusal } from './draft.ts'
import { failStep } from './failure.ts'
import { heal, beginHealRun } from './heal.ts'
import { claim, handOver, progressReported } from './own-run.ts'
import { importResource, observed, setStatus } from './place-resource.ts'
import { relatedRunEnded } from './related-run-ended.ts'
import { requestOperation } from './request-operation.ts'
import { findBreaches } from './rules.ts'
import type { Situation } from './situation.ts'
import type { Incident, Resource } from './state.ts'
import { park, tellFailed } from './step-ended.ts'
import { cancelRun, completeStep, retryRun, skipStep } from './steer-run.ts'
import { orphanEnded, sweepOrphan } from './sweep-orphan.ts'
import { timerFired } from './timer-fired.ts'

interface Carried {
  readonly resource: Resource
  readonly begun: number
}

export function decide(plans: Plans, situation: Situation, command: Command): Decision {
  const draft = new Draft(plans, situation, whoFor(command))
  try {
    const carried = carry(draft, command)
    const breaches = command.kind === 'importResource' ? none : findBreaches(draft)
    if (breaches.length === 0) return accept(draft, carried)
    return breached(draft, command, 'rule_breached', breaches.map((breach) => breach.words).join('; '))
  } catch (thrown) {
    return rejectFor(draft, command, thrown)
  }
}

const none: readonly never[] = []

function accept(draft: Draft, { resource, begun }: Carried): Decision {
  beginQueued(draft)
  return { accepted: true, changes: draft.changes(), resource: draft.get(resource.no) ?? resource, begun }
}

/** One case per kind of command, no logic. */
function carry(draft: Draft, command: Command): Carried {
  switch (command.kind) {
    case 'requestOperation':
      return requestOperation(draft, command)
    case 'callEnded':
      return plain(callEnded(draft, command))
    case 'deadlinePassed':
      return plain(deadlinePassed(draft, command))
    case 'progressReported':
      return plain(progressReported(draft, command))
    case 'claim':
      return plain(claim(draft, command))
    case 'handOver':
      return plain(handOver(draft, command))
    case 'heal':
      return plain(heal(draft, command))
    case 'timerFired':
      return plain(timerFired(draft, command))
    case 'relatedRunEnded':
      return plain(relatedRunEnded(draft, command))
    case 'cancelRun':
      return plain(cancelRun(draft, command))
    case 'retryRun':
      return plain(retryRun(draft, command))
    case 'skipStep':
      return plain(skipStep(draft, command))
    case 'completeStep':
      return plain(completeStep(draft, command))
    case 'setStatus':
      return plain(setStatus(draft, command))
    case 'importResource':
      return plain(importResource(draft, command))
    case 'observed':
      return plain(observed(draft, command))
    case 'sweepOrphan':
      return plain(sweepOrphan(draft, command))
    case 'orphanEnded':
      return plain(orphanEnded(draft, command))
    default:
      return unreachable(command)
  }
}

const plain = (resource: Resource): Carried => ({ resource, begun: resource.run?.begun ?? 0 })

const whoFor = (command: Command): string => (command.kind === 'relatedRunEnded' ? 'a run it asked for' : command.by)

type CarryingOn = Extract<
  Command,
  { kind: 'callEnded' | 'deadlinePassed' | 'relatedRunEnded' | 'completeStep' | 'heal' }
>

/** Commands that carry a run on: a breach or defect is answered by the run's own failure handling, not by the asker. */
const carriesRunOn = (command: Command): command is CarryingOn =>
  command.kind === 'callEnded' ||
  command.kind === 'deadlinePassed' ||
  command.kind === 'relatedRunEnded' ||
  command.kind === 'completeStep' ||
  command.kind === 'heal'

/** A related resource stands in the way of a run that is carried on. */
const answeredByRun: ReadonlySet<ErrorCode> = new Set(['related_busy', 'link_invalid', 'type_unknown', 'state_damaged'])

/** Whatever stands in the way of a command about a damaged resource, its damage comes first. */
function damagedOwn({ situation }: Draft, command: Command): Resource | null {
  if (!('no' in command) || command.no === undefined || command.kind === 'setStatus') return null
  const resource = situation.resource(command.no)
  return resource !== null && isDamaged(resource) ? resource : null
}

function rejectFor(draft: Draft, command: Command, thrown: unknown): Decision {
  const own = command.kind === 'requestOperation' ? null : damagedOwn(draft, command)
  if (own !== null) {
    const rejection = { code: 'state_damaged', message: damageWords(own) } as const
    const incidents = [{ ...damageReport(own), at: draft.now }]
    return { accepted: false, rejection, changes: evidence(draft.late ?? none, incidents) }
  }
  if (thrown instanceof Refusal) {
    const { code, message } = thrown.rejection
    // A related resource is busy while a run lands or enters a step: the run's failure answer follows.
    if (carriesRunOn(command) && answeredByRun.has(code)) return breached(draft, command, code, message)
    return { accepted: false, rejection: thrown.rejection, changes: keepEvidence(draft, code) }
  }
  if (thrown instanceof DeclarationDefect) {
    if (carriesRunOn(command)) return breached(draft, command, 'declaration_defect', thrown.text)
    return defect(draft, thrown.no, thrown.text)
  }
  throw thrown
}

/** Late results, and reports of what healing is held back from, are kept although nothing else of a rejected decision is. */
function keepEvidence({ late, incidents }: Draft, code: ErrorCode): Changes | null {
  if (code === 'healing_held' && incidents !== null) return evidence(none, incidents)
  if (code === 'state_damaged' && incidents !== null)
    return evidence(
      none,
      incidents.filter(({ kind }) => kind === 'damaged'),
    )
  return late === null ? null : evidence(late, none)
}

const evidence = (late: Changes['late'], incidents: Changes['incidents']): Changes => ({
  writes: none,
  events: none,
  ended: none,
  key: null,
  late,
  incidents,
  followUps: none,
})

function defect(draft: Draft, no: number, text: string): Decision {
  const resource = draft.situation.resource(no)
  const incident: Incident = {
    no,
    kind: 'declaration_defect',
    at: draft.now,
    status: resource?.status ?? '',
    text,
    evidence: {},
  }
  const changes = resource === null ? null : evidence(none, [incident])
  return { accepted: false, rejection: { code: 'declaration_defect', message: text }, changes }
}

/**
 * The state to be committed would break a rule, or cannot be made. A request is refused. A run that is carried on is failed
 * instead, by its declared answer; if that does not work either, it is parked with an incident: never a silent loop.
 */
function breached(draft: Draft, command: Command, code: ErrorCode, words: string): Decision {
  if (!carriesRunOn(command))
    return { accepted: false, rejection: { code, message: `Refused: ${words}.` }, changes: null }
  return failInstead(draft, command, code, words) ?? parkInstead(draft, command, code, words)
}

function failInstead(draft: Draft, command: CarryingOn, code: string, words: string): Decision | null {
  const resource = draft.situation.resource(command.no)
  const run = resource?.run
  if (resource === null || run == null || run.kind !== 'operation' || run.phase === 'undo' || run.phase === 'cascade')
    return null
  const again = new Draft(draft.plans, draft.situation, draft.by)
  const plan = again.planOf(resource)
  try {
    const isHealed = command.kind === 'heal'
    const stopped = again.change(resource, {
      epoch: isHealed ? resource.epoch + 1 : resource.epoch,
      run: { ...run, owner: isHealed ? command.owner : run.owner, phase: 'step', parked: null },
    })
    if (code === 'declaration_defect')
      again.report({ no: resource.no, kind: code, status: resource.status, text: words, evidence: {} })
    const after = failStep(again, plan, stopped, { code, reasons: [...reasonsOf(command), words] })
    tellFailed(again, plan, after, resource.status, run, { code, reason: words })
    return findBreaches(again).length === 0 ? accept(again, plain(after)) : null
  } catch (thrown) {
    if (thrown instanceof Refusal || thrown instanceof DeclarationDefect) return null
    throw thrown
  }
}

/** What had failed already is not forgotten. */
function reasonsOf(command: CarryingOn): string[] {
  if (command.kind === 'relatedRunEnded') return command.outcome === 'succeeded' ? [] : [command.reason]
  if (command.kind !== 'callEnded' && command.kind !== 'completeStep') return []
  return 'reason' in command.outcome ? [command.outcome.reason] : []
}

function parkInstead(draft: Draft, command: CarryingOn, code: ErrorCode, words: string): Decision {
  const resource = draft.situation.resource(command.no)!
  const again = new Draft(draft.plans, draft.situation, draft.by)
  const isDefect = code === 'declaration_defect'
  again.report({
    no: resource.no,
    kind: isDefect ? 'declaration_defect' : 'rule_breached',
    status: resource.status,
    text: `${resource.type} ${resource.id} cannot go on from ${resource.status}: ${words}`,
    evidence: {
      properties: resource.properties,
      operation: resource.run?.operation ?? '',
      step: resource.run?.step ?? -1,
    },
  })
  if (resource.run?.parked != null) {
    const rejection = { code, message: `Refused: ${words}.` }
    return { accepted: false, rejection, changes: evidence(none, again.incidents!) }
  }
  // A drift probe blocks nobody: it is dropped, and asked again in its rhythm.
  if (resource.run?.kind === 'drift') return accept(again, plain(again.change(resource, { run: null })))
  const stopped = command.kind === 'heal' ? takeOver(again, resource, command) : resource
  return accept(again, plain(park(again, stopped, isDefect ? 'declaration_defect' : 'rule_breached', words)))
}

/** Whoever was at it must not go on: the epoch is raised. A resource without a run gets one that can be parked. */
function takeOver(draft: Draft, resource: Resource, command: Heal): Resource {
  if (resource.run === null) return beginHealRun(draft, draft.planOf(resource), resource, command)
  return draft.change(resource, { epoch: resource.epoch + 1, run: { ...resource.run, owner: command.owner } })
}
