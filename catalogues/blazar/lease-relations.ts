// How a lease is connected with its reservations and its events, at most one of each type (spec 1.1).
import { event, lease, reservation } from './resource-types.ts'

export const connected = lease.relations({
  reservations: { children: reservation },
  events: { children: event },
  start: { child: event, where: { eventType: 'start_lease' } },
  end: { child: event, where: { eventType: 'end_lease' } },
  beforeEnd: { child: event, where: { eventType: 'before_end_lease' } },
})

export interface LeaseDates {
  readonly name: string
  readonly startDate: number
  readonly endDate: number
}

/** What the functions of create and update look at. */
export interface Looked<Input> {
  readonly resource: { readonly status: string; readonly properties: LeaseDates }
  readonly related: {
    readonly reservations: readonly { readonly id: string }[]
    readonly start: { readonly status: string } | undefined
    readonly beforeEnd: object | undefined
  }
  readonly input: Input
  readonly now: number
}

/** Dates count by the minute, as upstream: the present minute is not past yet. */
export const presentMinute = (now: number): number => Math.floor(now / 60_000) * 60_000
