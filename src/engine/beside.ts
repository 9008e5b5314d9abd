// What is written beside resources together with a command that is accepted: records and entries of the journal. All or nothing:
// where a record is not as it was read, its command is refused and changes nothing.
import { assert } from '../base/assert.ts'
import type { Json } from '../base/json.ts'
import type { Accepted } from '../decision/decision.ts'
import type { Batch, Beside, CommitAnswer, RecordChange, RecordName } from '../store/store.ts'
import type { Item } from './command-queue.ts'

/** Made when the command has been decided; may be made several times, until a commit succeeds. */
export type BesideOf = (accepted: Accepted) => Beside

const nameOf = ({ kind, key }: RecordName): string => `${kind}\n${key}`

/** The batch with what its commands bring along; null when two of them change the same record, and must go one after another. */
export function withBeside(batch: Batch, items: readonly Item[]): Batch | null {
  if (items.every(({ beside }) => beside === undefined)) return batch
  const records: RecordChange[] = []
  const journal: Json[] = []
  const seen = new Set<string>()
  for (const { beside, decision } of items) {
    if (beside === undefined || !decision?.accepted) continue
    const made = beside(decision)
    const own = (made.records ?? []).map(nameOf)
    assert(new Set(own).size === own.length, 'a command changes the same record twice')
    if (own.some((name) => seen.has(name))) return null
    for (const name of own) seen.add(name)
    records.push(...(made.records ?? []))
    journal.push(...(made.journal ?? []))
  }
  return records.length === 0 && journal.length === 0 ? batch : { ...batch, records, journal }
}

/** The commands whose records are not as they were read, and the others. */
export function blamed(
  items: readonly Item[],
  { records = [] }: CommitAnswer & { committed: false },
): { readonly blamed: Item[]; readonly others: Item[] } {
  const named = new Set(records.map(nameOf))
  const isBlamed = ({ beside, decision }: Item) =>
    beside !== undefined &&
    decision?.accepted === true &&
    (beside(decision).records ?? []).some((change) => named.has(nameOf(change)))
  return { blamed: items.filter(isBlamed), others: items.filter((item) => !isBlamed(item)) }
}
