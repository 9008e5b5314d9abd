// What there is in Blazar: leases with their reservations and events (spec 1.1).
import { resourceType } from 'homeostat'
import { z } from 'zod'

// Blazar: lease, reservation, event. Rows named as in spec/systems.md (1.x, B1..B9).
export const lease = resourceType('blazar.lease', {
  properties: z.object({ startDate: z.number(), endDate: z.number(), degraded: z.boolean() }),
  statuses: {
    stable: {
      PENDING: 'Waits for its start time.',
      ACTIVE: 'Started.',
      TERMINATED: 'Ended properly; kept until deleted.',
    },
    transitional: {
      CREATING: 'Being created.',
      STARTING: 'Being started.',
      UPDATING: 'Being updated.',
      TERMINATING: 'Being ended.',
      DELETING: 'Being deleted.',
    },
    failed: { ERROR: 'Something failed; end, update and delete are still open.' },
    terminal: { gone: 'The row is removed.' },
  },
})

export const reservation = resourceType('blazar.reservation', {
  properties: z.object({ resourceType: z.string(), missingResources: z.boolean(), resourcesChanged: z.boolean() }),
  statuses: {
    stable: { pending: 'Reserved for later.', active: 'In use.', deleted: 'Released.' },
    failed: { error: 'Start or end failed.' },
    terminal: { gone: 'The row is removed.' },
  },
})

export const event = resourceType('blazar.event', {
  properties: z.object({ eventType: z.enum(['start_lease', 'end_lease', 'before_end_lease']), time: z.number() }),
  statuses: {
    stable: { UNDONE: 'Scheduled.', DONE: 'Done.' },
    transitional: { IN_PROGRESS: 'Being carried out.' },
    failed: { ERROR: 'Failed.' },
    terminal: { gone: 'The row is removed.' },
  },
})
