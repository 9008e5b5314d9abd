// Somebody who works in all tenants may link resources of two of them. What each is told then names nothing of the other.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createEngine, previous, resourceType, type Engine } from '../../src/index.ts'
import { createServer, type HomeostatServer } from '../../src/server.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { adminToken, ask } from './workshop.ts'

const socket = resourceType('home.socket', {
  properties: z.object({}),
  statuses: { stable: { Live: 'Live.' }, transitional: { Wired: 'Wired anew.' }, terminal: { Gone: 'Gone.' } },
})
const lamp = resourceType('home.lamp', {
  properties: z.object({}),
  statuses: { stable: { Lit: 'Lit.' }, transitional: { Dark: 'Dark.' }, terminal: { Gone: 'Gone.' } },
})
const lifecycles = {
  socket: socket.relations({ lamps: { linkedBy: lamp, as: 'socket' } }).lifecycle({
    operations: {
      create: { from: [], steps: {}, to: 'Live', onFailure: 'Gone' },
      remove: {
        from: ['Live'],
        requires: [{ lamps: { every: ['Gone'] }, says: 'no lamp hangs on it' }],
        steps: {},
        to: 'Gone',
        onFailure: previous,
      },
      rewire: {
        from: ['Live'],
        steps: { pull: { during: { status: 'Wired', move: { lamps: 'Dark' } } } },
        to: { status: 'Live', move: { lamps: 'Lit' } },
        onFailure: previous,
      },
    },
    heal: { Wired: { resume: true, unowned: { status: 'Live' } } },
  }),
  lamp: lamp.relations({ socket: { link: socket } }).lifecycle({
    operations: {
      create: { from: [], steps: {}, to: 'Lit', onFailure: 'Gone' },
      break: { from: ['Lit'], steps: {}, to: 'Gone', onFailure: 'Lit' },
    },
    moves: [
      { from: ['Lit'], to: 'Dark', by: 'socket' },
      { from: ['Dark'], to: 'Lit', by: 'socket' },
    ],
    heal: { Dark: { resume: true, unowned: { status: 'Lit' } } },
  }),
}

let engine: Engine
let server: HomeostatServer
let url = ''
let letGo = () => {}
beforeEach(async () => {
  const pulled = new Promise<void>((resolve) => (letGo = resolve))
  const store = createMemoryBackend().open() as Store
  engine = createEngine({ store, lifecycles, drivers: { socket: { pull: () => pulled }, lamp: {} } }) as never
  await engine.start()
  server = createServer({ engine, port: 0, adminToken })
  url = await server.start()
})
afterEach(async () => {
  letGo()
  await server.stop()
  await engine.stop()
})

test('neither the reasons of a refusal, nor an explanation, nor relations name what is of another tenant', async () => {
  const admin = async (method: string, path: string, body?: unknown) =>
    (await ask(url, method, `/v1/${path}`, { body })).json
  await admin('POST', 'resources/home.socket', { id: 'red-socket', tenant: 'red' })
  for (const tenant of ['red', 'blue'])
    await admin('POST', 'resources/home.lamp', { id: `${tenant}-lamp`, tenant, links: { socket: 'red-socket' } })
  const tokens: Record<string, string> = {}
  for (const tenant of ['red', 'blue'])
    tokens[tenant] = (await admin('POST', 'tokens', { name: tenant, role: 'operator', tenant })).secret
  const seen = async (tenant: string, path: string, method = 'GET') =>
    (await ask(url, method, `/v1/resources/${path}`, { token: tokens[tenant]! })).text

  expect(JSON.stringify(await admin('GET', 'resources/home.socket/red-socket'))).toContain('blue-lamp is Lit')
  for (const text of [
    await seen('red', 'home.socket/red-socket'),
    await seen('red', 'home.socket/red-socket:remove', 'POST'),
  ]) {
    expect(text).toContain('red-lamp is Lit, one of another tenant is Lit')
    expect(text).not.toContain('blue')
  }
  await admin('POST', 'resources/home.socket/red-socket:rewire')
  expect(JSON.stringify(await admin('GET', 'resources/home.lamp/blue-lamp/explain'))).toContain('red-socket')
  for (const path of ['', '/explain', '/related', '/runs', '/ledger', '/history'])
    expect(await seen('blue', `home.lamp/blue-lamp${path}`), path).not.toContain('red-socket')
  expect(await seen('blue', 'home.lamp/blue-lamp/explain')).toContain('of a home.socket of another tenant')
  expect(await seen('red', 'home.socket/red-socket/related')).not.toContain('blue')
  const headers = { accept: 'application/json' }
  const events = await ask(url, 'GET', '/v1/events?after=0', { token: tokens['blue']!, headers })
  expect(events.text).toContain('a home.socket of another tenant')
  expect(events.text).not.toContain('red-socket')
})
