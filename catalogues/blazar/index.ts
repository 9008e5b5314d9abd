// Blazar: leases, reservations, events. Declared with the public language alone.
import { events } from './event.ts'
import { leases } from './lease.ts'
import { reservations } from './reservation.ts'

export { leases, reservations, events }
export type { Backend, LeaseDates, Reserved, Seen } from './backend.ts'
export { createDrivers } from './driver.ts'
export { notificationOf, type Change, type Changed } from './notifications.ts'
export { createWorldBackend, type WorldBackendOptions } from './world-backend.ts'

/** The lifecycles of the catalogue by the names of their resources. */
export const blazar = { lease: leases, reservation: reservations, event: events }
