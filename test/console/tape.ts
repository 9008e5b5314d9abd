// A tape in a robot that is hard to work with, so that runs wait and are parked without anybody breaking anything: it is not in the
// drive at first, and does not say whether it has written. One called `deaf` ends its leaving only after it was told to stop.
import { resourceType, UnknownOutcomeError, type Driver } from 'homeostat'
import { z } from 'zod'

export const tapes = resourceType('archive.tape', {
  properties: z.object({ shelf: z.number().int().positive() }),
  statuses: {
    stable: { Idle: 'On its shelf.' },
    transitional: { Labelling: 'Gets its label.', Writing: 'In the drive.', Ejecting: 'Leaves for good.' },
    failed: { Doubtful: 'What is on it is not known.' },
    terminal: { Ejected: 'No longer here.' },
  },
}).lifecycle({
  operations: {
    create: { from: [], steps: { label: { during: 'Labelling' } }, to: 'Idle', onFailure: 'Doubtful' },
    write: {
      from: ['Idle'],
      steps: {
        load: { during: 'Writing', retry: { times: 3, first: '10m' } },
        record: { during: 'Writing', retry: { times: 0 } },
      },
      to: 'Idle',
      onFailure: 'Doubtful',
    },
    copyFrom: {
      from: ['Idle'],
      input: z.object({
        volume: z.string().meta({ resource: 'opensds.volume' }),
        // Several of them: no single one can be chosen.
        besides: z.array(z.string()).meta({ resource: 'opensds.volume' }).optional(),
      }),
      steps: { wipe: { during: 'Labelling' } },
      to: 'Idle',
      onFailure: 'Doubtful',
    },
    // Takes something away, but not the tape.
    removeNotes: { from: ['Idle'], steps: { wipe: { during: 'Labelling' } }, to: 'Idle', onFailure: 'Doubtful' },
    // So many that those which may not be asked for are folded up.
    rewind: { from: ['Idle'], steps: { wipe: { during: 'Labelling' } }, to: 'Idle', onFailure: 'Doubtful' },
    verify: { from: ['Idle'], steps: { wipe: { during: 'Labelling' } }, to: 'Idle', onFailure: 'Doubtful' },
    lend: { from: ['Idle'], steps: { wipe: { during: 'Labelling' } }, to: 'Idle', onFailure: 'Doubtful' },
    // Ends it without a name that says so.
    scrap: { from: ['Doubtful'], steps: { eject: { during: 'Ejecting' } }, to: 'Ejected', onFailure: 'Doubtful' },
    delete: {
      from: ['Idle', 'Doubtful'],
      steps: { eject: { during: 'Ejecting' } },
      to: 'Ejected',
      onFailure: 'Doubtful',
    },
  },
  heal: {
    Labelling: { resume: true, unowned: { status: 'Doubtful' } },
    Writing: { resume: true, unowned: { status: 'Doubtful' } },
    Ejecting: { resume: true, unowned: { status: 'Doubtful' } },
  },
})

/** True the first time a name is met. */
function first(names: Set<string>, name: string): boolean {
  const isNew = !names.has(name)
  names.add(name)
  return isNew
}

export function createTapeDriver(): Driver<typeof tapes> {
  const loaded = new Set<string>()
  const recorded = new Set<string>()
  return {
    label: async () => {},
    wipe: async () => {},
    load: async ({ resource }) => {
      if (first(loaded, resource.id)) throw new Error('the tape is not in the drive')
    },
    record: async ({ resource }) => {
      if (first(recorded, resource.id)) throw new UnknownOutcomeError('the robot hung up')
    },
    eject: ({ resource, signal }) =>
      resource.id === 'deaf'
        ? new Promise<void>((done) => signal.addEventListener('abort', () => setTimeout(done, 50)))
        : Promise.resolve(),
  }
}
