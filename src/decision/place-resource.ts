// Resources put where they stand by somebody else than an operation: imported, repaired by a person, observed from outside.
import { canonical, type JsonObject } from '../base/json.ts'
import { notLoaded } from '../lifecycle/not-loaded.ts'
import { nameOf } from './begin-run.ts'
import type { ImportResource, Observed, SetStatus } from './command.ts'
import { View } from './conditions.ts'
import { isDamaged, isRepairable } from './damage.ts'
import { Refusal, type Draft } from './draft.ts'
import { blankRun } from './heal.ts'
import { healAnswered } from './heal-probe.ts'
import { arrive, endPreempted } from './landing.ts'
import { doubted, orphaned } from './ledger.ts'
import { newResource, refuseFollower } from './request-operation.ts'
import { checkAgainst } from './schema-check.ts'
import type { KeyRecord, Resource } from './state.ts'
import { armedTimers } from './timers.ts'

/** Comes in with its present status, whatever the rules say: they bind from its first change on. */
export function importResource(draft: Draft, command: ImportResource): Resource {
  const plan = draft.plans.get(command.type)
  if (!plan) throw new Refusal('type_unknown', notLoaded(draft.plans, command.type))
  const recorded = command.key === undefined ? null : draft.situation.key(command.key)
  if (recorded !== null) return importedBefore(draft, command, recorded)
  refuseStatus(plan.kinds, plan.type, command.status)
  if (plan.pair?.leads === false)
    throw new Refusal('follower_of_pair', `A ${plan.type} comes in with its ${plan.pair.relation}: import that one.`)
  const properties = checkAgainst(plan.properties, command.properties)
  if (properties.faults !== null) {
    throw new Refusal(
      'properties_invalid',
      `The properties of ${plan.type} ${command.id ?? ''} do not fit: ${properties.faults.join('; ')}.`,
      [...properties.faults],
    )
  }
  draft.within = command.within
  const blank = newResource(draft, plan, {
    id: command.id,
    tenant: command.tenant,
    name: command.name,
    parent: command.parent,
    links: command.links,
    properties: properties.value as JsonObject,
    mustHaveParent: false,
  })
  const ledger = (command.ledger ?? []).map(({ kind, ref }, index) => ({
    name: `${plan.type}/${blank.id}/${kind}/${index + 1}`,
    kind,
    state: plan.kinds.get(command.status) === 'terminal' ? ('orphaned' as const) : ('there' as const),
    ref: (ref ?? null) as JsonObject,
    begun: 0,
    step: '',
    since: draft.now,
    sweeper: 0,
  }))
  const placed: Resource = { ...blank, status: command.status, epoch: 1, ledger }
  const after = draft.change(blank, { ...placed, timers: armedTimers(plan, null, placed, draft.now) })
  draft.tell(after, 'imported', '', null, 0)
  for (const follower of draft.writes.filter((one) => one.no !== blank.no && one.links['pair'] === blank.no)) {
    const followerPlan = draft.planOf(follower)
    const beside: Resource = { ...follower, status: command.status }
    const paired = draft.change(follower, { ...beside, timers: armedTimers(followerPlan, null, beside, draft.now) })
    draft.tell(paired, 'imported', '', null, 0)
  }
  if (command.key !== undefined)
    draft.key = { key: command.key, hash: hashOf(command), no: after.no, begun: 0, at: draft.now }
  return after
}

const hashOf = ({ by: _by, key: _key, ...asked }: ImportResource): string => canonical(asked)

/** The same key again: the first answer again, as long as the same was asked. */
function importedBefore(draft: Draft, command: ImportResource, recorded: KeyRecord): Resource {
  if (recorded.hash !== hashOf(command))
    throw new Refusal(
      'key_reused',
      'The idempotency key of this request was used for another one. Use a new key for a new request.',
    )
  const resource = draft.get(recorded.no)
  if (resource !== null) return resource
  throw new Refusal('resource_not_found', `The resource that was imported with key '${command.key}' is gone.`)
}

function refuseStatus(kinds: ReadonlyMap<string, unknown>, type: string, status: string): void {
  if (!kinds.has(status))
    throw new Refusal('status_unknown', `'${status}' is no status of ${type}. It has ${[...kinds.keys()].join(', ')}.`)
}

/** Guarded repair: the epoch goes up first, so that whoever was at work on it changes nothing more. */
export function setStatus(draft: Draft, command: SetStatus): Resource {
  const resource = draft.get(command.no)
  if (resource === null) throw new Refusal('resource_not_found', `There is no resource number ${command.no}.`)
  if (isDamaged(resource) && !isRepairable(resource)) draft.refuseDamaged(resource)
  draft.repairs = resource.no
  const plan = draft.planOf(resource)
  refuseStatus(plan.kinds, plan.type, command.status)
  if (command.reason.trim() === '')
    throw new Refusal('reason_required', `Setting the status of ${nameOf(resource)} by hand needs a reason.`)
  if (command.ifRevision !== undefined && command.ifRevision !== resource.revision) {
    throw new Refusal(
      'revision_conflict',
      `${nameOf(resource)} is at revision ${resource.revision}, not ${command.ifRevision}. Read it again.`,
      { revision: resource.revision },
    )
  }
  refuseFollower(draft, plan, resource)
  const from = resource.status
  if (draft.isTerminal(resource) && command.status !== from)
    throw new Refusal('operation_not_allowed', `${nameOf(resource)} is ${from}, for good. Create or import it anew.`)
  const run = resource.run
  if (run !== null && run.kind !== 'drift') endPreempted(draft, resource, `status set by ${command.by}`)
  const doubtedLedger = run === null ? resource.ledger : doubted(resource.ledger, run.begun, draft.now)
  const epoch = resource.epoch + 1
  const after = arrive(draft, plan, resource, {
    status: command.status,
    changes: null,
    view: new View(draft, plan, resource),
    run: null,
    holder: null,
    epoch,
    heals: 0,
    description: `Set to ${command.status} by ${command.by}: ${command.reason}`,
    ledger: plan.kinds.get(command.status) === 'terminal' ? orphaned(doubtedLedger, draft.now) : doubtedLedger,
    overBusy: true,
    mover: { no: resource.no, begun: epoch },
  })
  draft.tell(after, 'statusSet', from, { reason: command.reason }, run?.begun ?? 0)
  return after
}

/** A push from the backend about a settled resource: judged by the same declared drift row as a probe's answer. */
export function observed(draft: Draft, command: Observed): Resource {
  const resource = draft.get(command.no)
  if (resource === null) throw new Refusal('resource_not_found', `There is no resource number ${command.no}.`)
  const plan = draft.planOf(resource)
  refuseFollower(draft, plan, resource)
  const drift = plan.drift.get(resource.status)
  if (drift === undefined || drift.probe.name !== command.probe) {
    throw new Refusal(
      'not_stuck',
      `${plan.type} declares no drift by ${command.probe} in ${resource.status}: the observation says nothing about ${nameOf(resource)}.`,
    )
  }
  if ((resource.run !== null && resource.run.kind !== 'drift') || resource.holder !== null) {
    throw new Refusal('operation_in_progress', `${nameOf(resource)} is busy; what was observed may be its own doing.`)
  }
  const answers = plan.probes.get(command.probe) ?? []
  if (command.answer !== 'unknown' && !answers.includes(command.answer))
    throw new Refusal(
      'input_invalid',
      `'${command.answer}' is no answer of ${command.probe}. It answers ${answers.join(', ')}.`,
    )
  const epoch = resource.epoch + 1
  const asked = draft.change(resource, {
    epoch,
    run: {
      ...blankRun,
      begun: epoch,
      kind: 'drift',
      previous: resource.status,
      acceptedAt: draft.now,
      found: 'drifted',
      probe: command.probe,
    },
  })
  return healAnswered(draft, plan, asked, { kind: 'answered', answer: command.answer, observed: command.observed })
}
