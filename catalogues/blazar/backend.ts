// The port to what is leased: what a deployer implements for hosts, floating IPs or anything else that is reserved for a time.
// Every call may be repeated with the same key, and comes with the epoch of its owner: a lower one must change nothing. An error
// with one of the codes of `nonFatal` leaves an updated lease as it was; a TerminalError is not tried again.
import type { Sweeper } from 'homeostat'
import type { Guard } from 'homeostat/worlds'

export interface LeaseDates {
  readonly id: string
  readonly startDate: number
  readonly endDate: number
}

/** One reservation of a lease, as it is to be. */
export interface Reserved {
  readonly lease: LeaseDates
  readonly id: string
  readonly resourceType: string
  readonly amount: number
  /** Unique for this reservation and stable: make what is reserved under this name, so that it can be found again. */
  readonly name: string
}

/** What is really there of a reservation. */
export interface Seen {
  readonly amount: number
  readonly startDate: number
  readonly endDate: number
  readonly isStarted: boolean
}

export interface Backend {
  /** What can be reserved. */
  readonly resourceTypes: readonly string[]
  /** Sets it aside for the time of the lease. */
  reserve(reserved: Reserved, guard: Guard): Promise<void>
  /** Changes what is set aside: another amount, other dates. */
  change(reserved: Reserved, guard: Guard): Promise<void>
  onStart(reserved: Reserved, guard: Guard): Promise<void>
  /** Gives it back, started or not. Must succeed when it is gone already. */
  onEnd(reserved: Reserved, guard: Guard): Promise<void>
  /** Gives back everything whose name begins with `allocation/`. Must succeed when nothing is there. */
  release(allocation: string, guard: Guard): Promise<void>
  /** Tells everything that the lease holds that it ends soon. */
  beforeEnd(lease: LeaseDates, guard: Guard): Promise<void>
  /** Whether that was told for this end. */
  isEndTold(lease: LeaseDates, guard: Guard): Promise<boolean>
  /** What is there; null: nothing. */
  look(reserved: Reserved, guard: Guard): Promise<Seen | null>
  /** Usage enforcement: the lease no longer counts. What it throws is ignored. */
  endUsage?(lease: LeaseDates, guard: Guard): Promise<void>
  /** Finds and destroys what was reserved and nobody owns. */
  readonly sweeper?: Sweeper
}
