// One thread of the simulator: its share of the systematic layer, then its share of the seeds, until the time is over or
// something is broken. What is broken is shrunk and told here.
import { parentPort, workerData } from 'node:worker_threads'
import type { Violation } from '../src/testing/checkers.ts'
import { explore, isTwice, swarm, systematic } from '../src/testing/explore.ts'
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

function count(outcome: Outcome, isSystematic: boolean): void {
  report.schedules++
  if (isSystematic) report.systematic++
  report.commits += outcome.commits
  report.calls += outcome.calls
  report.events += outcome.events
  report.settledMost = Math.max(report.settledMost, outcome.settledMs)
  for (const [name, times] of outcome.situations) report.situations[name] = (report.situations[name] ?? 0) + times
  if (Date.now() - reportedAt >= reportEveryMs) send()
}

/** False when something is broken. */
async function attempt(simulator: Simulator, conditions: Conditions): Promise<boolean> {
  const isSystematic = conditions.isSwarm !== true
  const outcome = await outsideMicrotasks(() =>
    explore(simulator, conditions, !isSystematic && isTwice(conditions.seed)),
  )
  count(outcome, isSystematic)
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

async function systematicLayer(): Promise<boolean> {
  let n = 0
  for (const simulator of simulators) {
    if (simulator.scenario.script === undefined) continue
    for (const conditions of await outsideMicrotasks(() => systematic(simulator, true))) {
      if (Date.now() >= task.endsAt) return false
      if (n++ % task.workers === task.me && !(await attempt(simulator, conditions))) return false
    }
  }
  return true
}

/** Each seed is lived by each scenario in turn. */
async function seeds(): Promise<void> {
  const free = simulators.filter((simulator) => simulator.scenario.script === undefined)
  if (free.length === 0) return
  for (let n = task.me; Date.now() < task.endsAt; n += task.workers) {
    const simulator = free[n % free.length]!
    if (!(await attempt(simulator, swarm(task.from + Math.floor(n / free.length))))) return
  }
}

if (await systematicLayer()) await seeds()
send()
