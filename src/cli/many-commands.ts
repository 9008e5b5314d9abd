// Commands on many resources: taking existing ones in, and operations over a filter as durable objects of the server.
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Command } from 'commander'
import { sleep } from '../base/clock.ts'
import type { HttpClient } from '../client/http-client.ts'
import type * as shape from '../protocol/shapes.ts'
import { CliError, exits } from './cli-error.ts'
import { bar } from './follow-run.ts'
import { countOf, numberOf, valuesOf } from './given-values.ts'
import { typeNamed, wordOf } from './names.ts'
import { firstOf, moreThan, type Limited } from './paging.ts'
import { beside, counted, type Printer } from './print.ts'
import { asking, type Asking } from './shell.ts'

type Bulk = z.infer<typeof shape.bulk>

/** Lines of one request. */
const chunk = 1_000
const lookMs = 300

export function manyCommands(program: Command): void {
  program
    .command('import')
    .description('take existing objects in with their present status, also transitional ones: then they are healed')
    .argument('<type>')
    .argument('<file>', 'a JSON object per line; - reads the input')
    .requiredOption('--reason <why>')
    .action(asking(importLines))
  const bulk = program.command('bulk').description('an operation over a filter')
  bulk
    .command('ls', { isDefault: true })
    .description('list them')
    .option('-n, --limit <n>', 'at most so many', '100')
    .action(asking(list))
  bulk
    .command('start')
    .description('freeze the list of targets, and work it off at a rate')
    .argument('<type>')
    .argument('<operation>')
    .argument('[input...]', 'name=value')
    .requiredOption('--reason <why>')
    .option('-s, --status <statuses>', 'with commas')
    .option('-q, --query <text>')
    .option('--tenant <tenant>')
    .option('--per-second <n>', 'how fast', '10')
    .option('--expect <n>', 'refuse when another number fits')
    .option('--dry-run', 'only count')
    .option('-w, --wait', 'until all are asked')
    .action(asking(start))
  bulk
    .command('get')
    .description('how far it is, and what was refused')
    .argument('<bulk>')
    .option('-n, --limit <n>', 'at most so many resources', '500')
    .action(asking(get))
  for (const [name, row] of [
    ['pause', 'pauseBulk'],
    ['resume', 'resumeBulk'],
    ['cancel', 'cancelBulk'],
  ] as const)
    bulk
      .command(name)
      .argument('<bulk>')
      .action(
        asking(async ({ api, printer }: Asking<object>, id: string) => {
          const one = await api.call(row, { path: { bulk: id } })
          if (printer.isJson) return printer.json(one)
          printer.line(lineOf(one))
        }),
      )
}

async function importLines({ api, printer, options }: Asking<{ reason: string }>, given: string, file: string) {
  const type = await typeNamed(api, given)
  const lines = textOf(file)
    .split('\n')
    .flatMap((line, i) => (line.trim() === '' ? [] : [{ number: i + 1, value: parsed(line, i + 1) }]))
  let imported = 0
  const refused: { line: number; code: string; message: string }[] = []
  for (let at = 0; at < lines.length; at += chunk) {
    const part = lines.slice(at, at + chunk)
    const body = part.map(({ value }) => value) as never
    const answer = await api.call('importResources', { path: { type }, query: { reason: options.reason }, body })
    imported += answer.imported
    refused.push(...answer.refused.map((one) => ({ ...one, line: part[one.line - 1]?.number ?? one.line })))
    draw(printer, `${bar(Math.min(at + chunk, lines.length), lines.length)} imported ${imported}`)
  }
  endDrawing(printer)
  if (refused.length > 0) process.exitCode = exits.notWell
  if (printer.isJson) return printer.json({ imported, refused })
  printer.line(`${counted(imported, 'resource')} of type ${type} taken in, ${refused.length} refused.`)
  for (const { line, code, message } of refused.slice(0, 20)) printer.line(`  line ${line}: ${message} (${code})`)
  if (refused.length > 20) printer.line(`  and ${refused.length - 20} more`)
}

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new CliError(exits.notFound, `${file} cannot be read: ${(error as Error).message}.`)
  }
}

function parsed(line: string, number: number): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new CliError(exits.usage, `Line ${number} is not JSON: ${(error as Error).message}. Nothing was sent.`)
  }
}

interface StartOptions {
  readonly reason: string
  readonly status?: string
  readonly query?: string
  readonly tenant?: string
  readonly perSecond: string
  readonly expect?: string
  readonly dryRun?: boolean
  readonly wait?: boolean
}

async function start(
  { api, printer, options }: Asking<StartOptions>,
  given: string,
  operation: string,
  input: readonly string[],
): Promise<void> {
  const type = await typeNamed(api, given)
  const { status, query, tenant, reason } = options
  const filter = { type, status: status?.split(','), q: query, tenant }
  const { bulk, total, allowed, sample } = await api.call('createBulk', {
    body: {
      filter,
      operation,
      input: valuesOf(input) ?? {},
      reason,
      perSecond: numberOf(options.perSecond, '--per-second'),
      ...(options.expect === undefined ? {} : { expected: numberOf(options.expect, '--expect') }),
      dryRun: options.dryRun ?? false,
    },
  })
  if (bulk === null) {
    if (printer.isJson) return printer.json({ total, allowed, sample })
    const names = sample.map(wordOf).join(', ')
    return printer.line(`${operation} would be asked of ${total}, of which ${allowed} allow it now: ${names}`)
  }
  const ended = options.wait ? await follow(api, printer, bulk) : bulk
  if (printer.isJson) return printer.json(ended)
  printer.line(lineOf(ended))
}

async function follow(api: HttpClient, printer: Printer, bulk: Bulk): Promise<Bulk> {
  for (let one = bulk; ; one = await api.call('getBulk', { path: { bulk: bulk.id } })) {
    draw(printer, `${bar(one.total - one.left, one.total)} ${one.operation}`)
    if (one.state !== 'running') {
      endDrawing(printer)
      return one
    }
    await sleep(lookMs)
  }
}

const draw = (printer: Printer, text: string): void => {
  if (printer.output.columns !== null && !printer.isJson) process.stderr.write(`\r\u001b[K${printer.cut(text)}`)
}
const endDrawing = (printer: Printer): void => {
  if (printer.output.columns !== null && !printer.isJson) process.stderr.write('\r\u001b[K')
}

const lineOf = (one: Bulk): string =>
  `Bulk ${one.id}: ${one.operation} of ${one.filter.type}, ${one.state}; ${one.accepted} accepted, ${one.refused} refused, ${one.left} left of ${one.total}.`

async function list({ api, printer, options }: Asking<Limited>): Promise<void> {
  const most = countOf(options.limit, '--limit')
  const { items, isAll } = await firstOf(most, (query) => api.call('listBulk', { query }))
  if (printer.isJson) return printer.json(items)
  if (items.length === 0) return printer.line('No bulk operations.')
  printer.table(
    ['BULK', 'TYPE', 'OPERATION', 'STATE', 'ACCEPTED', 'REFUSED', 'LEFT', 'BEGUN', 'REASON'],
    items.map((one) => [
      one.id,
      one.filter.type,
      one.operation,
      one.state,
      String(one.accepted),
      String(one.refused),
      String(one.left),
      beside(one.createdAt),
      one.reason,
    ]),
  )
  if (!isAll) printer.note(printer.dim(moreThan(most)))
}

async function get({ api, printer, options }: Asking<Limited>, id: string): Promise<void> {
  const most = countOf(options.limit, '--limit')
  const path = { bulk: id }
  const one = await api.call('getBulk', { path })
  const itemsOf = (query: { readonly pageSize: number; readonly pageToken?: string }) =>
    api.call('listBulkItems', { path, query })
  if (printer.isJson) return printer.json({ bulk: one, items: (await firstOf(most, itemsOf)).items })
  printer.line(lineOf(one))
  // They may be anywhere among the many: whole pages are looked through.
  const refused = await firstOf(most, async (query) => {
    const { items, nextPageToken } = await itemsOf({ ...query, pageSize: 500 })
    return { items: items.filter(({ state }) => state === 'refused'), nextPageToken }
  })
  if (refused.items.length === 0) return
  printer.table(
    ['REFUSED', 'WHY'],
    refused.items.map(({ resource, message }) => [wordOf(resource), message]),
  )
  if (!refused.isAll) printer.note(printer.dim(moreThan(most)))
}
