// Commands for the person on call: what is stuck, what healing would do, what was left behind, and whom to ask.
import type { Command } from 'commander'
import { shown } from '../base/json.ts'
import type { HttpClient } from '../client/http-client.ts'
import type { Answer } from '../protocol/route.ts'
import type { Routes } from '../protocol/routes.ts'
import { countOf, numberOf } from './given-values.ts'
import { CliError, exits } from './cli-error.ts'
import { foundWords } from '../protocol/found-words.ts'
import { refNamed, typeNamed, wordOf } from './names.ts'
import { firstOf, moreThan, type Limited } from './paging.ts'
import { beside, counted, lasting, type Printer } from './print.ts'
import { asking, type Asking } from './shell.ts'

export function healingCommands(program: Command): void {
  program
    .command('stuck')
    .description('what is stuck now')
    .option('-n, --limit <n>', 'at most so many', '500')
    .action(asking(stuck))
  program
    .command('heal')
    .description('a healing pass now; or one resource, whatever modes, budget and breaker say')
    .argument('[resource]')
    .option('--dry-run', 'only say what would be done')
    .option('-n, --limit <n>', 'of --dry-run: at most so many', '500')
    .option('--reason <why>', 'needed with a resource')
    .action(asking(heal))
  const policy = program.command('healing').description('modes, breakers and what was healed')
  policy.command('show', { isDefault: true }).description('as they are now').action(asking(healing))
  policy
    .command('mode')
    .description('how a status is healed: auto, approve (when a person says so), or off')
    .argument('<type>')
    .argument('<status>')
    .argument('<mode>', 'auto, approve or off')
    .requiredOption('--reason <why>')
    .action(asking(setMode))
  policy
    .command('approve')
    .description('heal everything that waits for approval, or what of it is of one type')
    .argument('[type]')
    .requiredOption('--reason <why>', 'for the audit: each has an entry of its own')
    .option('-s, --status <status>', 'only what stands in it')
    .option('--expect <n>', 'refuse when another number waits')
    .option('--dry-run', 'only say what would be done')
    .action(asking(approve))
  policy
    .command('breaker')
    .description('close the breaker of a type, so that healing goes on; or open it')
    .argument('<type>')
    .argument('<how>', 'close or open')
    .requiredOption('--reason <why>')
    .action(asking(setBreaker))
  const orphans = program.command('orphans').description('what exists in the real world and nobody owns')
  orphans.command('ls', { isDefault: true }).description('list them').action(asking(listOrphans))
  for (const [name, words, act, which] of [
    ['sweep', 'destroy them now (all of them when none is named)', sweep, '[orphans...]'],
    ['adopt', 'give them back to their resources', adopt, '<orphans...>'],
    ['write-off', 'strike them from the ledger: somebody vouches that they are gone', writeOff, '<orphans...>'],
  ] as const)
    orphans.command(name).description(words).argument(which).requiredOption('--reason <why>').action(asking(act))
  const incidents = program.command('incidents').description('stuck resources that no crash explains')
  incidents
    .command('ls', { isDefault: true })
    .description('list them, the newest first')
    .option('-n, --limit <n>', 'at most so many', '100')
    .action(asking(listIncidents))
  incidents
    .command('close')
    .description('somebody has looked')
    .argument('<incident>')
    .requiredOption('--reason <why>')
    .action(asking(closeIncident))
  program.command('workers').description('who carries runs out').action(asking(workers))
  program
    .command('drain')
    .description('a worker takes on nothing more and hands its runs over')
    .argument('<worker>')
    .requiredOption('--reason <why>')
    .action(asking(drain))
}

async function stuck({ api, printer, options }: Asking<Limited>): Promise<void> {
  const most = countOf(options.limit, '--limit')
  const { items, isAll } = await firstOf(most, (query) => api.call('listStuck', { query }))
  if (printer.isJson) return printer.json(items)
  if (items.length === 0) return printer.line('Nothing is stuck.')
  printer.table(
    ['RESOURCE', 'STATUS', 'SINCE', 'WHY', 'WHAT HEALING DOES'],
    items.map(({ resource, found: why, rule, held }) => [
      wordOf(resource),
      printer.status(resource.status, resource.kind),
      beside(resource.since),
      foundWords[why] ?? why,
      held === null ? rule : `nothing by itself: ${held}`,
    ]),
  )
  if (!isAll) printer.note(printer.dim(moreThan(most)))
}

interface HealOptions extends Limited {
  readonly dryRun?: boolean
  readonly reason?: string
}

async function heal({ api, printer, options }: Asking<HealOptions>, given?: string): Promise<void> {
  if (options.dryRun) {
    const most = countOf(options.limit, '--limit')
    const { items, isAll } = await firstOf(most, (query) => api.call('previewHealing', { query }))
    if (printer.isJson) return printer.json(items)
    if (items.length === 0) return printer.line('Nothing would be healed: nothing is stuck.')
    printPreview(printer, items)
    if (!isAll) printer.note(printer.dim(moreThan(most)))
    return
  }
  if (given === undefined) {
    await api.call('runHealing', {})
    if (printer.isJson) return printer.json({ asked: true })
    return printer.line('A healing pass is asked for. homeostat healing tells what came of it.')
  }
  if (options.reason === undefined)
    throw new CliError(
      exits.usage,
      'Healing one resource overrides modes and breakers: it needs a reason.',
      'Say it with --reason "..."',
    )
  const ref = await refNamed(api, given)
  const { resource, run } = await api.call('approveHealing', { body: { ...ref, reason: options.reason } })
  if (printer.isJson) return printer.json({ resource, run })
  printer.line(`${wordOf(ref)} is healed: it is ${printer.status(resource.status, resource.kind)} now.`)
}

const printPreview = (printer: Printer, rows: Readonly<Answer<Routes['previewHealing']>['items']>): void =>
  printer.table(
    ['RESOURCE', 'STATUS', 'WHY', 'WOULD', 'HELD'],
    rows.map((one) => [
      wordOf(one.resource),
      one.status,
      foundWords[one.found] ?? one.found,
      one.would,
      one.held ?? '',
    ]),
  )

async function healing({ api, printer }: Asking<object>): Promise<void> {
  const state = await api.call('getHealing', {})
  if (printer.isJson) return printer.json(state)
  const { lastPassAgeMs: age, passes, healed } = state
  printer.line(
    age === null
      ? 'The server that answers has made no pass: it has just begun, or has no worker. homeostat workers shows who has.'
      : `Last pass ${lasting(age)} ago; ${counted(passes, 'pass', 'passes')} and ${counted(healed, 'healing')} since the start.`,
  )
  const open = state.breakers.filter(({ isOpen }) => isOpen)
  for (const { type, reason } of open) printer.line(printer.paint('red', `Breaker of ${type} is open: ${reason}`))
  const held = state.modes.filter(({ mode }) => mode !== 'auto')
  if (held.length > 0) {
    printer.line()
    printer.table(
      ['TYPE', 'STATUS', 'MODE', 'RULE'],
      held.map(({ type, status, mode, rule }) => [type, status, mode, rule]),
    )
  }
  if (state.scoreboard.length === 0) return
  printer.line()
  printer.table(
    ['TYPE', 'STATUS', 'FOUND', 'TIMES', 'LAST'],
    state.scoreboard.map((row) => [
      row.type,
      row.status,
      foundWords[row.found] ?? row.found,
      String(row.count),
      beside(row.lastAt),
    ]),
  )
}

async function setMode(asked: Reasoned, given: string, status: string, mode: string): Promise<void> {
  const { api, printer, options } = asked
  const type = await typeNamed(api, given)
  const body = { mode: mode as 'auto', reason: options.reason }
  const state = await api.call('setHealingMode', { path: { type, status }, body })
  if (printer.isJson) return printer.json(state)
  const now = state.modes.find((one) => one.type === type && one.status === status)
  printer.line(`Healing of ${type} in ${status} is ${now?.mode ?? mode} now. Its rule: ${now?.rule ?? ''}.`)
}

interface ApproveOptions {
  readonly reason: string
  readonly status?: string
  readonly expect?: string
  readonly dryRun?: boolean
}

async function approve({ api, printer, options }: Asking<ApproveOptions>, given?: string): Promise<void> {
  const { reason, status, expect, dryRun = false } = options
  const type = given === undefined ? undefined : await typeNamed(api, given)
  const expected = expect === undefined ? undefined : numberOf(expect, '--expect')
  const answer = await api.call('approveAllHealing', { body: { type, status, reason, expected, dryRun } })
  const { total, hasMore, proposals, healed, refused } = answer
  if (refused.length > 0) process.exitCode = exits.notWell
  if (printer.isJson) return printer.json(answer)
  const waiting = `${hasMore ? 'More than ' : ''}${total} ${total === 1 && !hasMore ? 'waits' : 'wait'} for approval`
  if (total === 0) return printer.line('Nothing waits for approval.')
  if (dryRun) {
    printPreview(printer, proposals)
    return printer.line(`${waiting}. Without --dry-run ${hasMore ? `the first ${total}` : 'all of them'} are healed.`)
  }
  printer.line(`Healed ${healed} of ${total}${refused.length === 0 ? '' : `, ${refused.length} refused`}.`)
  for (const { resource, message } of refused) printer.line(`  ${wordOf(resource)}: ${message}`)
  if (hasMore) printer.note('More wait for approval: ask again.')
}

async function setBreaker(asked: Reasoned, given: string, how: string): Promise<void> {
  const { api, printer, options } = asked
  if (how !== 'open' && how !== 'close')
    throw new CliError(exits.usage, `'${how}' is nothing that a breaker does.`, 'Give close or open.')
  const type = await typeNamed(api, given)
  const body = { isOpen: how === 'open', reason: options.reason }
  const state = await api.call('setBreaker', { path: { type }, body })
  if (printer.isJson) return printer.json(state)
  printer.line(
    how === 'open'
      ? `The breaker of ${type} is open: what no crash explains is not healed by itself until it is closed.`
      : `The breaker of ${type} is closed: healing goes on.`,
  )
}

async function listOrphans({ api, printer }: Asking<object>): Promise<void> {
  const { items, strays, straysUnknown } = await allOrphans(api)
  if (printer.isJson) return printer.json({ items, strays, straysUnknown })
  if (straysUnknown !== null) printer.note(printer.dim(`Strays are not told. ${straysUnknown}`))
  if (items.length === 0 && strays.length === 0) return printer.line('No orphans.')
  if (items.length > 0)
    printer.table(
      ['ORPHAN', 'KIND', 'STATE', 'OF', 'MADE BY', 'SINCE'],
      items.map(({ id, resource, entry }) => [
        id,
        entry.kind,
        entry.state,
        wordOf(resource),
        entry.step,
        beside(entry.since),
      ]),
    )
  if (strays.length > 0) {
    printer.line('Exists, and no ledger names it:')
    printer.table(
      ['NAME', 'KIND', 'TYPE', 'FIRST SEEN'],
      strays.map(({ name, kind, type, firstSeenAt }) => [name, kind, type, beside(firstSeenAt)]),
    )
  }
}

/** However many there are: who cleans up wants to see, and to sweep, all of them. */
async function allOrphans(api: HttpClient) {
  let beside: Pick<Answer<Routes['listOrphans']>, 'strays' | 'straysUnknown'> = { strays: [], straysUnknown: null }
  const { items } = await firstOf(Infinity, async (query) => (beside = await api.call('listOrphans', { query })))
  return { ...beside, items }
}

async function named({ api }: Asking<object>, given: readonly string[]): Promise<readonly string[]> {
  if (given.length > 0) return given
  return (await allOrphans(api)).items.map(({ id }) => id)
}

type Reasoned = Asking<{ readonly reason: string }>

async function sweep(asked: Reasoned, given: readonly string[]): Promise<void> {
  const { api, printer, options } = asked
  const names = await named(asked, given)
  const results: { orphan: string; swept: boolean; message: string }[] = []
  for (const orphan of names) {
    const answer = await api.call('sweepOrphan', { path: { orphan }, body: { reason: options.reason } })
    results.push({ orphan, ...answer })
  }
  if (results.some((one) => !one.swept)) process.exitCode = exits.notWell
  if (printer.isJson) return printer.json(results)
  if (results.length === 0) return printer.line('No orphans: nothing to sweep.')
  for (const one of results)
    printer.line(
      one.swept ? `${one.orphan}: destroyed.` : printer.paint('red', `${one.orphan}: still there: ${one.message}`),
    )
}

async function adopt({ api, printer, options }: Reasoned, given: readonly string[]): Promise<void> {
  for (const orphan of given) {
    const resource = await api.call('adoptOrphan', { path: { orphan }, body: { reason: options.reason } })
    printer.line(printer.isJson ? JSON.stringify(resource) : `${orphan}: given back to ${wordOf(resource)}.`)
  }
}

async function writeOff({ api, printer, options }: Reasoned, given: readonly string[]): Promise<void> {
  for (const orphan of given) {
    const resource = await api.call('writeOffOrphan', { path: { orphan }, body: { reason: options.reason } })
    printer.line(
      printer.isJson ? JSON.stringify(resource) : `${orphan}: struck from the ledger of ${wordOf(resource)}.`,
    )
  }
}

async function listIncidents({ api, printer, options }: Asking<Limited>): Promise<void> {
  const most = countOf(options.limit, '--limit')
  const { items, isAll } = await firstOf(most, (query) => api.call('listIncidents', { query }))
  if (printer.isJson) return printer.json(items)
  if (items.length === 0) return printer.line('No incidents.')
  for (const one of items) {
    printer.line(`${printer.bold(one.id)}  ${wordOf(one.resource)} in ${one.status}, ${beside(one.at)}: ${one.text}`)
    printer.line(printer.dim(`  evidence ${shown(one.evidence)}`))
  }
  if (!isAll) printer.note(printer.dim(moreThan(most)))
}

async function closeIncident({ api, printer, options }: Reasoned, incident: string): Promise<void> {
  await api.call('closeIncident', { path: { incident }, body: { reason: options.reason } })
  printer.line(printer.isJson ? '{}' : `Incident ${incident} is closed.`)
}

async function workers({ api, printer }: Asking<object>): Promise<void> {
  const { items } = await api.call('listWorkers', {})
  if (printer.isJson) return printer.json(items)
  printer.table(
    ['WORKER', 'NAME', 'STATE', 'STARTED', 'LAST BEAT', 'LEASE'],
    items.map((one) => [
      `${one.no}${one.isHere ? ' (answers)' : ''}`,
      one.name,
      printer.paint(one.state === 'live' ? 'green' : one.state === 'ended' ? 'gray' : 'red', one.state),
      beside(one.startedAt),
      beside(one.beatAt),
      one.state === 'live' ? beside(one.leaseUntil) : '',
    ]),
  )
}

async function drain({ api, printer, options }: Reasoned, worker: string): Promise<void> {
  const asked = await api.call('drainWorker', { path: { worker }, body: { reason: options.reason } })
  if (printer.isJson) return printer.json(asked)
  printer.line(
    `Worker ${asked.worker} is being drained${asked.isHere ? '' : '; its process sees that within seconds'}.`,
  )
}
