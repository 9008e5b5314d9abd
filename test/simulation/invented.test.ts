// Declarations that nobody wrote keep the promises, too. INVENTED=500 tries so many from FROM on.
import { expect, test } from 'vitest'
import { swarm } from '../../src/testing/explore.ts'
import { Simulator } from '../../src/testing/simulation.ts'
import { inventedScenario } from './invented.ts'
import { keepPromises } from './keep-promises.ts'

const from = Number(process.env['FROM'] ?? 0)
const count = Number(process.env['INVENTED'] ?? 34)
const seedsEach = 8

test('lifecycles by chance keep their promises', { timeout: 60_000 + 1_000 * count }, async () => {
  let tried = 0
  for (let seed = from; seed < from + count; seed++) {
    const scenario = inventedScenario(seed)
    if (scenario === null) continue
    const all = Array.from({ length: seedsEach }, (_, n) => swarm(1_000 * seed + n))
    tried += await keepPromises(new Simulator(scenario), all)
  }
  expect(tried).toBeGreaterThan((count * seedsEach) / 2)
})
