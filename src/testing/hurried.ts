// The same lifecycles, lived faster: every declared span of time is cut to what a simulation has patience for, in the same order
// of lengths. Nothing else changes, so what holds for the hurried ones in a storm holds for the others.
import { durationMs } from '../lifecycle/duration.ts'
import { declarationOf, type OperationData, type StepData } from '../lifecycle/declaration.ts'
import type { AnyBody, AnyLifecycle } from '../lifecycle/lifecycle.ts'

/** Longest of each, in milliseconds. */
const longest = {
  deadline: 30_000,
  progress: 10_000,
  grace: 5_000,
  force: 6_000,
  again: 5_000,
  atMost: 20_000,
  timer: 25_000,
  drift: 15_000,
}

const atMost = (ms: number, text: unknown): string =>
  typeof text === 'string' ? `${Math.min(ms, durationMs(text))}ms` : `${ms}ms`

export function hurried(lifecycle: AnyLifecycle): AnyLifecycle {
  const { operations, timers, drift, heal } = declarationOf(lifecycle)
  const body = {
    ...lifecycle.body,
    operations: mapped(operations, hurriedOperation),
    timers: mapped(timers, (timer) => ({
      ...timer,
      ...(timer.after === undefined ? {} : { after: atMost(longest.timer, timer.after) }),
      ...(timer.again === undefined ? {} : { again: atMost(longest.again, timer.again) }),
    })),
    drift: mapped(drift, (row) => ({ ...withAgain(row), every: atMost(longest.drift, row.every) })),
    heal: mapped(heal, (row) => withAgain(row)),
  }
  return { ...lifecycle, body: body as unknown as AnyBody }
}

function hurriedOperation(operation: OperationData): OperationData {
  return withAgain({
    ...operation,
    steps: mapped(operation.steps, hurriedStep),
    ...(operation.grace === undefined ? {} : { grace: atMost(longest.grace, operation.grace) }),
    ...(operation.force === undefined ? {} : { force: atMost(longest.force, operation.force) }),
  })
}

const hurriedStep = (step: StepData): StepData => ({
  ...step,
  deadline: atMost(longest.deadline, step.deadline),
  ...(step.progress === undefined ? {} : { progress: atMost(longest.progress, step.progress) }),
  // A step that asks others calls no driver, so that nothing is retried.
  ...(step.ask === undefined
    ? { retry: { times: step.retry?.times ?? 3, first: atMost(500, step.retry?.first), atMost: '4s' } }
    : {}),
})

/** Wherever something is tried again after a while. */
function withAgain<T>(data: T): T {
  if (Array.isArray(data)) return data.map(withAgain) as T
  if (typeof data !== 'object' || data === null || Object.getPrototypeOf(data) !== Object.prototype) return data
  const slow = data as { readonly again?: unknown; readonly atMost?: unknown }
  if (typeof slow.again === 'string') {
    return { ...data, again: atMost(longest.again, slow.again), atMost: atMost(longest.atMost, slow.atMost) }
  }
  return mapped(data as Record<string, unknown>, (value, key) =>
    key === 'steps' || key === 'input' ? value : withAgain(value),
  ) as T
}

function mapped<V, W>(table: Readonly<Record<string, V>>, map: (value: V, key: string) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, map(value, key)]))
}
