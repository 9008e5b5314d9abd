// A lease: reserves resources for a time, in step with its reservations and events (spec 1.2, 1.4, 1.6). Rows are named B1..B9.
import { previous } from 'homeostat'
import { createInput, createRequires, eventsOf, reservationsOf } from './lease-create.ts'
import { connected } from './lease-relations.ts'
import { nonFatal, updated, updateInput, updateRequires } from './lease-update.ts'

/** Events that nobody carries out. */
const settled = ['UNDONE', 'DONE', 'ERROR'] as const
const claimedToError = { from: ['IN_PROGRESS'], to: 'ERROR' } as const
const pendingToError = { from: ['pending'], to: 'error' } as const
const everything = { reservations: 'gone', events: 'gone' } as const

/** 1.4: the stable status that follows from the events, if the reservations agree. */
const pendingIf = { start: ['UNDONE'], end: ['UNDONE'], reservations: { every: ['pending'] } } as const
const activeIf = { start: ['DONE'], end: ['UNDONE'], reservations: { every: ['active'] } } as const
const terminatedIf = { start: ['DONE'], end: ['DONE'], reservations: { every: ['deleted'] } } as const

/** B1: whoever was carrying an event out is interrupted. */
const deleting = { status: 'DELETING', move: { events: claimedToError } } as const
const ending = { status: 'TERMINATING', move: { end: 'IN_PROGRESS', reservations: pendingToError } } as const

export const leases = connected.lifecycle({
  probes: { reservationsUpdated: ['yes', 'no'] },
  rules: {
    combinations: {
      says: 'a lease, its reservations and its events stand in a combination of table 1.4',
      holds: {
        CREATING: pendingIf,
        PENDING: pendingIf,
        STARTING: { reservations: { every: ['pending', 'active', 'error'] }, start: ['IN_PROGRESS'], end: ['UNDONE'] },
        ACTIVE: activeIf,
        TERMINATING: {
          reservations: { every: ['active', 'deleted', 'error'] },
          start: ['DONE', 'ERROR'],
          end: ['IN_PROGRESS'],
        }, // B3
        TERMINATED: terminatedIf,
        UPDATING: { start: settled, end: settled },
        ERROR: { start: settled, end: settled }, // B2
        DELETING: { start: settled, end: settled },
      },
    },
  },
  operations: {
    create: {
      from: [],
      input: createInput,
      requires: createRequires,
      steps: {
        reserveResources: {
          during: {
            status: 'CREATING',
            add: {
              reservations: { status: 'pending', each: reservationsOf },
              events: { status: 'UNDONE', each: eventsOf },
            },
          },
          forEach: { reservations: { in: ['pending'], stopAtFirst: true } },
          creates: 'allocation',
          undo: 'releaseResources',
        },
      },
      to: 'PENDING',
      onFailure: { undo: true, status: 'gone', ifUndoFails: 'gone', move: everything }, // 1.2: it never becomes ERROR
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
      onFailure: { status: 'ERROR', move: { start: 'ERROR', reservations: pendingToError } },
    },
    end: {
      from: ['ACTIVE', 'ERROR'],
      requires: [{ start: ['DONE', 'ERROR'], end: ['UNDONE', 'ERROR'] }],
      steps: {
        endUsage: { during: ending },
        endReservations: {
          during: 'TERMINATING',
          forEach: { reservations: { in: ['active', 'error'], done: 'deleted', failed: 'error' } },
          destroys: 'allocation',
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
      input: updateInput,
      requires: updateRequires,
      steps: {
        updateReservations: { during: 'UPDATING', probe: 'reservationsUpdated', undo: 'restoreReservations' },
      },
      to: [
        { when: pendingIf, status: 'PENDING', ...updated },
        { when: activeIf, status: 'ACTIVE', ...updated },
        { when: terminatedIf, status: 'TERMINATED', ...updated },
        { status: 'ERROR', ...updated, say: 'Updated; its reservations and events still fit no other status.' },
      ], // B7
      onFailure: [
        { code: nonFatal, undo: true, status: previous },
        { undo: true, status: 'ERROR' },
      ],
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      grace: '30s', // B1, B5
      steps: {
        endUsage: { during: deleting, when: { end: ['UNDONE', 'IN_PROGRESS', 'ERROR'] } },
        endReservations: {
          during: deleting,
          forEach: { reservations: { in: ['pending', 'active', 'error'], done: 'deleted', failed: 'error' } },
          destroys: 'allocation',
        },
      },
      to: { status: 'gone', move: everything },
      onFailure: 'ERROR',
    },
  },
  heal: {
    // decision 0.4, B9
    CREATING: { resume: true, unowned: { status: 'gone', move: everything } },
    STARTING: {
      resume: true,
      unowned: { status: 'ERROR', move: { events: claimedToError, reservations: pendingToError } },
    },
    UPDATING: {
      resume: true,
      unowned: [
        { when: pendingIf, status: 'PENDING' },
        { when: activeIf, status: 'ACTIVE' },
        { when: terminatedIf, status: 'TERMINATED' },
        { status: 'ERROR', move: { events: claimedToError } },
      ],
    },
    TERMINATING: {
      resume: true,
      unowned: [
        { when: { start: ['DONE'], reservations: { every: ['active'] } }, status: 'ACTIVE', move: { end: 'UNDONE' } },
        { status: 'ERROR', move: { start: claimedToError, end: 'UNDONE' } },
      ],
    },
    DELETING: { resume: true, unowned: { attempt: 'delete' } },
  },
})
