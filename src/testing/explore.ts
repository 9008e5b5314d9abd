// Which simulations are run. Systematic: a scripted scenario is run once, then once for every commit and every driver call with
// each kind of fault there; for small ones also for pairs of them. Struck: the same for what a seed asks, at some of the commits
// and calls. Swarm: one for each seed, with faults by chance. Each on stores of every kind.
import { assert } from '../base/assert.ts'
import { drawEngine, drawServer, type Setting, type Strike } from './fault-plan.ts'
import { Choices, mixed, type Stream } from './choices.ts'
import type { Conditions, Outcome, Simulator } from './simulation.ts'

type CommitStrike = Extract<Strike, { at: 'commit' }>['fault']
type CallStrike = Extract<Strike, { at: 'call' }>['fault']

/** What rehearsals offer, too: test/server/console.test.ts keeps the contract equal. */
export const commitStrikes: readonly CommitStrike[] = [
  'crashBefore',
  'crashAfter',
  'vanishBefore',
  'vanishAfter',
  'pauseBefore',
  'pauseAfter',
  'unavailable',
  'delete',
]

export const callStrikes: readonly CallStrike[] = [
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

/** What may end otherwise on a server than elsewhere. */
const serverStrikes: readonly CommitStrike[] = [
  'crashAfter',
  'vanishAfter',
  'pauseAfter',
  'cutRequest',
  'cutReply',
  'serverDies',
]

/** Stores by name, for those who want only one kind. */
export const storeKinds = {
  near: { isFar: false },
  far: { isFar: true, hasJumps: false, server: 'plain' },
  snapshot: { isFar: true, hasJumps: false, server: 'snapshot' },
  serializable: { isFar: true, hasJumps: false, server: 'serializable' },
} as const satisfies Record<string, Partial<Setting>>

export type StoreKind = keyof typeof storeKinds

const servers = ['snapshot', 'serializable'] as const

/** So small that every pair of faults is tried. */
const commitsForPairs = 12

/** All conditions of the systematic layer for a scripted scenario, the one without faults first. Only outside of microtasks. */
export function systematic(simulator: Simulator, withPairs: boolean): Conditions[] {
  assert(simulator.scenario.script !== undefined, `the scenario ${simulator.scenario.name} has no script`)
  const quiet: Conditions = { seed: 0, choices: {} }
  const baseline = simulator.run(quiet)
  const found: Conditions[] = [{ ...quiet, stays: 'long' }]
  for (const strike of strikesOn(baseline)) found.push({ ...quiet, strikes: [strike] })
  for (const server of servers)
    found.push(...onServer(simulator, { ...quiet, setting: storeKinds[server], stays: 'brief' }))
  if (!withPairs || baseline.commits > commitsForPairs) return found
  for (let n = 1; n <= baseline.commits; n++) {
    for (let m = n + 1; m <= baseline.commits + 6; m++) {
      for (const fault of pairStrikes) {
        for (const second of pairStrikes) {
          const strikes: Strike[] = [
            { at: 'commit', n, fault },
            { at: 'commit', n: m, fault: second },
          ]
          found.push({ ...quiet, strikes, stays: 'brief' })
        }
      }
    }
  }
  return found
}

/** What goes wrong with calls does not depend on the store: commits only. */
function onServer(simulator: Simulator, quiet: Conditions): Conditions[] {
  const found: Conditions[] = []
  const { commits } = simulator.run(quiet)
  for (let n = 1; n <= commits; n++) {
    for (const fault of serverStrikes) {
      found.push({ ...quiet, strikes: [{ at: 'commit', n, fault }] })
    }
  }
  return found
}

/** Each kind of fault at every commit and every driver call of a run. */
export function strikesOn({ commits, calls }: Outcome): Strike[] {
  const found: Strike[] = []
  for (let n = 1; n <= commits; n++) for (const fault of commitStrikes) found.push({ at: 'commit', n, fault })
  for (let n = 1; n <= calls; n++) for (const fault of callStrikes) found.push({ at: 'call', n, fault })
  return found
}

/**
 * What a seed asks of a free scenario, in a quiet world but for a strike (now and then two) at a commit or call that is known to
 * come: `most` of all there are. Only outside of microtasks.
 */
export function struck(simulator: Simulator, seed: number, most: number, store?: StoreKind): Conditions[] {
  assert(simulator.scenario.script === undefined, `the scenario ${simulator.scenario.name} is scripted`)
  const stream = new Choices(seed).stream('struck')
  const quiet: Conditions = { seed, setting: { ...drawQuiet(stream), ...(store && storeKinds[store]) }, stays: 'brief' }
  const all = strikesOn(simulator.run(quiet))
  const found: Conditions[] = []
  for (let n = 0; n < most && all.length > 0; n++) {
    const [strike] = all.splice(stream.below(all.length), 1)
    const more = poison(strike!, stream) ?? (stream.below(4) === 3 ? [secondStrike(strike!, stream)] : [])
    found.push({ ...quiet, strikes: [strike!, ...more] })
  }
  return found
}

/** No faults by chance, but not always the same surroundings. */
const drawQuiet = (stream: Stream): Partial<Setting> => ({
  isFar: stream.below(4) === 3,
  processes: [2, 2, 1, 3][stream.below(4)]!,
  checksEpoch: stream.below(4) !== 3,
  isWatched: stream.below(8) === 7,
  engine: stream.below(4) === 3 ? drawEngine(stream) : {},
  server: drawServer(stream),
})

/** A call that kills its worker may kill whoever tries it next. */
function poison(first: Strike, stream: Stream): Strike[] | null {
  if (first.at !== 'call' || (first.fault !== 'crash' && first.fault !== 'vanish') || stream.below(2) === 0) return null
  return [1, 2, 3, 4, 5].map((more) => ({ ...first, n: first.n + more }))
}

/** Soon after the first: while it is being healed. */
const secondStrike = (first: Strike, stream: Stream): Strike => ({
  at: 'commit',
  n: (first.at === 'commit' ? first.n : 0) + 1 + stream.below(6),
  fault: pairStrikes[stream.below(pairStrikes.length)]!,
})

/** One seed of the swarm: a quarter stays settled until also what is looked at most rarely was looked at, a few stay long. */
export function swarm(seed: number, store?: StoreKind): Conditions {
  const draw = mixed(seed, 'stays') % 1_024
  const setting = store === undefined ? undefined : storeKinds[store]
  return { seed, isSwarm: true, setting, stays: draw === 0 ? 'long' : draw % 4 === 0 ? 'usual' : 'brief' }
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
