// Commands on webhooks: who is told of events elsewhere, how far each is and why it fails, and a hand on it.
import { z } from 'zod'
import type { Command } from 'commander'
import type { HttpClient } from '../client/http-client.ts'
import type * as shape from '../protocol/shapes.ts'
import { exits } from './cli-error.ts'
import { typeNamed } from './names.ts'
import { firstOf, moreThan } from './paging.ts'
import { beside, counted, moment, type Printer } from './print.ts'
import { countOf, numberOf } from './given-values.ts'
import { asking, type Asking } from './shell.ts'

type Webhook = z.infer<typeof shape.webhook>

export function webhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('events sent elsewhere: signed, in order, at least once')
  webhook.command('ls', { isDefault: true }).description('how far each is, and why it fails').action(asking(list))
  webhook
    .command('create')
    .description('send events to an address; the secret that they are signed with is shown this once')
    .argument('<url>')
    .option('--type <type...>', 'only of these types of resources')
    .option('--kind <kind...>', 'only of these kinds of events, such as landed')
    .option('--tenant <tenant>', 'only of this one')
    .option('--after <n>', 'from this event on; left out: only what is new')
    .action(asking(create))
  webhook
    .command('get')
    .description('one, with the events that could not be delivered')
    .argument('<webhook>')
    .option('-n, --limit <n>', 'at most so many of these events', '30')
    .action(asking(get))
  for (const [name, row, words] of [
    ['pause', 'pauseWebhook', 'send nothing until it is resumed'],
    ['resume', 'resumeWebhook', 'go on where it was, at once; also when it waits for its next try'],
  ] as const)
    webhook
      .command(name)
      .description(words)
      .argument('<webhook>')
      .option('--reason <why>')
      .action(
        asking(async ({ api, printer, options }: Asking<{ reason?: string }>, id: string) => {
          const { reason } = options
          tell(printer, await api.call(row, { path: { webhook: id }, body: { reason } }))
        }),
      )
  webhook
    .command('replay')
    .description('send the dead letters again; or everything from an event on')
    .argument('<webhook>')
    .option('--after <n>', 'everything after this event')
    .action(asking(replay))
  webhook
    .command('rotate')
    .description('a new secret; deliveries are signed with both until the next rotation')
    .argument('<webhook>')
    .action(asking(rotate))
  webhook.command('rm').description('send nothing more').argument('<webhook>').action(asking(remove))
}

/** In a word, how it is with it. */
function stateOf(printer: Printer, { state, failures, deadLetters }: Webhook): string {
  if (state === 'paused') return printer.paint('yellow', 'paused')
  if (failures > 0) return printer.paint('red', `${counted(failures, 'try', 'tries')} failed`)
  return deadLetters > 0 ? printer.paint('yellow', 'active') : printer.paint('green', 'active')
}

const afterOf = (given: string | undefined) => (given === undefined ? undefined : numberOf(given, '--after'))

async function list({ api, printer }: Asking<object>): Promise<void> {
  const { items } = await api.call('listWebhooks', {})
  if (printer.isJson) return printer.json(items)
  if (items.length === 0) return printer.line('No webhooks.')
  const { last } = await api.call('streamEvents', { query: { pageSize: 1 } })
  printer.table(
    ['WEBHOOK', 'STATE', 'AT EVENT', 'DEAD LETTERS', 'NEXT TRY', 'URL', 'LAST ERROR'],
    items.map((one) => [
      one.id,
      stateOf(printer, one),
      `${one.delivered} of ${last}`,
      String(one.deadLetters),
      one.nextTryAt === null ? '' : beside(one.nextTryAt),
      one.url,
      one.lastError,
    ]),
  )
}

interface CreateOptions {
  readonly type?: readonly string[]
  readonly kind?: readonly string[]
  readonly tenant?: string
  readonly after?: string
}

async function create({ api, printer, options }: Asking<CreateOptions>, url: string): Promise<void> {
  const { kind: kinds = [], tenant } = options
  const types = await Promise.all((options.type ?? []).map((type) => typeNamed(api, type)))
  const body = { url, types, kinds: [...kinds], tenant, after: afterOf(options.after) }
  const { webhook, secret } = await api.call('createWebhook', { body })
  if (printer.isJson) return printer.json({ webhook, secret })
  printer.line(secret)
  printer.note(`Webhook ${webhook.id} sends to ${webhook.url}. Its secret is not shown again.`)
}

async function get({ api, printer, options }: Asking<{ limit: string }>, id: string): Promise<void> {
  const path = { webhook: id }
  const one = await api.call('getWebhook', { path })
  const most = countOf(options.limit, '--limit')
  const dead = await firstOf(most, (query) => api.call('listDeadLetters', { path, query }))
  if (printer.isJson) return printer.json({ webhook: one, deadLetters: dead.items })
  tell(printer, one)
  if (dead.items.length === 0) return
  printer.line()
  printer.table(
    ['EVENT', 'GIVEN UP', 'OF', 'KIND', 'WHY'],
    dead.items.map(({ n, at, error, event }) => [
      String(n),
      beside(at),
      event?.subject ?? 'no longer in the history',
      event?.data.kind ?? '',
      error,
    ]),
  )
  if (!dead.isAll) printer.note(printer.dim(moreThan(most)))
}

function tell(printer: Printer, one: Webhook): void {
  if (printer.isJson) return printer.json(one)
  printer.line(
    `${printer.bold(one.id)} to ${one.url}: ${stateOf(printer, one)}, dealt with up to event ${one.delivered}.`,
  )
  const of = [...one.types, ...one.kinds].join(', ') || 'everything'
  printer.line(`It gets ${of}${one.tenant === null ? '' : ` of tenant ${one.tenant}`}.`)
  if (one.lastError !== '') printer.line(`Last error: ${one.lastError}.`)
  if (one.nextTryAt !== null)
    printer.line(`Next try: ${moment(one.nextTryAt)}; homeostat webhook resume tries at once.`)
  if (one.deadLetters > 0)
    printer.line(
      `${counted(one.deadLetters, 'dead letter')}: homeostat webhook get shows them, homeostat webhook replay sends them again.`,
    )
}

async function replay({ api, printer, options }: Asking<{ after?: string }>, id: string): Promise<void> {
  const after = afterOf(options.after)
  const path = { webhook: id }
  if (after !== undefined) return tell(printer, await api.call('replayWebhook', { path, body: { after } }))
  const { left, sent } = await sendDead(api, id)
  if (left.deadLetters > 0) process.exitCode = exits.notWell
  if (printer.isJson) return printer.json({ webhook: left, sent })
  printer.line(`${counted(sent, 'dead letter')} sent again, ${left.deadLetters} left.`)
  if (left.deadLetters > 0) printer.line(`Last error: ${left.lastError}.`)
}

/** One request sends a hundred at most: as many requests as it takes, while they get somewhere. */
async function sendDead(api: HttpClient, id: string): Promise<{ readonly left: Webhook; readonly sent: number }> {
  const path = { webhook: id }
  const before = await api.call('getWebhook', { path })
  let left = before
  for (;;) {
    const next = await api.call('replayWebhook', { path, body: {} })
    const isStuck = next.deadLetters >= left.deadLetters
    left = next
    if (isStuck || left.deadLetters === 0) return { left, sent: Math.max(0, before.deadLetters - left.deadLetters) }
  }
}

async function rotate({ api, printer }: Asking<object>, id: string): Promise<void> {
  const { secret } = await api.call('rotateWebhook', { path: { webhook: id } })
  if (printer.isJson) return printer.json({ secret })
  printer.line(secret)
  printer.note('Deliveries are signed with this and with the one before it, until the next rotation.')
}

async function remove({ api, printer }: Asking<object>, id: string): Promise<void> {
  await api.call('deleteWebhook', { path: { webhook: id } })
  printer.line(printer.isJson ? '{}' : `Webhook ${id} is gone; nothing more is sent.`)
}
