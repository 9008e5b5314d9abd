// npm run simulate: the simulator's command line.
// Runs the systematic layer, struck seeds and the swarm in turn until the time is over, on all workers; a failure is shrunk, told
// and ends the run. A run of a minute or more that missed a named situation is red, and its figures go to docs/figures.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { outsideMicrotasks } from '../src/testing/microtasks.ts'
import { storeKinds, swarm, type StoreKind } from '../src/testing/explore.ts'
import { Simulator } from '../src/testing/simulation.ts'
import { SituationCounts } from '../src/testing/situations.ts'
import { scriptedScenarios } from '../test/simulation/scripted.ts'
import { scenarios } from '../test/simulation/scenarios.ts'
import { provenance, writeFigures } from './figures.ts'
import { amount, flag, made, oneOf, optionsOf, whole } from './options.ts'
import { readReplay, type Replay } from './replay-file.ts'
import type { Report, Task } from './simulate-worker.ts'

const all = [...scenarios, ...scriptedScenarios]
const options = optionsOf('npm run simulate', {
  minutes: amount('as many seeds as fit into so many minutes', 1),
  seed: whole('only this seed, with its story', { from: 0 }),
  from: whole('the first seed; left out: by the clock', { from: 0 }),
  scenario: oneOf(
    'only this scenario',
    all.map((one) => one.name),
  ),
  store: oneOf('only stores of this kind', Object.keys(storeKinds) as StoreKind[]),
  replay: made('a failure that was written down', 'file', (file) => readReplay(file, all)),
  workers: whole('threads', { from: 1, or: 2 }),
  json: flag('one line of JSON at the end, nothing else'),
})

const say = (text: string) => {
  if (!options.json) process.stdout.write(text)
}

const chosen = all.filter((one) => options.scenario === undefined || one.name === options.scenario)

const { store } = options
/** Everything is tried: only then is it known what is missing. */
const isWhole = options.scenario === undefined && store === undefined

async function replay({ scenario, conditions }: Replay): Promise<boolean> {
  const { name } = scenario
  const simulator = new Simulator(scenario)
  const outcome = await outsideMicrotasks(() => simulator.run({ ...conditions, isTold: true }))
  say(`${outcome.story!.draw()}\n\n`)
  const { violation, commits, calls, settledMs } = outcome
  say(violation === null ? `${name}: kept every promise` : `${name}: ${violation.promise} is broken: ${violation.text}`)
  say(` (${commits} commits, ${calls} calls, settled after ${Math.round(settledMs / 1_000)} s)\n`)
  return violation === null
}

async function replaySeed(seed: number): Promise<number> {
  let broken = 0
  for (const scenario of chosen) {
    if (scenario.script !== undefined) continue
    if (!(await replay({ scenario, conditions: swarm(seed, store) }))) broken++
  }
  if (options.json) tellJson(chosen.length, broken, [])
  return broken === 0 ? 0 : 1
}

const tellJson = (schedules: number, violations: number, situationsMissing: readonly string[]) =>
  process.stdout.write(`${JSON.stringify({ schedules, violations, situationsMissing })}\n`)

/** What all workers have done together. */
class Totals {
  schedules = 0
  systematic = 0
  struck = 0
  commits = 0
  calls = 0
  events = 0
  readonly situations = new SituationCounts()
  readonly failures: Report[] = []
  settledMost = 0

  add(report: Report): void {
    this.schedules += report.schedules
    this.systematic += report.systematic
    this.struck += report.struck
    this.commits += report.commits
    this.calls += report.calls
    this.events += report.events
    this.settledMost = Math.max(this.settledMost, report.settledMost)
    this.situations.add(Object.entries(report.situations))
    if (report.failure !== null) this.failures.push(report)
  }
}

async function run(minutes: number): Promise<number> {
  const startedAt = Date.now()
  const endsAt = startedAt + minutes * 60_000
  const { workers, from = Math.floor(startedAt / 1_000) % 1_000_000_000 } = options
  const totals = new Totals()
  const isTerminal = process.stdout.isTTY && !options.json
  const progress = setInterval(() => isTerminal && process.stdout.write(`\r${line(totals, startedAt, endsAt)}`), 250)
  say(`simulating ${chosen.length} scenarios from seed ${from} on ${workers} threads for ${minutes} min\n`)
  await Promise.all(
    Array.from({ length: workers }, (_, me) =>
      work({ me, workers, from, endsAt, scenarios: chosen.map((one) => one.name), store }, totals),
    ),
  )
  clearInterval(progress)
  if (isTerminal) process.stdout.write(`\r${line(totals, startedAt, endsAt)}\n`)
  const seconds = (Date.now() - startedAt) / 1_000
  const missing = isWhole && minutes >= 1 ? totals.situations.missing : []
  for (const { failure } of totals.failures) tellFailure(failure!)
  say(summary(totals, seconds, missing))
  // A red run was cut short: its figures say nothing.
  if (minutes >= 1 && isWhole && totals.failures.length === 0) {
    keepFigures(totals, seconds, missing)
  }
  if (options.json) tellJson(totals.schedules, totals.failures.length, missing)
  return totals.failures.length > 0 || missing.length > 0 ? 1 : 0
}

const threads: Worker[] = []

function work(task: Task, totals: Totals): Promise<void> {
  const worker = new Worker(new URL('./simulate-worker.ts', import.meta.url), {
    workerData: task,
    execArgv: ['--conditions=source'],
    // What one schedule leaves behind is dead when the next begins: with room for many of them, little is ever copied.
    resourceLimits: { maxYoungGenerationSizeMb: 128 },
  })
  threads.push(worker)
  return new Promise((resolve, reject) => {
    worker.on('message', (report: Report) => {
      totals.add(report)
      // One failure is enough to think about.
      if (report.failure !== null) for (const thread of threads) void thread.terminate()
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve())
  })
}

const count = (n: number) => Math.round(n).toLocaleString('en')

function line(totals: Totals, startedAt: number, endsAt: number): string {
  const share = Math.min(1, (Date.now() - startedAt) / (endsAt - startedAt))
  const bar = '█'.repeat(Math.round(share * 24)).padEnd(24, '░')
  const perSecond = totals.schedules / Math.max(1, (Date.now() - startedAt) / 1_000)
  return `${bar} ${count(totals.schedules)} schedules · ${count(perSecond)}/s · ${totals.failures.length} broken · ${totals.situations.missing.length} situations missing `
}

function tellFailure(failure: NonNullable<Report['failure']>): void {
  const { scenario, violation, words, story, conditions, seed } = failure
  const folder = join(tmpdir(), 'homeostat-simulation')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${scenario.replaceAll(' ', '-')}-${seed}.json`)
  writeFileSync(file, JSON.stringify({ scenario, conditions, violation }, null, 2))
  say(`\n${story}\n\n${violation.promise} is broken in ${scenario}, seed ${seed}: ${violation.text}\n${words}\n`)
  say(`  npm run simulate -- --replay ${file}\n`)
  const onStore = store === undefined ? '' : ` --store ${store}`
  if (conditions.isSwarm === true) say(`  npm run simulate -- --scenario '${scenario}' --seed ${seed}${onStore}\n`)
}

/** All threads together, start-up included: what a busy machine does not change. */
function cpuMsEach({ schedules }: Totals): string {
  const { user, system } = process.cpuUsage()
  return ((user + system) / 1_000 / Math.max(1, schedules)).toFixed(2)
}

const layers = ({ schedules, systematic, struck }: Totals) =>
  `${count(systematic)} systematic, ${count(struck)} struck, ${count(schedules - systematic - struck)} swarm`

function summary(totals: Totals, seconds: number, missing: readonly string[]): string {
  const { schedules, commits, calls, failures } = totals
  return [
    `${count(schedules)} schedules (${layers(totals)}) in ${seconds.toFixed(1)} s: ${count(schedules / seconds)}/s, ${cpuMsEach(totals)} ms of processor time each`,
    `${count(commits)} commits, ${count(calls)} driver calls, ${failures.length} violations`,
    `${totals.situations.counts.size} named situations met${missing.length === 0 ? '' : `; never met: ${missing.join(', ')}`}`,
    '',
  ].join('\n')
}

function keepFigures(totals: Totals, seconds: number, missing: readonly string[]): void {
  const { schedules, commits, calls, events, failures, settledMost, situations } = totals
  const met = [...situations.counts].sort(([, a], [, b]) => b - a)
  writeFigures('Simulation', [
    provenance(['npm run simulate --', ...process.argv.slice(2)].join(' ')),
    '',
    '| figure | value |',
    '| --- | --- |',
    `| schedules | ${count(schedules)}: ${layers(totals)} |`,
    `| schedules per second | ${count(schedules / seconds)} on ${options.workers} threads |`,
    `| processor time of one schedule | ${cpuMsEach(totals)} ms |`,
    `| commits watched | ${count(commits)} |`,
    `| driver calls watched | ${count(calls)} |`,
    `| simulated events | ${count(events)} |`,
    `| violations | ${failures.length} |`,
    `| longest time to settle after the last fault | ${count(settledMost / 1_000)} s simulated |`,
    `| named situations met | ${met.length} of ${met.length + missing.length} |`,
    '',
    `Situations: ${met.map(([name, times]) => `${name} ${count(times)}`).join(', ')}.`,
  ])
}

if (options.replay !== undefined) process.exitCode = (await replay(options.replay)) ? 0 : 1
else if (options.seed !== undefined) process.exitCode = await replaySeed(options.seed)
else process.exitCode = await run(options.minutes)
