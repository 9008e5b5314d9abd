// Resources that a run has added are used by their ids like any other: asked for operations, named as parents and in links.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { resourceType } from '../lifecycle/lifecycle.ts'
import { createMemoryBackend } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import { far } from '../testing/engine-bench.ts'
import { createEngine } from './engine.ts'

const statuses = { stable: { Up: 'Runs.' }, transitional: { Booting: 'Boots.' }, terminal: { Gone: 'Removed.' } }
const pool = resourceType('added.pool', { properties: z.object({ size: z.number() }), statuses })
const node = resourceType('added.node', { properties: z.object({ slots: z.number() }), statuses })
const pod = resourceType('added.pod', { properties: z.object({}), statuses })

const remove = { from: ['Up'], steps: {}, to: 'Gone', onFailure: 'Up' } as const
const heal = { Booting: { resume: true, unowned: { status: 'Gone' } } } as const
const pools = pool.relations({ nodes: { children: node } }).lifecycle({
  operations: {
    create: {
      from: [],
      steps: {
        boot: {
          during: {
            status: 'Booting',
            add: {
              nodes: { status: 'Up', each: ({ resource }) => Array(resource.properties.size).fill({ slots: 1 }) },
            },
          },
        },
      },
      to: 'Up',
      onFailure: 'Gone',
    },
    remove,
  },
  heal,
})
const nodes = node.relations({ pool: { parent: pool } }).lifecycle({
  begins: ['Up'],
  operations: {
    enlarge: {
      from: ['Up'],
      steps: { boot: { during: 'Booting' } },
      to: { status: 'Up', set: { slots: 2 } },
      onFailure: 'Up',
    },
  },
  heal,
})
const create = { from: [], steps: { boot: { during: 'Booting' } }, to: 'Up', onFailure: 'Gone' } as const
const pods = pod.relations({ node: { parent: node }, near: { link: node } }).lifecycle({
  operations: { create, remove },
  heal,
})

test.each([
  ['in this process', (store: Store) => store],
  ['that answers later', far],
])('what a run has added is found by its id, on a store %s', async (_where, through) => {
  const backend = createMemoryBackend()
  const open = () => {
    const boot = async () => {}
    return createEngine({
      store: through(backend.open() as unknown as Store),
      lifecycles: { pool: pools, node: nodes, pod: pods },
      drivers: { pool: { boot }, node: { boot }, pod: { boot } },
    })
  }
  const [engine, other] = [open(), open()]
  await engine.start()
  const { pool: inPool } = engine.client('ann')
  const { run } = await inPool.create({ id: 'p', properties: { size: 2 } })
  await engine.waitForRun(run.id, { timeoutMs: 10_000 })
  const [first, second] = (await engine.related('added.pool', 'p'))['nodes']!

  await other.start()
  // In the process that has added it, and in one that knows it from the store alone.
  for (const [at, { id }] of [[engine, first!] as const, [other, second!] as const]) {
    const client = at.client('ann')
    const asked = await client.node.enlarge(id)
    expect(await at.waitForRun(asked.run!.id, { timeoutMs: 10_000 })).toMatchObject({ state: 'succeeded' })
    expect(await client.node.get(id)).toMatchObject({ status: 'Up', properties: { slots: 2 } })
    const { resource } = await client.pod.create({ parent: id, links: { near: id }, properties: {} })
    expect(await at.related('added.pod', resource.id)).toMatchObject({ node: [{ id }], near: [{ id }] })
  }
  await engine.stop()
  await other.stop()
})

test('a step and the landing of one run may both add: each has names of its own', async () => {
  const shelf = resourceType('added.shelf', { properties: z.object({}), statuses })
  const add = { books: { status: 'Up', each: () => [{}, {}] } } as const
  const book = resourceType('added.book', { properties: z.object({}), statuses })
  const shelves = shelf.relations({ books: { children: book } }).lifecycle({
    operations: {
      create: {
        from: [],
        steps: { boot: { during: { status: 'Booting', add } } },
        to: { status: 'Up', add },
        onFailure: 'Gone',
      },
      remove,
    },
    heal,
  })
  const books = book
    .relations({ shelf: { parent: shelf } })
    .lifecycle({ begins: ['Up'], operations: { create, remove }, heal })
  const boot = async () => {}
  const engine = createEngine({
    store: createMemoryBackend().open() as unknown as Store,
    lifecycles: { shelf: shelves, book: books },
    drivers: { shelf: { boot }, book: { boot } },
  })
  await engine.start()
  const { run } = await engine.client('ann').shelf.create({ id: 's', properties: {} })
  expect(await engine.waitForRun(run.id, { timeoutMs: 10_000 })).toMatchObject({ state: 'succeeded' })
  expect((await engine.related('added.shelf', 's'))['books']).toHaveLength(4)
  await engine.stop()
})
