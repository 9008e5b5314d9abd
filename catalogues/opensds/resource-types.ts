// What there is in OpenSDS: volumes with their snapshots and attachments (spec 3.1).
import { resourceType } from 'homeostat'
import { z } from 'zod'

// OpenSDS: volume, snapshot, attachment (spec/systems.md 3).
export const volume = resourceType('opensds.volume', {
  properties: z.object({
    size: z.number().int().positive(),
    multiAttach: z.boolean().default(false),
    snapshotId: z.string().optional(),
  }),
  statuses: {
    stable: { Available: 'Ready to use.', InUse: 'Attached to a host.' },
    transitional: {
      Creating: 'Being created.',
      Extending: 'Being enlarged.',
      Attaching: 'Being attached.',
      Detaching: 'Being detached.',
      Deleting: 'Being deleted.',
    },
    failed: {
      Error: 'Could not be created.',
      ErrorExtending: 'Could not be enlarged.',
      ErrorDeleting: 'Could not be deleted.',
    },
    terminal: { Deleted: 'Gone.' },
  },
})

export const snapshot = resourceType('opensds.snapshot', {
  properties: z.object({ size: z.number() }),
  statuses: {
    stable: { Available: 'Ready to use.' },
    transitional: { Creating: 'Being taken.', Deleting: 'Being deleted.' },
    failed: { Error: 'Could not be taken.', ErrorDeleting: 'Could not be deleted.' },
    terminal: { Deleted: 'Gone.' },
  },
})

export const attachment = resourceType('opensds.attachment', {
  properties: z.object({ hostId: z.string() }),
  statuses: {
    stable: { Attached: 'The host uses the volume.' },
    transitional: { Attaching: 'Being attached.', Detaching: 'Being detached.' },
    failed: { ErrorAttaching: 'Could not be attached.', ErrorDetaching: 'Could not be detached; still attached.' },
    terminal: { Detached: 'Gone.' },
  },
})
