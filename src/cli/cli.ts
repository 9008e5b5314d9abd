// The `homeostat` command: its commands as groups, each group in a file of its own, and what happens when one of them fails.
import { Command, CommanderError } from 'commander'
import { accessCommands } from './access-commands.ts'
import { askingCommands } from './asking-commands.ts'
import { endWithReader } from './bystanders.ts'
import { exits, tellingOf } from './cli-error.ts'
import { completionCommand, wordsFor } from './completion.ts'
import { devCommands } from './dev-commands.ts'
import { healingCommands } from './healing-commands.ts'
import { keepingCommands } from './keeping-commands.ts'
import { manyCommands } from './many-commands.ts'
import { didYouMean } from '../base/did-you-mean.ts'
import { harmless } from './print.ts'
import { projectCommands } from './project-commands.ts'
import { resourceCommands } from './resource-commands.ts'
import { runCommands } from './run-commands.ts'
import { trialCommands } from './trial-commands.ts'
import { webhookCommands } from './webhook-commands.ts'
import { version } from './version.ts'

export function createProgram(): Command {
  const program = new Command('homeostat')
    .description('Lifecycles of resources: served, asked, explained, healed.')
    .version(version(), '--version')
    .option('--json', 'answer with JSON, for programs')
    .option('--url <url>', 'the server to ask (HOMEOSTAT_URL; default: the one that runs on ./data)')
    .option('--token <token>', 'who asks (HOMEOSTAT_TOKEN; default: the owner of ./data)')
    .option('--data <folder>', 'the data folder', undefined)
    .option('--store [store]', 'go to the store itself, without a server: a file or postgres://...')
    .option('--patience <seconds>', 'how long the server may say nothing (default: 15)')
    .option('--config <file>', 'the config (default: homeostat.config.ts here or above)')
    .showSuggestionAfterError(true)
    .showHelpAfterError('(homeostat --help shows all commands)')
    .configureHelp({ showGlobalOptions: false, sortSubcommands: false })
  program.commandsGroup('Serve:')
  projectCommands(program)
  program.commandsGroup('Try it out:')
  trialCommands(program)
  program.commandsGroup('Resources:')
  resourceCommands(program)
  askingCommands(program)
  runCommands(program)
  program.commandsGroup('Healing:')
  healingCommands(program)
  program.commandsGroup('Many at once:')
  manyCommands(program)
  program.commandsGroup('Installation:')
  accessCommands(program)
  webhookCommands(program)
  keepingCommands(program)
  completionCommand(program)
  program.commandsGroup('Break it (development mode):')
  devCommands(program)
  program.addHelpText('after', help)
  return program
}

const help = `
A resource is named type/id, as short as it stays clear: sahara.cluster/web, cluster/web, or web.
Values are given as name=value: size=10, counts.worker=3, startDate=now+10m, tags=["a","b"].
Exit codes: 0 done · 1 not well (a run failed, faults were found) · 2 wrong usage · 4 not found · 5 refused now · 69 no server ·
70 defect · 73 cannot be written · 75 try again · 77 not allowed · 78 wrong set-up. All of them: docs/cli.md`

/** Never throws: what goes wrong is told, and becomes the exit code. */
export async function main(words: readonly string[]): Promise<void> {
  const program = createProgram()
  if (words[0] === '__complete') {
    for (const word of wordsFor(program, words.slice(1))) process.stdout.write(`${word}\n`)
    return
  }
  program.exitOverride()
  if (words.includes('--json')) asJson(program, 'homeostat')
  for (const command of program.commands) quieten(command, words)
  endWithReader()
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help that was asked for, also with `help <command>`, is no error.
      process.exitCode = error.exitCode === 0 || words.length === 0 ? exits.ok : exits.usage
      return
    }
    const { text, hint, exit } = tellingOf(error)
    if (words.includes('--json')) process.stderr.write(`${JSON.stringify({ error: text, hint, exit })}\n`)
    else process.stderr.write(harmless(`homeostat: ${text}\n${hint === '' ? '' : `${hint.replaceAll(/^/gm, '  ')}\n`}`))
    process.exitCode = exit
  }
}

function quieten(command: Command, words: readonly string[], above = 'homeostat'): void {
  const name = `${above} ${command.name()}`
  command.exitOverride()
  command.showSuggestionAfterError(true)
  command.showHelpAfterError(`(${name} --help says more)`)
  if (words.includes('--json')) asJson(command, name)
  for (const inner of command.commands) quieten(inner, words, name)
  // A word that a group does not know reaches what it does by default, which would complain of what it was given.
  const [byDefault] = command.commands
  const odd = byDefault === undefined ? null : unknownPart(command, words)
  if (odd !== null) {
    byDefault!.showHelpAfterError(`(${name} --help says more)`)
    byDefault!.configureOutput({ outputError: (_, write) => write(odd) })
    if (words.includes('--json')) asJson(byDefault!, name, odd)
  }
}

/** Programs read also what is wrong with a command as JSON. */
function asJson(command: Command, name: string, odd?: string): void {
  command.showHelpAfterError(false)
  command.configureOutput({
    outputError(text, write) {
      const error = (odd ?? text).trim().replace(/^error: /, '')
      write(`${JSON.stringify({ error, hint: `${name} --help says more`, exit: exits.usage })}\n`)
    },
  })
}

/** What is said of a mistyped part of a command, such as `token revok`; null: it is none. */
function unknownPart(group: Command, words: readonly string[]): string | null {
  const at = words.indexOf(group.name())
  const given = at < 0 ? undefined : words[at + 1]
  const parts = group.commands.map((one) => one.name())
  if (given === undefined || given.startsWith('-') || given === 'help' || parts.includes(given)) return null
  const hint = didYouMean(given, parts) || `There are: ${parts.join(', ')}.`
  return `error: unknown command '${group.name()} ${harmless(given)}'\n(${hint})\n`
}
