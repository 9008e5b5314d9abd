// What the engine is measured with: a volume in a pool, created in four durable steps. Everything a real lifecycle has is on:
// checked properties, a rule over a relation, a ledger entry for what a step makes, deadlines, undo, results with a schema.
import { resourceType, type Driver } from 'homeostat'
import { z } from 'zod'

const pool = resourceType('bench.pool', {
  properties: z.object({ region: z.string() }),
  statuses: {
    stable: { Open: 'Takes volumes.' },
    transitional: { Closing: 'Being closed.' },
    failed: {},
    terminal: { Closed: 'Takes no volumes any more.' },
  },
})

const volume = resourceType('bench.volume', {
  properties: z.object({ sizeGb: z.number().int().positive(), label: z.string() }),
  statuses: {
    stable: { Available: 'Can be used.' },
    transitional: { Creating: 'Being made.', Extending: 'Being enlarged.', Deleting: 'Being removed.' },
    failed: { Broken: 'Could not be made.' },
    terminal: { Gone: 'Removed.' },
  },
})

export const pools = pool.relations({ volumes: { children: volume } }).lifecycle({
  operations: {
    open: { from: [], steps: {}, to: 'Open', onFailure: 'Closed' },
    close: {
      from: ['Open'],
      steps: { drain: { during: 'Closing' } },
      to: 'Closed',
      onFailure: { again: '1m' },
    },
  },
  heal: { Closing: { resume: true, unowned: { status: 'Open' } } },
})

const answer = z.object({ ok: z.boolean(), step: z.number() })

export const volumes = volume.relations({ pool: { parent: pool } }).lifecycle({
  rules: {
    poolIsOpen: {
      says: 'a volume that is used or made is in an open pool',
      holds: {
        Creating: { pool: ['Open'] },
        Extending: { pool: ['Open'] },
        Available: { pool: ['Open'] },
      },
    },
  },
  operations: {
    create: {
      from: [],
      steps: {
        allocate: { during: 'Creating', creates: 'disk', undo: 'release', result: answer },
        format: { during: 'Creating', deadline: '5m', result: answer },
        publish: { during: 'Creating', deadline: '5m', result: answer },
        verify: { during: 'Creating', deadline: '5m', result: answer },
      },
      to: 'Available',
      onFailure: { undo: true, status: 'Broken' },
    },
    extend: {
      from: ['Available'],
      steps: {
        reserve: { during: 'Extending', result: answer },
        grow: { during: 'Extending', result: answer },
        resize: { during: 'Extending', result: answer },
        check: { during: 'Extending', result: answer },
      },
      to: 'Available',
      onFailure: 'Available',
    },
    delete: {
      from: ['*'],
      ifBusy: 'preempt',
      steps: { release: { during: 'Deleting', destroys: 'disk' } },
      to: 'Gone',
      onFailure: { again: '1m' },
    },
  },
  heal: {
    Creating: { resume: true, unowned: { status: 'Broken' } },
    Extending: { resume: true, unowned: { status: 'Available' } },
    Deleting: { attempt: 'delete' },
  },
})

const step = (n: number) => async () => ({ ok: true, step: n })

export const volumeDriver: Driver<typeof volumes> = {
  allocate: step(1),
  format: step(2),
  publish: step(3),
  verify: step(4),
  reserve: step(1),
  grow: step(2),
  resize: step(3),
  check: step(4),
  release: async () => {},
}

export const poolDriver: Driver<typeof pools> = { drain: async () => {} }

export const lifecycles = [pools, volumes]
export const drivers = { 'bench.pool': poolDriver, 'bench.volume': volumeDriver }
