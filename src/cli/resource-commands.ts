// Commands that look at resources: what there is, where it stands, why, and what happened.
import type { Command } from 'commander'
import { shown } from '../base/json.ts'
import { watchEvents, type RemovedEvents } from '../client/event-source.ts'
import { attemptWords, isTriedAgain } from '../protocol/attempt-words.ts'
import { eventWords, pathWords } from '../protocol/event-words.ts'
import { countOf, numberOf } from './given-values.ts'
import { refNamed, typeNamed, typesOf, wordOf, type Ref, type Resource } from './names.ts'
import { firstOf, moreThan } from './paging.ts'
import { beside, counted, exactly, lasting, moment, spoken, type Printer } from './print.ts'
import { asking, type Asking } from './shell.ts'

export function resourceCommands(program: Command): void {
  program
    .command('types')
    .alias('lifecycles')
    .description('what is served, with how many there are in which status')
    .argument('[type]', 'one of them, with its statuses and operations')
    .action(asking(types))
  program
    .command('ls')
    .description('resources, of one type or of all')
    .argument('[type]')
    .option('-s, --status <statuses>', 'with commas')
    .option('-k, --kind <kind>', 'stable, transitional, failed or terminal')
    .option('-q, --query <text>', 'a part of id, name, status or description')
    .option('--stuck', 'only what is stuck')
    .option('--parent <id>', 'children of this one')
    .option('--tenant <tenant>')
    .option('-a, --all', 'also those that are gone')
    .option('-n, --limit <n>', 'at most so many', '100')
    .action(asking(list))
  program.command('get').description('one resource').argument('<resource>').action(asking(get))
  program
    .command('why')
    .alias('explain')
    .description('why it stands where it stands, what happens next, and when')
    .argument('<resource>')
    .action(asking(why))
  program
    .command('history')
    .description('what happened to it')
    .argument('<resource>')
    .option('-n, --limit <n>', 'the last so many', '50')
    .action(asking(history))
  program
    .command('watch')
    .description('what happens, as it happens')
    .argument('[resource]', 'only this one, or only this type')
    .option('--after <number>', 'from this event on; 0: from the first')
    .option('--kinds <kinds>', 'only events of these kinds, with commas')
    .action(asking(watch))
}

async function types({ api, printer }: Asking<object>, given?: string): Promise<void> {
  const all = await typesOf(api)
  if (given === undefined) {
    if (printer.isJson) return printer.json(all.map(({ type, counts }) => ({ type, counts })))
    return printer.table(
      ['TYPE', 'RESOURCES'],
      all.map(({ type, counts }) => [type, countWords(counts)]),
    )
  }
  const type = await typeNamed(api, given)
  const found = all.find((one) => one.type === type)!
  if (printer.isJson) return printer.json(found)
  printer.line(printer.bold(type))
  printer.line()
  printer.table(
    ['STATUS', 'KIND', 'NOW', 'MEANING'],
    found.statuses.map(({ name, kind, meaning }) => [
      printer.status(name, kind),
      kind,
      String(found.counts[name] ?? 0),
      meaning,
    ]),
  )
  printer.line()
  printer.table(
    ['OPERATION', 'FROM', 'INPUT'],
    Object.entries(found.operations).map(([name, { declared, input }]) => {
      const needed = new Set(input?.required)
      const fields = Object.keys(input?.properties ?? {}).map((field) => (needed.has(field) ? field : `[${field}]`))
      const from = declared.from ?? []
      return [name, from.length === 0 ? '(makes one)' : from[0] === '*' ? 'any' : from.join(', '), fields.join(' ')]
    }),
  )
}

const countWords = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([status, n]) => `${n} ${status}`)
    .join(', ') || 'none'

interface ListOptions {
  readonly status?: string
  readonly kind?: 'stable' | 'transitional' | 'failed' | 'terminal'
  readonly query?: string
  readonly stuck?: boolean
  readonly parent?: string
  readonly tenant?: string
  readonly all?: boolean
  readonly limit: string
}

async function list({ api, printer, options }: Asking<ListOptions>, given?: string): Promise<void> {
  const most = countOf(options.limit, '--limit')
  const { status, kind, parent, tenant } = options
  const query = {
    status,
    kind,
    parent,
    tenant,
    q: options.query,
    ...(options.stuck ? { stuck: 'true' as const } : {}),
  }
  const type = given === undefined ? null : await typeNamed(api, given)
  const isWanted = (one: Resource) =>
    options.all || one.kind !== 'terminal' || kind === 'terminal' || status !== undefined
  const found: Resource[] = []
  let more: string | null = null
  do {
    const page: object = { ...query, pageSize: 500, ...(more === null ? {} : { pageToken: more }) }
    const answer: { readonly items: readonly Resource[]; readonly nextPageToken: string | null } =
      type === null
        ? await api.call('listAllResources', { query: page as never })
        : await api.call('listResources', { path: { type }, query: page as never })
    found.push(...answer.items.filter(isWanted))
    more = answer.nextPageToken
  } while (more !== null && found.length <= most)
  const items = found.slice(0, most).sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0))
  if (printer.isJson) return printer.json(items)
  if (items.length === 0) return printer.line(`No resources${type === null ? '' : ` of type ${type}`}.`)
  printer.table(
    ['TYPE', 'ID', 'STATUS', 'SINCE', 'WHAT IS GOING ON'],
    items.map((one) => [one.type, one.id, printer.status(one.status, one.kind), beside(one.since), goingOn(one)]),
  )
  if (found.length > most) printer.note(printer.dim(moreThan(most)))
}

/** What a line of a list says besides the status. */
function goingOn({ run, description, orphans }: Resource): string {
  const left = orphans === 0 ? '' : `left ${counted(orphans, 'orphan')} behind`
  if (run === null) return [description, left].filter((one) => one !== '').join('; ')
  const attempt = isTriedAgain(run) ? `, ${attemptWords(run)}` : ''
  const what = `${run.kind === 'heal' ? 'healing ' : ''}${run.operation}`
  return `${what} ${run.state}${run.step === null ? '' : `: ${run.step}`}${attempt}`
}

async function get({ api, printer }: Asking<object>, given: string): Promise<void> {
  const ref = await refNamed(api, given)
  const one = await api.call('getResource', { path: ref })
  if (printer.isJson) return printer.json(one)
  const links = Object.entries(one.links).map(([name, to]) => `${name} ${wordOf(to)}`)
  const refused = (one.refused ?? []).map(({ operation, reason }) => `${operation}: ${reason}`)
  printer.line(printer.bold(wordOf(one)))
  printer.facts([
    ['status', `${printer.status(one.status, one.kind)} (${one.kind}) since ${moment(one.since)}`],
    ...optional('says', one.description),
    ...optional('going on', one.run === null ? '' : goingOn(one)),
    ...optional('name', one.name ?? ''),
    ...optional('tenant', one.tenant),
    ...optional('parent', one.parent === null ? '' : wordOf(one.parent)),
    ...optional('links', links.join('\n')),
    [
      'properties',
      Object.entries(one.properties)
        .map(([name, value]) => `${name}=${shown(value)}`)
        .join('\n') || 'none',
    ],
    ...optional(
      'timers',
      Object.entries(one.timers)
        .map(([name, at]) => `${name} ${moment(at)}`)
        .join('\n'),
    ),
    ...optional('orphans', one.orphans === 0 ? '' : String(one.orphans)),
    ['created', moment(one.createdAt)],
    ['revision', `${one.revision}, epoch ${one.epoch}`],
    ['may be asked', (one.allowed ?? []).join(', ') || 'nothing'],
    ...optional('may not now', refused.join('\n')),
  ])
}

const optional = (name: string, value: string): [string, string][] => (value === '' ? [] : [[name, value]])

async function why({ api, printer }: Asking<object>, given: string): Promise<void> {
  const ref = await refNamed(api, given)
  const told = await api.call('explainResource', { path: ref })
  if (printer.isJson) return printer.json(told)
  const [first = '', ...rest] = told.because.map((one) => spoken(one))
  printer.line(printer.bold(first))
  for (const sentence of rest) printer.line(`  ${sentence}`)
  const next = told.next
  if (next === null) printer.line('Next: nothing happens by itself; it waits for somebody to ask.')
  else printer.line(`Next: ${next.what}${next.at === null ? '' : ` At ${moment(next.at)}.`}`)
  if (told.settlesWithinMs !== null)
    printer.line(`Once nothing fails any more, it is settled within ${lasting(told.settlesWithinMs)}.`)
}

interface Told {
  readonly n: number
  readonly at: string
  readonly kind: string
  readonly from: string
  readonly to: string
  readonly by: string
  readonly detail: unknown
}

async function history({ api, printer, options }: Asking<{ limit: string }>, given: string): Promise<void> {
  const ref = await refNamed(api, given)
  const most = countOf(options.limit, '--limit')
  const { items } = await firstOf(most, (query) => api.call('getHistory', { path: ref, query }))
  if (printer.isJson) return printer.json(items)
  printer.table(
    ['AT', 'WHAT', 'STATUS', 'BY', 'DETAIL'],
    items.toReversed().map((event) => [exactly(event.at), event.kind, pathWords(event), event.by, eventWords(event)]),
  )
}

async function watch(
  { api, printer, options }: Asking<{ after?: string; kinds?: string }>,
  given?: string,
): Promise<void> {
  const after = options.after === undefined ? undefined : numberOf(options.after, '--after')
  const only =
    given === undefined
      ? {}
      : await refNamed(api, given).catch(async (error: unknown) => {
          if (given.includes('/')) throw error
          return { type: await typeNamed(api, given) }
        })
  let isLost = false
  // Once for each time that it goes away, and once when it is back.
  const onState = (state: 'live' | 'lost', error?: Error) => {
    if (printer.isJson || isLost === (state === 'lost')) return
    isLost = state === 'lost'
    printer.note(isLost ? `${error?.message} Trying again.` : 'The events are coming again.')
  }
  const onRemoved = ({ after: from, to }: RemovedEvents) =>
    printer.note(`Events ${from + 1} to ${to} are no longer kept (keepHistoryMs): what they told is missing here.`)
  const kinds = options.kinds?.split(',')
  for await (const { data } of watchEvents(api, { ...only, kinds, after, onState, onRemoved })) {
    if (printer.isJson) printer.line(JSON.stringify(data))
    else printer.line(eventLine(printer, data))
  }
}

function eventLine(printer: Printer, event: Told & { readonly resource: Ref | null }): string {
  const who = event.resource === null ? '' : wordOf(event.resource)
  const what = [event.kind, pathWords(event), printer.dim(eventWords(event))].filter((one) => one !== '')
  return `${printer.dim(exactly(event.at))}  ${printer.bold(who)}  ${what.join('  ')}`
}
