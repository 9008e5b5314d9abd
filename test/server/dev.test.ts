// The development mode: faults of the worlds as switches, and the truth beside the records. Without it there are no such calls.
import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { seededRandom } from '../../src/base/random.ts'
import { switchesOf } from '../../src/server.ts'
import { createSimulatedWorld } from '../../src/worlds.ts'
import { openShop } from './workshop.ts'

test('faults are set, listed and cleared over all worlds; the truth is what the worlds have', async () => {
  const struck: string[] = []
  const world = () => createSimulatedWorld({ clock: systemClock, random: seededRandom(1) })
  const worlds = { one: world(), other: world() }
  const shop = await openShop({ server: { dev: switchesOf(worlds, async (how) => void struck.push(how)) } })
  const fault = { does: 'fail', on: { type: 'shop.box', step: 'cut' }, times: 2 }
  expect((await shop.ask('POST', '/v1/dev/faults', { body: fault })).status).toBe(201)
  const { items } = (await shop.ask('GET', '/v1/dev/faults')).json
  expect(items).toMatchObject([
    { does: 'fail', world: 'one', left: 2 },
    { does: 'fail', world: 'other', left: 2 },
  ])
  expect(await worlds.one.faults.list()).toHaveLength(1)
  expect((await shop.ask('POST', '/v1/dev/faults', { body: { does: 'explode' } })).status).toBe(400)
  expect((await shop.ask('DELETE', '/v1/dev/faults')).status).toBe(204)
  expect((await shop.ask('GET', '/v1/dev/faults')).json.items).toEqual([])
  expect((await shop.ask('GET', '/v1/dev/truth')).json.items).toEqual([])
  expect((await shop.ask('POST', '/v1/dev/worker:tickle')).json.code).toBe('operation_unknown')
  expect((await shop.ask('POST', '/v1/dev/worker:freeze?seconds=1')).status).toBe(202)
  await expect.poll(() => struck).toEqual(['freeze'])
  await shop.close()
})

test('a fault is set only for what some declaration has: else it would never break anything', async () => {
  const world = createSimulatedWorld({ clock: systemClock, random: seededRandom(1) })
  const shop = await openShop({ server: { dev: switchesOf({ world }, async () => {}) } })
  const set = async (on: object) => {
    const { status, json } = await shop.ask('POST', '/v1/dev/faults', { body: { does: 'fail', on } })
    return status === 201 ? 'set' : `${status} ${json.code}: ${json.detail}`
  }
  expect(await set({ type: 'shop.bix' })).toBe(
    "404 type_unknown: No lifecycle of type 'shop.bix' is loaded. Did you mean 'shop.box'?",
  )
  expect(await set({ type: 'shop.box', step: 'cute' })).toBe(
    "400 request_invalid: There is no step 'cute' in shop.box. Did you mean 'cut'?",
  )
  expect(await set({ step: 'cute' })).toMatch(/no step 'cute' in any lifecycle\. Did you mean 'cut'/)
  expect(await set({ type: 'shop.shelf', step: 'cut' })).toMatch(/^400 .* in shop\.shelf\. Known are: /)
  expect(await world.faults.list()).toEqual([])
  expect(await set({ type: 'shop.box', step: 'uncut' })).toBe('set')
  expect(await set({ step: 'cut' })).toBe('set')
  await shop.close()
})

test('outside of the development mode there are no such calls', async () => {
  const shop = await openShop()
  for (const path of ['/v1/dev/faults', '/v1/dev/truth']) {
    const detail = `There is no ${path}. This server is not in development mode: serve --dev begins it.`
    expect((await shop.ask('GET', path)).json).toMatchObject({ code: 'route_not_found', detail })
  }
  expect((await shop.ask('GET', '/openapi.json')).text).not.toContain('/v1/dev')
  const head = await fetch(`${shop.url}/livez`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  await shop.close()
})
