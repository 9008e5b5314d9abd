// What accounts, cloudspaces, machines, disks and images have in common: the recycle bin, models that nobody goes on with, and
// a reason for what is done.
import { z } from 'zod'

/** Why it is asked for; kept in the run's record, so that healing can ask again with it (G4). */
export const reason = z.object({ reason: z.string().default('') })

/** Handed on to whatever goes with it, so that each of them says why. */
export const sameReason = ({ input }: { readonly input: { readonly reason: string } }) => ({ reason: input.reason })

/** What nobody has disabled yet: `enabled` follows the status from the beginning. */
export const beginsEnabled = {
  says: 'it begins enabled: disable it afterwards',
  test: ({ resource }: { readonly resource: { readonly properties: { readonly enabled: boolean } } }): boolean =>
    resource.properties.enabled,
} as const

/** A week in the bin, then it is destroyed; hourly again while that is refused. */
export const bin = { in: ['DELETED'], after: '7d', ask: 'destroy', again: '1h' } as const

/** A model that nobody went on with (spec 4.3, end): a crash between writing the model and making the thing leaves it. */
export const forgotten = { in: ['VIRTUAL'], after: '1d', ask: 'destroy', again: '1h' } as const

/** G6: what was only a model before its delete was cut is one again, whatever the table guesses. */
export const wasModel = {
  says: 'it was only a model',
  test: ({ previous }: { readonly previous: string }): boolean => previous === 'VIRTUAL',
} as const

/**
 * A second delete succeeds and does nothing (spec 4.2): what is in the bin already skips every step, and of what is destroyed
 * (`ifTerminal`) nothing is left to do.
 */
export const notInBin = {
  says: 'it is not in the bin yet',
  test: ({ resource }: { readonly resource: { readonly status: string } }): boolean => resource.status !== 'DELETED',
} as const
