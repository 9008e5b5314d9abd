// The typed client of an engine: what its answers say of requests that begin nothing.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { resourceType } from '../lifecycle/lifecycle.ts'
import { createMemoryBackend } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import { createEngine } from './engine.ts'

const doors = resourceType('typed.door', {
  properties: z.object({}),
  statuses: {
    stable: { Shut: 'Shut.' },
    transitional: { Turning: 'The key turns.' },
    terminal: { Gone: 'Taken away.' },
  },
}).lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Shut', onFailure: 'Gone' },
    find: { from: [], steps: {}, to: 'Shut', onFailure: 'Gone' },
    lock: { from: ['Shut'], ifBusy: 'queue', steps: { turn: { during: 'Turning' } }, to: 'Shut', onFailure: 'Shut' },
    delete: { from: ['*'], ifBusy: 'preempt', ifTerminal: 'succeed', steps: {}, to: 'Gone', onFailure: 'Shut' },
  },
  heal: { Turning: { resume: true, unowned: { status: 'Shut' } } },
})

test('a request that begins nothing has no run, and says why', async () => {
  let turned = () => {}
  const engine = createEngine({
    store: createMemoryBackend().open() as unknown as Store,
    lifecycles: { door: doors },
    drivers: { door: { turn: () => new Promise<void>((resolve) => (turned = resolve)) } },
  })
  await engine.start()
  const { door } = engine.client('ann')
  expect(await door.create({ id: 'd', properties: {} })).toMatchObject({
    run: { id: expect.any(String) },
    outcome: 'begun',
  })
  // Whatever its name, what starts from nowhere makes one.
  expect(await door.find({ id: 'f', properties: {} })).toMatchObject({ resource: { id: 'f' }, outcome: 'begun' })
  expect(await door.lock('d')).toMatchObject({ run: { id: expect.any(String) }, outcome: 'begun' })
  expect(await door.lock('d')).toMatchObject({ resource: { status: 'Turning' }, run: null, outcome: 'queued' })
  expect(await door.delete('d')).toMatchObject({ run: { id: expect.any(String) }, outcome: 'begun' })
  expect(await door.delete('d')).toMatchObject({ resource: { status: 'Gone' }, run: null, outcome: 'over' })
  turned()
  await engine.stop()
})
