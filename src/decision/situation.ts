// Everything a decision may know. Which facts were looked for and are not loaded yet is noted (`engine/working-set.ts`); the door loads
// them and decides again: the core stays pure and synchronous whatever the store is.
import type { Millis } from '../base/clock.ts'
import type { EndedRun, Incarnation, KeyRecord, No, Resource } from './state.ts'

/** A question to the store. The relations of the language are all made of these. */
export type Ask =
  | { readonly ask: 'resource'; readonly no: No }
  | { readonly ask: 'named'; readonly type: string; readonly id: string }
  /** All children that are not terminal, of every type, in the order of their numbers. */
  | { readonly ask: 'children'; readonly no: No }
  /** All resources that are not terminal and link to `no` under this name, in the order of their numbers. */
  | { readonly ask: 'linkedBy'; readonly no: No; readonly link: string }
  | { readonly ask: 'key'; readonly key: string }
  | { readonly ask: 'endedRun'; readonly no: No; readonly begun: number }

export interface Situation {
  readonly now: Millis
  resource(no: No): Resource | null
  named(type: string, id: string): Resource | null
  children(no: No): readonly Resource[]
  linkedBy(no: No, link: string): readonly Resource[]
  key(key: string): KeyRecord | null
  endedRun(no: No, begun: number): EndedRun | null
  /** A number for a new resource. */
  nextNo(): No
  /** Who claims a run that is accepted here: the worker of this process, or nobody. */
  readonly claimant: Incarnation
}
