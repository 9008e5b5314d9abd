// A lease: reserves resources for a time, in step with its reservations and events (spec 1.2, 1.4, 1.6). Rows are named B1..B9.
import { previous } from 'homeostat'
import { z } from 'zod'
import { event, lease, reservation } from './resource-types.ts'

const connected = lease.relations({
  reservations: { children: reservation },
  events: { children: event },
  start: { child: event, where: { eventType: 'start_lease' } },
  end: { child: event, where: { eventType: 'end_lease' } },
  beforeEnd: { child: event, where: { eventType: 'before_end_lease' } },
})

/** 1.6: an update that raises one of these leaves the lease as it was. */
const nonFatal = [
  'InvalidInput',
  'InvalidRange',
  'MissingParameter',
  'MalformedRequirements',
  'MalformedParameter',
  'NotEnoughHostsAvailable',
  'InvalidDate',
  'CantUpdateParameter',
  'InvalidPeriod',
  'MaxLeaseDurationException',
  'ExternalServiceFilterException',
] as const

/** 1.4: the stable status that follows from the events, if the reservations agree. */
const derived = [
  { when: { start: ['UNDONE'], end: ['UNDONE'], reservations: { every: ['pending'] } }, status: 'PENDING' },
  { when: { start: ['DONE'], end: ['UNDONE'], reservations: { every: ['active'] } }, status: 'ACTIVE' },
  { when: { start: ['DONE'], end: ['DONE'], reservations: { every: ['deleted'] } }, status: 'TERMINATED' },
  { status: 'ERROR' },
] as const

const settled = ['UNDONE', 'DONE', 'ERROR'] as const

export const leases = connected.lifecycle({
  rules: {
    combinations: {
      says: 'a lease, its reservations and its events stand in a combination of table 1.4',
      holds: {
        CREATING: { reservations: { every: ['pending'] }, start: ['UNDONE'], end: ['UNDONE'] },
        PENDING: { reservations: { every: ['pending'] }, start: ['UNDONE'], end: ['UNDONE'] },
        STARTING: { reservations: { every: ['pending', 'active', 'error'] }, start: ['IN_PROGRESS'], end: ['UNDONE'] },
        ACTIVE: { reservations: { every: ['active'] }, start: ['DONE'], end: ['UNDONE'] },
        TERMINATING: {
          reservations: { every: ['active', 'deleted', 'error'] },
          start: ['DONE', 'ERROR'],
          end: ['IN_PROGRESS'],
        }, // B3
        TERMINATED: { reservations: { every: ['deleted'] }, start: ['DONE'], end: ['DONE'] },
        UPDATING: { start: settled, end: settled },
        ERROR: { start: settled, end: settled }, // B2
        DELETING: { start: settled, end: settled },
      },
    },
  },
  operations: {
    create: {
      from: [],
      input: z.object({
        reservations: z.array(z.object({ resourceType: z.string() })),
        beforeEndDate: z.number().optional(),
      }),
      requires: [
        { says: 'the end lies after the start', test: ({ resource: { properties: p } }) => p.endDate > p.startDate },
        {
          says: 'the before-end date lies inside the lease',
          test: ({ resource: { properties: p }, input: { beforeEndDate: b } }) =>
            b === undefined || (b > p.startDate && b < p.endDate),
        },
      ],
      steps: {
        reserveResources: {
          during: {
            status: 'CREATING',
            add: {
              reservations: {
                status: 'pending',
                each: ({ input }) =>
                  input.reservations.map((r) => ({ ...r, missingResources: false, resourcesChanged: false })),
              },
              events: {
                status: 'UNDONE',
                each: ({ resource: { properties: p }, input }) => [
                  { eventType: 'start_lease', time: p.startDate },
                  { eventType: 'end_lease', time: p.endDate },
                  {
                    eventType: 'before_end_lease',
                    time: input.beforeEndDate ?? Math.max(p.startDate, p.endDate - 3_600_000),
                  },
                ],
              },
            },
          },
          forEach: { reservations: { in: ['pending'], stopAtFirst: true } },
          undo: 'releaseResources',
        },
      },
      to: 'PENDING',
      onFailure: { undo: true, status: 'gone', move: { reservations: 'gone', events: 'gone' } },
    },
    start: {
      from: ['PENDING'],
      steps: {
        startReservations: {
          during: { status: 'STARTING', move: { start: 'IN_PROGRESS' } },
          forEach: { reservations: { in: ['pending'], done: 'active', failed: 'error' } },
        },
      },
      to: { status: 'ACTIVE', move: { start: 'DONE' } },
      onFailure: { status: 'ERROR', move: { start: 'ERROR', reservations: { from: ['pending'], to: 'error' } } },
    },
    end: {
      from: ['ACTIVE', 'ERROR'],
      requires: [{ start: ['DONE', 'ERROR'], end: ['UNDONE', 'ERROR'] }],
      steps: {
        endReservations: {
          during: {
            status: 'TERMINATING',
            move: { end: 'IN_PROGRESS', reservations: { from: ['pending'], to: 'error' } },
          },
          forEach: { reservations: { in: ['active', 'error'], done: 'deleted', failed: 'error' } },
        },
      },
      to: [
        { when: { start: ['DONE'] }, status: 'TERMINATED', move: { end: 'DONE' } },
        { status: 'ERROR', move: { end: 'DONE' }, say: 'It never started; its reservations are released.' }, // B4
      ],
      onFailure: { status: 'ERROR', move: { end: 'ERROR' } },
    },
    update: {
      from: ['PENDING', 'ACTIVE', 'TERMINATED', 'ERROR'],
      input: z.object({
        name: z.string().optional(),
        startDate: z.number().optional(),
        endDate: z.number().optional(),
      }),
      requires: [
        {
          says: 'an ended lease is only renamed',
          test: ({ resource, input }) =>
            resource.status !== 'TERMINATED' || (input.startDate === undefined && input.endDate === undefined),
        },
        {
          says: 'the start of a started lease stays',
          test: ({ related, input }) => input.startDate === undefined || related.start?.status === 'UNDONE',
        },
        {
          says: 'the end lies in the future',
          test: ({ input, now }) => input.endDate === undefined || input.endDate > now,
        },
      ],
      steps: {
        updateReservations: { during: 'UPDATING', forEach: { reservations: { stopAtFirst: true } } },
        moveDates: {
          during: {
            status: 'UPDATING', // 1.7: the events follow the dates; a before-end event that is done is scheduled again (B6)
            set: {
              startDate: ({ input, resource }) => input.startDate ?? resource.properties.startDate,
              endDate: ({ input, resource }) => input.endDate ?? resource.properties.endDate,
            },
            move: {
              start: { set: { time: ({ input, item }) => input.startDate ?? item.properties.time } },
              end: { set: { time: ({ input, item }) => input.endDate ?? item.properties.time } },
              beforeEnd: {
                from: ['DONE'],
                only: { says: 'the end moves', test: ({ input }) => input.endDate !== undefined },
                to: 'UNDONE',
              },
            },
          },
        },
      },
      to: derived, // B7
      onFailure: [{ code: nonFatal, status: previous }, { status: 'ERROR' }],
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      grace: '30s', // B1, B5
      steps: {
        endReservations: {
          during: { status: 'DELETING', move: { events: { from: ['IN_PROGRESS'], to: 'ERROR' } } },
          forEach: { reservations: { in: ['pending', 'active', 'error'], done: 'deleted', failed: 'error' } },
        },
      },
      to: { status: 'gone', move: { reservations: 'gone', events: 'gone' } },
      onFailure: 'ERROR',
    },
  },
  heal: {
    // decision 4, B9
    CREATING: { resume: true, unowned: { status: 'gone', move: { reservations: 'gone', events: 'gone' } } },
    STARTING: {
      resume: true,
      unowned: { status: 'ERROR', move: { start: 'ERROR', reservations: { from: ['pending'], to: 'error' } } },
    },
    UPDATING: { resume: true, unowned: derived },
    TERMINATING: {
      resume: true,
      unowned: [
        { when: { start: ['DONE'], reservations: { every: ['active'] } }, status: 'ACTIVE', move: { end: 'UNDONE' } },
        { status: 'ERROR', move: { end: 'UNDONE' } },
      ],
    },
    DELETING: { attempt: 'delete' },
  },
})
