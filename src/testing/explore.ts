// Which simulations are run. Systematic: a scripted scenario is run once, then once for every commit and every driver call with
// each kind of fault there; for small ones also for pairs of them. Swarm: one for each seed.
import { assert } from '../base/assert.ts'
import type { Strike } from './fault-plan.ts'
import { mixed } from './choices.ts'
import type { Conditions, Outcome, Simulator } from './simulation.ts'

type CommitStrike = Extract<Strike, { at: 'commit' }>['fault']
type CallStrike = Extract<Strike, { at: 'call' }>['fault']

const commitStrikes: readonly CommitStrike[] = [
  'crashBefore',
  'crashAfter',
  'vanishBefore',
  'vanishAfter',
  'pauseBefore',
  'pauseAfter',
  'unavailable',
  'delete',
]

const callStrikes: readonly CallStrike[] = [
  'crash',
  'vanish',
  'pause',
  'delete',
  'hangs',
  'hangsAfter',
  'late',
  'lost',
  'cut',
  'failed',
  'failedAfter',
  'terminal',
  'garbage',
  'again',
  'throws',
]

/** Faults that are tried in pairs. */
const pairStrikes: readonly CommitStrike[] = ['crashBefore', 'crashAfter', 'vanishAfter', 'pauseAfter', 'delete']

/** So small that every pair of faults is tried. */
const commitsForPairs = 12

/** All conditions of the systematic layer for a scripted scenario, the one without faults first. Only outside of microtasks. */
export function systematic(simulator: Simulator, withPairs: boolean): Conditions[] {
  assert(simulator.scenario.script !== undefined, `the scenario ${simulator.scenario.name} has no script`)
  const quiet: Conditions = { seed: 0, choices: {} }
  const baseline = simulator.run(quiet)
  const found: Conditions[] = [{ ...quiet, isLong: true }]
  const add = (...strikes: Strike[]) => found.push({ ...quiet, strikes })
  for (let n = 1; n <= baseline.commits; n++) for (const fault of commitStrikes) add({ at: 'commit', n, fault })
  for (let n = 1; n <= baseline.calls; n++) for (const fault of callStrikes) add({ at: 'call', n, fault })
  if (!withPairs || baseline.commits > commitsForPairs) return found
  for (let n = 1; n <= baseline.commits; n++) {
    for (let m = n + 1; m <= baseline.commits + 6; m++) {
      for (const fault of pairStrikes) {
        for (const second of pairStrikes) add({ at: 'commit', n, fault }, { at: 'commit', n: m, fault: second })
      }
    }
  }
  return found
}

/** One seed of the swarm. Some stay settled for ten bounds. */
export function swarm(seed: number): Conditions {
  return { seed, isSwarm: true, isLong: mixed(seed, 'long') % 256 === 0 }
}

/** Every so many seeds one is run twice: both must be the same in everything. */
export const isTwice = (seed: number): boolean => seed % 1_000 === 0

/** Runs it; twice where asked. Only outside of microtasks. */
export function explore(simulator: Simulator, conditions: Conditions, twice = false): Outcome {
  const outcome = simulator.run(conditions)
  if (!twice || outcome.violation !== null) return outcome
  const again = simulator.run(conditions)
  if (again.hash === outcome.hash && again.commits === outcome.commits) return outcome
  const text = `the same seed gave two different runs: ${outcome.hash} and ${again.hash}`
  return { ...again, violation: { promise: 'determinism', text, at: 0 } }
}
