// What there is in Blazar: leases with their reservations and events (spec 1.1).
import { resourceType } from 'homeostat'
import { z } from 'zod'

/** Milliseconds since 1970; the console asks for it as a date. */
export const moment = z.number().meta({ format: 'moment' })

export const lease = resourceType('blazar.lease', {
  properties: z.object({
    name: z.string().default(''),
    startDate: moment,
    endDate: moment,
    /** Something of its resources is missing or was changed; no status follows from it. */
    degraded: z.boolean().default(false),
  }),
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
  properties: z.object({
    resourceType: z.string(),
    /** How many of them. */
    amount: z.number().int().positive().default(1),
    missingResources: z.boolean().default(false),
    resourcesChanged: z.boolean().default(false),
  }),
  statuses: {
    stable: { pending: 'Reserved for later.', active: 'In use.', deleted: 'Released.' },
    failed: { error: 'Start or end failed.' },
    terminal: { gone: 'The row is removed.' },
  },
})

export const event = resourceType('blazar.event', {
  properties: z.object({ eventType: z.enum(['start_lease', 'end_lease', 'before_end_lease']), time: moment }),
  statuses: {
    stable: { UNDONE: 'Scheduled.', DONE: 'Done.' },
    transitional: { IN_PROGRESS: 'Being carried out.' },
    failed: { ERROR: 'Failed.' },
    terminal: { gone: 'The row is removed.' },
  },
})
