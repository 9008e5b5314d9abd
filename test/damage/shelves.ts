// What is damaged in these tests: shelves with things on them, standing in every way that a store can hold them.
import { resourceType, type Driver } from 'homeostat'
import { z } from 'zod'

const shelf = resourceType('damage.shelf', {
  properties: z.object({ label: z.string() }),
  statuses: {
    stable: { Open: 'Takes things.' },
    transitional: { Clearing: 'Its things are being removed.' },
    failed: {},
    terminal: { Scrapped: 'Removed.' },
  },
})

const thing = resourceType('damage.thing', {
  properties: z.object({ size: z.number(), hangs: z.boolean().default(false) }),
  statuses: {
    stable: { Ready: 'Can be used.', Old: 'Its time is over.' },
    transitional: {
      Making: 'Being made.',
      Growing: 'Being enlarged.',
      Ageing: 'Becoming old.',
      Removing: 'Being removed.',
    },
    failed: { Broken: 'Could not be made.' },
    terminal: { Gone: 'Removed.' },
  },
})

export const shelves = shelf.relations({ things: { children: thing } }).lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Open', onFailure: 'Scrapped' },
    scrap: {
      from: ['*'],
      ifBusy: 'preempt',
      steps: { clear: { during: 'Clearing', ask: { things: 'delete' } } },
      to: 'Scrapped',
      onFailure: { again: '1s' },
    },
  },
  heal: { Clearing: { resume: true, unowned: { attempt: 'scrap' } } },
})

export const things = thing.relations({ shelf: { parent: shelf }, twin: { link: thing } }).lifecycle({
  operations: {
    create: {
      from: [],
      steps: {
        makePart: { during: 'Making', creates: 'part', undo: 'removePart', result: z.object({ weight: z.number() }) },
        paint: { during: 'Making', deadline: '1m' },
      },
      to: 'Ready',
      onFailure: { undo: true, status: 'Broken' },
    },
    grow: {
      from: ['Ready'],
      ifBusy: 'queue',
      input: z.object({ size: z.number() }),
      steps: { stretch: { during: 'Growing' } },
      to: { status: 'Ready', set: { size: ({ input }) => input.size } },
      onFailure: 'Ready',
    },
    age: { from: ['Ready'], steps: { wither: { during: 'Ageing' } }, to: 'Old', onFailure: 'Ready' },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      force: '1s',
      steps: { removePart: { during: 'Removing', destroys: 'part' } },
      to: 'Gone',
      onFailure: { again: '1s' },
    },
  },
  timers: { ageing: { in: ['Ready'], after: '1h', ask: 'age' } },
  heal: {
    Making: { resume: true, unowned: { status: 'Broken' } },
    Growing: { resume: true, unowned: { status: 'Ready' } },
    Ageing: { resume: true, unowned: { status: 'Ready' } },
    Removing: { attempt: 'delete' },
  },
})

/** A thing that hangs does so until somebody takes it over with a driver that does not. Parts are what there really is, by name. */
export const driverOf = (mayHang: boolean, parts: Set<string>): Driver<typeof things> => {
  const slowly = ({ resource, signal }: { resource: { properties: { hangs: boolean } }; signal: AbortSignal }) =>
    resource.properties.hangs && mayHang
      ? new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
      : Promise.resolve()
  return {
    makePart: async ({ name }) => {
      parts.add(name!)
      return { weight: 7 }
    },
    paint: slowly,
    stretch: slowly,
    wither: async () => {},
    removePart: async ({ ledger }) => {
      for (const { name } of ledger) parts.delete(name)
    },
    sweeper: {
      destroy: async ({ name }) => void parts.delete(name),
      inventory: async () => [...parts].map((name) => ({ kind: 'part', name })),
    },
  }
}
