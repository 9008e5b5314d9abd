// Begins a run of an operation on a resource: the checks that may refuse it, and the first commit of what follows.
// Shared by requests, timers, queues and the follow-ups of healing.
import { canonical, type Json, type JsonObject } from '../base/json.ts'
import type { OperationPlan, Plan } from '../lifecycle/plan.ts'
import { enterNext, entered } from './advance.ts'
import { attempt } from './attempt.ts'
import { holds, View, whereInstead } from './conditions.ts'
import { isDamaged } from './damage.ts'
import type { Rejection } from './decision.ts'
import { Refusal, type Draft } from './draft.ts'
import { endPreempted, holderLives, passHolds } from './landing.ts'
import { doubted } from './ledger.ts'
import { checkAgainst } from './schema-check.ts'
import { isLate, runId, traced, type Lane, type QueuedRequest, type Resource, type Run, type RunRef } from './state.ts'

export interface Asked {
  readonly operation: OperationPlan
  readonly input: unknown
  /** The input comes from a record: it was judged, and perhaps changed, by its schema before. */
  readonly isRecorded?: boolean
  readonly by: string
  readonly lane: Lane
  readonly forced: boolean
  readonly reason: string
  readonly askedBy: RunRef | null
  readonly trace?: string | undefined
}

export interface Begun {
  readonly resource: Resource
  /** The run that was begun or joined; 0: none, the request waits its turn or had nothing left to do. */
  readonly begun: number
}

export const nameOf = (resource: Resource): string => `${resource.type} ${resource.id}`

/** Refuses with a reason, has nothing left to do, joins the same run, waits its turn, pre-empts, or begins. */
export function beginRun(draft: Draft, plan: Plan, resource: Resource, asked: Asked, key: string | null): Begun {
  const { operation } = asked
  refuseForced(plan, resource, asked)
  const busy = busyWith(draft, plan, resource)
  const isOver = operation.ifTerminal === 'succeed' && draft.isTerminal(resource)
  // Whether it may be asked for at all comes first: no input would help where it may not.
  const isAsked = busy !== null && isAskedAlready(resource, asked)
  if (!isOver && busy === null) refuseStatus(draft, plan, resource, operation)
  else if (!isOver && !isAsked) refuseBusy(plan, resource, operation, busy!)
  const input = asked.isRecorded === true ? (asked.input as Json) : validInput(plan, operation, asked.input)
  if (isOver) return { resource, begun: 0 }
  if (busy === null) {
    refuseRequirements(draft, plan, resource, operation, input)
    // `previous` is a settled status; what is found in a transitional one came from nobody knows where.
    const previous = draft.isTransitional(resource) ? '' : resource.status
    return start(draft, plan, resource, asked, input, previous)
  }
  if (isAsked) {
    if (canonical(resource.run!.input) === canonical(input)) return handOn(draft, resource, asked)
    refuseBusy(plan, resource, operation, busy)
  }
  if (mayPreempt(resource, operation, busy)) {
    if (joins(draft, resource, asked, input)) return { resource, begun: resource.run!.begun }
    refuseRequirements(draft, plan, resource, operation, input)
    return preempt(draft, plan, resource, asked, input, busy.previous)
  }
  // Where the present run will end is not known: status and requirements are judged when the turn comes.
  return queue(draft, resource, asked, input, key)
}

/** An earlier run of the resource that asks has asked for the same, and healing attempts it again: it is the same request. */
const isAskedAlready = ({ run }: Resource, { operation, askedBy }: Asked): boolean =>
  run !== null &&
  run.kind === 'operation' &&
  run.operation === operation.name &&
  askedBy !== null &&
  run.askedBy?.no === askedBy.no &&
  run.askedBy.begun !== askedBy.begun

/** The run goes on, for the one that asks now. */
function handOn(draft: Draft, resource: Resource, { askedBy }: Asked): Begun {
  const after = draft.change(resource, { run: { ...resource.run!, askedBy } })
  return { resource: after, begun: after.run!.begun }
}

const mayPreempt = (resource: Resource, operation: OperationPlan, busy: Busy): boolean =>
  operation.ifBusy === 'preempt' && (operation.from.has(resource.status) || operation.from.has(busy.previous))

/** What can neither pre-empt nor wait its turn. */
function refuseBusy(plan: Plan, resource: Resource, operation: OperationPlan, busy: Busy): void {
  const mayWait = operation.ifBusy === 'queue' || busy.queueBehind > resource.queue.length
  if (mayWait || mayPreempt(resource, operation, busy)) return
  throw new Refusal(
    'operation_in_progress',
    `Cannot ${operation.name} ${nameOf(resource)}: it is ${resource.status} (${busy.words}). Wait for it or cancel it.`,
    { status: resource.status, run: busy.run, allowed: allowedOperations(plan, resource) },
  )
}

/** Operations that the present status lets begin; for refusals and buttons. */
export const allowedOperations = (plan: Plan, resource: Resource): string[] =>
  [...plan.operations.values()]
    .filter((one) => one.from.has(resource.status) && (resource.run === null || one.ifBusy !== 'refuse'))
    .map((one) => one.name)

/** Those of them that what they need does not forbid already. What a function judges may depend on the input: it is not judged here. */
export function openOperations(draft: Draft, plan: Plan, resource: Resource): string[] {
  if (isDamaged(resource)) return []
  const view = new View(draft, plan, resource)
  return allowedOperations(plan, resource).filter((name) =>
    plan.operations.get(name)!.requires.every((one) => one.test !== null || holds(draft, resource, one, view)),
  )
}

interface Busy {
  readonly previous: string
  /** So many requests may wait, whatever they ask for. */
  readonly queueBehind: number
  readonly run: string
  readonly words: string
}

/** A drift probe never stands in the way; a holder that is gone does not either. */
function busyWith(draft: Draft, plan: Plan, resource: Resource): Busy | null {
  const { run, holder } = resource
  if (run !== null && run.kind !== 'drift') {
    const id = runId({ no: resource.no, begun: run.begun })
    return {
      previous: run.previous,
      queueBehind: plan.operations.get(run.operation)?.queueBehind ?? 0,
      run: id,
      words: run.kind === 'heal' ? `healing ${id} is under way` : `run ${id} of ${run.operation} is under way`,
    }
  }
  if (holder !== null && holderLives(draft, resource)) {
    const id = runId(holder)
    return { previous: '', queueBehind: 0, run: id, words: `it is held by run ${id} of another resource` }
  }
  return null
}

function refuseForced(plan: Plan, resource: Resource, { operation, forced, reason }: Asked): void {
  if (!forced) return
  if (operation.forceMs === 0) {
    const forceable = [...plan.operations.values()].filter((one) => one.forceMs > 0).map((one) => one.name)
    throw new Refusal(
      'not_forceable',
      `Cannot force ${operation.name} of ${nameOf(resource)}: ${forceable.length > 0 ? `only ${forceable.join(', ')} can be forced` : `${plan.type} declares no operation with \`force\``}.`,
    )
  }
  if (reason.trim() === '')
    throw new Refusal(
      'reason_required',
      `Forcing ${operation.name} of ${nameOf(resource)} needs a reason: it may leave things behind.`,
    )
}

function validInput(plan: Plan, operation: OperationPlan, given: unknown): Json {
  if (operation.input === null) {
    if (given === undefined || given === null || (typeof given === 'object' && Object.keys(given).length === 0))
      return null
    throw new Refusal('input_invalid', `${operation.name} of ${plan.type} takes no input. Leave it out.`)
  }
  const checked = checkAgainst(operation.input, given ?? {})
  if (checked.faults === null) return checked.value as Json
  throw new Refusal(
    'input_invalid',
    `The input of ${operation.name} of ${plan.type} does not fit: ${checked.faults.join('; ')}.`,
    [...checked.faults],
  )
}

/** Why an input fits nothing, whatever it is asked of; null: it fits. */
export function inputFault(plan: Plan, operation: OperationPlan, given: unknown): Rejection | null {
  try {
    validInput(plan, operation, given)
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.rejection
    throw error
  }
}

function refuseStatus(draft: Draft, plan: Plan, resource: Resource, operation: OperationPlan): void {
  if (operation.creates || operation.from.has(resource.status)) return
  const gone = draft.isTerminal(resource)
  throw new Refusal(
    'operation_not_allowed',
    gone
      ? `Cannot ${operation.name} ${nameOf(resource)}: it is ${resource.status}, for good.`
      : `Cannot ${operation.name} ${nameOf(resource)}: it is ${resource.status}; ${operation.name} starts from ${[...operation.from].join(', ')}.`,
    { status: resource.status, allowed: allowedOperations(plan, resource) },
  )
}

/** All requirements that do not hold are told at once. */
function refuseRequirements(draft: Draft, plan: Plan, resource: Resource, operation: OperationPlan, input: Json): void {
  if (operation.requires.length === 0) return
  const view = new View(draft, plan, resource, input ?? {}, {})
  const missing = operation.requires.filter((one) => !holds(draft, resource, one, view))
  if (missing.length === 0) return
  const reasons = missing.map((one) => `${one.words}${whereInstead(draft, resource, one)}`)
  throw new Refusal(
    'requirement_not_met',
    `Cannot ${operation.name} ${nameOf(resource)}: it needs that ${reasons.join('; and that ')}.`,
    missing.map((one) => one.words),
  )
}

/**
 * The same request while its run is alive and moving is that run; hanging, or asked otherwise, it is pre-empted. A forced run is moved by
 * nobody who asks for less: it goes on, whatever happens.
 */
function joins(draft: Draft, resource: Resource, asked: Asked, input: Json): boolean {
  const run = resource.run
  if (run === null || run.kind !== 'operation' || run.operation !== asked.operation.name) return false
  if (run.parked !== null || isLate(run, draft.now)) return false
  if (run.forced !== asked.forced) return run.forced
  return canonical(run.input) === canonical(input)
}

/** The interrupted run is closed, its call fenced; its undo is not run: the new operation's steps own the clean-up. */
function preempt(draft: Draft, plan: Plan, resource: Resource, asked: Asked, input: Json, previous: string): Begun {
  const interrupted = resource.run
  if (interrupted === null) {
    // Held by another resource's run: it is taken from it; the holder's later move finds it gone elsewhere.
    return start(draft, plan, resource, asked, input, previous)
  }
  endPreempted(draft, resource, `pre-empted by ${asked.operation.name}`)
  const mayBeCalling = interrupted.owner !== 0 && interrupted.parked === null && interrupted.dueAt <= draft.now
  const freed = draft.change(resource, { ledger: doubted(resource.ledger, interrupted.begun, draft.now), run: null })
  draft.tell(freed, 'preempted', freed.status, { by: asked.operation.name }, interrupted.begun)
  passHolds(draft, plan, freed, interrupted.begun, freed.epoch + 1)
  return start(draft, plan, freed, asked, input, previous, {
    dueAt: mayBeCalling && !asked.forced ? draft.now + asked.operation.graceMs : 0,
    detail: { preempted: runId({ no: resource.no, begun: interrupted.begun }), while: interrupted.phase },
  })
}

function queue(draft: Draft, resource: Resource, asked: Asked, input: Json, key: string | null): Begun {
  if (resource.queue.length >= 100) {
    throw new Refusal(
      'limit_exceeded',
      `Cannot queue ${asked.operation.name} of ${nameOf(resource)}: 100 requests wait already.`,
    )
  }
  const waiting: QueuedRequest = {
    operation: asked.operation.name,
    input,
    by: asked.by,
    at: draft.now,
    key,
    ...(asked.askedBy === null ? {} : { askedBy: asked.askedBy }),
    ...(asked.trace === undefined ? {} : { trace: asked.trace }),
  }
  const after = draft.change(resource, { queue: [...resource.queue, waiting] })
  draft.tell(after, 'queued', resource.status, { operation: asked.operation.name, place: after.queue.length })
  return { resource: after, begun: 0 }
}

interface Start {
  readonly dueAt?: number
  readonly detail?: JsonObject
}

const atOnce: Start = {}
const none: readonly never[] = []
const noResults: JsonObject = {}

/** Acceptance: description cleared, epoch raised, first step entered, in one commit. */
function start(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  asked: Asked,
  input: Json,
  previous: string,
  { dueAt = 0, detail }: Start = atOnce,
): Begun {
  const from = resource.status
  const epoch = resource.epoch + 1
  const run: Run = {
    begun: epoch,
    kind: 'operation',
    operation: asked.operation.name,
    input,
    by: asked.by,
    lane: asked.lane,
    forced: asked.forced,
    previous,
    askedBy: asked.askedBy,
    acceptedAt: draft.now,
    phase: 'step',
    step: 0,
    steps: none,
    results: noResults,
    items: null,
    undoing: none,
    landing: null,
    reasons: asked.forced ? [asked.reason] : none,
    code: '',
    probe: '',
    found: '',
    attempt: 1,
    probes: 0,
    rounds: 0,
    family: 0,
    dueAt,
    deadlineAt: 0,
    progressAt: 0,
    progress: '',
    parked: null,
    uncertain: false,
    owner: draft.situation.claimant,
    resumed: 0,
  }
  const accepted = draft.change(resource, { epoch, run: traced(run, asked.trace), description: '', holder: null })
  const skips = { words: null as string[] | null }
  const after = enterNext(draft, plan, accepted, -1, skips)
  const told: Record<string, Json> = { operation: asked.operation.name }
  if (input !== null) told['input'] = input
  if (asked.forced) told['forced'] = asked.reason
  if (skips.words !== null) told['skipped'] = skips.words
  draft.tell(after, 'accepted', from, Object.assign(told, detail, entered(plan, after)), epoch)
  return { resource: after, begun: epoch }
}

/** What has come to rest and has requests waiting begins the first that is not refused; the refused ones are told and dropped. */
export function beginQueued(draft: Draft): void {
  for (let i = 0; i < draft.writes.length; i++) {
    for (let idle = idleWithQueue(draft, i); idle !== null; idle = idleWithQueue(draft, i)) {
      const [next, ...rest] = idle.queue
      beginNext(draft, draft.change(idle, { queue: rest }), next!)
    }
  }
}

function idleWithQueue(draft: Draft, at: number): Resource | null {
  const resource = draft.writes[at]!
  if (resource.queue.length === 0 || draft.isTransitional(resource)) return null
  return resource.run === null || resource.run.kind === 'drift' ? resource : null
}

function beginNext(draft: Draft, resource: Resource, next: QueuedRequest): void {
  const plan = draft.planOf(resource)
  const operation = plan.operations.get(next.operation)
  const refusal =
    operation === undefined
      ? new Refusal('operation_unknown', `${plan.type} has no operation ${next.operation}.`)
      : attempt(draft, () => {
          const asked: Asked = {
            operation,
            input: next.input,
            isRecorded: true,
            by: next.by,
            lane: operation.removes ? 'delete' : 'user',
            forced: false,
            reason: '',
            askedBy: next.askedBy ?? null,
            trace: next.trace,
          }
          beginRun(draft, plan, resource, asked, next.key)
        })
  if (refusal === null) return
  const reason = refusal.rejection.message
  draft.tell(resource, 'dropped', resource.status, { operation: next.operation, reason }, 0)
  if (next.askedBy !== undefined)
    draft.follow({
      kind: 'relatedRunEnded',
      no: next.askedBy.no,
      begun: next.askedBy.begun,
      item: { no: resource.no, begun: 0 },
      outcome: 'refused',
      reason,
    })
}
