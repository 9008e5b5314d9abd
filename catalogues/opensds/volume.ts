// A volume: moves together with its attachments (spec 3.2 to 3.4).
import { z } from 'zod'
import { attachment, snapshot, volume } from './resource-types.ts'

const fromAttachments = [
  { when: { attachments: { some: ['Attached', 'ErrorDetaching'] } }, status: 'InUse' },
  { status: 'Available' },
] as const

export const volumes = volume
  .relations({ attachments: { children: attachment }, snapshots: { children: snapshot } })
  .lifecycle({
    probes: { realSize: ['grown', 'same'], volumeExists: ['yes', 'no'] },
    rules: {
      attached: {
        says: 'a volume is in use exactly while something is attached',
        holds: {
          InUse: { attachments: { some: ['Attached', 'ErrorDetaching'] } },
          Available: { attachments: { none: ['Attaching', 'Attached', 'Detaching', 'ErrorDetaching'] } },
          Deleting: { attachments: { exists: false }, snapshots: { exists: false } },
        },
      },
    },
    moves: [
      { from: ['Available', 'InUse'], to: 'Attaching', by: 'attachments' },
      { from: ['InUse'], to: 'Detaching', by: 'attachments' },
      { from: ['Attaching', 'Detaching'], to: 'InUse', by: 'attachments' },
      { from: ['Attaching', 'Detaching'], to: 'Available', by: 'attachments' },
    ],
    operations: {
      create: {
        from: [],
        steps: {
          createVolume: {
            during: 'Creating',
            creates: 'volume',
            probe: 'volumeExists',
            retry: { times: 3 },
            deadline: '10m',
          },
        },
        to: 'Available',
        onFailure: 'Error',
      },
      extend: {
        from: ['Available', 'ErrorExtending'],
        input: z.object({ size: z.number().int().positive() }),
        requires: [
          { says: 'the new size is larger', test: ({ input, resource }) => input.size > resource.properties.size },
        ],
        steps: {
          checkCapacity: { during: 'Extending', onFailure: 'Available' },
          growVolume: { during: 'Extending', probe: 'realSize', deadline: '10m', onFailure: 'ErrorExtending' },
        },
        to: { status: 'Available', set: { size: ({ input }) => input.size } },
        onFailure: 'ErrorExtending',
      },
      delete: {
        from: ['Available', 'Error', 'ErrorDeleting', 'ErrorExtending'],
        requires: [{ snapshots: { exists: false } }, { attachments: { exists: false } }],
        steps: { deleteVolume: { during: 'Deleting', destroys: 'volume' } },
        to: 'Deleted',
        onFailure: 'ErrorDeleting',
      },
    },
    heal: {
      // 3.4
      Creating: { resume: true, unowned: { status: 'Error' } },
      Extending: {
        resume: true,
        probe: { realSize: { grown: 'Available', same: 'Available', unknown: 'ErrorExtending' } },
      },
      Deleting: { resume: true, unowned: { status: 'ErrorDeleting', attempt: 'delete' } },
      Attaching: { withOwner: { attachments: ['Attaching'] }, otherwise: fromAttachments },
      Detaching: { withOwner: { attachments: ['Detaching'] }, otherwise: fromAttachments },
    },
  })
