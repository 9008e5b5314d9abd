// The clock that all processes of one database share: a process whose own wall clock is wrong neither writes wrong times nor waits for
// them. Found by npm run faults: a run that was accepted by a worker whose clock was an hour ahead waited for an hour.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/postgres.ts'
import type { Clock } from '../../src/base/clock.ts'
import { ServerClock } from '../../src/store/postgres/server-clock.ts'
import { startPostgres, type PostgresServer } from './server.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.remove())

const hour = 3_600_000

class WrongClock implements Clock {
  wall = 0
  ran = 0
  now = () => this.wall
  monotonic = () => this.ran
  after = () => () => {}
  soon = () => {}
}

test('follows the server, whatever the wall clock of this machine says', () => {
  const own = new WrongClock()
  own.wall = 7
  const clock = new ServerClock(own)
  expect(clock.now()).toBe(7)
  own.ran = 100
  clock.heard(1_000_000, 90, 110)
  expect(clock.now()).toBe(1_000_000)
  own.wall += hour
  own.ran += 500
  expect(clock.now()).toBe(1_000_500)
})

test('an answer that took long says no more than it can', () => {
  const own = new WrongClock()
  const clock = new ServerClock(own)
  clock.heard(1_000_000, 0, 0)
  // Frozen in the middle: the server's time lies somewhere in these ten seconds.
  own.ran = 10_000
  clock.heard(1_000_001, 0, 10_000)
  expect(clock.now()).toBe(1_010_000)
  // The server's clock was put forward.
  clock.heard(1_000_000 + hour, 10_000, 10_010)
  expect(clock.now()).toBe(1_000_000 + hour - 5)
})

test('a store is opened with the time of its server', async () => {
  const real = Date.now
  Date.now = () => real() + hour
  try {
    const store = await openPostgresStore({ url: server.url, schema: 'clock', durability: 'none' })
    expect(Math.abs(store.clock!.now() - real())).toBeLessThan(hour / 2)
    await store.close()
  } finally {
    Date.now = real
  }
})
