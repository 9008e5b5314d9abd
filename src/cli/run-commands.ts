// Commands on runs: what is being carried out, how far it is, and a hand on it.
import type { Command } from 'commander'
import { attemptWords } from '../protocol/attempt-words.ts'
import { endWords, followRun, stepLine, type Run } from './follow-run.ts'
import { refNamed, wordOf } from './names.ts'
import { firstOf, moreThan } from './paging.ts'
import { beside, lasting, moment } from './print.ts'
import type { WaitOptions } from './asking-commands.ts'
import { countOf, numberOf } from './given-values.ts'
import { asking, type Asking } from './shell.ts'
import { exits } from './cli-error.ts'

export function runCommands(program: Command): void {
  program
    .command('runs')
    .description('what is being carried out, and what was')
    .argument('[resource]', 'only of this one')
    .option('-n, --limit <n>', 'at most so many', '30')
    .action(asking(list))
  program
    .command('run')
    .description('one run with its steps')
    .argument('<run>')
    .option('-w, --wait', 'wait until it has ended, and show its steps')
    .option('--timeout <seconds>', 'of --wait', '3600')
    .action(asking(show))
  program
    .command('cancel')
    .description('take a run as failed: what the declaration says for that follows')
    .argument('<run>')
    .requiredOption('--reason <why>')
    .action(asking(cancel))
  program
    .command('retry')
    .description('go on at once with a run that is parked or waits')
    .argument('<run>')
    .action(asking(retry))
  program
    .command('skip')
    .description('vouch for the step at hand: the run goes on as if it were done')
    .argument('<run>')
    .requiredOption('--reason <why>')
    .action(asking(skip))
}

async function list({ api, printer, options }: Asking<{ limit: string }>, given?: string): Promise<void> {
  const most = countOf(options.limit, '--limit')
  const path = given === undefined ? null : await refNamed(api, given)
  const { items, isAll } = await firstOf(most, (query) =>
    path === null ? api.call('listRuns', { query }) : api.call('listRunsOf', { path, query }),
  )
  if (printer.isJson) return printer.json(items)
  if (items.length === 0) return printer.line('No runs.')
  printer.table(
    ['RUN', 'RESOURCE', 'OPERATION', 'STATE', 'BEGUN', 'TOOK', 'WHAT FAILED'],
    items.map((run) => [
      run.id,
      wordOf(run.resource),
      run.kind === 'heal' ? `heal ${run.operation}`.trim() : run.operation,
      printer.paint(styleOf(run), run.state),
      beside(run.acceptedAt),
      run.endedAt === null ? '' : lasting(Date.parse(run.endedAt) - Date.parse(run.acceptedAt)),
      run.reasons.at(-1) ?? '',
    ]),
  )
  if (!isAll) printer.note(printer.dim(moreThan(most)))
}

const styleOf = ({ state, isOver }: Run) =>
  !isOver ? 'blue' : state === 'succeeded' || state === 'healed' ? 'green' : 'red'

async function show({ api, printer, options }: Asking<WaitOptions>, id: string): Promise<void> {
  if (options.wait) {
    const ended = await followRun(api, id, printer, { timeoutMs: numberOf(options.timeout, '--timeout') * 1_000 })
    if (printer.isJson) printer.json(ended)
    if (ended.state !== 'succeeded' && ended.state !== 'healed') process.exitCode = exits.notWell
    return
  }
  const run = await api.call('getRun', { path: { run: id } })
  if (printer.isJson) return printer.json(run)
  printer.line(printer.bold(`Run ${run.id}: ${run.operation} of ${wordOf(run.resource)}`))
  printer.line(`asked by ${run.by} at ${moment(run.acceptedAt)}${run.forced ? ', forced' : ''}`)
  const width = Math.max(0, ...run.steps.map(({ name }) => name.length))
  for (const step of run.steps) printer.line(`  ${stepLine(step, width, printer)}`)
  if (run.isOver) return printer.line(endWords(run, printer))
  if (run.parked !== null) printer.line(`Parked: ${run.parked.reason} (${run.parked.code})`)
  for (const reason of run.reasons) printer.line(`Failed: ${reason}`)
  printer.line(`It is ${run.state}, ${run.resource.id} is ${run.status}, ${attemptWords(run)}.`)
  if (run.nextCallAt !== null && Date.parse(run.nextCallAt) > 0) printer.line(`Next call: ${moment(run.nextCallAt)}.`)
}

async function cancel({ api, printer, options }: Asking<{ reason: string }>, run: string): Promise<void> {
  const { resource } = await api.call('cancelRun', { path: { run }, body: { reason: options.reason } })
  if (printer.isJson) return printer.json(resource)
  printer.line(`Run ${run} is taken as failed; ${wordOf(resource)} is ${resource.status}.`)
}

async function retry({ api, printer }: Asking<object>, run: string): Promise<void> {
  const { resource } = await api.call('retryRun', { path: { run } })
  if (printer.isJson) return printer.json(resource)
  printer.line(`Run ${run} goes on; ${wordOf(resource)} is ${resource.status}.`)
}

async function skip({ api, printer, options }: Asking<{ reason: string }>, run: string): Promise<void> {
  const { resource } = await api.call('skipStep', { path: { run }, body: { reason: options.reason } })
  if (printer.isJson) return printer.json(resource)
  printer.line(`Run ${run} goes on after the step; ${wordOf(resource)} is ${resource.status}.`)
}
