// What exists, or may exist, in the real world for a resource: written before it is made, closed when it is confirmed gone.
import type { Json } from '../base/json.ts'
import type { Millis } from '../base/clock.ts'
import type { StepPlan } from '../lifecycle/plan.ts'
import type { LedgerEntry, Resource } from './state.ts'

/** The call that creates something is about to be owed: the intent is committed with it. */
export function meant(resource: Resource, step: StepPlan, begun: number, now: Millis): readonly LedgerEntry[] {
  if (step.creates === null) return resource.ledger
  // Re-entered (a retry round): the intent stands already.
  if (resource.ledger.some((entry) => entry.begun === begun && entry.step === step.name)) return resource.ledger
  // No number is given twice, so that what is swept is never something newer: the run's own, and a 0 before it for each more.
  const more = resource.ledger.filter((entry) => entry.begun === begun && entry.kind === step.creates).length
  const entry: LedgerEntry = {
    name: `${resource.type}/${resource.id}/${step.creates}/${'0'.repeat(more)}${begun}`,
    kind: step.creates,
    state: 'meant',
    ref: null,
    begun,
    step: step.name,
    since: now,
    sweeper: 0,
  }
  return [...resource.ledger, entry]
}

/** Made by this step of this run. */
const isOf = (entry: LedgerEntry, step: StepPlan, begun: number): boolean =>
  step.creates !== null && entry.begun === begun && entry.step === step.name

/** The step is done: what it creates is there, what it destroys is gone. */
export function confirmed(
  resource: Resource,
  step: StepPlan,
  begun: number,
  ref: Json,
  now: Millis,
): readonly LedgerEntry[] {
  if (step.creates === null && step.destroys === null) return resource.ledger
  return resource.ledger
    .filter((entry) => step.destroys === null || entry.kind !== step.destroys || isOf(entry, step, begun))
    .map((entry) => (isOf(entry, step, begun) ? { ...entry, state: 'there' as const, ref, since: now } : entry))
}

/** What this step of this run created was taken back. */
export function takenBack(resource: Resource, step: StepPlan, begun: number): readonly LedgerEntry[] {
  if (step.creates === null) return resource.ledger
  return resource.ledger.filter((entry) => !isOf(entry, step, begun))
}

/** The run is interrupted or failed: what it was making may or may not be there. */
export function doubted(ledger: readonly LedgerEntry[], begun: number, now: Millis): readonly LedgerEntry[] {
  if (!ledger.some((entry) => entry.state === 'meant' && entry.begun === begun)) return ledger
  return ledger.map((entry) =>
    entry.state === 'meant' && entry.begun === begun ? { ...entry, state: 'unknown' as const, since: now } : entry,
  )
}

/** Nobody owns it any more; perhaps somebody is destroying it. */
export const isOrphan = ({ state }: LedgerEntry): boolean => state === 'orphaned' || state === 'sweeping'

/** Nobody will look after these any more. */
export function orphaned(
  ledger: readonly LedgerEntry[],
  now: Millis,
  of: (entry: LedgerEntry) => boolean = () => true,
): readonly LedgerEntry[] {
  const lost = (entry: LedgerEntry) => !isOrphan(entry) && of(entry)
  if (!ledger.some(lost)) return ledger
  return ledger.map((entry) => (lost(entry) ? { ...entry, state: 'orphaned' as const, since: now } : entry))
}
