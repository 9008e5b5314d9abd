// Finds the resource of an event among the writes of its batch.
import { assert } from '../base/assert.ts'
import type { No } from '../decision/state.ts'
import type { Write } from './store.ts'

/** Events usually come in the same order as the writes, one for each: looking ahead by one is enough. */
export function placeFinder(writes: readonly Write[]): (no: No) => number {
  let at = 0
  let places: Map<No, number> | null = null
  return (no) => {
    if (writes[at]?.after.no === no) return at
    if (writes[at + 1]?.after.no === no) return ++at
    places ??= new Map(writes.map(({ after }, place) => [after.no, place]))
    const place = places.get(no)
    assert(place !== undefined, `an event of resource ${no}, which the batch does not write`)
    at = place
    return place
  }
}
