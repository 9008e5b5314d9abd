// Every commit and every driver call of the scripted scenarios, with each kind of fault there; for one small scenario also every
// pair of them.
import { expect, test } from 'vitest'
import { systematic } from '../../src/testing/explore.ts'
import { outsideMicrotasks } from '../../src/testing/microtasks.ts'
import { Simulator } from '../../src/testing/simulation.ts'
import { keepPromises } from './keep-promises.ts'
import { scriptedScenarios } from './scripted.ts'

const inPairs = new Set(['readme two at once'])

test.each(scriptedScenarios.map((scenario) => [scenario.name, scenario] as const))('%s', async (name, scenario) => {
  const simulator = new Simulator(scenario)
  const all = await outsideMicrotasks(() => systematic(simulator, inPairs.has(name)))
  expect(all.length).toBeGreaterThan(20)
  expect(await keepPromises(simulator, all)).toBe(all.length)
})
