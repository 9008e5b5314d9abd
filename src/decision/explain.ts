// Why a resource stands where it stands, what happens next by itself, and when. Pure: reads facts, changes nothing.
import { isoTime, type Millis } from '../base/clock.ts'
import type { FailurePlan, Plan, Plans, TimerPlan } from '../lifecycle/plan.ts'
import { nameOf, openOperations } from './begin-run.ts'
import type { Found } from './command.ts'
import { holds, View } from './conditions.ts'
import { damageWords, isDamaged } from './damage.ts'
import { Draft } from './draft.ts'
import { isOrphan } from './ledger.ts'
import { attemptOf } from './next-attempt.ts'
import { reachedFrom } from './rules.ts'
import type { Situation } from './situation.ts'
import { nobody, runId, whatFailed, type Resource, type Run } from './state.ts'

export interface Explanation {
  /** From what is seen to why, one sentence each. */
  readonly because: readonly string[]
  /** The next thing that happens without a human; null when only a human moves it on. */
  readonly next: { readonly what: string; readonly at: Millis | null } | null
  /** Within this time it is settled once faults stop; null when settled already, or when it is declared to try for ever. */
  readonly settlesWithinMs: number | null
  readonly allowed: readonly string[]
}

/** How the installation is set: what the bound is computed from. */
export interface Pace {
  readonly leaseMs: number
  readonly healEveryMs: number
  /** Is the incarnation alive, as far as the store knows? */
  readonly isAlive: (owner: number) => boolean
  /** Why a stuck resource is not healed by itself; null when it is. */
  readonly held: (resource: Resource, found: Found) => string | null
  /** Are orphans of this type destroyed by the sweeper, or only listed? */
  readonly isSwept: (type: string) => boolean
}

interface Asker {
  /** Why the attempt before this one failed, as the history tells it. */
  readonly lastFailure?: string | null
  /** Who asks is of this tenant, and is not told the names of what others have; undefined: of all. */
  readonly within?: string | undefined
}

export function explain(
  plans: Plans,
  situation: Situation,
  resource: Resource,
  pace: Pace,
  { lastFailure = null, within }: Asker = {},
): Explanation {
  const plan = plans.get(resource.type)
  if (isDamaged(resource)) return { because: [damageWords(resource)], next: null, settlesWithinMs: null, allowed: [] }
  const draft = new Draft(plans, situation, '')
  draft.within = within
  const allowed = plan === undefined ? [] : openOperations(draft, plan, resource)
  if (plan === undefined) {
    return {
      because: [`No lifecycle of type ${resource.type} is loaded: nothing is known about ${resource.status}.`],
      next: null,
      settlesWithinMs: null,
      allowed,
    }
  }
  const kind = plan.kinds.get(resource.status) ?? 'stable'
  const meaning = plan.meanings.get(resource.status)
  const because = [
    `${nameOf(resource)} is ${resource.status} (${kind}) since ${isoTime(resource.since)}${meaning ? `: ${meaning}` : '.'}`,
    ...(resource.description === '' ? [] : [`It says: ${resource.description}`]),
  ]
  const run = resource.run
  if (run !== null && run.kind !== 'drift') {
    because.push(...runWords(draft, plan, resource, run, pace, lastFailure))
    const isLost = run.parked === null && run.owner !== nobody && !pace.isAlive(run.owner)
    const held = isLost ? pace.held(resource, 'ownerLost') : null
    if (held !== null) return { because: [...because, heldWords(held)], next: null, settlesWithinMs: null, allowed }
    return {
      because,
      next: nextOfRun(plan, situation, resource, run, pace),
      settlesWithinMs: settlesWithin(plan, run, pace),
      allowed,
    }
  }
  if (kind === 'transitional') {
    because.push(...unownedWords(draft, resource))
    const holder = livingHolder(situation, resource)
    const ofHolder = holder === null ? undefined : plans.get(holder.type)
    if (holder !== null && ofHolder !== undefined) {
      const next = nextOfRun(ofHolder, situation, holder, holder.run, pace)
      return {
        because,
        next: next === null ? null : { ...next, what: `Of ${draft.nameOf(holder)}: ${next.what}` },
        settlesWithinMs: settlesWithin(ofHolder, holder.run, pace),
        allowed,
      }
    }
    const held = pace.held(resource, 'unowned')
    if (held !== null) return { because: [...because, heldWords(held)], next: null, settlesWithinMs: null, allowed }
    return {
      because,
      next: nextOfUnowned(plan, situation, resource, pace),
      settlesWithinMs: boundWithoutRun(pace),
      allowed,
    }
  }
  const orphans = resource.ledger.filter(isOrphan)
  if (orphans.length > 0)
    because.push(
      `It left behind ${orphans.map((entry) => entry.name).join(', ')}: ${orphanWords(orphans.length === 1 ? 'it' : 'them', pace.isSwept(resource.type))}.`,
    )
  if (allowed.length > 0) because.push(`It may be asked to ${allowed.join(', ')}.`)
  return { because, next: nextTimer(draft, plan, resource), settlesWithinMs: null, allowed }
}

const orphanWords = (them: string, isSwept: boolean): string =>
  isSwept
    ? `the sweeper looks after ${them}`
    : `nothing of this type is swept by itself, somebody has to sweep, adopt or write ${them} off`

const heldWords = (held: string): string => `Nothing happens by itself: ${held}. Healing can be approved or asked for.`

function runWords(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  run: Run,
  pace: Pace,
  lastFailure: string | null,
): string[] {
  const words: string[] = []
  const id = runId({ no: resource.no, begun: run.begun })
  const operation = plan.operations.get(run.operation)
  const step = operation?.steps[run.step]
  const what =
    run.kind === 'heal'
      ? `Healing ${id}${run.operation === '' ? '' : ` of ${run.operation}`}`
      : `Run ${id} of ${run.operation}`
  words.push(
    `${what}, asked by ${run.by} at ${isoTime(run.acceptedAt)}${run.forced ? ` and forced (${run.reasons[0]})` : ''}, is under way.`,
  )
  if (step !== undefined && run.phase !== 'healProbe') {
    const where = {
      step: 'It is in',
      probe: 'It asks whether a cut call happened, in',
      undo: 'It is being undone after',
      cascade: 'It moves related resources after',
      healProbe: '',
    }[run.phase]
    const { attempt, round } = attemptOf(step.retry, run)
    words.push(
      `${where} step ${step.index + 1} of ${operation!.steps.length}, ${step.name}, attempt ${attempt}${round === 1 ? '' : ` of round ${round}`}.`,
    )
  }
  if (lastFailure !== null && !run.reasons.includes(lastFailure))
    words.push(`The attempt before failed: ${lastFailure}.`)
  if (run.progress !== '') words.push(`Its driver last said: ${run.progress}`)
  const failed = whatFailed(run)
  if (failed.length > 0) words.push(`What failed: ${failed.join(', ')}.`)
  if (run.items !== null && run.items.length > 0) words.push(itemWords(draft, run))
  if (run.parked !== null) words.push(`It is parked since ${isoTime(run.parked.at)}: ${run.parked.reason}`)
  else if (run.owner === nobody) words.push('No worker has taken it yet.')
  else
    words.push(pace.isAlive(run.owner) ? `Worker ${run.owner} is carrying it out.` : `Its worker ${run.owner} is gone.`)
  return words
}

function itemWords(draft: Draft, run: Run): string {
  const names = run.items!.slice(0, 5).map(({ no }) => {
    const item = draft.situation.resource(no)
    return item === null ? String(no) : draft.seen(item) === null ? 'one of another tenant' : item.id
  })
  return `It waits for ${names.join(', ')}${run.items!.length > 5 ? ` and ${run.items!.length - 5} more` : ''}.`
}

function nextOfRun(plan: Plan, situation: Situation, resource: Resource, run: Run, pace: Pace): Explanation['next'] {
  if (run.parked !== null) return null
  if (run.owner !== nobody && !pace.isAlive(run.owner))
    return {
      what: `It is healed: ${plan.heal.get(resource.status)?.words ?? 'resumed'}.`,
      at: situation.now + pace.healEveryMs,
    }
  if (run.owner === nobody) return { what: 'A worker claims it.', at: Math.max(run.dueAt, situation.now) }
  if (run.dueAt > situation.now) return { what: waitWords(plan, run), at: run.dueAt }
  if (run.progressAt !== 0 && (run.deadlineAt === 0 || run.progressAt < run.deadlineAt))
    return { what: 'If nothing is heard by then, the call is taken as cut.', at: run.progressAt }
  if (run.deadlineAt === 0) return { what: 'It goes on at once.', at: situation.now }
  return { what: `If it is not done by then: ${lateWords(plan, run)}.`, at: run.deadlineAt }
}

/** What a run waits for: the end of the call it interrupted, or its next look or attempt. */
function waitWords(plan: Plan, run: Run): string {
  const graceMs = plan.operations.get(run.operation)?.graceMs ?? 0
  const isGrace = graceMs > 0 && run.dueAt === run.acceptedAt + graceMs
  return isGrace
    ? 'Its first call is made once the interrupted one has ended, and at the latest then.'
    : 'The call is made again.'
}

function lateWords(plan: Plan, run: Run): string {
  const operation = plan.operations.get(run.operation)
  const step = operation?.steps[run.step]
  if (run.phase === 'undo') return 'undoing counts as failed'
  if (run.phase !== 'step' || operation === undefined || step === undefined) return 'the answer counts as unknown'
  if (run.forced) return 'it goes on without it'
  if (step.probe !== null) return `${step.probe} is asked whether it happened all the same`
  return failureWords(step.onFailure ?? operation.onFailure)
}

function failureWords(answer: FailurePlan): string {
  if (answer.tryAgain !== null) return `it is tried again after ${answer.tryAgain.againMs / 1000} s`
  const words = answer.cases.map(
    (one) =>
      `${one.undo ? 'it is undone and put' : 'it is put'} ${one.status === null ? 'back where it came from' : `to ${one.status}`}`,
  )
  return words.join(', or ')
}

/** The one whose run moved it where it stands, while that run lives. */
function livingHolder(situation: Situation, { holder }: Resource): (Resource & { readonly run: Run }) | null {
  const by = holder === null ? null : situation.resource(holder.no)
  const run = by?.run ?? null
  return by !== null && run !== null && run.begun === holder!.begun ? { ...by, run } : null
}

function unownedWords(draft: Draft, resource: Resource): string[] {
  const holder = resource.holder
  if (holder === null) return ['No run is recorded for it: it was imported, edited by hand, or there is a bug.']
  const by = livingHolder(draft.situation, resource)
  return [
    by === null
      ? `Run ${runId(holder)}, which moved it there, has ended.`
      : `Run ${runId(holder)} of ${draft.nameOf(by)} moved it there and will move it on.`,
  ]
}

function nextOfUnowned(plan: Plan, situation: Situation, resource: Resource, pace: Pace): Explanation['next'] {
  return { what: `It is healed: ${plan.heal.get(resource.status)?.words ?? ''}.`, at: situation.now + pace.healEveryMs }
}

type Next = NonNullable<Explanation['next']> & { readonly at: Millis }

/** Its own timers, and those of others that ask something of it: the events of a lease start and end it. */
function nextTimer(draft: Draft, plan: Plan, resource: Resource): Explanation['next'] {
  const own = Object.entries(resource.timers).map(([name, at]): Next => {
    const timer = plan.timers.find((one) => one.name === name)
    return { what: timer === undefined ? driftWords : timerWords(draft, plan, resource, timer), at }
  })
  const [first] = [...own, ...timersOfOthers(draft, plan, resource)].sort((a, b) => a.at - b.at)
  return first ?? null
}

const driftWords = 'The driver is asked whether it is still as recorded.'

function timerWords(draft: Draft, plan: Plan, resource: Resource, timer: TimerPlan): string {
  const asks = timer.asks.map(
    ({ relation, operation }) => `${operation}${relation === null ? '' : ` of its ${relation.name}`}`,
  )
  return `Timer ${timer.name} asks for ${asks.join(' and ')}${conditionWords(draft, plan, resource, timer)}.`
}

/** What is not so yet, and would have to be. */
const conditionWords = (draft: Draft, plan: Plan, resource: Resource, { when }: TimerPlan): string =>
  when === null || holds(draft, resource, when, new View(draft, plan, resource)) ? '' : `, if by then ${when.words}`

/** Only for what may begin where it stands: of a lease that waits, the end is not next. */
function timersOfOthers(draft: Draft, plan: Plan, resource: Resource): Next[] {
  const found: Next[] = []
  for (const other of draft.plans.all)
    for (const timer of other.timers)
      for (const { relation, operation } of timer.asks) {
        if (relation?.type !== plan.type || !plan.operations.get(operation)?.from.has(resource.status)) continue
        for (const by of reachedFrom(draft, resource, other.type, relation)) {
          const at = by.timers[timer.name]
          if (at === undefined || !draft.related(by, relation).some(({ no }) => no === resource.no)) continue
          const condition = conditionWords(draft, other, by, timer)
          found.push({ what: `Timer ${timer.name} of ${draft.nameOf(by)} asks for ${operation}${condition}.`, at })
        }
      }
  return found
}

type Bounds = Pick<Pace, 'leaseMs' | 'healEveryMs'>

const boundWithoutRun = (pace: Bounds): number => pace.leaseMs + pace.healEveryMs * 2 + 60_000

/**
 * The bound of G1 for one run: the lease must lapse, a pass must find it, and every step that is left (and every undo of those
 * begun) may use up its deadline. Null where the declaration says to try for ever.
 */
function settlesWithin(plan: Plan, run: Run, pace: Bounds): number | null {
  const operation = plan.operations.get(run.operation)
  if (run.parked !== null) return null
  if (operation === undefined) return boundWithoutRun(pace)
  const left = operation.steps.slice(run.step)
  // Forced, it is tried once and briefly, and goes on whatever happens.
  if (run.forced) return pace.leaseMs + pace.healEveryMs * 2 + left.length * (operation.forceMs + 60_000)
  if (left.some((step) => (step.onFailure ?? operation.onFailure).tryAgain !== null)) return null
  const doing = left.reduce((sum, step) => sum + step.deadlineMs + 60_000, 0)
  const undoing = operation.steps
    .filter((step) => step.undo !== null)
    .reduce((sum, step) => sum + (step.deadlineMs + step.retry.atMostMs) * (step.retry.times + 1), 0)
  return pace.leaseMs + pace.healEveryMs * 2 + doing + undoing
}
