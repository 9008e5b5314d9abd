// The simulated world against the suite of all worlds; and that one seed always tells one story.
import { expect, test } from 'vitest'
import { seededRandom } from '../base/random.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { failureOf, guard, nameOf } from './conformance-story.ts'
import { createSimulatedWorld } from './simulated-world.ts'
import { worldConformance } from './world-conformance.ts'

worldConformance({
  name: 'simulated',
  test,
  expect,
  create: () => {
    const clock = new ManualClock()
    const world = createSimulatedWorld({ clock, random: seededRandom(1) })
    return { open: () => world, pass: (ms) => clock.advance(ms), now: () => clock.now(), remove: () => {} }
  },
})

async function chaos(seed: number): Promise<string[]> {
  const clock = new ManualClock()
  const world = createSimulatedWorld({
    clock,
    random: seededRandom(seed),
    chaos: { rate: 0.4, kinds: ['fail', 'slow', 'lostReply', 'garbage'] },
  })
  const calls = Array.from({ length: 200 }, (_, n) =>
    failureOf(world.create({ kind: 'disk', name: nameOf('disk', n) }, guard('k'))).then(({ name }) => name),
  )
  await clock.advance(10_000)
  const seen = await Promise.all(calls)
  await world.faults.clear()
  return [...seen, ...(await world.list()).map(({ name }) => name)]
}

test('faults by chance: one seed, one story; about so many as were asked for', async () => {
  const once = await chaos(1)
  expect(await chaos(1)).toEqual(once)
  expect(await chaos(2)).not.toEqual(once)
  // A quarter of the faults throws an error, a quarter an unknown outcome: 20 of 200 each.
  const failed = once.filter((name) => name === 'Error').length
  const lost = once.filter((name) => name === 'UnknownOutcomeError').length
  expect(failed).toBeGreaterThan(8)
  expect(failed + lost).toBeLessThan(80)
  expect(once.filter((name) => name.startsWith('lab.box/'))).toHaveLength(200 - failed)
})
