// What must be right before anything runs: the declarations and the drivers. Each check tells all faults at once.
import { HomeostatError } from '../base/errors.ts'
import { checkLifecycles } from '../lifecycle/check-lifecycle.ts'
import { compilePlans } from '../lifecycle/compile-plan.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plan, Plans } from '../lifecycle/plan.ts'
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
  throw new HomeostatError(
    'driver_missing',
    `Drivers lack functions that declarations name: ${missing.join(', ')}. Add them to the drivers.`,
    {
      details: missing,
    },
  )
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
