// Blazar: leases, reservations, events. Declared with the public language alone.
import { events } from './event.ts'
import { leases } from './lease.ts'
import { reservations } from './reservation.ts'

export { leases, reservations, events }

/** The lifecycles of the catalogue by the names of their resources. */
export const blazar = { lease: leases, reservation: reservations, event: events }
