// An event: its time starts, announces or ends the lease (spec 1.3, 1.5, 1.7). Claiming it and moving the lease are one commit.
import { event, lease, reservation } from './resource-types.ts'

/** How long after its time an event that is refused is tried again: event_max_retries = 1, times the 10 s of the loop. */
const patienceMs = 10_000

/** The order of 1.5: ends before starts, so that leases back to back on one host do not meet. */
const rank = { beforeEnd: 1, end: 2, start: 3, giveUp: 4 } as const

export const events = event.relations({ lease: { parent: lease }, reservations: { siblings: reservation } }).lifecycle({
  begins: ['UNDONE'],
  moves: [
    { from: ['UNDONE'], to: 'IN_PROGRESS', by: 'lease' },
    { from: ['IN_PROGRESS'], to: 'DONE', by: 'lease' },
    { from: ['IN_PROGRESS'], to: 'ERROR', by: 'lease' },
    { from: ['IN_PROGRESS'], to: 'UNDONE', by: 'lease' }, // B6 retry
    { from: ['ERROR'], to: 'IN_PROGRESS', by: 'lease' }, // decision 0.8
    { from: ['DONE'], to: 'UNDONE', by: 'lease' }, // B6 reschedule
    { from: ['*'], to: 'gone', by: 'lease' },
  ],
  probes: { endAnnounced: ['yes', 'no'] },
  timers: {
    beforeEnd: {
      in: ['UNDONE'],
      when: { eventType: 'before_end_lease', lease: ['ACTIVE'] },
      at: 'time',
      ask: 'announce',
      again: '10s',
      rank: rank.beforeEnd,
    },
    end: {
      in: ['UNDONE'],
      when: { eventType: 'end_lease' },
      at: 'time',
      ask: { lease: 'end' },
      again: '10s',
      rank: rank.end,
    },
    start: {
      in: ['UNDONE'],
      when: { eventType: 'start_lease' },
      at: 'time',
      ask: { lease: 'start' },
      again: '10s',
      rank: rank.start,
    },
    giveUp: {
      in: ['UNDONE'],
      when: { lease: ['TERMINATED', 'ERROR'] },
      at: 'time',
      ask: 'giveUp',
      again: '10s',
      rank: rank.giveUp,
    },
  },
  operations: {
    announce: {
      meaning: 'Tells that the lease ends soon. A failure concerns this event alone (decision 0.8).',
      from: ['UNDONE'],
      requires: [{ eventType: 'before_end_lease', lease: ['ACTIVE'] }],
      steps: { announceEnd: { during: 'IN_PROGRESS', probe: 'endAnnounced', deadline: '10m' } },
      to: 'DONE',
      onFailure: 'ERROR',
    },
    giveUp: {
      meaning: 'Its time is over and the lease stands where the event can do nothing (decision 0.8).',
      from: ['UNDONE'],
      requires: [
        { lease: ['TERMINATED', 'ERROR'] },
        {
          says: 'its retries are spent',
          test: ({ resource, now }) => now >= resource.properties.time + patienceMs,
        },
      ],
      steps: {},
      to: {
        status: 'ERROR',
        say: 'Refused until its retries were spent: the lease cannot be started, announced or ended.',
      },
      onFailure: 'ERROR',
    },
  },
  heal: {
    IN_PROGRESS: {
      resume: true,
      withOwner: { lease: ['STARTING', 'UPDATING', 'TERMINATING', 'DELETING'] },
      otherwise: [
        { when: { eventType: 'before_end_lease' }, status: 'UNDONE' },
        { when: { eventType: 'start_lease', lease: ['CREATING', 'PENDING'] }, status: 'UNDONE' },
        { when: { eventType: 'start_lease', lease: ['ACTIVE', 'TERMINATED'] }, status: 'DONE' },
        { when: { eventType: 'end_lease', lease: ['CREATING', 'PENDING', 'ACTIVE'] }, status: 'UNDONE' },
        { when: { eventType: 'end_lease', lease: ['TERMINATED'] }, status: 'DONE' },
        { status: 'ERROR' },
      ],
    },
  },
})
