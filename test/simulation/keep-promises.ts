// Runs simulations inside a test: the first one that breaks a promise is shrunk and told, with the command that repeats it.
import { explore, isTwice } from '../../src/testing/explore.ts'
import { outsideMicrotasks } from '../../src/testing/microtasks.ts'
import { shrink, shrunkWords } from '../../src/testing/shrink.ts'
import type { Conditions, Simulator } from '../../src/testing/simulation.ts'
import type { SituationCounts } from '../../src/testing/situations.ts'

const shrinkMs = 10_000
const linesTold = 60

/** Answers how many were run; throws with a story when a promise is broken. */
export async function keepPromises(
  simulator: Simulator,
  all: readonly Conditions[],
  situations?: SituationCounts,
): Promise<number> {
  for (const conditions of all) {
    const twice = conditions.isSwarm === true && isTwice(conditions.seed)
    const outcome = await outsideMicrotasks(() => explore(simulator, conditions, twice))
    situations?.add(outcome.situations)
    if (outcome.violation === null) continue
    const text = await outsideMicrotasks(() => tell(simulator, conditions))
    throw new Error(`${outcome.violation.promise}: ${outcome.violation.text}\n${text}`)
  }
  return all.length
}

function tell(simulator: Simulator, conditions: Conditions): string {
  const until = Date.now() + shrinkMs
  const shrunk = shrink(simulator, conditions, () => Date.now() > until)
  const told = simulator.run({ ...shrunk.conditions, isTold: true })
  const { name } = simulator.scenario
  return [
    told.story!.draw(linesTold),
    shrunkWords(shrunk),
    conditions.isSwarm === true
      ? `npm run simulate -- --scenario '${name}' --seed ${conditions.seed}`
      : `scenario '${name}', strikes ${JSON.stringify(conditions.strikes ?? [])}`,
    `what is left: ${JSON.stringify(shrunk.conditions)}`,
  ].join('\n')
}
