// What every store derives from a state in order to find it again: whether it is live, when it is to be woken, whether it
// has orphans. The same functions for all stores, so that they cannot disagree.
import type { Millis } from '../base/clock.ts'
import { isOrphan } from '../decision/ledger.ts'
import type { StatusKind } from '../lifecycle/resource-type.ts'
import { Defect } from '../base/assert.ts'
import { isLate, numberOfGeneratedId, overdueAt, type LedgerEntry, type Resource, type Run } from '../decision/state.ts'
import type { WorkQuery } from './store.ts'

/** Something is under way with it, or should be. */
export const isLive = (resource: Resource, kind: StatusKind): boolean =>
  resource.run !== null || resource.holder !== null || kind === 'transitional'

/** Whether the id is made from the number. Another's id may not look as if it were: such ids are in no index. */
export function hasGeneratedId({ no, id }: Resource): boolean {
  const numbered = numberOfGeneratedId(id)
  if (numbered !== null && numbered !== no)
    throw new Defect(`resource ${no} has the id ${id}, which is made from another number`)
  return numbered !== null
}

/** When the earliest timer is due; null when none is armed. */
export function wakeOf(timers: Resource['timers']): Millis | null {
  let earliest: Millis | null = null
  for (const name in timers) {
    const due = timers[name]!
    if (earliest === null || due < earliest) earliest = due
  }
  return earliest
}

export const hasOrphan = (ledger: readonly LedgerEntry[]): boolean => ledger.some(isOrphan)

/** As a column that is searched by: null where there is nothing to find. */
export const orphansOf = ({ ledger }: Resource): 1 | null => (ledger.length > 0 && hasOrphan(ledger) ? 1 : null)

/** When the next call is due, as a column: a parked run is due to nobody. */
export const dueOf = (run: Run | null): Millis | null => (run === null || run.parked !== null ? null : run.dueAt)

/** When a run is overdue, as a column. */
export const overdueOf = (run: Run | null): Millis | null => (run === null ? null : overdueAt(run) || null)

/** Whether a live resource is what a query looks for. Timers are asked of all resources, not only of live ones. */
export function isWork(query: WorkQuery, resource: Resource, kind: StatusKind, now: Millis): boolean {
  const { run } = resource
  switch (query.work) {
    case 'ownedBy':
      return run !== null && query.owners.includes(run.owner)
    case 'waiting':
      return run !== null && run.owner === 0 && run.parked === null && run.dueAt <= now
    case 'withoutRun':
      return run === null && kind === 'transitional'
    case 'overdue':
      return run !== null && isLate(run, now)
    case 'timers':
      return (wakeOf(resource.timers) ?? Infinity) <= now
    case 'orphans':
      return hasOrphan(resource.ledger)
  }
}
