// Completion for shells: they ask `homeostat __complete <words>` for what may come next, so that nothing is written down twice.
import type { Command } from 'commander'
import { CliError, exits } from './cli-error.ts'
import { here } from './shell.ts'

const scripts: Readonly<Record<string, string>> = {
  bash: `_homeostat() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(homeostat __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _homeostat homeostat`,
  zsh: `#compdef homeostat
_homeostat() {
  compadd -- \${(f)"$(homeostat __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"}
}
compdef _homeostat homeostat`,
  fish: `complete -c homeostat -f -a '(homeostat __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
}

export function completionCommand(program: Command): void {
  program
    .command('completion')
    .description('completion for a shell: eval "$(homeostat completion bash)"')
    .argument('<shell>', Object.keys(scripts).join(', '))
    .action(
      here(async ({ printer }, shell: string) => {
        const script = scripts[shell]
        if (script === undefined)
          throw new CliError(
            exits.usage,
            `There is no completion for '${shell}'.`,
            `There is: ${Object.keys(scripts).join(', ')}.`,
          )
        printer.line(script)
      }),
    )
}

/** What may stand where the last of these words stands. */
export function wordsFor(program: Command, words: readonly string[]): readonly string[] {
  const before = words.slice(0, -1).filter((word) => !word.startsWith('-'))
  const last = words.at(-1) ?? ''
  let command = program
  for (const word of before) {
    const inner = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (inner === undefined) break
    command = inner
  }
  const names = command.commands.map((one) => one.name())
  const options = [...command.options, ...program.options].flatMap(({ long }) => long ?? [])
  const known = last.startsWith('-') ? options : names
  return known.filter((name) => name.startsWith(last))
}
