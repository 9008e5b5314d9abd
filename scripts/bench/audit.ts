// Looks at a store after a benchmark: statuses, counts, and an unbroken history. A figure from a wrong store is worthless.
import type { StoredEvent } from '../../src/decision/state.ts'
import type { Store } from '../../src/store/store.ts'

export interface Expected {
  /** Resources by type and status, `type/status`. */
  readonly counts: Readonly<Record<string, number>>
  /** Events by kind; kinds that are not named are not looked at. */
  readonly events?: Readonly<Record<string, number>>
}

/** Throws with all that is wrong. */
export async function audit(store: Store, expected: Expected): Promise<void> {
  const faults: string[] = []
  const counts = new Map((await store.counts()).map(({ type, status, count }) => [`${type}/${status}`, count]))
  for (const [name, count] of Object.entries(expected.counts)) {
    if (counts.get(name) !== count) faults.push(`${counts.get(name) ?? 0} resources are ${name}, not ${count}`)
    counts.delete(name)
  }
  for (const [name, count] of counts) if (count > 0) faults.push(`${count} resources are ${name}, which none should be`)
  const live = await store.liveShapes()
  if (live.length > 0) faults.push(`something is still under way: ${JSON.stringify(live)}`)
  const kinds = await walk(store, faults)
  for (const [kind, count] of Object.entries(expected.events ?? {})) {
    if (kinds.get(kind) !== count) faults.push(`${kinds.get(kind) ?? 0} events are ${kind}, not ${count}`)
  }
  if (faults.length > 0) throw new Error(`The store is wrong after the benchmark:\n  ${faults.join('\n  ')}`)
}

/** Every event once, without gaps, chained per resource, each revision following the one before. */
async function walk(store: Store, faults: string[]): Promise<Map<string, number>> {
  const kinds = new Map<string, number>()
  const last = new Map<number, StoredEvent>()
  for (let after = 0; ;) {
    const events = await store.events(after, 5_000)
    for (const event of events) {
      const before = last.get(event.no)
      if (event.n !== after + 1) faults.push(`event ${event.n} comes after ${after}`)
      if ((before?.n ?? 0) !== event.prev) faults.push(`event ${event.n} is chained to ${event.prev}, not ${before?.n}`)
      if (before !== undefined && event.revision < before.revision)
        faults.push(`event ${event.n} goes back in revision`)
      if (before !== undefined && event.from !== before.to) faults.push(`event ${event.n} begins where none ended`)
      if (faults.length > 10) return kinds
      last.set(event.no, event)
      kinds.set(event.kind, (kinds.get(event.kind) ?? 0) + 1)
      after = event.n
    }
    if (events.length === 0) return kinds
  }
}
