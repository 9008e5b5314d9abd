// A volume: moves together with its attachments (spec 3.2 to 3.4).
import { previous } from 'homeostat'
import { z } from 'zod'
import { attachment, snapshot, volume } from './resource-types.ts'

/** The statuses of attachments that use the volume, and those that are on the way. */
const using = ['Attached', 'ErrorDetaching'] as const
const moving = ['Attaching', 'Detaching'] as const

const fromAttachments = [{ when: { attachments: { some: using } }, status: 'InUse' }, { status: 'Available' }] as const

const sizes = z.object({ size: z.number().int().positive() })

export const volumes = volume
  .relations({ attachments: { children: attachment }, snapshots: { children: snapshot }, source: { link: snapshot } })
  .lifecycle({
    // The first answer of each means that the step it belongs to has happened.
    probes: { volumeExists: ['yes', 'no'], volumeGone: ['yes', 'no'], realSize: ['grown', 'same'] },
    rules: {
      attached: {
        says: 'a volume is in use exactly while something is attached',
        holds: { Available: { attachments: { none: using } }, InUse: { attachments: { some: using } } },
      },
      deletable: {
        says: 'a volume with snapshots or attachments is not deleted',
        holds: { Deleting: { attachments: { exists: false }, snapshots: { exists: false } } },
      },
    },
    moves: [
      { from: ['Available', 'InUse'], to: 'Attaching', by: 'attachments' },
      { from: ['Available', 'InUse'], to: 'Detaching', by: 'attachments' },
      // Between Available and InUse only by healing: attachments were found on the way though the volume was not.
      { from: ['Attaching', 'Detaching', 'InUse'], to: 'Available', by: 'attachments' },
      { from: ['Attaching', 'Detaching', 'Available'], to: 'InUse', by: 'attachments' },
    ],
    operations: {
      create: {
        meaning: 'Creates a volume, empty or with the content of the snapshot it links to as `source`.',
        from: [],
        requires: [
          {
            says: 'the snapshot it is made from is Available',
            test: ({ related: { source } }) => source === undefined || source.status === 'Available',
          },
          {
            says: 'it is at least as large as the snapshot it is made from',
            test: ({ resource, related: { source } }) =>
              source === undefined || resource.properties.size >= source.properties.size,
          },
        ],
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
        input: sizes,
        requires: [
          { says: 'the new size is larger', test: ({ input, resource }) => input.size > resource.properties.size },
          { attachments: { none: [...moving, ...using] } },
        ],
        steps: {
          // Nothing was touched yet: back where it came from.
          checkCapacity: { during: 'Extending', onFailure: previous },
          growVolume: { during: 'Extending', probe: 'realSize', result: sizes.optional(), deadline: '10m' },
        },
        to: { status: 'Available', set: { size: ({ input, results }) => results.growVolume?.size ?? input.size } },
        onFailure: 'ErrorExtending',
      },
      reset: {
        meaning: 'Takes the real size of a volume whose enlargement failed as its size.',
        from: ['ErrorExtending'],
        requires: [{ attachments: { none: moving } }],
        steps: { measureVolume: { during: 'Extending', result: sizes } },
        to: [
          {
            when: { attachments: { some: using } },
            status: 'InUse',
            set: { size: ({ resource, results }) => results.measureVolume?.size ?? resource.properties.size },
          },
          {
            status: 'Available',
            set: { size: ({ resource, results }) => results.measureVolume?.size ?? resource.properties.size },
          },
        ],
        onFailure: 'ErrorExtending',
      },
      delete: {
        from: ['Available', 'Error', 'ErrorDeleting', 'ErrorExtending'],
        requires: [{ snapshots: { exists: false } }, { attachments: { exists: false } }],
        steps: { deleteVolume: { during: 'Deleting', destroys: 'volume', probe: 'volumeGone', deadline: '10m' } },
        to: 'Deleted',
        onFailure: 'ErrorDeleting',
      },
    },
    // 3.4, and decision 0.4: what is recorded is resumed, the rest is the row for what nobody owns.
    heal: {
      Creating: { resume: true, unowned: { status: 'Error' } },
      Extending: {
        resume: true,
        probe: { realSize: { grown: 'Available', same: 'Available', unknown: 'ErrorExtending' } },
      },
      Deleting: { resume: true, unowned: { status: 'ErrorDeleting', attempt: 'delete' } },
      Attaching: { withOwner: { attachments: moving }, otherwise: fromAttachments },
      Detaching: { like: 'Attaching' },
    },
  })
