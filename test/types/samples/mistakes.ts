// Mistakes that must not compile. The line after each expectation is the one on which the author sees the error.
import { previous, resourceType, type Client, type Driver } from 'homeostat'
import { z } from 'zod'

const attachment = resourceType('a', {
  properties: z.object({ host: z.string() }),
  statuses: { stable: { Attached: '' }, transitional: { Attaching: '' }, terminal: { Detached: '' } },
})
const volume = resourceType('v', {
  properties: z.object({ size: z.number(), multiAttach: z.boolean(), kind: z.enum(['fast', 'slow']) }),
  statuses: {
    stable: { Available: '', InUse: '' },
    transitional: { Creating: '', Extending: '' },
    failed: { Error: '' },
    terminal: { Gone: '' },
  },
})
const related = volume.relations({ attachments: { children: attachment }, host: { link: attachment } })
const good = { from: [], steps: {}, to: 'Available', onFailure: 'Error' } as const
const heal = { Creating: { status: 'Error' }, Extending: { status: 'Error' } } as const

// --- statuses of operations

export const m1 = volume.lifecycle({ heal, operations: { a: {
  // @ts-expect-error 1: wrong source status
  from: ['Availble'],
  steps: {}, to: 'Available', onFailure: 'Error' } } })
export const m2 = volume.lifecycle({ heal, operations: { a: { from: [], steps: {},
  // @ts-expect-error 2: wrong target status
  to: 'Availble',
  onFailure: 'Error' } } })
export const m3 = volume.lifecycle({ heal, operations: { a: { from: [], steps: {},
  // @ts-expect-error 3: wrong target status in a landing
  to: { status: 'Availble', set: { size: 1 } },
  onFailure: 'Error' } } })
export const m4 = volume.lifecycle({ heal, operations: { a: { from: [], steps: { x: {
  // @ts-expect-error 4: a step during a stable status
  during: 'Available',
} }, to: 'Available', onFailure: 'Error' } } })
export const m5 = volume.lifecycle({ heal, operations: { a: { from: [], steps: {},
  // @ts-expect-error 5: landing in a transitional status
  to: 'Creating',
  onFailure: 'Error' } } })
export const m6 = volume.lifecycle({ heal, operations: { a: {
  // @ts-expect-error 6: leaving a terminal status
  from: ['Gone'],
  steps: {}, to: 'Available', onFailure: 'Error' } } })
export const m7 = volume.lifecycle({ heal, operations: {
  // @ts-expect-error 7: no onFailure
  a: { from: [], steps: {}, to: 'Available' },
} })

// --- healing

export const m8 = volume.lifecycle({ operations: { a: good },
  // @ts-expect-error 8: a transitional status without recovery
  heal: { Creating: { status: 'Error' } },
})
export const m9 = volume.lifecycle({ operations: { a: good }, heal: {
  // @ts-expect-error 9: recovery to a transitional status
  Creating: { status: 'Extending' },
  Extending: { resume: true } } })
export const m10 = volume.lifecycle({ operations: { extend: good }, heal: {
  // @ts-expect-error 10: wrong operation in attempt
  Creating: { status: 'Error', attempt: 'extnd' },
  Extending: { resume: true } } })
export const m11 = volume.lifecycle({ operations: { a: good }, heal: {
  Creating: { status: 'Error' },
  // @ts-expect-error 11: like a status that is not transitional
  Extending: { like: 'Available' } } })

// --- relations and conditions

export const m12 = related.lifecycle({ heal, operations: { a: { from: [], steps: {},
  // @ts-expect-error 12: wrong relation in move
  to: { status: 'InUse', move: { attachmnts: 'Attached' } },
  onFailure: 'Error' } } })
export const m13 = related.lifecycle({ heal, operations: { a: { from: [], steps: {},
  // @ts-expect-error 13: wrong related status
  to: { status: 'InUse', move: { attachments: 'Atached' } },
  onFailure: 'Error' } } })
export const m14 = related.lifecycle({ operations: { a: good }, heal: {
  // @ts-expect-error 14: wrong property in a condition
  Creating: [{ when: { multiAtach: true }, status: 'Error' }, { status: 'Error' }],
  Extending: { resume: true } } })
export const m15 = related.lifecycle({ operations: { a: good }, heal: {
  // @ts-expect-error 15: wrong related status in a condition
  Creating: [{ when: { attachments: { some: ['Atached'] } }, status: 'Error' }, { status: 'Error' }],
  Extending: { resume: true } } })
export const m16 = related.lifecycle({ operations: { a: good }, heal: {
  // @ts-expect-error 16: wrong value of a property
  Creating: [{ when: { kind: 'quick' }, status: 'Error' }, { status: 'Error' }],
  Extending: { resume: true } } })
export const m17 = related.lifecycle({ operations: { a: good }, heal: {
  // @ts-expect-error 17: a list of statuses for a relation to many
  Creating: [{ when: { attachments: ['Attached'] }, status: 'Error' }, { status: 'Error' }],
  Extending: { resume: true } } })
export const m18 = related.lifecycle({ heal, operations: { a: { from: [], steps: {},
  // @ts-expect-error 18: a link to what is no link
  to: { status: 'InUse', link: { attachments: null } },
  onFailure: 'Error' } } })

// --- words, inputs, results, durations

export const m19 = volume.lifecycle({ heal, operations: { a: { from: [], steps: {
  // @ts-expect-error 19: misspelt word in a step
  x: { during: 'Creating', deadlin: '5m' },
}, to: 'Available', onFailure: 'Error' } } })
export const m20 = volume.lifecycle({ heal, operations: { a: { from: [], steps: {},
  // @ts-expect-error 20: misspelt word in an operation
  ifBuzy: 'refuse',
  to: 'Available', onFailure: 'Error' } } })
export const m21 = volume.lifecycle({ heal, operations: { a: { from: [], input: z.object({ size: z.number() }), requires: [
  // @ts-expect-error 21: wrong input field in a function
  { says: '', test: ({ input }) => input.sise > 1 },
], steps: {}, to: 'Available', onFailure: 'Error' } } })
export const m22 = volume.lifecycle({ heal, operations: { a: { from: ['Available'],
  steps: { grow: { during: 'Extending', result: z.object({ size: z.number() }) } },
  // @ts-expect-error 22: wrong step in results
  to: { status: 'Available', set: { size: ({ results }) => results.grw?.size ?? 0 } },
  onFailure: previous } } })
export const m23 = volume.lifecycle({ heal, operations: { a: { from: [], steps: {
  // @ts-expect-error 23: bad duration
  x: { during: 'Creating', deadline: '5 minutes' },
}, to: 'Available', onFailure: 'Error' } } })
export const m24 = volume.lifecycle({ heal, operations: { a: { from: [], steps: {},
  // @ts-expect-error 24: wrong type of a value to set
  to: { status: 'Available', set: { size: 'big' } },
  onFailure: 'Error' } } })

// --- probes, drift, timers

const probes = { realSize: ['grown', 'same'] } as const
export const m25 = volume.lifecycle({ probes, operations: { a: good }, heal: { Creating: { status: 'Error' },
  // @ts-expect-error 25: wrong probe
  Extending: { probe: { realSze: { grown: 'Available', same: 'Available', unknown: 'Error' } } } } })
export const m26 = volume.lifecycle({ probes, operations: { a: good }, heal: { Creating: { status: 'Error' },
  // @ts-expect-error 26: an answer left out
  Extending: { probe: { realSize: { grown: 'Available', unknown: 'Error' } } } } })
export const m27 = volume.lifecycle({ probes, heal, operations: { a: good }, drift: {
  // @ts-expect-error 27: drift of a transitional status
  Creating: { every: '1h', probe: { realSize: { grown: 'Available', same: 'Available', unknown: 'Error' } } } } })
export const m28 = volume.lifecycle({ probes, heal, operations: { a: good }, drift: {
  // @ts-expect-error 28: drift to a transitional status
  Available: { every: '1h', probe: { realSize: { grown: 'Creating', same: 'Available', unknown: { again: '1h' } } } } } })
export const m29 = volume.lifecycle({ probes, heal, operations: { a: good }, drift: {
  // @ts-expect-error 29: drift without a rhythm
  Available: { probe: { realSize: { grown: 'Available', same: 'Available', unknown: { again: '1h' } } } } } })
export const m30 = volume.lifecycle({ heal, operations: { a: good }, timers: {
  // @ts-expect-error 30: a timer that asks an unknown operation
  late: { in: ['Available'], after: '1h', ask: 'b' } } })
export const m42 = volume.lifecycle({ heal, operations: { a: good }, timers: {
  // @ts-expect-error 42: a timer at a property that holds no time
  late: { in: ['Available'], at: 'kind', ask: 'a' } } })

export const m31 = volume.lifecycle({ heal, operations: { a: { from: [], steps: {},
  // @ts-expect-error 31: a move where there are no relations
  to: { status: 'InUse', move: { attachments: 'Attached' } },
  onFailure: 'Error' } } })
export const m32 = related.lifecycle({ heal, operations: { a: { from: [], steps: {
  // @ts-expect-error 32: wrong related status of forEach
  x: { during: 'Creating', forEach: { attachments: { done: 'Atached' } } },
}, to: 'InUse', onFailure: 'Error' } } })
export const m33 = volume.lifecycle({ probes, operations: { a: good }, heal: { Creating: { status: 'Error' },
  // @ts-expect-error 33: an answer that leads to a transitional status
  Extending: { probe: { realSize: { grown: 'Creating', same: 'Available', unknown: 'Error' } } } } })

// --- driver and client

const ok = volume.lifecycle({
  probes,
  operations: { grow: { from: ['Available'], input: z.object({ size: z.number() }),
    steps: { growVolume: { during: 'Extending', undo: 'shrink', result: z.object({ size: z.number() }) } },
    to: 'Available', onFailure: { undo: true, status: 'Error' } } },
  heal: { Creating: { status: 'Error' }, Extending: { probe: { realSize: { grown: 'Available', same: 'Available', unknown: { again: '1m' } } } } },
})
// @ts-expect-error 34: the driver lacks a function
export const d1: Driver<typeof ok> = { growVolume: async ({ input }) => ({ size: input.size }), shrink: async () => {} }
// @ts-expect-error 35: the driver answers with something else
export const d2: Driver<typeof ok> = { growVolume: async ({ input }) => ({ sise: input.size }), shrink: async () => {}, realSize: async () => 'grown' }
// @ts-expect-error 36: misspelt function of the driver
export const d3: Driver<typeof ok> = { growVolum: async () => ({ size: 1 }), shrink: async () => {}, realSize: async () => 'grown' }
// @ts-expect-error 37: the probe gives an answer that is not declared
export const d4: Driver<typeof ok> = { growVolume: async () => ({ size: 1 }), shrink: async () => {}, realSize: async () => 'smaller' }
// @ts-expect-error 38: wrong operation of the client
export const c1 = (client: Client<{ volume: typeof ok }>) => client.volume.extend('v', { size: 1 })
// @ts-expect-error 39: wrong input of the client
export const c2 = (client: Client<{ volume: typeof ok }>) => client.volume.grow('v', { sise: 1 })
// @ts-expect-error 40: no input where one is needed
export const c3 = (client: Client<{ volume: typeof ok }>) => client.volume.grow('v')
// @ts-expect-error 41: wrong properties of what is created
export const c4 = (client: Client<{ volume: typeof ok }>) => client.volume.create({ properties: { sise: 1, multiAttach: true, kind: 'fast' } })
