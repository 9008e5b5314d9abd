// Everything that a batch writes, as values for statements. It is made where the batch is understood and carried out where a
// connection is, which may be another thread.
import type { Guard } from '../store.ts'
import { Values } from './values.ts'

/** What the values of a row are, list by list: n is a number, t a text; any may be null. */
export const columns = {
  // Changes of what is there: each names what it expects to find.
  steps: 'nnnnnnnnnt',
  begins: 'nnnnnnnntttnnn',
  liveChanges: 'nnnnnnnntttnnn',
  settledChanges: 'nnnnnnnntnnn',
  liveDeletes: 'nnn',
  /** Like deletes, but the latest end is taken over into the row at rest. */
  releases: 'nnnnnnntnnn',
  /** At rest, and left where it is. */
  rests: 'nnnnnntnnn',
  coldChanges: 'nnttttn',
  linkDeletes: 'ntn',

  newResources: 'ntnnttntt',
  newNames: 'ttn',
  newLinks: 'ntn',
  newLive: 'nnnnnnnnnnttt',
  newSettled: 'nnnnnnnnnt',
  /** Back where it came from: the index need not be touched. */
  sameSettled: 'nnnnnnnnnt',
  liveEnds: 'nn',
  /** Numbers of what has lingered among the live, as a JSON text. */
  moves: 't',

  // Entries, in the order of their numbers.
  /** Who did it is repeatable. */
  events: 'nnnnnnnnnntt',
  runs: 'nnnnt',
  keys: 'ttnnn',
  late: 'nt',
  incidents: 'ntt',
  records: 'ttnt',
  journal: 't',
} as const

export type ListName = keyof typeof columns
export const listNames = Object.keys(columns) as ListName[]

export interface Sheet extends Readonly<Record<ListName, Values>> {
  /** The lists of all names: gone through for every batch, where looking them up by name takes longer. */
  readonly lists: readonly Values[]
  /** Verified before anything is written. */
  guards: readonly Guard[]
}

export function emptySheet(): Sheet {
  const named = listNames.map((name) => [name, new Values(columns[name])] as const)
  const lists = named.map(([, values]) => values)
  return { guards: [], lists, ...(Object.fromEntries(named) as Record<ListName, Values>) }
}

/** For the next batch: what was written before is gone, the room for it stays. */
export function clear(sheet: Sheet, guards: readonly Guard[]): void {
  sheet.guards = guards
  for (const values of sheet.lists) if (values.length > 0) values.clear()
}
