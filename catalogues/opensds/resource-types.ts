// What there is in OpenSDS: volumes with their snapshots and attachments (spec 3.1). Names and statuses are the seed's.
import { resourceType } from 'homeostat'
import { z } from 'zod'

export const volume = resourceType('opensds.volume', {
  properties: z.object({
    name: z
      .string()
      .max(255)
      .regex(/^[\w-]+$/, 'only letters, digits, _ and -')
      .optional(),
    /** In GB. */
    size: z.number().int().positive(),
    profile: z.string().min(1).default('default'),
    zone: z.string().min(1).default('default'),
    multiAttach: z.boolean().default(false),
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
  properties: z.object({
    /** In GB, of the volume when it was taken: written by the lifecycle, not by the asker. */
    size: z.number().int().nonnegative().default(0),
  }),
  statuses: {
    stable: { Available: 'Ready to use.' },
    transitional: { Creating: 'Being taken.', Deleting: 'Being deleted.' },
    failed: { Error: 'Could not be taken.', ErrorDeleting: 'Could not be deleted.' },
    terminal: { Deleted: 'Gone.' },
  },
})

export const attachment = resourceType('opensds.attachment', {
  properties: z.object({
    hostId: z.string().min(1),
    /** The host's availability zones, where the asker knows them; the backend looks in any case. */
    hostZones: z.array(z.string()).optional(),
  }),
  statuses: {
    stable: { Attached: 'The host uses the volume.' },
    transitional: { Attaching: 'Being attached.', Detaching: 'Being detached.' },
    failed: {
      ErrorAttaching: 'Could not be attached; what is left of it goes with its delete.',
      ErrorDetaching: 'Could not be detached; still attached.',
    },
    terminal: { Detached: 'Gone.' },
  },
})
