// A drained process finishes what is under way, hands the rest over, takes on nothing more, and still answers.
import { expect, test } from 'vitest'
import { createBench, makeBox, statusOf } from '../testing/engine-bench.ts'

test('what is under way is finished, the run is handed over, and another worker carries it on', async () => {
  const bench = createBench()
  const first = bench.open()
  await first.engine.start()
  first.puppet.holding.add('cut')
  await makeBox(first)
  const second = bench.open({}, first.clock)
  await second.engine.start()
  expect(first.engine.health().worker).toMatchObject({ owned: 1, underWay: 1 })
  expect(first.engine.health().worker!.lanes.find(({ lane }) => lane === 'user')).toMatchObject({
    running: 1,
    waiting: 0,
  })

  const drained = first.engine.drain()
  expect(first.engine.isDraining).toBe(true)
  first.puppet.held[0]!.resolve({ pieces: 4 })
  await first.clock.settle()
  await drained
  expect(first.engine.health()).toMatchObject({ isReady: true, worker: null })
  await first.clock.advance(2_000)
  expect(await statusOf(first)).toBe('Ready')
  expect(second.puppet.names()).toEqual(['glue'])
  expect(first.puppet.names()).not.toContain('glue')

  // It still takes requests; the other one carries them out.
  await makeBox(first, 'b-2')
  await first.clock.advance(2_000)
  expect(await statusOf(first, 'b-2')).toBe('Ready')
  expect(second.puppet.names()).toContain('cut')
  await first.engine.drain()
  await first.engine.stop()
  await second.engine.stop()
})
