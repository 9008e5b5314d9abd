// Everything that a batch writes, as values for statements. It is made where the batch is understood and carried out where a
// connection is: lists of rows, one after another without brackets. A sheet is plain data, so that it can go to another thread.
import type { SQLInputValue } from 'node:sqlite'
import type { Guard } from '../store.ts'

type Values = SQLInputValue[]

export interface Sheet {
  /** Verified before anything is written. */
  readonly guards: readonly Guard[]

  /** Changes of what is there: each names what it expects to find. */
  readonly steps: Values
  readonly begins: Values
  readonly liveChanges: Values
  readonly settledChanges: Values
  readonly liveDeletes: Values
  /** Like deletes, but the latest end is taken over into the row at rest. */
  readonly releases: Values
  readonly coldChanges: Values
  readonly linkDeletes: Values

  readonly newResources: Values
  readonly newNames: Values
  readonly newLinks: Values
  readonly newLive: Values
  readonly newSettled: Values
  /** Back where it came from: the index need not be touched. */
  readonly sameSettled: Values
  readonly liveEnds: Values

  /** Entries, in the order of their numbers. */
  readonly events: Values
  readonly runs: Values
  readonly keys: Values
  readonly late: Values
  readonly incidents: Values
  readonly records: Values
  readonly journal: Values
}

/** How many values make a row of each. */
export const widths = {
  steps: 10,
  begins: 14,
  liveChanges: 14,
  settledChanges: 12,
  liveDeletes: 3,
  releases: 11,
  coldChanges: 7,
  linkDeletes: 3,
  newResources: 9,
  newNames: 3,
  newLinks: 3,
  newLive: 13,
  newSettled: 10,
  sameSettled: 10,
  liveEnds: 2,
  events: 12,
  runs: 5,
  keys: 5,
  late: 2,
  incidents: 3,
  records: 4,
  journal: 1,
} as const satisfies Record<Exclude<keyof Sheet, 'guards'>, number>

export const emptySheet = (guards: readonly Guard[] = []): Sheet => ({
  guards,
  steps: [],
  begins: [],
  liveChanges: [],
  settledChanges: [],
  liveDeletes: [],
  releases: [],
  coldChanges: [],
  linkDeletes: [],
  newResources: [],
  newNames: [],
  newLinks: [],
  newLive: [],
  newSettled: [],
  sameSettled: [],
  liveEnds: [],
  events: [],
  runs: [],
  keys: [],
  late: [],
  incidents: [],
  records: [],
  journal: [],
})
