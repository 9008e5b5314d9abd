// The rules' one entry: a situation and a command give a decision. Pure and synchronous; the same situation, the same answer.
// Throws only `Needs`: a fact that is not loaded yet.
import { unreachable } from '../base/assert.ts'
import type { Plans } from '../lifecycle/plan.ts'
import { callEnded } from './call-ended.ts'
import type { Command } from './command.ts'
import { deadlinePassed } from './deadline-passed.ts'
import type { Decision, Rejection } from './decision.ts'
import { DeclarationDefect, Draft, Refusal } from './draft.ts'
import { failStep } from './failure.ts'
import { heal } from './heal.ts'
import { claim, handOver, progressReported } from './own-run.ts'
import { importResource, observed, setStatus } from './place-resource.ts'
import { relatedRunEnded } from './related-run-ended.ts'
import { requestOperation } from './request-operation.ts'
import { findBreaches } from './rules.ts'
import { Needs, type Situation } from './situation.ts'
import type { Resource } from './state.ts'
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
    const carried = carry(draft, command, null)
    const breaches = command.kind === 'importResource' ? [] : findBreaches(draft)
    if (breaches.length === 0) return accept(draft, carried)
    return breached(draft, command, breaches.map((breach) => breach.words).join('; '))
  } catch (thrown) {
    return rejectFor(draft, command, thrown)
  }
}

const accept = (draft: Draft, { resource, begun }: Carried): Decision => ({
  accepted: true,
  changes: draft.changes(),
  resource,
  begun,
})

/** One case per kind of command, no logic. `refused`: an earlier try of this decision was refused; only timers go on then. */
function carry(draft: Draft, command: Command, refused: string | null): Carried {
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
      return plain(timerFired(draft, command, refused))
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

/** Commands that carry a run on: a breach or defect is answered by the run's own failure handling, not by the asker. */
const carriesRunOn = (command: Command): boolean =>
  command.kind === 'callEnded' ||
  command.kind === 'deadlinePassed' ||
  command.kind === 'relatedRunEnded' ||
  command.kind === 'completeStep' ||
  command.kind === 'heal'

function rejectFor(draft: Draft, command: Command, thrown: unknown): Decision {
  if (thrown instanceof Refusal) {
    if (command.kind === 'timerFired' && thrown.rejection.code !== 'timer_not_due')
      return timerRefused(draft, command, thrown.rejection.message)
    // A related resource is busy while a run lands or enters a step: the run's failure answer follows.
    if (
      carriesRunOn(command) &&
      (thrown.rejection.code === 'related_busy' || thrown.rejection.code === 'link_invalid')
    ) {
      return breached(draft, command, thrown.rejection.message)
    }
    return { accepted: false, rejection: thrown.rejection, changes: keepEvidence(draft) }
  }
  if (thrown instanceof DeclarationDefect) {
    if (command.kind === 'timerFired') return timerRefused(draft, command, thrown.text)
    if (carriesRunOn(command)) return breached(draft, command, thrown.text)
    return defect(draft, thrown.no, thrown.text)
  }
  throw thrown
}

/** Late results are kept although nothing else of a rejected decision is. */
function keepEvidence(draft: Draft): ReturnType<Draft['changes']> | null {
  if (draft.late === null) return null
  return { writes: [], events: [], ended: [], key: null, late: draft.late, incidents: [], followUps: [] }
}

function defect(draft: Draft, no: number, text: string): Decision {
  const resource = draft.situation.resource(no)
  const incident = {
    no,
    kind: 'declaration_defect' as const,
    at: draft.now,
    status: resource?.status ?? '',
    text,
    evidence: {},
  }
  const changes =
    resource === null
      ? null
      : { writes: [], events: [], ended: [], key: null, late: [], incidents: [incident], followUps: [] }
  return { accepted: false, rejection: { code: 'declaration_defect', message: text }, changes }
}

function timerRefused(draft: Draft, command: Command, reason: string): Decision {
  const again = new Draft(draft.plans, draft.situation, draft.by)
  try {
    return accept(again, carry(again, command, reason))
  } catch (thrown) {
    if (thrown instanceof Refusal) return { accepted: false, rejection: thrown.rejection, changes: null }
    throw thrown
  }
}

/**
 * The state to be committed would break a rule. A request is refused. A run that is carried on is failed instead, by its
 * declared answer; if that breaks a rule too, it is parked with an incident: never a silent loop.
 */
function breached(draft: Draft, command: Command, words: string): Decision {
  const rejection: Rejection = { code: 'rule_breached', message: `Refused: ${words}.` }
  if (command.kind === 'timerFired') return timerRefused(draft, command, rejection.message)
  if (!carriesRunOn(command)) return { accepted: false, rejection, changes: null }
  const no = (command as { readonly no: number }).no
  return (
    failInstead(draft, no, command, words) ??
    parkInstead(draft, no, words) ?? { accepted: false, rejection, changes: null }
  )
}

function failInstead(draft: Draft, no: number, command: Command, words: string): Decision | null {
  const resource = draft.situation.resource(no)
  const run = resource?.run
  if (resource === null || run == null || run.kind !== 'operation' || run.phase === 'undo' || run.phase === 'cascade')
    return null
  const again = new Draft(draft.plans, draft.situation, draft.by)
  const plan = again.planOf(resource)
  try {
    const epoch = command.kind === 'heal' ? resource.epoch + 1 : resource.epoch
    const owner = command.kind === 'heal' ? command.owner : run.owner
    const stopped = again.change(resource, {
      epoch,
      run: { ...run, owner, phase: 'step', items: run.items === null ? null : [] },
    })
    const after = failStep(again, plan, stopped, { code: 'rule_breached', reasons: [words] })
    tellFailed(again, plan, after, resource.status, run, { code: 'rule_breached', reason: words })
    return findBreaches(again).length === 0 ? accept(again, plain(after)) : null
  } catch (thrown) {
    if (thrown instanceof Needs) throw thrown
    if (thrown instanceof Refusal || thrown instanceof DeclarationDefect) return null
    throw thrown
  }
}

function parkInstead(draft: Draft, no: number, words: string): Decision | null {
  const resource = draft.situation.resource(no)
  if (resource === null) return null
  const again = new Draft(draft.plans, draft.situation, draft.by)
  again.report({
    no,
    kind: 'rule_breached',
    status: resource.status,
    text: `${resource.type} ${resource.id} cannot go on from ${resource.status}: ${words}`,
    evidence: {
      properties: resource.properties,
      operation: resource.run?.operation ?? '',
      step: resource.run?.step ?? -1,
    },
  })
  if (resource.run === null || resource.run.parked !== null) {
    return {
      accepted: false,
      rejection: { code: 'rule_breached', message: `Refused: ${words}.` },
      changes: again.changes(),
    }
  }
  return accept(again, plain(park(again, resource, 'rule_breached', words)))
}
