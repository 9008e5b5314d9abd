// A made-up system that uses every word of the language, for what the catalogues do not use: sites with tools in racks.
import { previous, resourceType } from 'homeostat'
import { z } from 'zod'

export const site = resourceType('w.site', {
  properties: z.object({
    isOpen: z.boolean().default(true),
    closesAt: z.number().optional(),
    note: z.string().default(''),
  }),
  statuses: {
    stable: { Open: 'Works.', Closed: 'Locked.' },
    transitional: {
      Opening: 'Being unlocked.',
      Closing: 'Being locked.',
      Clearing: 'Tools are packed and cleaned.',
      Undoing: 'Going back.',
      Removing: 'Being torn down.',
    },
    failed: { Broken: 'Needs a look.' },
    terminal: { Gone: 'Torn down.' },
  },
})

export const tool = resourceType('w.tool', {
  properties: z.object({ rpm: z.number().nonnegative().default(0) }),
  statuses: {
    stable: { Idle: 'Off.', Busy: 'Spins.' },
    transitional: {
      Making: 'Being made.',
      Starting: 'Spins up.',
      Stopping: 'Spins down.',
      Packed: 'In its box, while the site is cleared.',
      Scrapping: 'Being scrapped.',
    },
    failed: { Bad: 'Broken.' },
    terminal: { Gone: 'Scrapped.' },
  },
})

export const part = resourceType('w.part', {
  properties: z.object({ size: z.number() }),
  statuses: {
    stable: { Loose: 'Not fixed yet.', Fixed: 'In place.' },
    failed: { Lost: 'Fell off.' },
    terminal: { Gone: 'Scrapped.' },
  },
})

const rackStatuses = {
  stable: { Up: 'Stands.', Down: 'Lies.' },
  transitional: { Raising: 'Being put up.', Lowering: 'Being laid down.' },
  failed: { Bent: 'Bent.' },
  terminal: { Gone: 'Removed.' },
} as const
export const rack = resourceType('w.rack', {
  properties: z.object({ load: z.number().default(0) }),
  statuses: rackStatuses,
})
export const mirror = resourceType('w.mirror', { properties: z.object({}), statuses: rackStatuses })

export const sites = site.relations({ tools: { children: tool }, parts: { descendants: part } }).lifecycle({
  probes: { door: ['unlocked', 'locked'] },
  rules: {
    quiet: {
      says: 'nothing spins in a closed site',
      holds: { Closed: { tools: { none: ['Busy', 'Starting'] } }, Gone: { tools: { exists: false } } },
    },
  },
  timers: {
    closing: { in: ['Open'], at: 'closesAt', ask: 'close', again: '10s', rank: 1 },
    quiet: { in: ['Broken'], when: { isOpen: true }, after: '1h', ask: { tools: 'stop' }, again: '1m' },
  },
  operations: {
    create: { from: [], steps: {}, to: 'Open', onFailure: 'Gone' },
    close: {
      from: ['Open'],
      ifBusy: 'queue',
      steps: {
        stopTools: { during: 'Closing', ask: { tools: { operation: 'stop', in: ['Busy'] } } },
        lock: { during: 'Closing', undo: 'unlock', progress: '1m', deadline: '10m' },
      },
      to: { status: 'Closed', set: { isOpen: false } },
      onFailure: { undo: true, during: 'Undoing', status: previous, ifUndoFails: 'Broken' },
      failureText: 'Not closed: {reasons}',
    },
    open: {
      from: ['Closed'],
      ifBusy: 'queue',
      steps: {
        unlock: {
          during: 'Opening',
          result: z.object({ key: z.string() }),
          probe: 'door',
          retry: { times: 2, first: '2s' },
          deadline: '5m',
        },
      },
      to: { status: 'Open', set: { isOpen: true, note: ({ results }) => results.unlock?.key ?? 'no key' } },
      onFailure: [{ code: ['Jammed'], status: 'Broken', say: 'Jammed ({reasons}).' }, { status: previous }],
    },
    clear: {
      from: ['Open', 'Closed', 'Broken'],
      steps: {
        pack: {
          during: { status: 'Clearing', move: { tools: { from: ['Idle'], to: 'Packed' } }, say: 'Packing.' },
          undo: 'unpack',
        },
        clean: {
          during: 'Clearing',
          forEach: { tools: { in: ['Packed'], done: 'Idle', failed: 'Bad' } },
          undo: 'soil',
          retry: { times: 1 },
        },
        startAll: {
          during: 'Clearing',
          when: { isOpen: true },
          ask: { tools: { operation: 'start', in: ['Idle'], failed: 'goOn' } },
        },
      },
      to: previous,
      onFailure: { undo: true, status: 'Broken', move: { tools: { from: ['Packed'], to: 'Idle' } } },
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      grace: '5s',
      force: '3s',
      input: z.object({ why: z.string().default('') }),
      steps: {
        warn: { during: 'Removing', ifForced: 'skip' },
        evict: { during: 'Removing', forEach: { tools: { done: 'Gone', stopAtFirst: true } } },
        tear: { during: 'Removing', destroys: 'house', retry: { times: 1 } },
      },
      to: { status: 'Gone', move: { tools: 'Gone' } },
      onFailure: { again: '1m', atMost: '4m' },
    },
  },
  heal: {
    Opening: { resume: true, unowned: { status: 'Closed' } },
    Closing: {
      resume: true,
      unowned: [{ when: { tools: { none: ['Busy', 'Starting'] } }, status: 'Closed' }, { status: 'Open' }],
    },
    Clearing: {
      status: previous,
      move: { tools: { from: ['Packed'], to: 'Idle' } },
      attempt: 'clear',
      unowned: { status: 'Broken', move: { tools: { from: ['Packed'], to: 'Idle' } } },
    },
    Undoing: { resume: true, unowned: { status: 'Broken' } },
    Removing: { attempt: 'delete' },
  },
})

export const tools = tool
  .relations({ site: { parent: site }, parts: { children: part }, rack: { link: rack } })
  .lifecycle({
    probes: { spinning: ['yes', 'no'] },
    moves: [
      { from: ['Idle'], to: 'Packed', by: 'site' },
      { from: ['Packed'], to: 'Idle', by: 'site' },
      { from: ['Packed'], to: 'Bad', by: 'site' },
      { from: ['*'], to: 'Gone', by: 'site' },
    ],
    operations: {
      create: {
        from: [],
        input: z.object({ parts: z.array(z.number()).default([]) }),
        steps: {
          forge: { during: 'Making', creates: 'steel', undo: 'melt' },
          fix: {
            during: {
              status: 'Making',
              add: { parts: { status: 'Loose', each: ({ input }) => input.parts.map((size) => ({ size })) } },
            },
            forEach: { parts: { in: ['Loose'], done: 'Fixed', failed: 'Lost' } },
            creates: 'steel',
            undo: 'loosen',
          },
        },
        to: 'Idle',
        onFailure: { undo: true, status: 'Bad' },
      },
      start: {
        from: ['Idle'],
        requires: [{ site: ['Open', 'Clearing'] }],
        steps: {
          spin: {
            during: 'Starting',
            probe: 'spinning',
            result: z.object({ rpm: z.number() }),
            deadline: '2m',
            progress: '30s',
          },
        },
        to: { status: 'Busy', set: { rpm: ({ results }) => results.spin?.rpm ?? 1 } },
        onFailure: previous,
      },
      stop: {
        from: ['Busy', 'Idle'],
        ifBusy: 'queue',
        steps: {
          halt: { during: 'Stopping', when: { says: 'it spins', test: ({ resource }) => resource.properties.rpm > 0 } },
        },
        to: { status: 'Idle', set: { rpm: 0 } },
        onFailure: 'Bad',
      },
      hang: {
        from: ['Idle'],
        input: z.object({ rack: z.string() }),
        steps: { lift: { during: { status: 'Stopping', link: { rack: ({ input }) => input.rack } } } },
        to: 'Idle',
        onFailure: { status: previous, link: { rack: null } },
      },
      delete: {
        from: ['*'],
        ifBusy: 'preempt',
        force: '2s',
        steps: { scrap: { during: 'Scrapping', destroys: 'steel' } },
        to: { status: 'Gone', move: { parts: 'Gone' } },
        onFailure: { again: '1m' },
      },
    },
    heal: {
      Making: { resume: true, unowned: { status: 'Bad' } },
      Starting: { resume: true, probe: { spinning: { yes: 'Busy', no: 'Idle', unknown: 'Bad' } } },
      Stopping: {
        probe: {
          spinning: { yes: { status: 'Busy' }, no: { status: 'Idle', set: { rpm: 0 } }, unknown: { again: '30s' } },
        },
      },
      Packed: { withOwner: { site: ['Clearing'] }, otherwise: { status: 'Idle' } },
      Scrapping: { attempt: 'delete' },
    },
    drift: {
      Idle: {
        every: '1m',
        probe: { spinning: { yes: 'Busy', no: { status: 'Idle', set: { rpm: 0 } }, unknown: { again: '5m' } } },
      },
    },
  })

export const parts = part.relations({ tool: { parent: tool } }).lifecycle({
  begins: ['Loose'],
  moves: [
    { from: ['Loose'], to: 'Fixed', by: 'tool' },
    { from: ['Loose', 'Fixed'], to: 'Lost', by: 'tool' },
    { from: ['*'], to: 'Gone', by: 'tool' },
  ],
  heal: {},
})

export const racks = rack.relations({ mirror: { pair: mirror }, tools: { linkedBy: tool, as: 'rack' } }).lifecycle({
  rules: { busy: { says: 'a rack with tools stands', holds: { Down: { tools: { exists: false } } } } },
  operations: {
    create: { from: [], steps: { raise: { during: 'Raising', creates: 'rack' } }, to: 'Up', onFailure: 'Bent' },
    lower: { from: ['Up'], steps: { lay: { during: 'Lowering' } }, to: 'Down', onFailure: previous },
    raise: { from: ['Down', 'Bent'], steps: { put: { during: 'Raising' } }, to: 'Up', onFailure: 'Bent' },
    remove: {
      from: ['Up', 'Down', 'Bent'],
      steps: { carry: { during: 'Lowering', destroys: 'rack' } },
      to: 'Gone',
      onFailure: previous,
    },
  },
  heal: {
    Raising: { status: 'Bent', attempt: 'raise' },
    Lowering: { status: previous, attempt: 'lower', unowned: { status: 'Bent' } },
  },
})

export const mirrors = mirror.relations({ rack: { pair: rack } }).lifecycle({
  heal: {
    Raising: { withOwner: { rack: ['Raising'] }, otherwise: { status: 'Bent' } },
    Lowering: { withOwner: { rack: ['Lowering'] }, otherwise: { status: 'Bent' } },
  },
})

export const workshop = [sites, tools, parts, racks, mirrors]
