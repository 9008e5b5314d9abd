// Commands that ask something of resources: make them, ask for an operation, delete them, repair them. With --wait, until it is done.
import type { Command } from 'commander'
import { sleep, systemClock } from '../base/clock.ts'
import { codes, HomeostatError } from '../base/errors.ts'
import type { HttpClient } from '../client/http-client.ts'
import { CliError, exits } from './cli-error.ts'
import { followRun } from './follow-run.ts'
import { numberOf, valuesOf } from './given-values.ts'
import { refNamed, typeNamed, typesOf, wordOf, type Ref, type Resource } from './names.ts'
import { didYouMean } from '../base/did-you-mean.ts'
import { asking, type Asking } from './shell.ts'

const lookMs = 250

export interface WaitOptions {
  readonly wait?: boolean
  readonly timeout: string
}
type Accepted = {
  readonly resource: Resource
  readonly run: { readonly id: string } | null
  readonly outcome?: string | undefined
}

const waiting = (command: Command): Command =>
  command
    .option('-w, --wait', 'wait until it has ended, and show its steps')
    .option('--timeout <seconds>', 'of --wait', '3600')

export function askingCommands(program: Command): void {
  waiting(
    program
      .command('create')
      .description('make one')
      .argument('<type>')
      .argument('[properties...]', 'name=value')
      .option('--id <id>')
      .option('--name <name>')
      .option('--tenant <tenant>')
      .option('--parent <id>')
      .option('-l, --link <relation=id...>', 'to another resource')
      .option('-i, --input <name=value...>', 'what the operation takes besides')
      .option('--operation <operation>', 'another one than create'),
  ).action(asking(create))
  waiting(
    program
      .command('do')
      .description('ask for an operation')
      .argument('<resource>')
      .argument('<operation>')
      .argument('[input...]', 'name=value'),
  ).action(asking(operate))
  waiting(
    program
      .command('rm')
      .alias('delete')
      .description('delete it, whatever it is doing')
      .argument('<resource>')
      .option('-f, --force', 'wait for nothing; what is left behind is in the ledger')
      .option('--reason <why>', 'kept in the audit; needed with --force'),
  ).action(asking(remove))
  program
    .command('wait')
    .description('until it stands in a status that lasts')
    .argument('<resource>')
    .option('--timeout <seconds>', 'at most so long', '3600')
    .action(asking(waitFor))
  program
    .command('set-status')
    .description('guarded repair: put it into a status')
    .argument('<resource>')
    .argument('<status>')
    .requiredOption('--reason <why>')
    .action(asking(setStatus))
}

interface CreateOptions extends WaitOptions {
  readonly id?: string
  readonly name?: string
  readonly tenant?: string
  readonly parent?: string
  readonly link?: readonly string[]
  readonly input?: readonly string[]
  readonly operation?: string
}

async function create(asked: Asking<CreateOptions>, given: string, properties: readonly string[]): Promise<void> {
  const { api, options } = asked
  const { id, name, tenant, parent, operation } = options
  const type = await typeNamed(api, given)
  const links = valuesOf(options.link ?? []) as Record<string, string> | undefined
  const body = {
    id,
    name,
    tenant,
    parent,
    operation,
    links: links && Object.fromEntries(Object.entries(links).map(([relation, to]) => [relation, String(to)])),
    properties: valuesOf(properties) ?? {},
    input: valuesOf(options.input ?? []),
  }
  const accepted = await api
    .call('createResource', { path: { type }, body: body as never })
    .catch((error: unknown) => Promise.reject(properties.length === 0 ? swallowed(options, error) : error))
  await tell(asked, options.operation ?? 'create', accepted)
}

/** Options that take several values take all that follows them: also what was meant for properties. */
function swallowed({ input, link }: CreateOptions, error: unknown): unknown {
  if (!(error instanceof HomeostatError) || error.code !== 'properties_invalid') return error
  const option = (input?.length ?? 0) > 1 ? '--input' : (link?.length ?? 0) > 1 ? '--link' : null
  if (option === null) return error
  const hint = `What follows ${option} belongs to it: name properties before it.`
  return new CliError(codes.properties_invalid.exit, error.message, hint)
}

async function operate(
  asked: Asking<WaitOptions>,
  given: string,
  operation: string,
  input: readonly string[],
): Promise<void> {
  const { api } = asked
  const ref = await refNamed(api, given)
  const path = { ...ref, operation }
  const accepted = await api
    .call('operate', { path, body: (valuesOf(input) ?? {}) as never })
    .catch(async (error: unknown) => Promise.reject(await explained(api, ref, operation, error)))
  await tell(asked, operation, accepted)
}

/** A name that the lifecycle does not know is told with what it may have been. */
async function explained(api: HttpClient, { type }: Ref, operation: string, error: unknown): Promise<unknown> {
  if (!(error instanceof HomeostatError) || error.code !== 'operation_unknown') return error
  const known = Object.keys((await typesOf(api)).find((one) => one.type === type)?.operations ?? {})
  const hint = didYouMean(operation, known)
  return new CliError(
    codes.operation_unknown.exit,
    `${type} has no operation '${operation}'.`,
    hint || `It has: ${known.join(', ')}.`,
  )
}

interface RemoveOptions extends WaitOptions {
  readonly force?: boolean
  readonly reason?: string
}

async function remove(asked: Asking<RemoveOptions>, given: string): Promise<void> {
  const { api, options } = asked
  if (options.force && options.reason === undefined)
    throw new CliError(exits.usage, 'A forced delete needs a reason.', 'Say it with --reason "..."; it is kept.')
  const ref = await refNamed(api, given)
  const query = { ...(options.force ? { force: 'true' as const } : {}), reason: options.reason }
  const accepted = await api.call('deleteResource', { path: ref, query })
  await tell(asked, options.force ? 'forced delete' : 'delete', accepted)
}

/** What was accepted; and with --wait what becomes of it. */
export async function tell(asked: Asking<WaitOptions>, what: string, accepted: Accepted): Promise<void> {
  const { resource, run, outcome } = accepted
  const { api, printer, options } = asked
  if (run === null || !options.wait) {
    if (printer.isJson) return printer.json({ resource, run })
    const more = run !== null ? `run ${run.id}` : outcome === 'queued' ? 'it waits for its turn' : 'it is done'
    return printer.line(
      `${wordOf(resource)}: ${what} accepted, ${more}; it is ${printer.status(resource.status, resource.kind)}.`,
    )
  }
  const timeoutMs = numberOf(options.timeout, '--timeout') * 1_000
  const ended = await followRun(api, run.id, printer, { timeoutMs })
  if (printer.isJson) printer.json(ended)
  if (ended.state !== 'succeeded' && ended.state !== 'healed' && ended.state !== 'forced')
    process.exitCode = exits.notWell
}

/** Its run, and what follows by itself; a status that lasts ends it. */
async function waitFor({ api, printer, options }: Asking<WaitOptions>, given: string): Promise<void> {
  const ref = await refNamed(api, given)
  const until = systemClock.monotonic() + numberOf(options.timeout, '--timeout') * 1_000
  for (;;) {
    const one = await api.call('getResource', { path: ref })
    const timeoutMs = until - systemClock.monotonic()
    if (one.run === null && one.kind !== 'transitional') {
      if (one.kind === 'failed') process.exitCode = exits.notWell
      if (printer.isJson) return printer.json(one)
      return printer.line(`${wordOf(ref)} is ${printer.status(one.status, one.kind)}.`)
    }
    if (timeoutMs < 0)
      throw new CliError(exits.notWell, `${wordOf(ref)} is still ${one.status}.`, `homeostat why ${given}`)
    if (one.run === null) await sleep(lookMs)
    else await followRun(api, one.run.id, printer, { timeoutMs })
  }
}

async function setStatus({ api, printer, options }: Asking<{ reason: string }>, given: string, status: string) {
  const ref = await refNamed(api, given)
  const { etag } = await api.call('getResource', { path: ref })
  const body = { status, reason: options.reason }
  const { resource } = await api.call('setStatus', { path: ref, body }, { ifMatch: etag })
  if (printer.isJson) return printer.json(resource)
  printer.line(`${wordOf(ref)} is ${printer.status(resource.status, resource.kind)} now, epoch ${resource.epoch}.`)
}
