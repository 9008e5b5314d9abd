// What must be right before anything runs: the declarations, the drivers, and that every stored resource that is on its way
// stands in a status and step that is still declared. Each check tells all faults at once.
import { HomeostatError } from '../base/errors.ts'
import type { Resource } from '../decision/state.ts'
import { checkLifecycles } from '../lifecycle/check-lifecycle.ts'
import { compilePlans } from '../lifecycle/compile-plan.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plan, Plans } from '../lifecycle/plan.ts'
import type { Store } from '../store/store.ts'
import type { Log } from './log.ts'
import type { AnyDriver } from './run-step.ts'

interface Prepared {
  readonly lifecycles: readonly AnyLifecycle[]
  readonly faults: ReturnType<typeof checkLifecycles>
  plans: Plans | null
}

/** Declarations are data that never changes: engines made from the same ones share their check and their plans. */
const prepared = new WeakMap<AnyLifecycle, Prepared[]>()

function prepare(lifecycles: readonly AnyLifecycle[]): Prepared {
  const first = lifecycles[0]
  const known = first === undefined ? [] : (prepared.get(first) ?? [])
  const isSame = (one: Prepared) =>
    one.lifecycles.length === lifecycles.length && one.lifecycles.every((lifecycle, i) => lifecycle === lifecycles[i])
  const found = known.find(isSame)
  if (found !== undefined) return found
  const made: Prepared = { lifecycles: [...lifecycles], faults: checkLifecycles(lifecycles), plans: null }
  if (first !== undefined) prepared.set(first, [...known, made])
  return made
}

/** The plans of valid declarations; throws with all faults of others. */
export function plansOf(lifecycles: readonly AnyLifecycle[], log: Log): Plans {
  const ready = prepare(lifecycles)
  requireValid(ready.faults, log)
  return (ready.plans ??= compilePlans(lifecycles))
}

function requireValid(faults: Prepared['faults'], log: Log): void {
  for (const { severity, path, fault, suggestion } of faults) {
    if (severity === 'warning') log('warn', `${path}: ${fault}`, { suggestion })
  }
  const errors = faults.filter((one) => one.severity === 'error')
  if (errors.length === 0) return
  const lines = errors.map(
    ({ path, fault, suggestion }) => `${path}: ${fault}${suggestion === '' ? '' : ` (${suggestion})`}`,
  )
  throw new HomeostatError('lifecycle_invalid', `The declaration has ${errors.length} faults:\n${lines.join('\n')}`, {
    details: errors,
  })
}

/** Every function that a declaration names is there. */
export function requireDrivers(plans: Plans, drivers: ReadonlyMap<string, AnyDriver>): void {
  const missing: string[] = []
  for (const plan of plans.all) {
    const driver = drivers.get(plan.type)
    for (const name of functionsOf(plan)) {
      if (typeof driver?.[name] !== 'function') missing.push(`${plan.type}: ${name}`)
    }
  }
  if (missing.length === 0) return
  throw new HomeostatError('driver_missing', `Drivers lack functions that declarations name: ${missing.join(', ')}.`, {
    details: missing,
  })
}

/** Names of the driver functions that a declaration uses: steps that do not ask others, undos, probes. */
export function functionsOf(plan: Plan): ReadonlySet<string> {
  const names = new Set<string>()
  for (const operation of plan.operations.values()) {
    for (const step of operation.steps) {
      if (step.asks.length === 0) names.add(step.name)
      if (step.undo !== null) names.add(step.undo)
      if (step.probe !== null) names.add(step.probe)
    }
  }
  for (const row of plan.heal.values()) if (row.probe !== null) names.add(row.probe.name)
  for (const row of plan.drift.values()) names.add(row.probe.name)
  return names
}

/** A status or step that nobody declares any more, while resources stand in it, stops the start: nothing is guessed. */
export async function requireKnownShapes(plans: Plans, store: Store): Promise<void> {
  const unknown: { type: string; status: string; operation: string; step: number; count: number; why: string }[] = []
  for (const shape of await store.liveShapes()) {
    const why = strangerBecause(plans, shape)
    if (why !== null) unknown.push({ ...shape, why })
  }
  if (unknown.length === 0) return
  const lines = unknown.map(({ type, status, count, why }) => `${count} ${type} in ${status}: ${why}`)
  throw new HomeostatError(
    'lifecycle_missing',
    `Stored resources are on their way where the declarations know no way:\n${lines.join('\n')}\n` +
      'Load the declaration that knows them and let them settle, or move them with setStatus, then start again.',
    { details: unknown },
  )
}

/** Another process may have a newer declaration: what it began and nobody here can carry on is left to it. */
export function isKnownHere(plans: Plans, resource: Resource): boolean {
  const { type, status, run } = resource
  if (plans.get(type) === undefined) return false
  return strangerBecause(plans, { type, status, operation: run?.operation ?? '', step: run?.step ?? -1 }) === null
}

function strangerBecause(
  plans: Plans,
  shape: { type: string; status: string; operation: string; step: number },
): string | null {
  const plan = plans.get(shape.type)
  // Types that this process does not know are another process's business.
  if (plan === undefined) return null
  if (!plan.kinds.has(shape.status))
    return `the status is not declared (declared: ${[...plan.kinds.keys()].join(', ')})`
  if (shape.operation === '') return null
  const operation = plan.operations.get(shape.operation)
  if (operation === undefined) return `the operation ${shape.operation} of its run is not declared`
  if (shape.step >= operation.steps.length) return `step ${shape.step} of ${shape.operation} is not declared`
  return null
}
