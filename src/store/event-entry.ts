// An event as it stands in a chunk of many, in the stores that keep them so: a list of numbers, and its detail.
import { Defect } from '../base/assert.ts'
import type { Event } from '../decision/state.ts'

export type EventEntry = [
  /** Time and resource, counted from those of the chunk. */
  at: number,
  no: number,
  /** The event before of the same resource, as each store names it. */
  before: number,
  kind: number,
  from: number,
  to: number,
  revision: number,
  epoch: number,
  begun: number,
  /** The place of a text. */
  by: number,
  /** 0: as that of the one before it that has any. */
  detail?: Event['detail'] | 0,
]

/** Whether this is the text of a chunk: its time, its number, texts, and then entries. */
export const isChunk = (list: unknown): list is [at: number, no: number, texts: string[], ...entries: unknown[][]] =>
  Array.isArray(list) && Array.isArray(list[2]) && list.slice(3).every(Array.isArray)

/** The detail of the event at this place of a chunk. */
export function detailAt(entries: readonly EventEntry[], place: number): Event['detail'] {
  const own = entries[place]![10]
  if (own !== 0) return own ?? null
  for (let i = place - 1; i >= 0; i--) {
    const detail = entries[i]![10]
    if (detail !== undefined && detail !== 0) return detail
  }
  throw new Defect(`entry ${place} of a chunk has the detail of one before it, and there is none`)
}
