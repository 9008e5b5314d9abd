// Point 12: a landing that moves more than one commit should hold goes in chunks, the root last.
import { resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { TableTop } from '../testing/table-top.ts'
import { cascadeLimit } from './advance.ts'

const queen = resourceType('t.queen', { properties: z.object({}), statuses: { stable: { Old: 'Old.' } } })
const queens = queen.lifecycle({ begins: ['Old'], heal: {} })
const hive = resourceType('t.hive', {
  properties: z.object({ bees: z.number().default(9) }),
  statuses: {
    stable: { Calm: 'Calm.', Empty: 'Empty.' },
    transitional: { Smoking: 'Smoked.', Ending: 'Ended.' },
    failed: { Wild: 'Wild.' },
    terminal: { Gone: 'Gone.' },
  },
})
const bee = resourceType('t.bee', {
  properties: z.object({ n: z.number(), fed: z.boolean().default(false), isDrone: z.boolean().default(false) }),
  statuses: { stable: { In: 'In.', Out: 'Out.' }, transitional: { Flying: 'Flies.' }, terminal: { Dead: 'Dead.' } },
})
const bees = bee.relations({ hive: { parent: hive } }).lifecycle({
  begins: ['In'],
  moves: [
    { from: ['*'], to: 'Out', by: 'hive' },
    { from: ['*'], to: 'Dead', by: 'hive' },
  ],
  operations: { fly: { from: ['In'], steps: { flap: { during: 'Flying' } }, to: 'Out', onFailure: 'In' } },
  heal: { Flying: { status: 'In' } },
})
const hivesWith = hive.relations({
  bees: { children: bee },
  drones: { children: bee, where: { isDrone: true } },
  queen: { link: queen },
})
const hives = hivesWith.lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Calm', onFailure: 'Gone' },
    smoke: {
      from: ['Calm'],
      steps: { puff: { during: 'Smoking' } },
      to: {
        status: 'Empty',
        move: { bees: 'Out' },
        set: { bees: 0 },
      },
      onFailure: { status: 'Wild', move: { bees: { from: ['In'], to: 'Out' } }, say: 'They are out: {reasons}' },
    },
    swarm: {
      from: ['Calm'],
      steps: { hum: { during: 'Smoking', progress: '1m' } },
      to: {
        status: 'Empty',
        move: { drones: { from: ['In'], to: 'Dead' }, bees: { from: ['In', 'Flying'], set: { fed: true } } },
        set: { bees: 0 },
        add: { bees: { status: 'In', each: () => [{ n: -1, fed: false, isDrone: false }] } },
        link: { queen: () => 'q' },
      },
      onFailure: 'Wild',
    },
    flee: {
      from: ['Calm', 'Empty'],
      ifBusy: 'queue',
      steps: {},
      to: { status: 'Empty', move: { bees: 'Out' } },
      onFailure: 'Wild',
    },
    feed: {
      from: ['Calm'],
      steps: { pour: { during: 'Smoking' } },
      to: { status: 'Calm', move: { bees: { from: ['In', 'Out'], to: 'Out', set: { fed: true } } } },
      onFailure: 'Wild',
    },
    end: {
      from: ['*'],
      ifBusy: 'preempt',
      force: '1s',
      steps: { burn: { during: 'Ending' } },
      to: { status: 'Gone', move: { bees: 'Dead' } },
      onFailure: { again: '1m' },
    },
  },
  heal: {
    Smoking: { status: 'Wild', move: { bees: 'Out' }, attempt: 'end' },
    Ending: { status: 'Gone', move: { bees: 'Dead' } },
  },
})

const population = 1_200

function hiveWith(count: number, status = 'Calm', more = {}) {
  const t = new TableTop([hives, bees, queens])
  t.place('t.queen', 'q', 'Old')
  t.place('t.hive', 'h', status)
  const parent = { no: t.get('h').no }
  for (let n = 0; n < count; n++) t.place('t.bee', `b${n}`, 'In', { parent, properties: { n, ...more } })
  return t
}

const countIn = (t: TableTop, status: string) =>
  [...t.resources.values()].filter((one) => one.type === 't.bee' && one.status === status).length

describe('12 cascades', () => {
  test('12 up to the limit it is one commit', () => {
    const t = hiveWith(cascadeLimit)
    t.request('h', 'smoke')
    expect(t.done('h')).toMatchObject({ status: 'Empty', run: null })
    expect(countIn(t, 'Out')).toBe(cascadeLimit)
  })

  test('12 above it children move in chunks under the hold of the run, and the root lands last', () => {
    const t = hiveWith(population)
    t.request('h', 'smoke')
    const sizes: number[] = []
    for (let n = 0; t.get('h').run !== null && n < 10; n++) {
      const { changes } = t.ok(t.ending('h', { kind: 'done', result: null }))
      sizes.push(changes.writes.length - 1)
      if (t.get('h').run !== null)
        expect(t.get('h')).toMatchObject({ status: 'Smoking', run: { phase: 'cascade', deadlineAt: 0 } })
    }
    expect(sizes).toEqual([500, 500, 200])
    expect(t.get('h')).toMatchObject({ status: 'Empty', properties: { bees: 0 } })
    expect(
      t
        .eventsOf('h')
        .slice(-2)
        .map(({ kind, to }) => [kind, to]),
    ).toEqual([
      ['moved', 'Smoking'],
      ['landed', 'Empty'],
    ])
    expect(t.ended.at(-1)).toMatchObject({ operation: 'smoke', outcome: 'succeeded' })
  })

  test('12 properties, links and new resources come with the landing, once; until then nothing watches the run', () => {
    const t = hiveWith(population, 'Calm', { isDrone: true })
    const parent = { no: t.get('h').no }
    for (let n = 0; n < 3; n++) t.place('t.bee', `w${n}`, 'In', { parent, properties: { n } })
    t.request('h', 'swarm')
    t.done('h')
    expect(t.get('h')).toMatchObject({ properties: { bees: 9 }, links: {}, run: { phase: 'cascade', progressAt: 0 } })
    t.done('h')
    t.done('h')
    expect(t.get('h')).toMatchObject({ status: 'Empty', properties: { bees: 0 }, links: { queen: t.get('q').no } })
    expect([...t.resources.values()].filter((one) => one.properties['n'] === -1)).toHaveLength(1)
    expect([t.get('w0'), t.get('w2')]).toMatchObject([{ properties: { fed: true } }, { properties: { fed: true } }])
  })

  test('12 a chunk told twice moves nothing more', () => {
    const t = hiveWith(population)
    t.request('h', 'smoke')
    t.done('h')
    const told = t.ending('h', { kind: 'done', result: null })
    t.ok(told)
    expect(t.refused(told).code).toBe('fenced')
    expect(countIn(t, 'Out')).toBe(2 * cascadeLimit)
  })

  test('12 the end says how it came about: forced, cancelled, failed', () => {
    const ended = (begin: (t: TableTop) => void) => {
      const t = hiveWith(cascadeLimit + 1)
      begin(t)
      expect(t.get('h').run!.phase).toBe('cascade')
      t.done('h')
      return t
    }
    const forced = ended((t) => {
      t.request('h', 'end', undefined, { force: true, reason: 'wasps' })
      t.done('h')
    })
    expect(forced.ended.at(-1)).toMatchObject({ operation: 'end', outcome: 'forced' })
    const cancelled = ended((t) => {
      t.request('h', 'smoke')
      t.ok({ kind: 'cancelRun', no: t.get('h').no, by: 'ann', reason: 'rain' })
    })
    expect(cancelled.ended.at(-1)).toMatchObject({ operation: 'smoke', outcome: 'cancelled' })
    expect(cancelled.lastEvent('h').detail).toEqual({
      cascade: true,
      operation: 'smoke',
      description: 'They are out: cancelled by ann: rain',
    })
  })

  test('12 a crash between chunks is healed by going on; what is there already is not moved again', () => {
    const t = hiveWith(population)
    t.request('h', 'smoke')
    t.done('h')
    const { epoch } = t.get('h')
    const stale = t.ending('h', { kind: 'done', result: null })
    t.heal('h')
    expect(t.get('h')).toMatchObject({ epoch: epoch + 1, run: { phase: 'cascade' } })
    expect(t.refused(stale).code).toBe('fenced')
    t.done('h')
    t.done('h')
    expect([t.status('h'), countIn(t, 'Out')]).toEqual(['Empty', population])
    expect(t.events.filter(({ kind, from, to }) => kind === 'moved' && from === 'In' && to === 'Out')).toHaveLength(
      population,
    )
  })

  test('12 a healing landing goes in chunks, too, with its attempt at the end', () => {
    const t = hiveWith(population, 'Smoking')
    t.heal('h', 'unowned')
    expect(t.get('h')).toMatchObject({ status: 'Smoking', run: { kind: 'heal', phase: 'cascade' } })
    t.heal('h')
    t.done('h')
    t.done('h')
    expect(t.get('h')).toMatchObject({ status: 'Ending', run: { operation: 'end', previous: 'Wild' } })
    expect(countIn(t, 'Out')).toBe(population)
  })

  test('12 a failure that lands in chunks keeps its reasons', () => {
    const t = hiveWith(population)
    t.request('h', 'smoke')
    t.failed('h', 'no smoke')
    t.done('h')
    t.done('h')
    expect(t.get('h')).toMatchObject({ status: 'Wild', description: 'They are out: no smoke' })
    expect(t.ended.at(-1)).toMatchObject({ outcome: 'failed' })
  })

  test('12 what only gets properties does not keep a cascade from ending', () => {
    const t = hiveWith(population)
    t.request('h', 'feed')
    for (let n = 0; t.get('h').run !== null; n++) {
      expect(n).toBeLessThan(5)
      t.done('h')
    }
    expect([...t.resources.values()].filter((one) => one.properties['fed'] === true)).toHaveLength(population)
  })

  test('12 what waits its turn waits for the last chunk, also where no step has shown that something is under way', () => {
    const t = hiveWith(population)
    t.request('h', 'flee')
    t.request('h', 'flee')
    expect(t.get('h')).toMatchObject({ status: 'Calm', run: { phase: 'cascade' }, queue: [{ operation: 'flee' }] })
    t.done('h')
    expect(t.get('h').queue).toHaveLength(1)
    t.done('h')
    expect(t.get('h')).toMatchObject({ status: 'Empty', run: null, queue: [] })
    expect(t.ended.map(({ operation, outcome }) => [operation, outcome])).toEqual([
      ['flee', 'succeeded'],
      ['flee', 'succeeded'],
    ])
  })

  test('12 a pre-empting end goes over busy ones in its chunks', () => {
    const t = hiveWith(population)
    t.request('b100', 'fly')
    t.request('b1100', 'fly')
    t.request('h', 'end')
    t.done('h')
    expect(t.statuses('h', 'b100', 'b1100')).toEqual(['Ending', 'Dead', 'Flying'])
    t.done('h')
    expect(t.status('b1100')).toBe('Flying')
    t.done('h')
    expect([t.status('h'), countIn(t, 'Dead')]).toEqual(['Gone', population])
  })

  test('12 a delete pre-empts a cascade, and the rest is moved by it', () => {
    const t = hiveWith(population)
    t.request('h', 'smoke')
    t.done('h')
    t.request('h', 'end')
    expect(t.get('h')).toMatchObject({ status: 'Ending', run: { phase: 'step', landing: null } })
    for (let n = 0; n < 4 && t.get('h').run !== null; n++) t.done('h')
    expect([t.status('h'), countIn(t, 'Dead')]).toEqual(['Gone', population])
  })
})
