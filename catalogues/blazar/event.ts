// An event: its time starts, announces or ends the lease (spec 1.3, 1.5).
import { event, lease } from './resource-types.ts'

export const events = event.relations({ lease: { parent: lease } }).lifecycle({
  // tables 1.3 and 1.5
  begins: ['UNDONE'],
  moves: [
    { from: ['UNDONE'], to: 'IN_PROGRESS', by: 'lease' },
    { from: ['IN_PROGRESS'], to: 'DONE', by: 'lease' },
    { from: ['IN_PROGRESS'], to: 'ERROR', by: 'lease' },
    { from: ['IN_PROGRESS'], to: 'UNDONE', by: 'lease' }, // B6 retry
    { from: ['ERROR'], to: 'IN_PROGRESS', by: 'lease' },
    { from: ['DONE'], to: 'UNDONE', by: 'lease' }, // B6 reschedule
    { from: ['*'], to: 'gone', by: 'lease' },
  ],
  timers: {
    beforeEnd: {
      in: ['UNDONE'],
      when: { eventType: 'before_end_lease', lease: ['ACTIVE'] },
      at: 'time',
      ask: 'announce',
      again: '10s',
      rank: 1,
    },
    end: { in: ['UNDONE'], when: { eventType: 'end_lease' }, at: 'time', ask: { lease: 'end' }, again: '10s', rank: 2 },
    start: {
      in: ['UNDONE'],
      when: { eventType: 'start_lease' },
      at: 'time',
      ask: { lease: 'start' },
      again: '10s',
      rank: 3,
    },
  },
  operations: {
    announce: {
      from: ['UNDONE'],
      requires: [{ eventType: 'before_end_lease', lease: ['ACTIVE'] }],
      steps: { announceEnd: { during: 'IN_PROGRESS' } },
      to: 'DONE',
      onFailure: 'ERROR',
    },
  },
  heal: {
    IN_PROGRESS: {
      resume: true,
      withOwner: { lease: ['STARTING', 'TERMINATING'] },
      otherwise: [{ when: { eventType: 'before_end_lease' }, status: 'UNDONE' }, { status: 'ERROR' }],
    },
  },
})
