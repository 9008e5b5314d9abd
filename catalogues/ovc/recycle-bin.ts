// What accounts, cloudspaces, machines, disks and images have in common: the recycle bin and a reason for what is done.
import { z } from 'zod'

/** Why it is asked for; kept in the run's record, so that healing can ask again with it. */
export const reason = z.object({ reason: z.string().default('') })

/** A week in the bin, then it is destroyed. */
export const bin = { in: ['DELETED'], after: '7d', ask: 'destroy', again: '1h' } as const
