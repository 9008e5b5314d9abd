// Writes a status with everything that changes with it in the same commit: properties, links, related statuses, new
// resources, the pair. Used by every entry of a step and every landing, so that there is one meaning of a change.
import type { JsonObject } from '../base/json.ts'
import type { ChangesPlan, MovePlan, Plan, RelationPlan } from '../lifecycle/plan.ts'
import { callDeclared, valueOf, View } from './conditions.ts'
import { DeclarationDefect, Refusal, type Draft } from './draft.ts'
import { doubted, orphaned } from './ledger.ts'
import { checkAgainst } from './schema-check.ts'
import {
  generatedId,
  isSameRef,
  runId,
  type EndedRun,
  type Resource,
  type Run,
  type RunOutcome,
  type RunRef,
} from './state.ts'
import { armedTimers, noTimers } from './timers.ts'

export interface Arrival {
  readonly status: string
  readonly changes: ChangesPlan | null
  readonly view: View
  /** Also changed with it. */
  readonly run: Run | null
  readonly epoch?: number | undefined
  readonly description?: string | undefined
  readonly heals?: number | undefined
  readonly ledger?: Resource['ledger']
  readonly holder?: RunRef | null
  /** Healing, force and pre-emption move related resources although they are busy; others are refused. */
  readonly overBusy: boolean
  /** The run that moves the related resources: holds those that it moves into a transitional status. */
  readonly mover: RunRef
  /** Those of `changes`, matched already by who looked whether they fit into one commit. */
  readonly moves?: readonly Matched[]
}

/** Related resources that a move takes. */
export interface Matched {
  readonly move: MovePlan
  readonly items: readonly Resource[]
}

const none: readonly never[] = []

export function arrive(draft: Draft, plan: Plan, before: Resource, arrival: Arrival): Resource {
  const { status, changes, view } = arrival
  const properties =
    changes === null || changes.set.length === 0 ? before.properties : setProperties(plan, before, changes.set, view)
  const links =
    changes === null || changes.link.length === 0 ? before.links : setLinks(draft, plan, before, changes.link, view)
  const moves = arrival.moves ?? (changes === null ? none : matchMoves(draft, before, changes.move, view))
  for (const { move, items } of moves) for (const item of items) moveOne(draft, before, item, move, arrival)
  const added = changes === null ? none : changes.add.map((add) => ({ add, rows: rowsOf(before, add, view) }))

  const changed: Resource = {
    ...before,
    status,
    properties,
    links,
    since: before.status === status ? before.since : draft.now,
    description: arrival.description ?? before.description,
    epoch: arrival.epoch ?? before.epoch,
    run: arrival.run,
    ledger: arrival.ledger ?? before.ledger,
    heals: arrival.heals ?? before.heals,
    holder: arrival.holder === undefined ? before.holder : arrival.holder,
  }
  const timers = armedTimers(plan, before.status === '' ? null : before, changed, draft.now)
  const after = draft.put(before, timers === changed.timers ? changed : { ...changed, timers })
  added.forEach(({ add, rows }) =>
    rows.forEach((row, index) =>
      addOne(draft, after, { add, properties: row, index, mover: arrival.mover, step: arrival.run?.step ?? 'end' }),
    ),
  )
  if (plan.pair?.leads) followPair(draft, plan, after, arrival.mover)
  return after
}

function rowsOf(resource: Resource, add: ChangesPlan['add'][number], view: View): readonly unknown[] {
  const rows: unknown = callDeclared(resource, `add ${add.relation.name}`, add.each, view)
  if (Array.isArray(rows)) return rows
  throw new DeclarationDefect(resource.no, `add ${add.relation.name} of ${resource.type} gives no list of properties.`)
}

export function setProperties(plan: Plan, resource: Resource, set: ChangesPlan['set'], view: View): JsonObject {
  const next: Record<string, unknown> = { ...resource.properties }
  for (const [name, value] of set) next[name] = valueOf(resource, name, value, view)
  return validProperties(plan, resource, next)
}

/** Properties are judged at every write: a function of the declaration may return garbage. */
function validProperties(plan: Plan, resource: Resource, properties: unknown): JsonObject {
  const checked = checkAgainst(plan.properties, properties)
  if (checked.faults === null) return checked.value as JsonObject
  throw new DeclarationDefect(
    resource.no,
    `The declaration sets properties of ${plan.type} that its schema refuses: ${checked.faults.join('; ')}`,
  )
}

function setLinks(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  link: ChangesPlan['link'],
  view: View,
): Resource['links'] {
  const links: Record<string, number> = { ...resource.links }
  for (const [name, value] of link) {
    const id = value === null ? null : callDeclared(resource, `link ${name}`, value, view)
    if (id === null || id === undefined) {
      delete links[name]
      continue
    }
    const relation = plan.relations.get(name)!
    const target = typeof id === 'string' ? draft.seen(draft.situation.named(relation.type, id)) : null
    if (target === null)
      throw new Refusal(
        'link_invalid',
        `Cannot link ${resource.type} ${resource.id} to ${relation.type} ${JSON.stringify(id)}: there is no such resource.`,
      )
    links[name] = target.no
  }
  return links
}

/** Bare status: all that are not terminal and not there already. With `from`: only those. Where nothing changes, nothing is moved. */
export function matchMoves(draft: Draft, resource: Resource, moves: readonly MovePlan[], view: View): Matched[] {
  return moves.map((move) => ({
    move,
    items: draft.related(resource, move.relation).filter((item) => {
      if (move.from === null ? draft.isTerminal(item) : !move.from.has(item.status)) return false
      if (item.status === move.to && (move.from === null || move.set.length === 0)) return false
      return move.only === null || callDeclared(resource, move.only.says, move.only.test, view.with(item))
    }),
  }))
}

function moveOne(draft: Draft, mover: Resource, found: Resource, move: MovePlan, arrival: Arrival): void {
  const item = draft.get(found.no) ?? found
  const plan = draft.planOf(item)
  const to = move.to ?? item.status
  const properties =
    move.set.length === 0
      ? item.properties
      : validProperties(plan, item, {
          ...item.properties,
          ...Object.fromEntries(
            move.set.map(([name, value]) => [name, valueOf(mover, name, value, arrival.view.with(item))]),
          ),
        })
  const { relation } = move
  moveTo(draft, mover, item, { to, properties, relation, overBusy: arrival.overBusy, holder: arrival.mover })
}

interface Moving {
  readonly to: string
  readonly properties: JsonObject
  /** By which it was reached. */
  readonly relation: RelationPlan
  readonly overBusy: boolean
  readonly holder: RunRef
}

/** Whoever moves its descendants is let in by what their parent may do. */
const letsMove = (plan: Plan, from: string, to: string, mover: Resource, relation: RelationPlan): boolean =>
  plan.moves.some(
    (row) =>
      row.to === to &&
      row.from.has(from) &&
      (row.byType === mover.type || (relation.kind === 'descendants' && row.byType === plan.parentType)),
  )

/** Moves a related resource along an edge of its own `moves`; also used for the items of a forEach step. */
export function moveTo(
  draft: Draft,
  mover: Resource,
  item: Resource,
  { to, properties, relation, overBusy, holder }: Moving,
): void {
  const plan = draft.planOf(item)
  // It stays in the history of the item, for everybody of its tenant to read.
  const by = mover.tenant === item.tenant ? `${mover.type} ${mover.id}` : `a ${mover.type} of another tenant`
  const stays = to === item.status
  if (!stays && !letsMove(plan, item.status, to, mover, relation)) {
    throw new DeclarationDefect(
      item.no,
      `${by} would move ${item.type} ${item.id} from ${item.status} to ${to}, but ${item.type} declares no such move.`,
    )
  }
  const heldByOther = item.holder !== null && !isSameRef(item.holder, holder) && holderLives(draft, item)
  const ownRun = item.run !== null && item.run.kind !== 'drift'
  if (!stays && (ownRun || heldByOther) && !overBusy) {
    throw new Refusal(
      'related_busy',
      `Cannot move ${draft.nameOf(item)} to ${to} with ${mover.type} ${mover.id}: it is busy (${item.status}). Wait for it or cancel its run.`,
    )
  }
  const from = item.status
  let ledger = item.ledger
  const closed = stays || !ownRun ? null : item.run
  if (closed !== null) {
    endPreempted(draft, item, `moved to ${to} with ${by}`)
    ledger = doubted(ledger, closed.begun, draft.now)
  }
  const terminal = plan.kinds.get(to) === 'terminal'
  if (terminal) ledger = orphaned(ledger, draft.now)
  const changed: Resource = {
    ...item,
    status: to,
    properties,
    ledger,
    // It tells of the run that is over.
    description: closed === null ? item.description : '',
    since: stays ? item.since : draft.now,
    run: stays ? item.run : null,
    epoch: !stays && item.run !== null ? item.epoch + 1 : item.epoch,
    holder: stays ? item.holder : plan.kinds.get(to) === 'transitional' ? holder : null,
  }
  const after = draft.change(item, { ...changed, timers: armedTimers(plan, item, changed, draft.now) })
  draft.tell(
    after,
    'moved',
    from,
    {
      with: by,
      ...(closed === null ? {} : { preempted: closed.operation }),
      ...(terminal && ledger.length > 0 ? { orphans: ledger.map((entry) => entry.name) } : {}),
    },
    closed?.begun ?? 0,
  )
  if (plan.pair?.leads) followPair(draft, plan, after, holder)
}

/** Is the run that holds this resource still under way? */
export function holderLives(draft: Draft, resource: Resource): boolean {
  if (resource.holder === null) return false
  const holder = draft.get(resource.holder.no)
  return holder?.run != null && holder.run.begun === resource.holder.begun
}

/** What the one run of a resource holds is held by the next. */
export function passHolds(draft: Draft, plan: Plan, resource: Resource, from: number, to: number): void {
  for (const relation of plan.relations.values()) {
    for (const held of draft.related(resource, relation)) {
      if (held.holder?.no === resource.no && held.holder.begun === from)
        draft.change(held, { holder: { no: resource.no, begun: to } })
    }
  }
}

/** Closes a run that something stronger interrupts. Its undo is not run: the stronger one owns the clean-up. */
export function endPreempted(draft: Draft, resource: Resource, why: string): void {
  draft.end(endOf(draft, resource, 'preempted', resource.status))
  cancelAsked(draft, resource, why)
  tellAsker(draft, resource, resource.run!, 'failed', why)
}

/** The record of a run that ends here. `resource` still has it. */
export function endOf(draft: Draft, { no, run }: Resource, outcome: RunOutcome, status: string): EndedRun {
  const { begun, operation, kind, acceptedAt, by } = run!
  return { no, begun, operation, kind, outcome, status, acceptedAt, endedAt: draft.now, by }
}

/** Runs of others that this run asked for and still waits for. */
export function cancelAsked(draft: Draft, resource: Resource, why: string): void {
  const run = resource.run!
  const step = draft.planOf(resource).operations.get(run.operation)?.steps[run.step]
  if (run.phase !== 'step' || run.items === null || step === undefined || step.asks.length === 0) return
  for (const item of run.items) {
    draft.follow({
      kind: 'cancelRun',
      no: item.no,
      askedBy: { no: resource.no, begun: run.begun },
      by: `run ${runId({ no: resource.no, begun: run.begun })}`,
      reason: why,
    })
  }
}

export function tellAsker(
  draft: Draft,
  resource: Resource,
  run: Run,
  outcome: 'succeeded' | 'failed',
  reason: string,
): void {
  if (run.askedBy === null) return
  draft.follow({
    kind: 'relatedRunEnded',
    no: run.askedBy.no,
    begun: run.askedBy.begun,
    item: { no: resource.no, begun: run.begun },
    outcome,
    reason,
  })
}

interface Addition {
  readonly add: ChangesPlan['add'][number]
  readonly properties: unknown
  readonly index: number
  readonly mover: RunRef
  /** The landing, too, is a place of its own: what a step has added has its name. */
  readonly step: number | 'end'
}

function addOne(draft: Draft, parent: Resource, { add, properties, index, mover, step }: Addition): void {
  const type = add.relation.type
  const plan = draft.plans.get(type)
  if (!plan) throw new Refusal('type_unknown', `No lifecycle of type ${type} is loaded.`)
  // Nobody else can have it: users' ids do not begin so, and the parent's number is its own.
  const id = `${generatedId(parent.no)}.${add.relation.name}.${mover.begun}-${step}-${index}`
  const blank: Resource = {
    no: draft.situation.nextNo(),
    id,
    type,
    tenant: parent.tenant,
    name: null,
    parent: parent.no,
    links: {},
    status: add.status,
    description: '',
    properties: {},
    revision: 1,
    epoch: 1,
    since: draft.now,
    createdAt: draft.now,
    run: null,
    holder: plan.kinds.get(add.status) === 'transitional' ? mover : null,
    queue: [],
    ledger: [],
    timers: noTimers,
    heals: 0,
    last: 0,
  }
  const whole = { ...blank, properties: validProperties(plan, blank, properties) }
  const after = draft.create({ ...whole, timers: armedTimers(plan, null, whole, draft.now) })
  draft.tell(after, 'added', '', { with: `${parent.type} ${parent.id}` }, 0)
}

/** Both sides of a pair always show the same status. */
function followPair(draft: Draft, plan: Plan, leader: Resource, mover: RunRef): void {
  for (const follower of draft.related(leader, plan.relations.get(plan.pair!.relation)!)) {
    if (follower.status !== leader.status) takeStatusOf(draft, leader, follower, mover)
  }
}

/** The follower of a pair is put where its leader stands. */
export function takeStatusOf(draft: Draft, leader: Resource, follower: Resource, mover: RunRef): Resource {
  const plan = draft.planOf(follower)
  const kind = plan.kinds.get(leader.status)
  const changed: Resource = {
    ...follower,
    status: leader.status,
    since: draft.now,
    run: null,
    epoch: follower.run === null ? follower.epoch : follower.epoch + 1,
    holder: kind === 'transitional' ? mover : null,
    ledger: kind === 'terminal' ? orphaned(follower.ledger, draft.now) : follower.ledger,
  }
  const before = follower.status === '' ? null : follower
  const after = draft.change(follower, { ...changed, timers: armedTimers(plan, before, changed, draft.now) })
  draft.tell(after, 'moved', follower.status, { with: `${leader.type} ${leader.id}` }, 0)
  return after
}
