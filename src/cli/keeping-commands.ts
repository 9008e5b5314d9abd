// Commands on keeping an installation: back-up, restore, and a look at whether everything is as it should be.
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { isoTime, systemClock } from '../base/clock.ts'
import { CliError, exits } from './cli-error.ts'
import { loadConfig } from './config.ts'
import type { Finding } from './doctor.ts'
import { makeFolder } from './named-files.ts'
import { isPostgres, storeOf, useFolder, type Place, type PostgresPlace } from './open-store.ts'
import { counted } from './print.ts'
import { readServerFile } from './server-file.ts'
import { here, type GlobalOptions, type Shell } from './shell.ts'

export function keepingCommands(program: Command): void {
  program
    .command('backup')
    .description('copy the store as it is at one moment, while it is in use')
    .argument('[file]', 'left out: in the folder backups of the data folder')
    .action(here(backUp))
  program
    .command('restore')
    .description('put a back-up in place, under a new system epoch: whoever worked on the old store can write no more')
    .argument(
      '[file]',
      'left out for PostgreSQL: restore the database by its own tools, then ask for the new epoch here',
    )
    .option('--replace', 'move the store that is there aside')
    .action(here(restore))
  program.command('doctor').description('is this installation as it should be?').action(here(doctor))
}

/** The store that is meant: a file, or a database. */
async function whereOf({ data: given, store, config }: GlobalOptions): Promise<{ data: string; store: Place }> {
  const data = resolve(given ?? 'data')
  const named =
    typeof store === 'string' ? store : (await loadConfig(config, { data, isDev: false }).catch(() => null))?.store
  return { data, store: storeOf(data, named) }
}

/** The SQLite file that is meant. */
async function fileOf(options: GlobalOptions): Promise<{ data: string; file: string }> {
  const { data, store } = await whereOf(options)
  if (isPostgres(store))
    throw new CliError(
      exits.usage,
      'The store is a PostgreSQL database: back it up with its own tools.',
      'See docs/deployment.md, Back-up.',
    )
  return { data, file: store.file }
}

const stampOf = (): string => isoTime(systemClock.now()).slice(0, 19).replaceAll(/[-:]/g, '')

async function backUp({ printer, options }: Shell<object>, given?: string): Promise<void> {
  const { backUpSqlite } = await import('../store/sqlite/back-up.ts')
  const { data, file } = await fileOf(options)
  if (!existsSync(file))
    throw new CliError(
      exits.notFound,
      `There is no store ${file}.`,
      'Name its data folder with --data, or it with --store.',
    )
  const to = resolve(given ?? join(data, 'backups', `homeostat-${stampOf()}.db`))
  makeFolder(dirname(to), { mode: 0o700, hint: 'Give another file: homeostat backup <file>' })
  if (existsSync(to)) throw new CliError(exits.cannotCreate, `${to} is there already.`, 'Give another name.')
  const copied = await backUpSqlite(file, to)
  if (printer.isJson) return printer.json({ file: to, ...copied })
  printer.line(`${to}: ${counted(copied.resources, 'resource')}, up to event ${copied.events}; looked through, sound.`)
}

async function restore(shell: Shell<{ replace?: boolean }>, given?: string): Promise<void> {
  const { printer, options } = shell
  const { data, store } = await whereOf(options)
  if (isPostgres(store)) return restorePostgres(shell, store, given)
  if (given === undefined) throw new CliError(exits.usage, 'Which back-up?', 'homeostat restore <file>')
  const { restoreSqlite, lookThrough } = await import('../store/sqlite/back-up.ts')
  const { file } = store
  const running = readServerFile(data)
  if (running !== null)
    throw new CliError(exits.unavailable, `The server with process ${running.pid} uses ${data}.`, 'Stop it first.')
  const { liveWorkers } = await import('../store/sqlite/workers.ts')
  const workers = existsSync(dirname(file)) ? liveWorkers(file) : []
  if (workers.length > 0)
    throw new CliError(
      exits.unavailable,
      `${file} is in use by another process (${workers.map((no) => `worker ${no}`).join(', ')}).`,
      'Stop every homeostat serve and homeostat work on it first.',
    )
  const from = resolve(given)
  if (!statSync(from, { throwIfNoEntry: false })?.isFile())
    throw new CliError(exits.notFound, `There is no back-up ${from}.`, 'Give the file that homeostat backup wrote.')
  // Before the present store is touched.
  lookThrough(from)
  useFolder(dirname(file))
  if (existsSync(file) && !options.replace)
    throw new CliError(exits.cannotCreate, `${file} is there already.`, 'With --replace it is moved aside.')
  const aside = existsSync(file) ? `${file}.before-${stampOf()}` : null
  const { resources, events, systemEpoch } = await restoreSqlite(from, file, aside ?? undefined)
  if (printer.isJson) return printer.json({ file, aside, resources, events, systemEpoch })
  printer.line(`${file}: ${counted(resources, 'resource')}, up to event ${events}, system epoch ${systemEpoch}.`)
  if (aside !== null) printer.line(`The store that was there is now ${aside}.`)
  printer.line('What was under way when the back-up was taken is healed at the next start.')
}

async function restorePostgres({ printer }: Shell<object>, place: PostgresPlace, given?: string): Promise<void> {
  if (given !== undefined)
    throw new CliError(
      exits.usage,
      'The store is a PostgreSQL database: restore it with its own tools first (pg_restore, or the archive of its log).',
      'Then run homeostat restore without a file: it begins a new system epoch.',
    )
  const { raisePostgresEpochs } = await import('../store/postgres/restored.ts')
  const { resources, events, systemEpoch } = await raisePostgresEpochs(place)
  if (printer.isJson) return printer.json({ resources, events, systemEpoch })
  printer.line(`The database: ${counted(resources, 'resource')}, up to event ${events}, system epoch ${systemEpoch}.`)
  printer.line('What was under way when the back-up was taken is healed at the next start.')
}

const marks: Readonly<Record<Finding['verdict'], readonly [mark: string, style: 'green' | 'yellow' | 'red']>> = {
  well: ['✔', 'green'],
  doubtful: ['!', 'yellow'],
  bad: ['✘', 'red'],
}

async function doctor({ printer, options }: Shell<object>): Promise<void> {
  const { examine } = await import('./doctor.ts')
  const findings = await examine(options)
  if (findings.some(({ verdict }) => verdict === 'bad')) process.exitCode = exits.notWell
  if (printer.isJson) return printer.json(findings)
  const width = Math.max(...findings.map(({ what }) => what.length))
  for (const { verdict, what, says, advice } of findings) {
    const [mark, style] = marks[verdict]
    printer.line(`${printer.paint(style, mark)} ${what.padEnd(width)}  ${says}`)
    if (advice !== '') printer.line(`  ${' '.repeat(width)}  ${printer.dim(advice)}`)
  }
  const bad = findings.filter(({ verdict }) => verdict !== 'well').length
  printer.line(bad === 0 ? 'All is well.' : `${counted(bad, 'finding')} to look at.`)
}
