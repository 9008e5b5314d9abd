// Every edge a declaration makes, and no other: the outside checker judges all commits by them.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { edgesOf, type Edge } from './lifecycle-graph.ts'
import { previous } from './landing.ts'
import { resourceType } from './lifecycle.ts'

const properties = z.object({ ok: z.boolean() })
const statuses = {
  stable: { Ready: '', Resting: '' },
  transitional: { Making: '', Working: '', Undoing: '', Ending: '' },
  failed: { Bad: '' },
  terminal: { Gone: '' },
} as const
const item = resourceType('t.item', { properties, statuses: { stable: { on: '', off: '' }, terminal: { gone: '' } } })
const thing = resourceType('t.thing', { properties, statuses })
const related = thing.relations({ items: { children: item } })

const heal = {
  Making: { status: 'Bad' },
  Working: { status: 'Ready' },
  Undoing: { status: 'Bad' },
  Ending: { status: 'Bad' },
} as const
const create = { from: [], steps: {}, to: 'Ready', onFailure: 'Bad' } as const

/** `from -> to` of the edges of a kind; '' is written (none). */
const arrows = (edges: readonly Edge[], ...kinds: Edge['kind'][]): string[] => [
  ...new Set(edges.filter((edge) => kinds.includes(edge.kind)).map(({ from, to }) => `${from || '(none)'} -> ${to}`)),
]

describe('operations', () => {
  test('a creation without steps begins where it lands', () => {
    expect(arrows(edgesOf(thing.lifecycle({ operations: { create }, heal })), 'begin')).toEqual(['(none) -> Ready'])
  })

  test('steps follow each other; staying in a status is no edge', () => {
    const operations = {
      create: {
        from: [],
        steps: { a: { during: 'Making' }, b: { during: 'Making' }, c: { during: 'Working' } },
        to: 'Ready',
        onFailure: 'Bad',
      },
    } as const
    const edges = edgesOf(thing.lifecycle({ operations, heal }))
    expect(arrows(edges, 'begin', 'step', 'done')).toEqual([
      '(none) -> Making',
      'Making -> Working',
      'Working -> Ready',
    ])
    expect(arrows(edges, 'failure')).toEqual(['Making -> Bad', 'Working -> Bad'])
  })

  test('an optional step can be stepped over, also the last', () => {
    const operations = {
      work: {
        from: ['Ready'],
        steps: { a: { during: 'Working' }, b: { during: 'Ending', when: { ok: true } } },
        to: 'Resting',
        onFailure: 'Ready',
      },
    } as const
    const edges = edgesOf(thing.lifecycle({ operations, heal }))
    expect(arrows(edges, 'step')).toEqual(['Ready -> Working', 'Working -> Ending'])
    expect(arrows(edges, 'done')).toEqual(['Working -> Resting', 'Ending -> Resting'])
  })

  test('a step over related resources is done at once when there are none', () => {
    const operations = {
      work: {
        from: ['Ready'],
        steps: { each: { during: 'Working', forEach: { items: {} } } },
        to: 'Resting',
        onFailure: 'Ready',
      },
      rest: {
        from: ['Ready'],
        steps: { ask: { during: 'Ending', ask: { items: 'stop' } } },
        to: 'Bad',
        onFailure: 'Ready',
      },
    } as const
    const edges = edgesOf(related.lifecycle({ operations, heal }))
    expect(arrows(edges, 'done')).toEqual(['Ready -> Resting', 'Working -> Resting', 'Ready -> Bad', 'Ending -> Bad'])
  })

  test('a step that force skips can be stepped over', () => {
    const steps = { a: { during: 'Ending', ifForced: 'skip' } } as const
    const operations = { delete: { from: ['Ready'], steps, to: 'Gone', onFailure: 'Bad', ifBusy: 'preempt' } } as const
    expect(arrows(edgesOf(thing.lifecycle({ operations, heal })), 'done')).toEqual(['Ending -> Gone'])
    const forced = { delete: { ...operations.delete, force: '1s' } } as const
    expect(arrows(edgesOf(thing.lifecycle({ operations: forced, heal })), 'done')).toEqual([
      'Ready -> Gone',
      'Ending -> Gone',
    ])
  })

  test('forced, it may show a status of its own, from everywhere it starts to wherever it lands', () => {
    const steps = { a: { during: 'Ending' } } as const
    const operations = {
      delete: {
        from: ['Ready'],
        steps,
        to: 'Gone',
        onFailure: 'Bad',
        ifBusy: 'preempt',
        force: '1s',
        whileForced: 'Working',
      },
    } as const
    const edges = edgesOf(thing.lifecycle({ operations, heal }))
    expect(arrows(edges, 'step')).toContain('Ready -> Working')
    expect(arrows(edges, 'done')).toEqual(['Ending -> Gone', 'Working -> Gone'])
  })

  test('every case is an edge, with its words', () => {
    const operations = {
      work: {
        from: ['Ready'],
        steps: { a: { during: 'Working' } },
        to: [{ when: { ok: true }, status: 'Ready' }, { status: 'Resting' }],
        onFailure: [{ code: ['Busy'], status: 'Ready' }, { status: 'Bad' }],
      },
    } as const
    expect(edgesOf(thing.lifecycle({ operations, heal })).filter(({ from }) => from === 'Working')).toMatchObject([
      { to: 'Ready', why: 'work: a failed with Busy', kind: 'failure', operation: 'work' },
      { to: 'Bad', why: 'work: a failed', kind: 'failure' },
      { to: 'Ready', why: 'work done if it is ok', kind: 'done' },
      { to: 'Resting', why: 'work done', kind: 'done' },
      { to: 'Ready', why: 'healed', kind: 'heal' },
    ])
  })

  test("'*' is every status that is not terminal", () => {
    const operations = {
      delete: { from: ['*'], steps: { a: { during: 'Ending' } }, to: 'Gone', onFailure: { again: '1m' } },
    } as const
    const edges = edgesOf(thing.lifecycle({ operations, heal }))
    expect(arrows(edges, 'step')).toEqual(
      ['Ready', 'Resting', 'Making', 'Working', 'Undoing', 'Bad'].map((from) => `${from} -> Ending`),
    )
    expect(arrows(edges, 'failure')).toEqual([])
  })

  test('a pre-empting operation starts where a run stands that came from one of its sources', () => {
    const operations = {
      create: { from: [], steps: { make: { during: 'Making' } }, to: 'Ready', onFailure: 'Bad' },
      work: { from: ['Ready'], steps: { a: { during: 'Working' } }, to: 'Ready', onFailure: 'Ready' },
      stop: {
        from: ['Ready'],
        steps: { b: { during: 'Ending' } },
        to: 'Resting',
        onFailure: previous,
        ifBusy: 'preempt',
      },
    } as const
    const edges = edgesOf(thing.lifecycle({ operations, heal })).filter(({ operation }) => operation === 'stop')
    expect(arrows(edges, 'step')).toEqual(['Ready -> Ending', 'Working -> Ending'])
    expect(arrows(edges, 'failure')).toEqual(['Ending -> Ready'])
  })
})

describe('failure with undoing', () => {
  const undone = (first: object, onFailure: object) =>
    edgesOf(
      thing.lifecycle({
        operations: {
          work: {
            from: ['Ready'],
            steps: { a: { during: 'Making', ...first }, b: { during: 'Working' } },
            to: 'Resting',
            onFailure: { undo: true, status: 'Ready', ...onFailure },
          },
        },
        heal,
      }),
    )

  test('lands from the failed step, or where an undo that fails lands', () => {
    expect(arrows(undone({ undo: 'unA' }, {}), 'failure')).toEqual([
      'Making -> Ready',
      'Making -> Bad',
      'Working -> Ready',
      'Working -> Bad',
    ])
  })
  test('shows its own status while undoing', () => {
    expect(arrows(undone({ undo: 'unA' }, { during: 'Undoing', ifUndoFails: 'Resting' }), 'failure')).toEqual([
      'Making -> Undoing',
      'Undoing -> Ready',
      'Undoing -> Resting',
      'Working -> Undoing',
    ])
  })
  test('lands at once where nothing can be undone', () => {
    expect(arrows(undone({}, { during: 'Undoing' }), 'failure')).toEqual(['Making -> Ready', 'Working -> Ready'])
  })
  test('may land at once where what could be undone may have been skipped', () => {
    expect(arrows(undone({ undo: 'unA', when: { ok: true } }, { during: 'Undoing' }), 'failure')).toEqual([
      'Making -> Undoing',
      'Undoing -> Ready',
      'Undoing -> Bad',
      'Working -> Ready',
      'Working -> Undoing',
    ])
  })
})

describe('previous', () => {
  const operations = {
    create,
    work: { from: ['Ready', 'Resting'], steps: { a: { during: 'Working' } }, to: previous, onFailure: previous },
    delete: { from: ['*'], ifBusy: 'preempt', steps: { b: { during: 'Ending' } }, to: 'Gone', onFailure: previous },
  } as const
  const edges = edgesOf(
    thing.lifecycle({ operations, heal: { ...heal, Working: { status: previous, unowned: { status: 'Bad' } } } }),
  )
  test('leads to each of the sources, and is marked as a way back', () => {
    expect(edges.filter(({ from, kind }) => from === 'Working' && kind === 'done')).toMatchObject([
      { to: 'Ready', back: true },
      { to: 'Resting', back: true },
    ])
  })
  test('is inherited by a run that pre-empts', () => {
    expect(
      arrows(
        edges.filter(({ operation }) => operation === 'delete'),
        'failure',
      ),
    ).toEqual(['Ending -> Ready', 'Ending -> Resting', 'Ending -> Bad'])
  })
  test('leads a healed resource back', () => {
    expect(arrows(edges, 'heal')).toContain('Working -> Resting')
    expect(arrows(edges, 'heal')).toContain('Working -> Bad')
    expect(arrows(edges, 'heal')).not.toContain('Working -> Gone')
  })
})

describe('healing, drift, others', () => {
  test('every landing of a healing row is an edge', () => {
    const edges = edgesOf(
      thing.lifecycle({
        probes: { seen: ['yes', 'no'] },
        operations: { create },
        heal: {
          Making: [{ when: { ok: true }, status: 'Ready' }, { status: 'Bad' }],
          Working: { probe: { seen: { yes: 'Ready', no: 'Resting', unknown: { again: '1m' } } } },
          Undoing: { like: 'Working' },
          Ending: { resume: true, unowned: { status: 'Gone' }, otherwise: { status: 'Bad' } },
        },
        drift: {
          Ready: {
            every: '1h',
            probe: { seen: { yes: 'Ready', no: { status: 'Bad', set: { ok: false } }, unknown: { again: '1h' } } },
          },
        },
      }),
    )
    expect(arrows(edges, 'heal')).toEqual([
      'Making -> Ready',
      'Making -> Bad',
      'Working -> Ready',
      'Working -> Resting',
      'Undoing -> Ready',
      'Undoing -> Resting',
      'Ending -> Bad',
      'Ending -> Gone',
    ])
    expect(edges.filter(({ kind }) => kind === 'drift')).toMatchObject([
      { from: 'Ready', to: 'Bad', why: 'found otherwise, if seen answers no' },
    ])
  })

  test('what others may do: begin it and move it', () => {
    const items = item.relations({ thing: { parent: thing } }).lifecycle({
      begins: ['on'],
      moves: [
        { from: ['on', 'off'], to: 'off', by: 'thing' },
        { from: ['*'], to: 'gone', by: 'thing' },
      ],
      heal: {},
    })
    expect(edgesOf(items).map(({ from, to, why, kind }) => `${from}>${to} ${kind} ${why}`)).toEqual([
      '>on begin added by another',
      'on>off move by its thing',
      'on>gone move by its thing',
      'off>gone move by its thing',
    ])
  })

  test('the follower of a pair takes the edges of its leader', () => {
    const left = resourceType('p.left', {
      properties: z.object({}),
      statuses: { stable: { In: '', Out: '' }, transitional: { Going: '' } },
    })
    const right = resourceType('p.right', {
      properties: z.object({}),
      statuses: { stable: { In: '', Out: '' }, transitional: { Going: '' } },
    })
    const lefts = left.relations({ right: { pair: right } }).lifecycle({
      operations: {
        create: { from: [], steps: {}, to: 'In', onFailure: 'Out' },
        go: { from: ['In'], steps: { go: { during: 'Going' } }, to: 'Out', onFailure: 'In' },
      },
      heal: { Going: { status: 'Out' } },
    })
    const rights = right.relations({ left: { pair: left } }).lifecycle({ heal: { Going: { status: 'In' } } })
    const pairs = (edges: readonly Edge[]) => new Set(edges.map(({ from, to }) => `${from}>${to}`))
    expect(pairs(edgesOf(rights, [lefts, rights]))).toEqual(pairs(edgesOf(lefts, [lefts, rights])))
    expect(pairs(edgesOf(rights))).toEqual(new Set(['Going>In']))
    expect(edgesOf(rights, [lefts, rights]).find(({ kind }) => kind === 'pair')).toMatchObject({
      type: 'p.right',
      why: 'with its p.left: go: go',
    })
  })
})
