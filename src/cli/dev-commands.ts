// Commands of the development mode: break the backends, see what is really there, strike the process that answers.
import type { Command } from 'commander'
import { shown } from '../base/json.ts'
import { sleep, systemClock } from '../base/clock.ts'
import { CliError, exits } from './cli-error.ts'
import { typeNamed } from './names.ts'
import { counted, lasting } from './print.ts'
import { numberOf } from './given-values.ts'
import { asking, type Asking } from './shell.ts'

const kinds = ['fail', 'hang', 'slow', 'garbage', 'lateSuccess', 'lostReply', 'staleReads'] as const

export function devCommands(program: Command): void {
  const fault = program.command('fault').description('switches that break calls of the backends')
  fault.command('ls', { isDefault: true }).description('those that are set').action(asking(list))
  fault
    .command('set')
    .description(`set one: ${kinds.join(', ')}`)
    .argument('<does>')
    .option('--type <type>', 'only for resources of this type')
    .option('--step <step>', 'only in this step')
    .option('--kind <kind>', 'only for things of this kind')
    .option('--times <n>', 'for so many calls; left out: until it is cleared')
    .option('--rate <part>', 'for this part of the calls, by chance')
    .option('--seconds <n>', 'how long (of slow and staleReads)')
    .option('--message <text>', 'of fail')
    .option('--terminal', 'of fail: not to be tried again')
    .action(asking(set))
  fault.command('clear').description('clear one, or all').argument('[fault]').action(asking(clear))
  program
    .command('truth')
    .description("what really exists: the backends' own table, not the records")
    .argument('[text]', 'only names that hold this')
    .action(asking(truth))
  program
    .command('drill')
    .description('strike the server (kill, freeze) and tell how long it takes until nothing is stuck')
    .argument('<how>', 'kill or freeze')
    .option('--seconds <n>', 'of freeze', '15')
    .action(asking(drill))
}

async function list({ api, printer }: Asking<object>): Promise<void> {
  const { items } = await api.call('listFaults', {})
  if (printer.isJson) return printer.json(items)
  if (items.length === 0) return printer.line('No fault is set.')
  printer.table(
    ['FAULT', 'DOES', 'ON', 'LEFT'],
    items.map(({ id, does, on, left, rate, ms }) => [
      shown(id),
      `${shown(does)}${typeof ms === 'number' ? ` ${lasting(ms)}` : ''}${typeof rate === 'number' ? `, ${Math.round(rate * 100)} %` : ''}`,
      onWords(on),
      left === null ? 'until cleared' : shown(left),
    ]),
  )
}

const onWords = (on: unknown): string =>
  Object.entries((on ?? {}) as object)
    .map(([name, value]) => `${name} ${shown(value)}`)
    .join(', ') || 'every call'

interface SetOptions {
  readonly type?: string
  readonly step?: string
  readonly kind?: string
  readonly times?: string
  readonly rate?: string
  readonly seconds?: string
  readonly message?: string
  readonly terminal?: boolean
}

async function set({ api, printer, options }: Asking<SetOptions>, does: string): Promise<void> {
  if (!(kinds as readonly string[]).includes(does))
    throw new CliError(exits.usage, `There is no fault '${does}'.`, `There are: ${kinds.join(', ')}.`)
  const { step, kind, times, rate, seconds, message, terminal } = options
  const type = options.type === undefined ? undefined : await typeNamed(api, options.type)
  const body = {
    does: does as (typeof kinds)[number],
    on: { ...(type && { type }), ...(step && { step }), ...(kind && { kind }) },
    ...(times && { times: numberOf(times, '--times') }),
    ...(rate && { rate: numberOf(rate, '--rate') }),
    ...(seconds && { ms: numberOf(seconds, '--seconds') * 1_000 }),
    ...(message && { message }),
    ...(terminal && { terminal }),
  }
  const fault = await api.call('setFault', { body })
  if (printer.isJson) return printer.json(fault)
  const count = times === undefined ? 'until it is cleared' : `for ${counted(Number(times), 'call')}`
  printer.line(`Fault ${shown(fault['id'])} is set: ${does} on ${onWords(fault['on'])}, ${count}.`)
}

async function clear({ api, printer }: Asking<object>, fault?: string): Promise<void> {
  if (fault === undefined) await api.call('clearFaults', {})
  else await api.call('clearFault', { path: { fault } })
  printer.line(printer.isJson ? '{}' : fault === undefined ? 'All faults are cleared.' : `Fault ${fault} is cleared.`)
}

async function truth({ api, printer }: Asking<object>, text = ''): Promise<void> {
  const { items } = await api.call('getTruth', {})
  const found = items.filter(({ name }) => shown(name).includes(text))
  if (printer.isJson) return printer.json(found)
  if (found.length === 0) return printer.line('Nothing exists.')
  printer.table(
    ['NAME', 'KIND', 'POWER', 'PROCESS', 'SIZE'],
    found.map(({ name, kind, power, pid, sizeBytes }) => [
      shown(name),
      shown(kind),
      shown(power),
      pid === null || pid === undefined ? '' : shown(pid),
      typeof sizeBytes === 'number' ? `${Math.round(sizeBytes / 2 ** 20)} MiB` : '',
    ]),
  )
}

/** Somebody else (systemd, a person) must start a killed server again: until then it waits. */
async function drill({ api, printer, options }: Asking<{ seconds: string }>, how: string): Promise<void> {
  if (how !== 'kill' && how !== 'freeze')
    throw new CliError(exits.usage, `It can be struck with kill or freeze, not ${how}.`)
  const seconds = numberOf(options.seconds, '--seconds')
  const { items: before } = await api.call('listRuns', { query: { state: 'live' } })
  await api.call('strikeWorker', { path: { operation: how }, query: { seconds, confirm: 'true' } })
  const begun = systemClock.monotonic()
  printer.note(`Struck (${how}) with ${counted(before.length, 'run')} under way. Waiting until nothing is stuck ...`)
  await sleep(1_000)
  for (;;) {
    const stuck = await api.call('listStuck', {}).catch(() => null)
    const ready = await api.call('readyz', {}).catch(() => null)
    if (stuck !== null && ready?.isReady && stuck.items.length === 0) break
    await sleep(500)
  }
  const tookMs = Math.round(systemClock.monotonic() - begun)
  if (printer.isJson) return printer.json({ how, runs: before.length, tookMs })
  printer.line(`Nothing is stuck any more, ${lasting(tookMs)} after the blow.`)
}
