// What a run owes the outside world now. Derived from its state alone, so that nothing is lost with a process: whoever owns the
// run compares this list with the calls under way, starts what is missing and aborts what is no longer owed.
import { toBase36 } from '../base/base36.ts'
import type { OperationPlan, Plan, StepPlan } from '../lifecycle/plan.ts'
import type { Millis } from '../base/clock.ts'
import type { CallName } from './command.ts'
import { runId, type No, type Resource, type Run } from './state.ts'

export class OwedCall {
  readonly name: CallName
  /**
   * driver: call the driver function. ask: request an operation of the item and wait for its run.
   * cascade: nothing to call; report `done` at once and the next chunk is moved.
   */
  readonly does: 'driver' | 'ask' | 'cascade'
  /** The driver's function, or the operation to ask for. */
  readonly function: string
  /** Not before this time. */
  readonly dueAt: Millis
  readonly #resource: Resource

  constructor(resource: Resource, does: OwedCall['does'], fn: string, name: CallName, dueAt: Millis) {
    this.#resource = resource
    this.does = does
    this.function = fn
    this.name = name
    this.dueAt = dueAt
  }

  /** Related resource the call is about, or 0. */
  get item(): No {
    return this.name.item
  }

  /** Stable over attempts, resumption and take-over: what makes a repeated call recognisable. */
  get key(): string {
    const run = this.#resource.run!
    const key = callKey(this.#resource, run, this.name.phase, this.name.item)
    // Every round of an ask is a new request; the driver's key stays the same over rounds.
    return this.does === 'ask' ? `${key}/${run.rounds}` : key
  }

  /** Has the other one the same key? Mostly told without making it. */
  isSame(other: OwedCall): boolean {
    const { phase, step, item } = this.name
    if (phase !== other.name.phase || step !== other.name.step || item !== other.name.item) return false
    return this.key === other.key
  }
}

/** The calls a run owes; empty when it is parked, has no owner or waits for others. */
export function owedCalls(plan: Plan, resource: Resource): readonly OwedCall[] {
  const run = resource.run
  if (run === null || run.parked !== null) return none
  switch (run.phase) {
    case 'step':
      return stepCalls(stepOf(plan, run), resource, run)
    case 'probe':
      return [call(resource, run, 'probe', stepOf(plan, run).probe ?? '', 0, run.probes, run.dueAt)]
    case 'undo':
      return [call(resource, run, 'undo', undoneStep(plan, run).undo ?? '', 0, run.attempt, run.dueAt)]
    case 'healProbe':
      return [call(resource, run, 'healProbe', run.probe, 0, run.probes, run.dueAt)]
    case 'cascade':
      return [call(resource, run, 'cascade', '', 0, run.attempt, run.dueAt, 'cascade')]
  }
}

const none: readonly OwedCall[] = []

function stepCalls(step: StepPlan, resource: Resource, run: Run): readonly OwedCall[] {
  if (run.items === null) return [call(resource, run, 'step', step.name, 0, run.attempt, run.dueAt)]
  // A step that stops at the first failure goes one by one, so that no call is under way when one fails.
  const items = step.forEach?.stopAtFirst === true ? run.items.slice(0, 1) : run.items
  return items.map((item) => {
    const ask = step.asks.find((one) => one.relation === item.relation)
    const dueAt = Math.max(run.dueAt, item.dueAt)
    return ask
      ? call(resource, run, 'step', ask.operation, item.no, item.attempt, dueAt, 'ask')
      : call(resource, run, 'step', step.name, item.no, item.attempt, dueAt)
  })
}

function call(
  resource: Resource,
  run: Run,
  phase: CallName['phase'],
  fn: string,
  item: No,
  attempt: number,
  dueAt: Millis,
  does: OwedCall['does'] = 'driver',
): OwedCall {
  return new OwedCall(resource, does, fn, { phase, step: cursorOf(run), item, attempt }, dueAt)
}

/** The idempotency key of the request that an ask owes. */
export const askKey = (call: string): string => `ask/${call}`

/** The step that is done, asked about or undone now. */
export const cursorOf = (run: Run): number => (run.phase === 'undo' ? (run.undoing[0] ?? run.step) : run.step)

/** Names a call for the driver: run, what it is, item, and the family that a person's retry raises. */
function callKey(resource: Resource, run: Run, phase: CallName['phase'], item: No): string {
  return `${runId({ no: resource.no, begun: run.begun })}/${phase}/${cursorOf(run)}/${item === 0 ? '' : toBase36(item)}/${run.family}`
}

export function stepOf(plan: Plan, run: Run): StepPlan {
  return plan.operations.get(run.operation)!.steps[run.step]!
}

/** The step whose undo is owed now. */
export function undoneStep(plan: Plan, run: Run): StepPlan {
  return plan.operations.get(run.operation)!.steps[run.undoing[0]!]!
}

/** The status of a run at this step. */
export const shownStatus = (operation: OperationPlan, step: StepPlan, { forced }: Pick<Run, 'forced'>): string =>
  forced ? (operation.forcedStatus ?? step.status) : step.status
