// Somebody asks for an operation: of a resource that is there, or one that creates it.
import { fingerprint, type JsonObject } from '../base/json.ts'
import { notLoaded } from '../lifecycle/not-loaded.ts'
import type { OperationPlan, Plan } from '../lifecycle/plan.ts'
import { beginRun, nameOf, type Asked, type Begun } from './begin-run.ts'
import type { ImportResource, RequestOperation, Target } from './command.ts'
import { isDamaged } from './damage.ts'
import { Refusal, type Draft } from './draft.ts'
import { checkAgainst } from './schema-check.ts'
import {
  generatedId,
  isSameRef,
  numberOfGeneratedId,
  runId,
  type KeyRecord,
  type Resource,
  type RunRef,
} from './state.ts'
import { noTimers } from './timers.ts'

export function requestOperation(draft: Draft, command: RequestOperation): Begun {
  const plan = planFor(draft, command.type)
  const operation = plan.operations.get(command.operation)
  const recorded = command.key === undefined ? null : draft.situation.key(command.key)
  const hash = command.key === undefined ? '' : hashOf(command)
  if (recorded !== null) return replay(draft, command, recorded, hash)
  draft.within = command.tenant
  const resource = operation?.creates ? createBlank(draft, plan, operation, command) : existing(draft, plan, command)
  if (operation === undefined) throw unknownOperation(plan, resource, command.operation)
  refuseForEndedAsker(draft, command)
  refuseFollower(draft, plan, resource)
  const asked: Asked = {
    operation,
    input: command.input,
    by: command.by,
    lane: command.lane ?? (operation.removes ? 'delete' : 'user'),
    forced: command.force === true,
    reason: command.reason ?? '',
    askedBy: command.askedBy ?? null,
    trace: command.trace,
  }
  const begun = beginRun(draft, plan, resource, asked, command.key ?? null)
  // What begins now because of it was asked for by others.
  draft.within = undefined
  if (command.key !== undefined)
    draft.key = { key: command.key, hash, no: resource.no, begun: begun.begun, at: draft.now }
  return begun
}

/** A request that was on its way when its asker ended is wanted by nobody. */
function refuseForEndedAsker(draft: Draft, { askedBy, operation }: RequestOperation): void {
  if (askedBy === undefined || draft.get(askedBy.no)?.run?.begun === askedBy.begun) return
  throw new Refusal('step_not_waiting', `Run ${runId(askedBy)}, which asked for ${operation}, has ended.`)
}

function planFor(draft: Draft, type: string): Plan {
  const plan = draft.plans.get(type)
  if (plan) return plan
  throw new Refusal('type_unknown', notLoaded(draft.plans, type))
}

function unknownOperation(plan: Plan, resource: Resource, name: string): Refusal {
  return new Refusal(
    'operation_unknown',
    `${nameOf(resource)} has no operation '${name}'. ${plan.type} has ${[...plan.operations.keys()].join(', ') || 'none'}.`,
  )
}

/** The same key again: the first answer again, as long as the same was asked. */
function replay(draft: Draft, command: RequestOperation, recorded: KeyRecord, hash: string): Begun {
  if (recorded.hash !== hash) {
    throw new Refusal(
      'key_reused',
      'The idempotency key of this request was used for another one. Use a new key for a new request.',
    )
  }
  const resource = draft.get(recorded.no)
  if (resource === null)
    throw new Refusal('resource_not_found', `The resource of the request with key '${command.key}' is gone.`)
  if (command.askedBy !== undefined && !isWaitedFor(resource, recorded, command.askedBy)) {
    const to = draft.planOf(resource).operations.get(command.operation)?.to ?? []
    tellEnd(draft, resource, recorded, command.askedBy, to.length === 1 && to[0]!.status === resource.status)
  }
  return { resource, begun: recorded.begun }
}

/** The run is under way, perhaps attempted again by healing, or waits its turn. */
function isWaitedFor(resource: Resource, recorded: KeyRecord, asker: RunRef): boolean {
  const { run } = resource
  if (run !== null && (run.begun === recorded.begun || isSameRef(run.askedBy, asker))) return true
  return resource.queue.some((one) => one.key === recorded.key)
}

/** An asker that lost our first message learns here that the run has ended already. */
function tellEnd(draft: Draft, resource: Resource, recorded: KeyRecord, asker: RunRef, isThere: boolean): void {
  const ended = draft.situation.endedRun(recorded.no, recorded.begun)
  // The run of a request that waited its turn is not in the record of its key: then it is told by where it stands.
  const succeeded = ended === null ? isThere : ended.outcome === 'succeeded' || ended.outcome === 'forced'
  draft.follow({
    kind: 'relatedRunEnded',
    no: asker.no,
    begun: asker.begun,
    item: { no: recorded.no, begun: recorded.begun },
    outcome: succeeded ? 'succeeded' : 'failed',
    reason: succeeded ? '' : resource.description || `its run ended ${ended?.outcome ?? 'unknown'}`,
  })
}

/** Of what was asked, so that a key cannot be used for something else. */
const hashOf = (command: RequestOperation): string =>
  fingerprint([
    command.type,
    command.id ?? null,
    command.no ?? null,
    command.operation,
    command.input ?? null,
    command.create ?? null,
    command.force === true,
  ])

function existing(draft: Draft, plan: Plan, command: RequestOperation): Resource {
  const found =
    command.no !== undefined
      ? draft.get(command.no)
      : command.id === undefined
        ? null
        : findNamed(draft, plan.type, command.id)
  const name = `${plan.type} ${command.id ?? (command.no === undefined ? '(no id given)' : generatedId(command.no))}`
  if (found === null || found.type !== plan.type || (command.tenant !== undefined && found.tenant !== command.tenant)) {
    throw new Refusal('resource_not_found', `There is no ${name}.`)
  }
  if (command.ifRevision !== undefined && command.ifRevision !== found.revision) {
    throw new Refusal(
      'revision_conflict',
      `${name} is at revision ${found.revision}, not ${command.ifRevision < 0 ? 'at the one that was named' : command.ifRevision}. Read it again.`,
      { revision: found.revision },
    )
  }
  if (command.create !== undefined)
    throw new Refusal('input_invalid', `${command.operation} of ${name} creates nothing: leave 'create' out.`)
  if (isDamaged(found)) draft.refuseDamaged(found)
  return found
}

/** Generated ids are numbers in another form and need no look-up by name. */
function findNamed(draft: Draft, type: string, id: string): Resource | null {
  const no = numberOfGeneratedId(id)
  const found = no === null ? draft.situation.named(type, id) : draft.situation.resource(no)
  return found === null ? null : draft.get(found.no)
}

/** What follows its pair is asked nothing, and put nowhere, by itself. */
export function refuseFollower(draft: Draft, plan: Plan, resource: Resource): void {
  if (plan.pair === null || plan.pair.leads) return
  const leader = draft.related(resource, plan.relations.get(plan.pair.relation)!)[0]
  throw new Refusal(
    'follower_of_pair',
    `${nameOf(resource)} follows ${leader ? nameOf(leader) : `its ${plan.pair.relation}`}: ask that one.`,
  )
}

function createBlank(draft: Draft, plan: Plan, operation: OperationPlan, command: RequestOperation): Resource {
  const given = command.create ?? {}
  const properties = checkAgainst(plan.properties, given.properties ?? {})
  if (properties.faults !== null) {
    throw new Refusal(
      'properties_invalid',
      `The properties of the new ${plan.type} do not fit: ${properties.faults.join('; ')}.`,
      [...properties.faults],
    )
  }
  return newResource(draft, plan, {
    ...given,
    id: command.id,
    tenant: given.tenant ?? command.tenant,
    properties: properties.value as JsonObject,
    mustHaveParent: true,
  })
}

interface NewResource {
  readonly id: string | undefined
  readonly tenant?: string | undefined
  readonly name?: string | undefined
  readonly parent?: Target | undefined
  readonly links?: ImportResource['links']
  readonly properties: JsonObject
  readonly mustHaveParent: boolean
}

const none: readonly never[] = []
const noLinks: Resource['links'] = {}

/** A resource that is in no status yet; with its follower where the type is one side of a pair. */
export function newResource(draft: Draft, plan: Plan, given: NewResource): Resource {
  const parent = findParent(draft, plan, given)
  const no = draft.situation.nextNo()
  const id = given.id ?? generatedId(no)
  if (given.id !== undefined) refuseId(draft, plan, given.id)
  const tenant = given.tenant ?? parent?.tenant ?? 'default'
  if (parent !== null && parent.tenant !== tenant) {
    throw new Refusal(
      'parent_invalid',
      `The parent of the new ${plan.type} belongs to tenant ${parent.tenant}, not ${tenant}.`,
    )
  }
  const blank: Resource = {
    no,
    id,
    type: plan.type,
    tenant,
    name: given.name ?? null,
    parent: parent?.no ?? null,
    links: given.links === undefined ? noLinks : findLinks(draft, plan, given.links),
    status: '',
    description: '',
    properties: given.properties,
    revision: 1,
    epoch: 0,
    since: draft.now,
    createdAt: draft.now,
    run: null,
    holder: null,
    queue: none,
    ledger: none,
    timers: noTimers,
    heals: 0,
    last: 0,
  }
  draft.create(blank)
  if (plan.pair?.leads) createFollower(draft, plan, blank)
  return blank
}

function createFollower(draft: Draft, plan: Plan, leader: Resource): void {
  const followerPlan = planFor(draft, plan.pair!.type)
  const no = draft.situation.nextNo()
  const same = checkAgainst(followerPlan.properties, leader.properties)
  const properties = same.faults === null ? same : checkAgainst(followerPlan.properties, {})
  if (properties.faults !== null)
    throw new Refusal(
      'properties_invalid',
      `The properties of the new ${plan.type} do not fit its pair ${followerPlan.type}: ${same.faults!.join('; ')}.`,
    )
  draft.create({
    ...leader,
    no,
    epoch: 1,
    id: leader.id === generatedId(leader.no) ? generatedId(no) : leader.id,
    type: followerPlan.type,
    links: { pair: leader.no },
    properties: properties.value as JsonObject,
  })
}

/** A path must be able to end with it: `.` and `..` mean something else there. What begins with `~` is generated. */
// oxlint-disable-next-line no-control-regex
const notInIds = /^~|^\.\.?$|[\u0000-\u001f\u007f/]/

function refuseId(draft: Draft, plan: Plan, id: string): void {
  if (id === '' || id.length > 200 || notInIds.test(id) || !id.isWellFormed()) {
    throw new Refusal(
      'input_invalid',
      `'${id.slice(0, 50)}' cannot be an id: use 1 to 200 characters without '/', not starting with '~', and not '.' or '..'.`,
    )
  }
  if (draft.situation.named(plan.type, id) !== null)
    throw new Refusal('already_exists', `${plan.type} ${id} exists already. Choose another id, or leave it out.`)
}

function findParent(draft: Draft, plan: Plan, given: NewResource): Resource | null {
  if (given.parent === undefined) {
    if (plan.parentType !== null && given.mustHaveParent) {
      throw new Refusal('parent_invalid', `Every ${plan.type} needs a parent of type ${plan.parentType}: give its id.`)
    }
    return null
  }
  if (plan.parentType === null) throw new Refusal('parent_invalid', `No ${plan.type} has a parent: leave it out.`)
  const named = 'no' in given.parent ? draft.get(given.parent.no) : findNamed(draft, given.parent.type, given.parent.id)
  const found = draft.seen(named)
  const words = 'no' in given.parent ? generatedId(given.parent.no) : given.parent.id
  if (found === null || found.type !== plan.parentType)
    throw new Refusal(
      'parent_invalid',
      `There is no ${plan.parentType} ${words} to be the parent of this ${plan.type}.`,
    )
  if (draft.isTerminal(found))
    throw new Refusal('parent_invalid', `${nameOf(found)} is ${found.status}: it can have no new ${plan.type}.`)
  return found
}

function findLinks(draft: Draft, plan: Plan, given: Readonly<Record<string, string>>): Resource['links'] {
  const links: Record<string, number> = {}
  for (const [name, id] of Object.entries(given)) {
    const relation = plan.relations.get(name)
    if (relation?.kind !== 'link') {
      const known = [...plan.relations.values()].filter((one) => one.kind === 'link').map((one) => one.name)
      throw new Refusal('link_invalid', `'${name}' is no link of ${plan.type}. It has ${known.join(', ') || 'none'}.`)
    }
    const target = draft.seen(findNamed(draft, relation.type, id))
    if (target === null || target.type !== relation.type)
      throw new Refusal('link_invalid', `There is no ${relation.type} ${id} to link as ${name}.`, [
        `${name}: there is no ${relation.type} ${id}`,
      ])
    links[name] = target.no
  }
  return links
}
