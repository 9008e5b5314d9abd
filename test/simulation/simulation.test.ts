// Fixed seeds of every scenario, the seeds that once failed, and that the simulation itself is sound.
import { describe, expect, test } from 'vitest'
import { struck, swarm } from '../../src/testing/explore.ts'
import { outsideMicrotasks } from '../../src/testing/microtasks.ts'
import { Simulator } from '../../src/testing/simulation.ts'
import { keepPromises } from './keep-promises.ts'
import { regressions } from './regressions.ts'
import { readme, scenarios } from './scenarios.ts'
import { scriptedScenarios } from './scripted.ts'

const seedsEach = 150
const seeds = Array.from({ length: seedsEach }, (_, seed) => swarm(seed))

describe('swarm', () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s keeps its promises',
    async (_, scenario) => {
      expect(await keepPromises(new Simulator(scenario), seeds)).toBe(seedsEach)
    },
  )
})

describe('struck seeds', () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
    const simulator = new Simulator(scenario)
    for (let seed = 0; seed < 6; seed++) {
      const all = await outsideMicrotasks(() => struck(simulator, seed, 10))
      const { commits, calls } = await outsideMicrotasks(() => simulator.run({ ...all[0]!, strikes: [] }))
      for (const [first] of all.map((one) => one.strikes!)) {
        expect(first!.n).toBeLessThanOrEqual(first!.at === 'commit' ? commits : calls)
      }
      expect(all.length).toBe(10)
      expect(await keepPromises(simulator, all)).toBe(10)
    }
  })
})

describe('what once failed', () => {
  test.each(regressions.map((one) => [`${one.scenario}: ${one.was}`, one] as const))(
    '%s',
    async (_, { scenario, conditions }) => {
      const found = [...scenarios, ...scriptedScenarios].find((one) => one.name === scenario)!
      expect(await keepPromises(new Simulator(found), [conditions])).toBe(1)
    },
  )
})

describe('the simulation', () => {
  test('the same seed gives the same run, whatever was run before', async () => {
    const one = new Simulator(readme)
    const hashes = new Map<number, number>()
    for (let seed = 0; seed < 40; seed++) {
      hashes.set(seed, (await outsideMicrotasks(() => one.run(swarm(seed)))).hash)
    }
    const other = new Simulator(readme)
    for (let seed = 39; seed >= 0; seed--) {
      expect((await outsideMicrotasks(() => other.run(swarm(seed)))).hash).toBe(hashes.get(seed))
    }
    expect(new Set(hashes.values()).size).toBeGreaterThan(35)
  })

  test('the recorded choices give the same run as the seed', async () => {
    const simulator = new Simulator(readme)
    for (let seed = 0; seed < 40; seed++) {
      const told = await outsideMicrotasks(() => simulator.run({ ...swarm(seed), isTold: true }))
      const again = await outsideMicrotasks(() => simulator.run({ ...swarm(seed), choices: told.choices }))
      expect(again.hash).toBe(told.hash)
    }
  })

  test('things happen in it', async () => {
    const simulator = new Simulator(readme)
    const outcome = await outsideMicrotasks(() => simulator.run({ seed: 3, isSwarm: true }))
    expect(outcome.commits).toBeGreaterThan(3)
    expect(outcome.events).toBeGreaterThan(50)
  })
})
