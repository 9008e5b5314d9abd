// The same simulations on servers that take several commits at once: with locks and checks as the PostgreSQL store has them, and
// serializable. What only servers do must have happened.
import { expect, test } from 'vitest'
import { storeKinds, swarm } from '../../src/testing/explore.ts'
import { outsideMicrotasks } from '../../src/testing/microtasks.ts'
import { Simulator } from '../../src/testing/simulation.ts'
import { SituationCounts, type Situation } from '../../src/testing/situations.ts'
import { keepPromises } from './keep-promises.ts'
import { readme, scenarios } from './scenarios.ts'

const seedsEach = 50

const onBoth: readonly Situation[] = [
  'commit waited for a lock',
  'commit waited for its number',
  'unknown commit had happened',
  'unknown commit forbidden',
  'unknown commit waited for',
  'server died in a commit',
]

test.each([
  ['snapshot', [...onBoth, 'stale snapshot refused']],
  ['serializable', [...onBoth, 'serialization failure retried']],
] as const)(
  '%s: every scenario keeps its promises, and all that such a server does has happened',
  async (kind, wanted) => {
    const situations = new SituationCounts()
    const seeds = Array.from({ length: seedsEach }, (_, seed) => swarm(seed, kind))
    for (const scenario of scenarios) {
      expect(await keepPromises(new Simulator(scenario), seeds, situations)).toBe(seedsEach)
    }
    expect(wanted.filter((situation) => !situations.counts.has(situation))).toEqual([])
  },
)

test('no other kind of store does any of it', async () => {
  const simulator = new Simulator(readme)
  for (const kind of ['near', 'far'] as const) {
    expect(storeKinds[kind]).toMatchObject({ isFar: kind === 'far' })
    const { situations } = await outsideMicrotasks(() => simulator.run(swarm(4, kind)))
    expect(onBoth.filter((situation) => situations.has(situation))).toEqual([])
  }
})

test('the same seed gives the same run', async () => {
  const simulator = new Simulator(readme)
  for (let seed = 0; seed < 20; seed++) {
    const run = () => outsideMicrotasks(() => simulator.run(swarm(seed, seed % 2 === 0 ? 'snapshot' : 'serializable')))
    expect((await run()).hash).toBe((await run()).hash)
  }
})
