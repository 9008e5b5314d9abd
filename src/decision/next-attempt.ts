// When to try again: doubling, bounded, spread. Pure: the spread comes from the resource's number, not from chance.
import type { RetryPlan } from '../lifecycle/plan.ts'
import type { No, Run } from './state.ts'

/** A driver's "look again after": whatever it says, a time that can be reckoned with. */
export const afterMsOf = (given: number): number => (Number.isFinite(given) ? Math.min(Math.max(0, given), 2 ** 40) : 0)

/** Attempts are counted over the rounds of trying again later, so that no two calls of a step have one name. */
export const firstAttempt = (retry: RetryPlan, rounds: number): number => rounds * (retry.times + 1) + 1

/** Its place in the present round. */
export const attemptInRound = (retry: RetryPlan, attempt: number): number => ((attempt - 1) % (retry.times + 1)) + 1

/** As people count: the attempt in its round, and the round. Undoing and cascades have no rounds. */
export function attemptOf(
  retry: RetryPlan | undefined,
  run: Run,
): { readonly attempt: number; readonly round: number } {
  const isOfStep = run.phase === 'step' || run.phase === 'probe'
  const attempt = isOfStep && retry !== undefined ? attemptInRound(retry, run.attempt) : run.attempt
  return { attempt, round: run.rounds + 1 }
}

/** The delay before the attempt after `attempt`: between half and all of the doubled delay, different for each resource. */
export function attemptDelayMs(retry: RetryPlan, attempt: number, no: No): number {
  const full = Math.min(retry.atMostMs, retry.firstMs * 2 ** Math.min(attempt - 1, 30))
  return Math.ceil(full * (0.5 + 0.5 * spread(no, attempt)))
}

/** A number at least 0 and below 1 that looks like chance and is always the same for the same arguments. */
function spread(no: No, attempt: number): number {
  let mixed = (Math.imul((no % 2 ** 32) ^ (attempt * 0x9e3779b9), 0x85ebca6b) ^ (no / 2 ** 32)) >>> 0
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> 0
  return ((mixed ^ (mixed >>> 12)) >>> 0) / 2 ** 32
}

/** The delay before a probe that could not be asked is asked again. */
export const nextProbe = (probes: number, no: No): number =>
  attemptDelayMs({ times: 3, firstMs: 2_000, atMostMs: 30_000 }, probes, no)

/** How long a run waits that was at work when its worker died, the second time and later. */
export const suspicionMs = (times: number, no: No): number =>
  attemptDelayMs({ times: 5, firstMs: 500, atMostMs: 600_000 }, times, no)
