// Commands that try the declarations of a project out before they are served: crashes by the thousand in an invented world, and what the
// engine makes of them on this machine.
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { CliError, exits } from './cli-error.ts'
import { loadConfig } from './config.ts'
import { numberOf } from './given-values.ts'
import { counted } from './print.ts'
import { here, type Shell } from './shell.ts'

export function trialCommands(program: Command): void {
  program
    .command('simulate')
    .description(
      'your lifecycles under crashes, lost leases and failing drivers, in an invented world; is every promise kept?',
    )
    .option('--seconds <seconds>', 'for how long', '10')
    .option('--seed <seed>', 'only this one, with its story')
    .action(here(simulate))
  program
    .command('bench')
    .description(
      'how many operations of a lifecycle the engine does a second on this machine, with drivers that answer at once',
    )
    .argument('[type]', 'left out: the first that can be created')
    .argument('[values...]', 'its properties as name=value; left out: invented from the schema')
    .option('--seconds <seconds>', 'for how long', '5')
    .option('--in-flight <count>', 'so many operations at a time', '100')
    .action(here(bench))
}

interface SimulateOptions {
  readonly seconds: string
  readonly seed?: string
}

async function simulate({ printer, options }: Shell<SimulateOptions>): Promise<void> {
  const { simulateOwn, tellSeed } = await import('./simulate-own.ts')
  const config = await configOf(options)
  if (options.seed !== undefined) {
    const told = await tellSeed(config.modules, numberOf(options.seed, '--seed'))
    if (told.some(({ violation }) => violation !== null)) process.exitCode = exits.notWell
    if (printer.isJson) return printer.json(told.map(({ name, violation }) => ({ name, violation })))
    for (const { name, story, violation } of told) {
      printer.line(printer.bold(name))
      printer.line(story)
      printer.line(violation === null ? printer.paint('green', 'Every promise was kept.') : brokenWords(violation))
    }
    return
  }
  const seconds = positive(options.seconds, '--seconds')
  printer.note(`Simulating for ${seconds} s; Ctrl-C ends it.`)
  const found = await simulateOwn(config.modules, seconds * 1_000)
  if (found.failure !== null) process.exitCode = exits.notWell
  if (printer.isJson) return printer.json(found)
  printer.table(
    ['MODULE', 'SCHEDULES', 'COMMITS', 'CALLS', 'TO SETTLE'],
    found.modules.map(({ name, schedules, commits, calls, settledMs }) => [
      name,
      String(schedules),
      String(commits),
      String(calls),
      `${Math.round(settledMs / 1_000)} s at most`,
    ]),
  )
  for (const { name, commits } of found.modules)
    if (commits === 0)
      printer.line(
        printer.paint(
          'yellow',
          `Nothing came to pass in ${name}: values that are invented from its schemas are refused.`,
        ) + ' Give it `inventions` in the config.',
      )
  const { failure } = found
  if (failure === null) {
    const sum = found.modules.reduce((all, { schedules }) => all + schedules, 0)
    return printer.line(printer.paint('green', `${counted(sum, 'schedule')}: every promise was kept.`))
  }
  printer.line(failure.story)
  printer.line(printer.paint('red', `${failure.name}, seed ${failure.seed}: ${brokenWords(failure.violation)}`))
  printer.line(failure.shrunk)
  printer.line(`See it again: homeostat simulate --seed ${failure.seed}`)
}

const brokenWords = ({ promise, text }: { readonly promise: string; readonly text: string }): string =>
  `${promise} is broken: ${text}`

interface BenchOptions {
  readonly seconds: string
  readonly inFlight: string
}

async function bench({ printer, options }: Shell<BenchOptions>, type?: string, values: string[] = []): Promise<void> {
  if (options.store !== undefined)
    throw new CliError(
      exits.usage,
      'A benchmark is not run on a store that is in use.',
      'Leave --store out: it takes a SQLite file of its own, and removes it.',
    )
  const { benchOwn } = await import('./bench-own.ts')
  const found = await benchOwn({
    config: await configOf(options),
    type,
    values,
    seconds: positive(options.seconds, '--seconds'),
    inFlight: positive(options.inFlight, '--in-flight'),
  })
  if (printer.isJson) return printer.json(found)
  printer.line(
    printer.bold(`${found.type} ${found.operation}: ${Math.round(found.perSecond).toLocaleString('en')} a second`),
  )
  printer.facts([
    ['done', `${found.done} in ${found.seconds.toFixed(1)} s, ${found.inFlight} at a time`],
    ['steps of each', String(found.steps)],
    ['from asking to its end', `${found.p50.toFixed(1)} ms (half), ${found.p99.toFixed(1)} ms (99 of 100)`],
    [
      'ended in',
      Object.entries(found.ends)
        .map(([status, count]) => `${status} ${count}`)
        .join(', '),
    ],
    ['store', 'SQLite with every commit flushed, in a temporary folder'],
  ])
}

const configOf = (options: { readonly data?: string; readonly config?: string }) =>
  loadConfig(options.config, { data: resolve(options.data ?? 'data'), isDev: false })

function positive(text: string, option: string): number {
  const value = numberOf(text, option)
  if (value > 0) return value
  throw new CliError(exits.usage, `${option} takes a number above 0, not '${text}'.`)
}
