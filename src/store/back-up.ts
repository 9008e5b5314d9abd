// What back-ups of all stores have in common: a restored store begins a new system epoch.

/**
 * How far epochs and incarnations go up. Whatever happened since the back-up was taken raised them by less: an epoch goes up by one at
 * each change of ownership.
 */
export const epochLeap = 1_000_000

/** What is in a back-up, or in a store that was restored from one. */
export interface BackedUp {
  readonly resources: number
  readonly events: number
  /** How often the store was restored. */
  readonly systemEpoch: number
}
