// One thread of the simulator: its share of every layer in turn, until the time is over or something is broken. The systematic
// layer comes to its end; struck seeds and the swarm go on for ever. What is broken is shrunk and told here.
import { parentPort, workerData } from 'node:worker_threads'
import type { Violation } from '../src/testing/checkers.ts'
import { explore, isTwice, struck, swarm, systematic, type StoreKind } from '../src/testing/explore.ts'
import { outsideMicrotasks } from '../src/testing/microtasks.ts'
import { shrink, shrunkWords } from '../src/testing/shrink.ts'
import { Simulator, type Conditions, type Outcome } from '../src/testing/simulation.ts'
import { scriptedScenarios } from '../test/simulation/scripted.ts'
import { scenarios } from '../test/simulation/scenarios.ts'

export interface Task {
  readonly me: number
  readonly workers: number
  readonly from: number
  readonly endsAt: number
  readonly scenarios: readonly string[]
  /** Undefined: of every kind. */
  readonly store: StoreKind | undefined
}

export interface Failure {
  readonly scenario: string
  readonly seed: number
  readonly conditions: Conditions
  readonly violation: Violation
  readonly words: string
  readonly story: string
}

/** What was done since the last report. */
export interface Report {
  schedules: number
  systematic: number
  struck: number
  commits: number
  calls: number
  events: number
  settledMost: number
  situations: Record<string, number>
  failure: Failure | null
}

const shrinkMs = 20_000
const reportEveryMs = 200
const linesTold = 80
const strikesPerSeed = 8

const task = workerData as Task
// Thousands of errors a second are part of the game; where they came from matters only when one is told.
const stackLines = Error.stackTraceLimit
Error.stackTraceLimit = 0
const simulators = [...scenarios, ...scriptedScenarios]
  .filter((scenario) => task.scenarios.includes(scenario.name))
  .map((scenario) => new Simulator(scenario))

const blank = (): Report => ({
  schedules: 0,
  systematic: 0,
  struck: 0,
  commits: 0,
  calls: 0,
  events: 0,
  settledMost: 0,
  situations: {},
  failure: null,
})
let report = blank()
let reportedAt = Date.now()
let rejection: unknown = null
process.on('unhandledRejection', (error) => (rejection = error))

function send(): void {
  parentPort!.postMessage(report)
  report = blank()
  reportedAt = Date.now()
}

function count(outcome: Outcome, layer: 'systematic' | 'struck' | 'swarm'): void {
  report.schedules++
  if (layer !== 'swarm') report[layer]++
  report.commits += outcome.commits
  report.calls += outcome.calls
  report.events += outcome.events
  report.settledMost = Math.max(report.settledMost, outcome.settledMs)
  for (const [name, times] of outcome.situations) report.situations[name] = (report.situations[name] ?? 0) + times
  if (Date.now() - reportedAt >= reportEveryMs) send()
}

/** False when something is broken. */
async function attempt(simulator: Simulator, conditions: Conditions): Promise<boolean> {
  const isScripted = simulator.scenario.script !== undefined
  const layer = isScripted ? 'systematic' : conditions.isSwarm === true ? 'swarm' : 'struck'
  const outcome = await outsideMicrotasks(() =>
    explore(simulator, conditions, layer === 'swarm' && isTwice(conditions.seed)),
  )
  count(outcome, layer)
  // Node tells of rejections that nobody handles at the end of the turn.
  await outsideMicrotasks(() => {})
  const thrown = rejection
  rejection = null
  const violation =
    thrown === null
      ? outcome.violation
      : { promise: 'defect', text: `an unhandled rejection: ${(thrown as Error).stack}`, at: 0 }
  if (violation === null) return true
  report.failure = await outsideMicrotasks(() => tell(simulator, conditions, violation))
  send()
  return false
}

function tell(simulator: Simulator, conditions: Conditions, violation: Violation): Failure {
  const until = Date.now() + shrinkMs
  const isShrinkable = violation.promise !== 'determinism' && !violation.text.startsWith('an unhandled')
  const shrunk = isShrinkable ? shrink(simulator, conditions, () => Date.now() > until) : null
  const smallest = shrunk?.conditions ?? conditions
  Error.stackTraceLimit = stackLines
  const told = simulator.run({ ...smallest, isTold: true })
  return {
    scenario: simulator.scenario.name,
    seed: conditions.seed,
    conditions: smallest,
    violation: told.violation ?? violation,
    words: shrunk === null ? '' : shrunkWords(shrunk),
    story: told.story!.draw(linesTold),
  }
}

interface Schedule {
  readonly simulator: Simulator
  readonly conditions: Conditions
}

const free = simulators.filter((simulator) => simulator.scenario.script === undefined)

/** One of each script in turn, so that a short run has something of all. */
async function* systematicLayer(): AsyncGenerator<Schedule> {
  const scripts: { simulator: Simulator; all: Conditions[] }[] = []
  for (const simulator of simulators) {
    if (simulator.scenario.script === undefined) continue
    scripts.push({ simulator, all: await outsideMicrotasks(() => systematic(simulator, true)) })
  }
  const longest = Math.max(0, ...scripts.map(({ all }) => all.length))
  for (let n = 0, place = 0; place < longest; place++) {
    for (const { simulator, all } of scripts) {
      const conditions = all[place]
      if (conditions !== undefined && n++ % task.workers === task.me) yield { simulator, conditions }
    }
  }
}

/** Each seed is lived by each scenario in turn. */
function* seeds(): Generator<{ simulator: Simulator; seed: number }> {
  if (free.length === 0) return
  for (let n = task.me; ; n += task.workers) {
    yield { simulator: free[n % free.length]!, seed: task.from + Math.floor(n / free.length) }
  }
}

async function* struckLayer(): AsyncGenerator<Schedule> {
  for (const { simulator, seed } of seeds()) {
    for (const conditions of await outsideMicrotasks(() => struck(simulator, seed, strikesPerSeed, task.store))) {
      yield { simulator, conditions }
    }
  }
}

async function* swarmLayer(): AsyncGenerator<Schedule> {
  for (const { simulator, seed } of seeds()) yield { simulator, conditions: swarm(seed, task.store) }
}

/** One of each layer in turn. */
async function work(): Promise<void> {
  const free = [struckLayer(), swarmLayer()]
  // Scripts are tried on every kind of store anyway.
  const layers = new Set(task.store === undefined ? [systematicLayer(), ...free] : free)
  while (layers.size > 0) {
    for (const layer of layers) {
      if (Date.now() >= task.endsAt) return
      const { done, value } = await layer.next()
      if (done === true) layers.delete(layer)
      else if (!(await attempt(value.simulator, value.conditions))) return
    }
  }
}

await work()
send()
