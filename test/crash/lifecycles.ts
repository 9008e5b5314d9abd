// What the crash tests work on: boxes whose truth is files in a folder, and racks that hold boxes. Every kind of recovery is in
// it: resuming with and without a probe, undo, an attempt, a landing, a cascade. How a box behaves is one of its properties.
import { resourceType } from 'homeostat'
import { z } from 'zod'

const box = resourceType('crash.box', {
  properties: z.object({
    size: z.number().int().positive(),
    /** What the driver does when it comes to `fill`; see driver.ts. */
    behaviour: z.enum(['plain', 'slow', 'faulty', 'held', 'stubborn', 'blocking', 'poison']).default('plain'),
  }),
  statuses: {
    stable: { Ready: 'Its file is there, of the right size.' },
    transitional: {
      Making: 'Its file is being made.',
      Growing: 'Its file is being enlarged.',
      Checking: 'It is being looked at.',
      Removing: 'Its file is being removed.',
    },
    failed: { Broken: 'Could not be made; it has no file.' },
    terminal: { Gone: 'Removed, with its file.' },
  },
})

const rack = resourceType('crash.rack', {
  properties: z.object({}),
  statuses: {
    stable: { Open: 'Takes boxes.', Closed: 'Takes no boxes any more; it has none.' },
    transitional: { Emptying: 'Its boxes are being removed.', Closing: 'It is being closed, boxes and all.' },
    failed: { Stuck: 'Could not be emptied.' },
    terminal: { Scrapped: 'Removed, with all its boxes.' },
  },
})

export const boxes = box.relations({ rack: { parent: rack } }).lifecycle({
  probes: { isExtended: ['yes', 'no'], isThere: ['there', 'missing'] },
  operations: {
    create: {
      from: [],
      steps: {
        makeFile: { during: 'Making', creates: 'file', undo: 'removeFile' },
        pay: { during: 'Making', result: z.object({ receipt: z.string() }), undo: 'refund' },
        fill: { during: 'Making', deadline: '30s' },
      },
      to: 'Ready',
      onFailure: { undo: true, status: 'Broken' },
    },
    grow: {
      from: ['Ready'],
      input: z.object({ size: z.number().int().positive() }),
      steps: { extend: { during: 'Growing', probe: 'isExtended' }, note: { during: 'Growing' } },
      to: { status: 'Ready', set: { size: ({ input }) => input.size } },
      onFailure: 'Ready',
    },
    inspect: {
      from: ['Ready'],
      steps: { look: { during: 'Checking', deadline: '3s', retry: { times: 0 } } },
      to: 'Ready',
      onFailure: { status: 'Ready', say: 'Could not be looked at: {reasons}' },
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      grace: '500ms',
      steps: { removeFile: { during: 'Removing', destroys: 'file' } },
      to: 'Gone',
      onFailure: { again: '1s' },
    },
  },
  heal: {
    Making: { resume: true, unowned: { status: 'Broken' } },
    Growing: { resume: true, probe: { isThere: { there: 'Ready', missing: 'Broken', unknown: 'Broken' } } },
    Checking: { status: 'Ready' },
    Removing: { attempt: 'delete' },
  },
  moves: [{ from: ['*'], to: 'Gone', by: 'rack' }],
})

export const racks = rack.relations({ boxes: { children: box } }).lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Open', onFailure: 'Stuck' },
    // All boxes at once, in chunks when there are many; their files become orphans, which the sweeper finds.
    close: {
      from: ['Open'],
      steps: { lock: { during: 'Closing' } },
      to: { status: 'Closed', move: { boxes: 'Gone' } },
      onFailure: 'Stuck',
    },
    scrap: {
      from: ['*'],
      ifBusy: 'preempt',
      steps: { empty: { during: 'Emptying', ask: { boxes: 'delete' } }, unscrew: { during: 'Emptying' } },
      to: 'Scrapped',
      onFailure: { again: '1s' },
    },
  },
  heal: {
    Emptying: { resume: true, unowned: { attempt: 'scrap' } },
    Closing: { status: 'Closed', move: { boxes: 'Gone' } },
  },
})
