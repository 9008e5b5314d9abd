// The steps of a run as people look at them: what is done, under way, to come, and taken back.
import { z } from 'zod'
import type { Run, StoredEvent } from '../decision/state.ts'
import type { RunView } from '../engine/run-view.ts'
import type { OperationPlan } from '../lifecycle/plan.ts'
import type { step } from '../protocol/shapes.ts'

type WireStep = z.infer<typeof step>

/** From the run itself while it is under way; from what it told once it has ended. */
export function stepsOf(operation: OperationPlan, view: RunView, events: readonly StoredEvent[]): WireStep[] {
  const states = view.live === null ? endedStates(operation, view, events) : liveStates(operation, view.live)
  const results = view.live?.results ?? {}
  return operation.steps.map(({ name, status, index }) => ({
    name,
    status,
    state: states[index]!,
    ...(results[name] === undefined ? {} : { result: results[name] }),
  }))
}

function liveStates(operation: OperationPlan, run: Run): WireStep['state'][] {
  const begun = new Set(run.steps)
  const isUndoing = run.phase === 'undo'
  return operation.steps.map(({ index }) => {
    if (isUndoing && run.undoing[0] === index) return 'undoing'
    if (isUndoing && begun.has(index) && !run.undoing.includes(index)) return index === run.step ? 'failed' : 'undone'
    if (index === run.step) return isUndoing ? 'failed' : 'running'
    if (index > run.step) return 'todo'
    return begun.has(index) ? 'done' : 'skipped'
  })
}

function endedStates(operation: OperationPlan, view: RunView, events: readonly StoredEvent[]): WireStep['state'][] {
  const done = new Set(events.filter(({ kind }) => kind === 'stepDone').map(({ detail }) => detail?.['step']))
  // The end of the last undo is told with the landing.
  const undone = new Set(events.flatMap(({ detail }) => detail?.['undone'] ?? []))
  const failures = events.filter(isFailure)
  const failed = new Set(failures.filter((event) => !isTriedLater(event)).map(({ detail }) => detail?.['step']))
  const failedOnce = new Set(failures.map(({ detail }) => detail?.['step']))
  const skipped = new Set<unknown>(events.flatMap(({ detail }) => skippedIn(detail)))
  const isDone = view.state === 'succeeded'
  return operation.steps.map(({ name }) => {
    if (undone.has(name)) return 'undone'
    if (failed.has(name)) return 'failed'
    if (done.has(name)) return 'done'
    if (skipped.has(name)) return 'skipped'
    // The last step's end is told with the landing; a step over nothing is done without a word.
    return isDone ? 'done' : failedOnce.has(name) ? 'failed' : 'todo'
  })
}

/** Events name what was passed over with its reason, `name: reason`, and the step that a person vouched for. */
const skippedIn = (detail: StoredEvent['detail']): readonly unknown[] => {
  const told = detail?.['skipped']
  const passed = Array.isArray(told) ? told.map((words) => String(words).split(':', 1)[0]) : []
  return detail?.['skip'] === true ? [...passed, detail['step']] : passed
}

/** A round of what is tried until it works: it may have worked since. */
const isTriedLater = ({ kind, detail }: StoredEvent): boolean => kind === 'failed' && detail?.['phase'] === 'step'

/** What failed for good; without an undo that is told with the landing. */
export const isFailure = ({ kind, detail }: StoredEvent): boolean =>
  kind === 'failed' || (kind === 'landed' && detail?.['failed'] === true)
