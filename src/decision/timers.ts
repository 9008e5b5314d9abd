// When a resource is to be woken: declared timers and the rhythm of drift probes, armed by where it stands.
import type { Millis } from '../base/clock.ts'
import type { Plan } from '../lifecycle/plan.ts'
import type { Resource } from './state.ts'

/** The timer that asks whether a stable resource is still as recorded. Declared names cannot contain a space. */
export const driftTimer = 'drift probe'

/**
 * The timers of `after`, given what `before` had. A timer counts from entering its status; one that reads a property is armed
 * again when the property changes; leaving the status disarms it.
 */
export function armedTimers(plan: Plan, before: Resource | null, after: Resource, now: Millis): Resource['timers'] {
  if (plan.timers.length === 0 && plan.drift.size === 0) return after.timers
  const entered = before === null || before.status !== after.status
  const timers: Record<string, Millis> = {}
  for (const timer of plan.timers) {
    if (!timer.in.has(after.status)) continue
    const kept = after.timers[timer.name]
    if (timer.at !== null) {
      const due = after.properties[timer.at]
      const changed = entered || before.properties[timer.at] !== due
      if (!changed && kept !== undefined) timers[timer.name] = kept
      else if (typeof due === 'number' && (changed || kept !== undefined)) timers[timer.name] = due
    } else if (entered) {
      timers[timer.name] = now + timer.afterMs
    } else if (kept !== undefined) {
      timers[timer.name] = kept
    } else if (timer.when !== null && before.properties !== after.properties) {
      // Dropped at a firing whose condition did not hold; a property has changed since.
      timers[timer.name] = after.since + timer.afterMs
    }
  }
  const drift = plan.drift.get(after.status)
  if (drift) timers[driftTimer] = (entered ? undefined : after.timers[driftTimer]) ?? now + drift.everyMs
  return same(timers, after.timers) ? after.timers : timers
}

function same(a: Resource['timers'], b: Resource['timers']): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

export const noTimers: Resource['timers'] = {}
