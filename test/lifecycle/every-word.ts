// Two related declarations without a fault that use every word of the language: what the check is tried on.
import { resourceType } from 'homeostat'
import { z } from 'zod'

const zone = resourceType('dns.zone', {
  properties: z.object({ origin: z.string(), until: z.number().optional() }),
  statuses: {
    stable: { Serving: 'Answers.', Drifted: 'Its file is gone.' },
    transitional: { Creating: 'Being made.', Publishing: 'Being sent out.', Deleting: 'Being removed.' },
    failed: { Broken: 'Delete it.' },
    terminal: { Gone: 'Removed.' },
  },
})
const record = resourceType('dns.record', {
  properties: z.object({ value: z.string() }),
  statuses: {
    stable: { Live: 'In the zone.', Stale: 'Not sent out.' },
    transitional: { Removing: 'Being removed.', Hiding: 'Being taken out.' },
    failed: { Lost: 'Nobody knows.' },
    terminal: { Gone: 'Removed.' },
  },
})

export const zones = zone.relations({ records: { children: record } }).lifecycle({
  probes: { zoneFile: ['there', 'absent'] },
  operations: {
    create: {
      from: [],
      input: z.object({ values: z.array(z.string()).default([]) }),
      steps: {
        makeFile: {
          during: {
            status: 'Creating',
            add: { records: { status: 'Live', each: ({ input }) => input.values.map((value) => ({ value })) } },
          },
          creates: 'file',
          undo: 'removeFile',
          probe: 'zoneFile',
          retry: { times: 2, first: '1s', atMost: '10s' },
          result: z.object({ bytes: z.number() }),
        },
      },
      to: [{ when: { origin: 'example' }, status: 'Drifted', say: 'It is not served.' }, { status: 'Serving' }],
      onFailure: [
        { code: ['quota'], status: 'Broken' },
        { undo: true, during: 'Deleting', status: 'Broken', ifUndoFails: 'Broken' },
      ],
    },
    publish: {
      meaning: 'Sends the records out.',
      from: ['Serving', 'Drifted'],
      ifBusy: 'queue',
      queueBehind: 3,
      requires: [{ records: { some: ['Live', 'Stale'] } }, { says: 'it is early', test: ({ now }) => now > 0 }],
      steps: {
        push: {
          meaning: 'Sends one record out.',
          during: 'Publishing',
          when: { records: { exists: true } },
          forEach: {
            records: {
              in: ['Stale'],
              only: { says: 'it has a value', test: ({ item }) => item.properties.value !== '' },
              done: 'Live',
              failed: 'Lost',
              stopAtFirst: true,
            },
          },
          deadline: '5m',
          progress: '1m',
          onFailure: { previous: true },
        },
      },
      to: { status: 'Serving', set: { origin: 'published' } },
      onFailure: {
        status: 'Drifted',
        move: {
          records: {
            from: ['Live'],
            only: { says: 'it has a value', test: ({ item }) => item.properties.value !== '' },
            to: 'Stale',
            set: { value: '' },
          },
        },
      },
      failureText: 'Not sent out: {reasons}',
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      ifTerminal: 'succeed',
      grace: '10s',
      force: '1m',
      whileForced: 'Deleting',
      steps: {
        drop: {
          during: 'Deleting',
          ask: {
            records: {
              operation: 'delete',
              in: ['Live', 'Stale', 'Lost'],
              input: () => ({}),
              failed: 'goOn',
            },
          },
        },
        removeFile: { during: 'Deleting', destroys: 'file', ifForced: 'skip' },
      },
      to: 'Gone',
      onFailure: { again: '10s', atMost: '1m' },
    },
  },
  drift: {
    Serving: { every: '1m', probe: { zoneFile: { there: 'Serving', absent: 'Drifted', unknown: { again: '1m' } } } },
  },
  timers: {
    expire: { in: ['Serving'], when: { origin: ['a', 'b'] }, at: 'until', ask: 'delete', again: '1m', rank: 1 },
    clean: { in: ['Broken'], after: '1h', ask: { records: 'delete' } },
  },
  rules: { quiet: { says: 'nothing is lost', holds: { Serving: [{ records: { none: ['Lost'] } }] } } },
  heal: {
    Creating: {
      resume: true,
      unowned: [{ when: { records: { exists: true } }, status: 'Drifted' }, { status: 'Broken' }],
    },
    Publishing: { probe: { zoneFile: { there: 'Serving', absent: { status: 'Drifted' }, unknown: 'Broken' } } },
    Deleting: { attempt: 'delete' },
  },
})
export const records = record.relations({ zone: { parent: zone }, signer: { link: zone } }).lifecycle({
  begins: ['Live'],
  moves: [
    { from: ['Live'], to: 'Stale', by: 'zone' },
    { from: ['Stale'], to: 'Live', by: 'zone' },
    { from: ['Stale'], to: 'Lost', by: 'zone' },
  ],
  operations: {
    hide: { from: ['Live'], steps: { take: { during: 'Hiding' } }, to: 'Stale', onFailure: 'Live' },
    delete: {
      from: ['*'],
      steps: { removeRecord: { during: 'Removing' } },
      to: { status: 'Gone', link: { signer: null } },
      onFailure: 'Lost',
    },
  },
  heal: {
    Removing: { withOwner: { zone: ['Deleting'] }, otherwise: { attempt: 'delete' }, unowned: { status: 'Lost' } },
    Hiding: { like: 'Removing' },
  },
})
