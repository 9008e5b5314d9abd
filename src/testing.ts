// homeostat/testing: simulate your own lifecycles under invented time and invented faults, and judge your own store.
//
//   const simulator = new Simulator({ name: 'mine', lifecycles: [hurried(mine)] })
//   for (let seed = 0; seed < 1_000; seed++) {
//     const { violation } = await outsideMicrotasks(() => simulator.run(swarm(seed)))
//     if (violation !== null) throw new Error(`seed ${seed}: ${violation.text}`)
//   }
export { systemClock } from './base/clock.ts'
export { seededRandom } from './base/random.ts'
export { createMemoryStore } from './store/memory-store.ts'
export type { Violation } from './testing/checkers.ts'
export type { ChoiceList } from './testing/choices.ts'
export { explore, swarm, systematic } from './testing/explore.ts'
export type { Setting, Strike } from './testing/fault-plan.ts'
export { hurried } from './testing/hurried.ts'
export { outsideMicrotasks } from './testing/microtasks.ts'
export { Rehearsal } from './testing/rehearsal.ts'
export type { Moment, RehearsalAsked, Rehearsed, Searched } from './testing/rehearsal.ts'
export { shrink, shrunkWords } from './testing/shrink.ts'
export type { Shrunk } from './testing/shrink.ts'
export { beginning, SimulatedClock, Timeline } from './testing/simulated-clock.ts'
export { Simulator } from './testing/simulation.ts'
export type { Conditions, Outcome, Scenario, ScriptLine } from './testing/simulation.ts'
export { SituationCounts, situations } from './testing/situations.ts'
export type { Situation } from './testing/situations.ts'
export { storeConformance } from './testing/store-conformance.ts'
export { TableTop, type Name, type Owed } from './testing/table-top.ts'
export type { Around, Inventions } from './testing/workload.ts'
