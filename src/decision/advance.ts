// How a run goes on: into its next step that has something to do, or to its landing.
import { Defect } from '../base/assert.ts'
import type { Millis } from '../base/clock.ts'
import type { JsonObject } from '../base/json.ts'
import type { LandingPlan, OperationPlan, Plan, StepPlan } from '../lifecycle/plan.ts'
import { callDeclared, holds, View } from './conditions.ts'
import { DeclarationDefect, type Draft } from './draft.ts'
import { arrive, endOf, matchMoves, tellAsker, type Matched } from './landing.ts'
import { doubted, meant, orphaned, takenBack } from './ledger.ts'
import { shownStatus } from './owed.ts'
import type { Item, LandingRef, Resource, Run, RunOutcome } from './state.ts'

/** Up to so many related resources move in one commit; more are moved in chunks of this size, the landing last. */
export const cascadeLimit = 500

/** Skipped steps on the way, for the history. */
interface Skips {
  words: string[] | null
}

/**
 * Enters the first step after `after` that is not skipped; lands when there is none. The event is the caller's. `dueAt` of the
 * run holds back the first call: a step that was passed over does not use up the grace.
 */
export function enterNext(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  after: number,
  skips: Skips = { words: null },
): Resource {
  const run = resource.run!
  const operation = plan.operations.get(run.operation)!
  for (let index = after + 1; index < operation.steps.length; index++) {
    const step = operation.steps[index]!
    if (run.forced && step.skippedIfForced) {
      ;(skips.words ??= []).push(`${step.name}: forced`)
      continue
    }
    if (step.when !== null && !holds(draft, resource, step.when, new View(draft, plan, resource))) {
      ;(skips.words ??= []).push(`${step.name}: not ${step.when.words}`)
      continue
    }
    const entered = enter(draft, plan, operation, resource, step)
    if (entered.run!.items === null || entered.run!.items.length > 0) return entered
    // A step over nothing is done at once, and makes nothing; its status shows only if later steps keep it.
    const ledger = takenBack(entered, step, run.begun)
    const passed = ledger === entered.ledger ? entered : draft.change(entered, { ledger })
    return enterNext(draft, plan, passed, index, skips)
  }
  return landSuccess(draft, plan, operation, resource)
}

function enter(draft: Draft, plan: Plan, operation: OperationPlan, resource: Resource, step: StepPlan): Resource {
  const run = resource.run!
  const start = Math.max(draft.now, run.dueAt)
  const entered: Run = {
    ...run,
    phase: 'step',
    step: step.index,
    steps: [...run.steps, step.index],
    items: null,
    attempt: 1,
    rounds: 0,
    deadlineAt: start + (run.forced ? operation.forceMs : step.deadlineMs),
    progressAt: run.forced ? 0 : progressFrom(step, start),
    progress: '',
    uncertain: false,
    resumed: 0,
  }
  const ledger = meant(resource, step, run.begun, draft.now)
  const status = shownStatus(operation, step, run)
  const inStatus =
    step.changes === null && resource.status === status
      ? draft.change(resource, { run: entered, ledger })
      : arrive(draft, plan, resource, {
          status,
          changes: step.changes,
          view: new View(draft, plan, resource),
          run: entered,
          ledger,
          overBusy: run.forced || operation.ifBusy === 'preempt' || run.lane === 'heal',
          mover: { no: resource.no, begun: run.begun },
          description: step.changes?.say == null ? undefined : fillReasons(step.changes.say, run.reasons),
        })
  if (step.forEach === null && step.asks.length === 0) return inStatus
  const items = freezeItems(draft, plan, inStatus, step)
  // The one undo of a step over many is told which they were.
  const results =
    step.forEach === null || step.undo === null
      ? run.results
      : { ...run.results, [step.name]: items.map((item) => draft.get(item.no)!.id) }
  return draft.change(inStatus, { run: { ...entered, items, results } })
}

/** When nothing heard of the step means that it hangs (0: not watched). */
export const progressFrom = (step: StepPlan, start: Millis): Millis =>
  step.progressMs === 0 ? 0 : start + step.progressMs

/** The related resources a step goes over are fixed when it is entered. */
export function freezeItems(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  step: StepPlan,
  attempt = 1,
): readonly Item[] {
  const item = (no: number, relation: string): Item => ({ no, relation, attempt, dueAt: 0 })
  if (step.forEach !== null) {
    const each = step.forEach
    const view = new View(draft, plan, resource)
    return draft
      .related(resource, each.relation)
      .filter((one) => (each.in === null ? !draft.isTerminal(one) : each.in.has(one.status)))
      .filter((one) => each.only === null || callDeclared(resource, each.only.says, each.only.test, view.with(one)))
      .map((one) => item(one.no, each.relation.name))
  }
  return step.asks.flatMap((ask) => {
    const relation = plan.relations.get(ask.relation)!
    const target = draft.plans.get(relation.type)?.operations.get(ask.operation)
    const there = (status: string) => target !== undefined && target.to.length === 1 && target.to[0]!.status === status
    // What the run before this one had asked for, when healing attempts the operation again.
    const isAsked = ({ run }: Resource) => run?.askedBy?.no === resource.no && run.operation === ask.operation
    const isMeant = (one: Resource) => ask.in === null || ask.in.has(one.status) || isAsked(one)
    return draft
      .related(resource, relation)
      .filter((one) => !draft.isTerminal(one) && isMeant(one) && !there(one.status))
      .map((one) => item(one.no, ask.relation))
  })
}

function landSuccess(draft: Draft, plan: Plan, operation: OperationPlan, resource: Resource): Resource {
  const view = new View(draft, plan, resource)
  const at = operation.to.findIndex((landing) => holds(draft, resource, landing.when, view))
  if (at < 0)
    throw new Defect(`${plan.type}.${operation.name}.to has no case that holds; checkLifecycles should have said so`)
  return land(draft, plan, resource, {
    ref: { of: 'to', step: -1, case: at, undoFailed: false },
    landing: operation.to[at]!,
    outcome: resource.run!.forced ? 'forced' : 'succeeded',
    description: fillReasons(
      operation.to[at]!.changes?.say ?? (resource.run!.forced ? 'Forced: {reasons}' : ''),
      resource.run!.reasons,
    ),
  })
}

/** Puts the reasons into a text of the declaration. */
export const fillReasons = (text: string, reasons: readonly string[]): string =>
  text === '' ? '' : text.replaceAll('{reasons}', () => reasons.join(', '))

export interface RunLanding {
  readonly ref: LandingRef
  readonly landing: Pick<LandingPlan, 'status' | 'changes'>
  readonly outcome: RunOutcome
  readonly description: string
  /** The operation is attempted again in the same commit: whoever asked for the run goes on waiting. */
  readonly asksAgain?: boolean
}

const noMoves: readonly Matched[] = []

/** Ends the run: everything in one commit, or, when too much would move, the last commit of a cascade. */
export function land(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  { ref, landing, outcome, description, asksAgain = false }: RunLanding,
): Resource {
  const run = resource.run!
  const mover = { no: resource.no, begun: run.begun }
  const status = landing.status ?? run.previous
  if (status === '')
    throw new DeclarationDefect(
      resource.no,
      `${resource.type} ${resource.id} cannot go back to where it came from: ${run.operation || 'its run'} was begun in no settled status.`,
    )
  const view = new View(draft, plan, resource)
  const overBusy =
    run.kind !== 'operation' ||
    run.forced ||
    run.lane === 'heal' ||
    plan.operations.get(run.operation)?.ifBusy === 'preempt'
  const moves = landing.changes === null ? noMoves : matchMoves(draft, resource, landing.changes.move, view)
  const chunk = moves.length === 0 ? null : chunkOf(moves)
  if (chunk !== null) return cascade(draft, plan, resource, { ref, landing, moves: chunk, overBusy, description })

  const terminal = plan.kinds.get(status) === 'terminal'
  let ledger = doubted(resource.ledger, run.begun, draft.now)
  // What nobody will look after any more: everything of a terminal resource, and what a failed undo left.
  if (terminal) ledger = orphaned(ledger, draft.now)
  else if (ref.undoFailed) ledger = orphaned(ledger, draft.now, (entry) => entry.begun === run.begun)
  const landed = arrive(draft, plan, resource, {
    status,
    changes: landing.changes,
    view,
    moves,
    run: null,
    description,
    ledger,
    overBusy,
    mover,
    holder: null,
    heals: outcome === 'succeeded' || outcome === 'forced' ? 0 : resource.heals,
  })
  draft.end(endOf(draft, resource, outcome, status))
  if (!asksAgain)
    tellAsker(
      draft,
      resource,
      run,
      outcome === 'succeeded' || outcome === 'forced' ? 'succeeded' : 'failed',
      description,
    )
  return landed
}

/** The next chunk, when more change their status than one commit should hold; null: all at once. */
function chunkOf(moves: readonly Matched[]): readonly Matched[] | null {
  // What only gets properties would be matched for ever: it waits for the last commit.
  const movers = moves.map(({ move, items }) => ({
    move,
    items: items.filter((item) => (move.to ?? item.status) !== item.status),
  }))
  if (movers.reduce((sum, { items }) => sum + items.length, 0) <= cascadeLimit) return null
  let room = cascadeLimit
  return movers.map(({ move, items }) => {
    const taken = items.slice(0, room)
    room -= taken.length
    return { move, items: taken }
  })
}

interface Cascade {
  readonly ref: LandingRef
  readonly landing: RunLanding['landing']
  readonly moves: readonly Matched[]
  readonly overBusy: boolean
  readonly description: string
}

/** Moves one chunk under the run's hold; what is there already is not matched again, so a repeated chunk changes nothing. */
function cascade(draft: Draft, plan: Plan, resource: Resource, { ref, landing, ...cascading }: Cascade): Resource {
  const run = resource.run!
  return arrive(draft, plan, resource, {
    ...cascading,
    status: resource.status,
    changes: { ...landing.changes!, set: [], add: [], link: [] },
    view: new View(draft, plan, resource),
    run: {
      ...run,
      phase: 'cascade',
      landing: ref,
      items: null,
      undoing: [],
      attempt: run.phase === 'cascade' ? run.attempt + 1 : 1,
      dueAt: 0,
      deadlineAt: 0,
      progressAt: 0,
    },
    mover: { no: resource.no, begun: run.begun },
  })
}

/** The landing that an operation's run chose earlier, found again in the declaration. */
export function landingOf(plan: Plan, run: Run, ref: LandingRef): Pick<LandingPlan, 'status' | 'changes'> {
  const operation = plan.operations.get(run.operation)!
  if (ref.of === 'to') return operation.to[ref.case]!
  const answer = ref.step < 0 ? operation.onFailure : (operation.steps[ref.step]!.onFailure ?? operation.onFailure)
  const chosen = answer.cases[ref.case]!
  return ref.undoFailed
    ? { status: chosen.ifUndoFails ?? plan.onlyFailed ?? chosen.status, changes: chosen.changes }
    : chosen
}

/** Where the cursor stands, for the history. */
export function entered(plan: Plan, resource: Resource): JsonObject {
  const run = resource.run
  if (run === null) return {}
  const step = plan.operations.get(run.operation)?.steps[run.step]
  return step === undefined ? {} : { next: step.name }
}
