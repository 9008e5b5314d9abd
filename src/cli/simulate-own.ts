// Simulates the lifecycles of a project: module by module on the production engine, under invented time, with faults by chance, for as
// long as it is given; the first broken promise is made as small as it gets, and told.
import { systemClock } from '../base/clock.ts'
import { typeOf } from '../lifecycle/lifecycle.ts'
import type { Violation } from '../testing/checkers.ts'
import { explore, isTwice, struck, swarm } from '../testing/explore.ts'
import { hurried } from '../testing/hurried.ts'
import { outsideMicrotasks } from '../testing/microtasks.ts'
import { shrink, shrunkWords } from '../testing/shrink.ts'
import { Simulator, type Conditions, type Outcome } from '../testing/simulation.ts'
import type { Module } from './config.ts'

export interface Simulated {
  readonly modules: readonly ModuleFigures[]
  readonly failure: Failure | null
}

export interface ModuleFigures {
  readonly name: string
  schedules: number
  commits: number
  calls: number
  /** The longest time, in the invented world, from the last fault until everything was at rest. */
  settledMs: number
}

export interface Failure {
  readonly name: string
  readonly seed: number
  readonly violation: Violation
  readonly story: string
  readonly shrunk: string
}

/** Of each seed so many runs with one chosen fault, beside the one with faults by chance. */
const strikesPerSeed = 4
const shrinkMs = 10_000
const linesTold = 60

/** Every module by itself: its lifecycles know each other. */
const simulatorsOf = (modules: readonly Module[]): Simulator[] =>
  modules.map(({ lifecycles, inventions }) => {
    const set = Object.values(lifecycles)
    const name = [...new Set(set.map((one) => typeOf(one).split('.', 1)[0]!))].join(' and ')
    return new Simulator({ name, lifecycles: set.map(hurried), ...inventions })
  })

export async function simulateOwn(modules: readonly Module[], forMs: number): Promise<Simulated> {
  const until = systemClock.monotonic() + forMs
  const simulators = simulatorsOf(modules)
  const figures = simulators.map(({ scenario: { name } }) => ({
    name,
    schedules: 0,
    commits: 0,
    calls: 0,
    settledMs: 0,
  }))
  // Thousands of errors a second are part of the game: where each came from is not.
  const stackLines = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    for (let seed = 0; ; seed++) {
      for (const [place, simulator] of simulators.entries()) {
        const all = await outsideMicrotasks(() => [swarm(seed), ...struck(simulator, seed, strikesPerSeed)])
        for (const conditions of all) {
          // Every module has its turn, however short the time is.
          if (seed > 0 && systemClock.monotonic() >= until) return { modules: figures, failure: null }
          const outcome = await outsideMicrotasks(() =>
            explore(simulator, conditions, conditions.isSwarm === true && isTwice(seed)),
          )
          count(figures[place]!, outcome)
          if (outcome.violation === null) continue
          const failure = await outsideMicrotasks(() => failureOf(simulator, conditions, outcome.violation!))
          return { modules: figures, failure }
        }
      }
    }
  } finally {
    Error.stackTraceLimit = stackLines
  }
}

function count(figures: ModuleFigures, { commits, calls, settledMs }: Outcome): void {
  figures.schedules++
  figures.commits += commits
  figures.calls += calls
  figures.settledMs = Math.max(figures.settledMs, settledMs)
}

function failureOf(simulator: Simulator, conditions: Conditions, violation: Violation): Failure {
  const until = systemClock.monotonic() + shrinkMs
  const told = simulator.run({ ...conditions, isTold: true })
  // What is not the same a second time cannot be made smaller.
  if (told.violation === null)
    return { name: simulator.scenario.name, seed: conditions.seed, violation, story: '', shrunk: 'not repeatable' }
  const found = shrink(simulator, conditions, () => systemClock.monotonic() >= until)
  const small = simulator.run({ ...found.conditions, isTold: true })
  return {
    name: simulator.scenario.name,
    seed: conditions.seed,
    violation: small.violation ?? violation,
    story: (small.story ?? told.story)!.draw(linesTold),
    shrunk: shrunkWords(found),
  }
}

export interface ToldSeed {
  readonly name: string
  readonly story: string
  readonly violation: Violation | null
}

/** One seed lived by every module, with what happened. */
export async function tellSeed(modules: readonly Module[], seed: number): Promise<ToldSeed[]> {
  const told: ToldSeed[] = []
  for (const simulator of simulatorsOf(modules)) {
    const outcome = await outsideMicrotasks(() => simulator.run({ ...swarm(seed), isTold: true }))
    const { violation, story } = outcome
    told.push({ name: simulator.scenario.name, story: story!.draw(), violation })
  }
  return told
}
