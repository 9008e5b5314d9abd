// Looks for planted bugs in a process of its own: node test/simulation/find-bug.ts <number> ... Prints a line of JSON for each.
import { scriptedScenarios } from './scripted.ts'
import { scenarios } from './scenarios.ts'
import { plantedBugs, plant, type PlantedBug } from './planted-bugs.ts'

type Explore = typeof import('../../src/testing/explore.ts')
type Microtasks = typeof import('../../src/testing/microtasks.ts')
type Simulation = typeof import('../../src/testing/simulation.ts')

const giveUpMs = 60_000
const seedsEach = 250

// A planted bug may leave promises that nobody handles; what counts is what the checkers see.
process.on('unhandledRejection', () => {})

async function look(bug: PlantedBug, module: (file: string) => string): Promise<object> {
  const { explore, swarm, systematic } = (await import(module('testing/explore.ts'))) as Explore
  const { outsideMicrotasks } = (await import(module('testing/microtasks.ts'))) as Microtasks
  const { Simulator } = (await import(module('testing/simulation.ts'))) as Simulation
  const startedAt = Date.now()
  const simulators = bug.scenarios.map((name) => {
    const scenario = [...scriptedScenarios, ...scenarios].find((one) => one.name === name)
    if (scenario === undefined) throw new Error(`there is no scenario '${name}'`)
    return new Simulator(scenario)
  })
  let schedules = 0
  for (let from = 0; Date.now() - startedAt < giveUpMs; from += seedsEach) {
    for (const simulator of simulators) {
      const isScripted = simulator.scenario.script !== undefined
      if (isScripted && from > 0) continue
      const all = isScripted
        ? await outsideMicrotasks(() => systematic(simulator, false))
        : Array.from({ length: seedsEach }, (_, n) => swarm(from + n, bug.store))
      for (const conditions of all) {
        const { violation } = await outsideMicrotasks(() => explore(simulator, conditions))
        schedules++
        if (violation === null) continue
        const { seed } = conditions
        return { ...violation, scenario: simulator.scenario.name, seed, schedules, ms: Date.now() - startedAt }
      }
    }
  }
  return { promise: null, text: 'not found', schedules, ms: Date.now() - startedAt }
}

for (const number of process.argv.slice(2).map(Number)) {
  const bug = plantedBugs[number]!
  const planted = plant(bug)
  try {
    process.stdout.write(`${JSON.stringify({ number, name: bug.name, ...(await look(bug, planted.module)) })}\n`)
  } finally {
    planted.remove()
  }
}
