// A real engine over a driver elsewhere: when it tells the driver to stop, and when not.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createEngine, resourceType } from '../../src/index.ts'
import { remoteDriver } from '../../src/remote.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { secret } from './call.ts'

const ovens = resourceType('shop.oven', {
  properties: z.object({}),
  statuses: {
    stable: { Warm: 'Can be used.' },
    transitional: { Heating: 'Being heated.', Cooling: 'Being removed.' },
    failed: { Cold: 'Could not be heated.' },
    terminal: { Gone: 'Removed.' },
  },
}).lifecycle({
  operations: {
    create: {
      from: [],
      to: 'Warm',
      onFailure: 'Cold',
      steps: { heat: { during: 'Heating', deadline: '300ms', retry: { times: 0 } } },
    },
    warm: {
      from: ['Cold'],
      to: 'Warm',
      onFailure: 'Cold',
      steps: { heatSlowly: { during: 'Heating', deadline: '1h' } },
    },
    delete: { from: ['*'], to: 'Gone', onFailure: { again: '1s' }, steps: { cool: { during: 'Cooling' } } },
  },
  heal: { Heating: { resume: true, unowned: { status: 'Cold' } }, Cooling: { attempt: 'delete' } },
})

test('a step that is accepted and passes its deadline is cancelled; one that a stopping engine gives back is not', async () => {
  const got: any[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      got.push(JSON.parse(body))
      response.end(JSON.stringify({ kind: got.at(-1).kind === 'cancel' ? 'done' : 'accepted' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const store = createMemoryBackend().open() as Store
  const engine = createEngine({
    store,
    lifecycles: { oven: ovens },
    drivers: { oven: remoteDriver(ovens, { url, secret, privateAddresses: true, inventory: false }) },
    options: { stopPatienceMs: 50 },
  })
  await engine.start()
  const client = engine.client('me')
  const before = Date.now()
  await client.oven.create({ id: 'o-1', properties: {} })
  await expect.poll(async () => (await client.oven.get('o-1'))?.status, { timeout: 30_000 }).toBe('Cold')
  await expect.poll(() => got.map(({ kind }) => kind), { timeout: 30_000 }).toEqual(['step', 'cancel'])
  expect(got[1].key).toBe(got[0].key)
  expect(got[0].deadlineAt).toBeGreaterThanOrEqual(before + 300)
  await client.oven.warm('o-1')
  await expect.poll(() => got.length, { timeout: 30_000 }).toBe(3)
  await engine.stop()
  expect(got.map(({ kind }) => kind)).toEqual(['step', 'cancel', 'step'])
  await store.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
