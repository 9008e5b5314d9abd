// Who goes next: lanes, floors and tenants.
import { expect, test } from 'vitest'
import type { Lane } from '../decision/state.ts'
import { Lanes, type Waiting } from './lanes.ts'

const waiting = (lane: Lane, tenant = 'a', name = ''): Waiting & { name: string } => ({
  lane,
  tenant,
  isWithdrawn: false,
  name,
})

function fill(lanes: Lanes<Waiting>, lane: Lane): number {
  let entered = 0
  while (lanes.enter(lane)) entered++
  return entered
}

test('one busy lane leaves room for each of the others', () => {
  const lanes = new Lanes<Waiting>(160)
  expect(fill(lanes, 'user')).toBe(130)
  expect(fill(lanes, 'delete')).toBe(10)
  expect(fill(lanes, 'heal')).toBe(10)
  expect(fill(lanes, 'background')).toBe(10)
  expect(fill(lanes, 'delete')).toBe(0)
  lanes.leave('user')
  expect(lanes.enter('delete')).toBe(true)
})

test('delete goes first, background last, and nobody waits for ever', () => {
  const lanes = new Lanes<Waiting & { name: string }>(1)
  expect(lanes.enter('user')).toBe(true)
  for (let i = 0; i < 100; i++) lanes.add(waiting('delete', 'a', 'delete'))
  lanes.add(waiting('background', 'a', 'background'))
  lanes.add(waiting('user', 'a', 'user'))
  const order: string[] = []
  let running: Lane = 'user'
  for (let i = 0; i < 20; i++) {
    lanes.leave(running)
    const next = lanes.next()!
    running = next.lane
    order.push(next.name)
  }
  expect(order[0]).toBe('delete')
  expect(order).toContain('background')
  expect(order.filter((name) => name === 'delete').length).toBeGreaterThan(16)
})

test('tenants of a lane take turns, however much one of them asks', () => {
  const lanes = new Lanes<Waiting & { name: string }>(100)
  for (let i = 0; i < 1_500; i++) lanes.add(waiting('user', 'noisy', 'noisy'))
  for (let i = 0; i < 5; i++) lanes.add(waiting('user', 'quiet', 'quiet'))
  const order = Array.from({ length: 10 }, () => lanes.next()!.name)
  expect(order.filter((name) => name === 'quiet')).toHaveLength(5)
})

test('what was withdrawn is skipped and takes no room', () => {
  const lanes = new Lanes<Waiting>(1)
  lanes.add({ lane: 'user', tenant: 'a', isWithdrawn: true })
  expect(lanes.next()).toBe(null)
  expect([lanes.running, lanes.queued]).toEqual([0, 0])
  expect(lanes.enter('user')).toBe(true)
})
