// When a resource is to be woken: declared timers and the rhythm of drift probes, armed by where it stands.
import type { Millis } from '../base/clock.ts'
import type { Plan, TimerPlan } from '../lifecycle/plan.ts'
import type { Resource } from './state.ts'

/** The timer that asks whether a stable resource is still as recorded. Declared names cannot contain a space. */
export const driftTimer = 'drift probe'

/** A time that has passed is asked for again after this long where nothing else is declared: not at once, again and again. */
const pauseMs = 60_000

/** Who asks where a timer does. */
export const timerAsks = (name: string, { type, id }: Resource): string => `timer ${name} of ${type} ${id}`

/**
 * The timers of `after`, given what `before` had: armed when their status is entered, and again when the property that holds
 * their time or one that their condition looks at has changed; disarmed on leaving, and where its properties forbid it. A follower is probed with its leader.
 */
export function armedTimers(plan: Plan, before: Resource | null, after: Resource, now: Millis): Resource['timers'] {
  if (plan.timers.length === 0 && plan.drift.size === 0) return after.timers
  if (plan.kinds.get(after.status) === 'terminal') return noTimers
  const entered = before === null || before.status !== after.status
  const timers: Record<string, Millis> = {}
  for (const timer of plan.timers) {
    if (!timer.in.has(after.status)) continue
    const isArmed = entered || isRearmed(timer, before, after)
    const due = isArmed ? dueAt(timer, after, entered ? now : after.since) : after.timers[timer.name]
    if (due === undefined) continue
    timers[timer.name] = entered && hasAsked(timer, before, after, due) ? now + (timer.againMs || pauseMs) : due
  }
  const drift = plan.pair?.leads === false ? undefined : plan.drift.get(after.status)
  if (drift) timers[driftTimer] = (entered ? undefined : after.timers[driftTimer]) ?? now + drift.everyMs
  return same(timers, after.timers) ? after.timers : timers
}

function isRearmed(timer: TimerPlan, before: Resource, after: Resource): boolean {
  if (before.properties === after.properties) return false
  const differs = (name: string): boolean => before.properties[name] !== after.properties[name]
  if (timer.at !== null && differs(timer.at)) return true
  return timer.when !== null && timer.when.terms.some((term) => term.term === 'property' && differs(term.name))
}

/** The run that it asked for has led to where it runs, and its time is still the one for which it did. */
function hasAsked(timer: TimerPlan, before: Resource | null, after: Resource, due: Millis): boolean {
  if (timer.at === null) return false
  const run = after.run ?? before?.run ?? null
  return run !== null && due <= run.acceptedAt && run.by === timerAsks(timer.name, after)
}

function dueAt(timer: TimerPlan, after: Resource, since: Millis): Millis | undefined {
  // As long as its own properties forbid it, it need not wake anybody: a change of them arms it again.
  for (const term of timer.when?.terms ?? [])
    if (term.term === 'property' && !term.values.includes(after.properties[term.name])) return undefined
  if (timer.at === null) return since + timer.afterMs
  const due = after.properties[timer.at]
  return typeof due === 'number' && Number.isFinite(due) ? due : undefined
}

function same(a: Resource['timers'], b: Resource['timers']): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}

export const noTimers: Resource['timers'] = {}
