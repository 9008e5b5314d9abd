// The steps of a run are told the same way while it is under way and after it has ended.
import { expect, test } from 'vitest'
import { createBench } from '../testing/engine-bench.ts'
import { stepsOf } from './steps.ts'

test('a step over related resources of which there are none is done, under way and after the end', async () => {
  const process = createBench(false).open()
  await process.engine.start()
  await process.engine.create('bench.rack', { id: 'r-1', properties: {} }, { by: 'test' })
  await process.clock.settle()
  process.puppet.holding.add('unmount')
  await process.engine.operate('bench.rack', 'r-1', 'scrap', { by: 'test' })
  await process.clock.settle()
  const plan = process.engine.plans.get('bench.rack')!.operations.get('scrap')!
  const statesNow = async () => {
    const [run] = await process.engine.runsOf('bench.rack', 'r-1')
    return stepsOf(plan, run!, await process.engine.runHistory(run!.id)).map(({ name, state }) => `${name} ${state}`)
  }
  expect(await statesNow()).toEqual(['empty done', 'unmount running'])
  process.puppet.held[0]!.resolve()
  await process.clock.settle()
  expect(await statesNow()).toEqual(['empty done', 'unmount done'])
  await process.engine.stop()
})
