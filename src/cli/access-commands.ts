// Commands on who may come in: tokens and accounts; and the audit.
import type { Command } from 'commander'
import { auditWords } from '../protocol/audit-words.ts'
import { CliError, exits } from './cli-error.ts'
import { beside, counted, moment } from './print.ts'
import { countOf, numberOf } from './given-values.ts'
import { firstOf } from './paging.ts'
import { asking, type Asking } from './shell.ts'

export function accessCommands(program: Command): void {
  const token = program.command('token').description('tokens for programs')
  token.command('ls', { isDefault: true }).description('list them').action(asking(list))
  token
    .command('create')
    .description('make one; it is shown this once')
    .argument('<name>')
    .requiredOption('--role <role>', 'viewer, operator, admin or worker')
    .option('--tenant <tenant>', 'only this one')
    .option('--scope <permission...>', 'only these of what the role may do')
    .option('--days <n>', 'how long it is good', '30')
    .action(asking(create))
  token.command('revoke').description('end it at once').argument('<token>').action(asking(revoke))
  const account = program.command('account').description('accounts for the console')
  account.command('ls', { isDefault: true }).description('list them').action(asking(listAccounts))
  account
    .command('create')
    .description('make one; its password is read from HOMEOSTAT_PASSWORD')
    .argument('<name>')
    .requiredOption('--role <role>', 'viewer, operator or admin')
    .option('--tenant <tenant>')
    .action(asking(createAccount))
  account.command('rm').description('remove it and end its sessions').argument('<name>').action(asking(removeAccount))
  program
    .command('audit')
    .description('who did what, when and why')
    .option('--verify', 'compute the chain of hashes anew')
    .option('-q, --query <text>', 'a part of who, what, target, reason or outcome; however old')
    .option('-n, --limit <n>', 'the last so many', '30')
    .action(asking(audit))
}

async function list({ api, printer }: Asking<object>): Promise<void> {
  const { items } = await api.call('listTokens', {})
  if (printer.isJson) return printer.json(items)
  if (items.length === 0) return printer.line('No tokens.')
  printer.table(
    ['TOKEN', 'NAME', 'ROLE', 'TENANT', 'SCOPES', 'ENDS', 'MADE BY'],
    items.map((one) => [
      one.id,
      one.name,
      one.role,
      one.tenant ?? 'all',
      one.scopes.join(' ') || 'all of the role',
      beside(one.expiresAt),
      one.createdBy,
    ]),
  )
}

interface CreateOptions {
  readonly role: string
  readonly tenant?: string
  readonly scope?: readonly string[]
  readonly days: string
}

async function create({ api, printer, options }: Asking<CreateOptions>, name: string): Promise<void> {
  const { role, tenant = null, scope = [] } = options
  const body = { name, role, tenant, scopes: scope, days: numberOf(options.days, '--days') } as never
  const { token, secret } = await api.call('createToken', { body })
  if (printer.isJson) return printer.json({ token, secret })
  printer.line(secret)
  printer.note(`Token ${token.id}, ${token.role}, good until ${moment(token.expiresAt)}. It is not shown again.`)
}

async function revoke({ api, printer }: Asking<object>, token: string): Promise<void> {
  await api.call('revokeToken', { path: { token } })
  printer.line(printer.isJson ? '{}' : `Token ${token} is ended.`)
}

async function listAccounts({ api, printer }: Asking<object>): Promise<void> {
  const { items } = await api.call('listAccounts', {})
  if (printer.isJson) return printer.json(items)
  if (items.length === 0) return printer.line('No accounts.')
  printer.table(
    ['ACCOUNT', 'ROLE', 'TENANT', 'MADE'],
    items.map(({ name, role, tenant, createdAt }) => [name, role, tenant ?? 'all', beside(createdAt)]),
  )
}

async function createAccount(
  { api, printer, options }: Asking<{ role: string; tenant?: string }>,
  name: string,
): Promise<void> {
  const password = process.env['HOMEOSTAT_PASSWORD']
  if (password === undefined || password === '')
    throw new CliError(
      exits.usage,
      'The password is read from HOMEOSTAT_PASSWORD, which is empty.',
      'It is not taken as an argument: others could see it in the list of processes.',
    )
  const body = { name, password, role: options.role, tenant: options.tenant ?? null } as never
  const made = await api.call('createAccount', { body })
  printer.line(printer.isJson ? JSON.stringify(made) : `Account ${made.name}, ${made.role}, is made.`)
}

async function removeAccount({ api, printer }: Asking<object>, account: string): Promise<void> {
  await api.call('deleteAccount', { path: { account } })
  printer.line(printer.isJson ? '{}' : `Account ${account} is removed.`)
}

interface AuditOptions {
  readonly verify?: boolean
  readonly query?: string
  readonly limit: string
}

async function audit({ api, printer, options }: Asking<AuditOptions>): Promise<void> {
  if (options.verify) {
    const answer = await api.call('verifyAudit', {})
    if (!answer.isSound) process.exitCode = exits.notWell
    if (printer.isJson) return printer.json(answer)
    const entries = counted(answer.entries, 'entry', 'entries')
    return printer.line(
      answer.isSound
        ? `${entries}, the chain is whole.`
        : printer.paint('red', `Entry ${answer.brokenAt} does not fit the chain.`),
    )
  }
  const most = countOf(options.limit, '--limit')
  const { query: q } = options
  const newest = await firstOf(most, (page) => api.call('listAudit', { query: { ...page, order: 'newest', q } }))
  const items = newest.items.toReversed()
  if (printer.isJson) return printer.json(items)
  if (items.length === 0)
    return printer.line(q === undefined ? 'The audit is empty.' : `Nothing in the whole audit contains '${q}'.`)
  printer.table(
    ['AT', 'WHO', 'DID', 'TO', 'OUTCOME', 'WHY'],
    items.map((one) => [
      one.at.slice(0, 19).replace('T', ' '),
      one.principal,
      auditWords(one),
      one.target,
      one.outcome,
      one.reason,
    ]),
  )
}
