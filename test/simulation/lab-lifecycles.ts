// Small lifecycles for what the catalogues do not have: many undos and probes, queues, force, items one by one, asks, pairs.
import { previous, resourceType } from 'homeostat'
import { z } from 'zod'

const job = resourceType('lab.job', {
  properties: z.object({ size: z.number(), note: z.string().default('') }),
  statuses: {
    stable: { Done: 'Made.', Idle: 'Put aside.' },
    transitional: {
      Making: 'Being made.',
      Undoing: 'Being taken back.',
      Tuning: 'Being changed.',
      Checking: 'Being looked at.',
      Removing: 'Being removed.',
    },
    failed: { Failed: 'Could not be made.', Stranded: 'Could not be taken back.' },
    terminal: { Gone: 'Removed.' },
  },
})

export const jobs = job.lifecycle({
  probes: { isMade: ['yes', 'no'], state: ['made', 'idle', 'lost'] },
  operations: {
    create: {
      from: [],
      input: z.object({ reason: z.string().default('none') }),
      steps: {
        makeFrame: { during: 'Making', creates: 'frame', undo: 'breakFrame', probe: 'isMade' },
        makeCore: { during: 'Making', creates: 'core', undo: 'breakCore', retry: { times: 1 } },
        connect: { during: 'Checking', undo: 'disconnect', progress: '5s', result: z.object({ port: z.number() }) },
        start: { during: 'Making', undo: 'halt', deadline: '8s' },
      },
      to: 'Done',
      onFailure: { undo: true, during: 'Undoing', status: 'Failed', ifUndoFails: 'Stranded' },
    },
    tune: {
      from: ['Done', 'Idle'],
      ifBusy: 'queue',
      input: z.object({ size: z.number() }),
      steps: { tuneJob: { during: 'Tuning', probe: 'isMade', retry: { times: 0 } } },
      to: { status: previous, set: { size: ({ input }) => input.size } },
      onFailure: previous,
    },
    rest: {
      from: ['Done'],
      input: z.object({ reason: z.string().default('none') }),
      steps: { checkJob: { during: 'Checking' } },
      to: { status: 'Idle', set: { note: ({ input }) => input.reason } },
      onFailure: [{ code: ['cancelled'], status: 'Done' }, { status: 'Failed' }],
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      grace: '2s',
      force: '3s',
      input: z.object({ reason: z.string().default('none') }),
      steps: {
        halt: { during: 'Removing', progress: '6s' },
        disconnect: { during: 'Removing', ifForced: 'skip' },
        breakCore: { during: 'Removing', destroys: 'core' },
        breakFrame: { during: 'Removing', destroys: 'frame' },
      },
      to: 'Gone',
      onFailure: { again: '3s', atMost: '10s' },
    },
  },
  heal: {
    Making: { resume: true, unowned: { status: 'Failed' } },
    Undoing: { resume: true, unowned: { status: 'Stranded' } },
    Tuning: { resume: true, unowned: { status: 'Idle' } },
    Checking: {
      probe: { state: { made: { status: 'Done', attempt: 'rest' }, idle: 'Idle', lost: 'Failed', unknown: 'Failed' } },
    },
    Removing: { resume: true, unowned: { attempt: 'delete' } },
  },
  drift: {
    Idle: { every: '20s', probe: { state: { made: 'Done', idle: 'Idle', lost: 'Failed', unknown: { again: '20s' } } } },
  },
})

const box = resourceType('lab.box', {
  properties: z.object({ label: z.string() }),
  statuses: {
    stable: { Open: 'Takes items.', Closed: 'Takes no items.' },
    transitional: {
      Opening: 'Being opened.',
      Sorting: 'Its items are sorted.',
      Closing: 'Being closed.',
      Dumping: 'Being emptied.',
    },
    failed: { Jammed: 'Does not move.' },
    terminal: { Gone: 'Removed.' },
  },
})

const item = resourceType('lab.item', {
  properties: z.object({ color: z.string() }),
  statuses: {
    stable: { Loose: 'In no order.', Sorted: 'In order.', Packed: 'In a closed box.' },
    transitional: { Painting: 'Being painted.', Moving: 'Moved with its box.' },
    failed: { Spoilt: 'Not usable.' },
    terminal: { Gone: 'Removed.' },
  },
})

export const boxes = box.relations({ items: { children: item } }).lifecycle({
  rules: {
    closed: {
      says: 'a closed box has only packed items',
      holds: { Closed: { items: { every: ['Packed'] } }, Open: { items: { none: ['Moving'] } } },
    },
  },
  operations: {
    create: {
      from: [],
      input: z.object({ items: z.number().int().nonnegative().default(2) }),
      steps: {
        openBox: {
          during: {
            status: 'Opening',
            add: {
              items: {
                status: 'Loose',
                each: ({ input }) => Array.from({ length: Math.min(input.items, 4) }, () => ({ color: 'none' })),
              },
            },
          },
        },
      },
      to: 'Open',
      onFailure: { status: 'Gone', move: { items: 'Gone' } },
    },
    sort: {
      from: ['Open'],
      steps: {
        sortItem: {
          during: 'Sorting',
          forEach: { items: { in: ['Loose'], done: 'Sorted', failed: 'Spoilt' } },
          undo: 'unsort',
        },
      },
      to: 'Open',
      onFailure: { undo: true, status: 'Open', ifUndoFails: 'Jammed' },
    },
    sortStrictly: {
      from: ['Open'],
      steps: {
        sortItem: {
          during: 'Sorting',
          forEach: { items: { in: ['Loose', 'Spoilt'], done: 'Sorted', stopAtFirst: true } },
        },
      },
      to: 'Open',
      onFailure: previous,
    },
    paint: {
      from: ['Open'],
      input: z.object({ color: z.string() }),
      steps: {
        paintItems: {
          during: 'Sorting',
          ask: {
            items: { operation: 'paint', in: ['Loose', 'Sorted'], input: ({ input }) => ({ color: input.color }) },
          },
          deadline: '40s',
        },
        polish: { during: 'Sorting' },
      },
      to: 'Open',
      onFailure: 'Open',
    },
    close: {
      from: ['Open', 'Jammed'],
      steps: {
        closeBox: {
          during: { status: 'Closing', move: { items: { from: ['Loose', 'Sorted', 'Spoilt'], to: 'Moving' } } },
        },
      },
      to: { status: 'Closed', move: { items: { from: ['Moving'], to: 'Packed' } } },
      onFailure: { status: 'Jammed', move: { items: { from: ['Moving'], to: 'Loose' } } },
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      force: '2s',
      steps: { dumpBox: { during: { status: 'Dumping', move: { items: 'Moving' } } } },
      to: { status: 'Gone', move: { items: 'Gone' } },
      onFailure: { again: '2s' },
    },
  },
  heal: {
    Opening: { resume: true, unowned: { status: 'Gone', move: { items: 'Gone' } } },
    Sorting: { resume: true, unowned: { status: 'Jammed' } },
    Closing: { status: 'Jammed', move: { items: { from: ['Moving'], to: 'Loose' } }, attempt: 'close' },
    Dumping: { resume: true, unowned: { attempt: 'delete' } },
  },
})

export const items = item.relations({ box: { parent: box } }).lifecycle({
  begins: ['Loose'],
  moves: [
    { from: ['*'], to: 'Moving', by: 'box' },
    // An item's own run may have moved it while its box was sorting.
    { from: ['*'], to: 'Sorted', by: 'box' },
    { from: ['*'], to: 'Spoilt', by: 'box' },
    { from: ['Moving'], to: 'Packed', by: 'box' },
    { from: ['Moving'], to: 'Loose', by: 'box' },
    { from: ['*'], to: 'Gone', by: 'box' },
  ],
  operations: {
    paint: {
      from: ['Loose', 'Sorted'],
      input: z.object({ color: z.string() }),
      steps: { paintItem: { during: 'Painting', retry: { times: 1 } } },
      to: { status: previous, set: { color: ({ input }) => input.color } },
      onFailure: previous,
    },
    delete: {
      from: ['Loose', 'Sorted', 'Spoilt', 'Packed'],
      steps: { dropItem: { during: 'Moving' } },
      to: 'Gone',
      onFailure: previous,
    },
  },
  heal: {
    Painting: { status: previous, attempt: 'paint', unowned: { status: 'Loose' } },
    Moving: { withOwner: { box: ['Closing', 'Dumping'] }, otherwise: { status: 'Loose' } },
  },
  timers: { forgotten: { in: ['Spoilt'], after: '20s', ask: 'delete', again: '10s' } },
})

const crate = resourceType('lab.crate', {
  properties: z.object({}),
  statuses: {
    stable: { Full: 'Holds its pieces.' },
    transitional: { Filling: 'Being filled.', Emptying: 'Being emptied.' },
    failed: { Torn: 'Not usable.' },
    terminal: { Gone: 'Removed.' },
  },
})

const piece = resourceType('lab.piece', {
  properties: z.object({}),
  statuses: { stable: { There: 'In its crate.' }, terminal: { Gone: 'Removed.' } },
})

/** More than are moved in one commit. */
const manyPieces = Array.from({ length: 510 }, () => ({}))

export const crates = crate.relations({ pieces: { children: piece } }).lifecycle({
  operations: {
    create: {
      from: [],
      steps: {
        fillCrate: { during: { status: 'Filling', add: { pieces: { status: 'There', each: () => manyPieces } } } },
      },
      to: 'Full',
      onFailure: 'Torn',
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      steps: { emptyCrate: { during: 'Emptying' } },
      to: { status: 'Gone', move: { pieces: 'Gone' } },
      onFailure: { again: '2s' },
    },
  },
  heal: {
    Filling: { resume: true, unowned: { status: 'Torn' } },
    Emptying: { resume: true, unowned: { attempt: 'delete' } },
  },
})

export const pieces = piece
  .relations({ crate: { parent: crate } })
  .lifecycle({ begins: ['There'], moves: [{ from: ['There'], to: 'Gone', by: 'crate' }], heal: {} })

const both = {
  stable: { On: 'Runs.', Off: 'Stands.' },
  transitional: { Starting: 'Being started.', Stopping: 'Being stopped.' },
  failed: { Stuck: 'Does not answer.' },
  terminal: { Gone: 'Removed.' },
} as const

const motor = resourceType('lab.motor', { properties: z.object({}), statuses: both })
const wheel = resourceType('lab.wheel', { properties: z.object({}), statuses: both })

export const motors = motor.relations({ wheel: { pair: wheel } }).lifecycle({
  operations: {
    create: {
      from: [],
      steps: { mount: { during: 'Starting', creates: 'motor', undo: 'unmount' } },
      to: 'Off',
      onFailure: { undo: true, status: 'Gone' },
    },
    start: { from: ['Off', 'Stuck'], steps: { startMotor: { during: 'Starting' } }, to: 'On', onFailure: 'Stuck' },
    stop: {
      from: ['On'],
      ifBusy: 'queue',
      steps: { stopMotor: { during: 'Stopping' } },
      to: 'Off',
      onFailure: 'Stuck',
    },
    delete: {
      from: ['Off', 'Stuck'],
      steps: { unmount: { during: 'Stopping', destroys: 'motor' } },
      to: 'Gone',
      onFailure: 'Stuck',
    },
  },
  heal: {
    Starting: { status: 'Off', unowned: { status: 'Stuck' } },
    Stopping: { resume: true, unowned: { status: 'Stuck' } },
  },
  timers: { idle: { in: ['On'], after: '15s', ask: 'stop', again: '5s' } },
})

export const wheels = wheel.relations({ motor: { pair: motor } }).lifecycle({
  heal: {
    Starting: { withOwner: { motor: ['Starting'] }, otherwise: { status: 'Stuck' } },
    Stopping: { withOwner: { motor: ['Stopping'] }, otherwise: { status: 'Stuck' } },
  },
})
