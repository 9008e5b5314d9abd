// Commands on a project: serve it, work for it, check and draw its declarations, begin a new one.
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { typeOf } from '../lifecycle/lifecycle.ts'
import { exits } from './cli-error.ts'
import { loadConfig, togetherOf } from './config.ts'
import { writeNamed } from './named-files.ts'
import { pick } from './names.ts'
import { counted } from './print.ts'
import type { ServeOptions } from './serve.ts'
import { here, type Shell } from './shell.ts'

export function projectCommands(program: Command): void {
  program
    .command('serve')
    .description('API, console and worker in one process')
    .option('-p, --port <port>', 'where to listen (PORT; default 4600; 0: a free one)')
    .option('--host <host>', 'default 127.0.0.1')
    .option('--dev', 'development mode: backends can be broken on purpose')
    .option('--demo', 'bring a small fleet to life')
    .option('--no-worker', 'only take requests; others carry them out')
    .option('--no-console', 'without pages')
    .action(serveCommand(true))
  program.command('work').description('a worker alone, beside others on the same store').action(serveCommand(false))
  program
    .command('init')
    .description('write a working project into an empty folder')
    .argument('[folder]', 'default: this one', '.')
    .action(
      here(async ({ printer }, folder: string) => {
        const { writeProject } = await import('./init.ts')
        const files = writeProject(resolve(folder))
        if (printer.isJson) return printer.json(files)
        printer.line(`Written: ${files.join(', ')}`)
        const into = folder === '.' ? '' : `cd ${folder} && `
        printer.line(`Next: ${into}npm install && npm test && npm start`)
      }),
    )
  program.command('check').description('the faults of the declarations, all at once').action(here(check))
  program
    .command('draw')
    .alias('diagram')
    .description('a lifecycle as a picture')
    .argument('[type]', 'left out: all of them')
    .option('--mermaid', 'as Mermaid text instead of SVG')
    .option('--dark', 'for dark pages')
    .option('-o, --output <file>', 'left out: to the output')
    .action(here(draw))
}

/** `work` has fewer options than `serve`. */
type Given = Partial<Omit<ServeOptions, 'api' | 'store'>> & { readonly store?: string | true }

const serveCommand = (api: boolean) =>
  here(async ({ printer, options }: Shell<Given>) => {
    const { serve } = await import('./serve.ts')
    const { data = 'data', store, worker = true, console = true, ...rest } = options
    await serve({ ...rest, data, worker, console, api, ...(typeof store === 'string' ? { store } : {}) }, printer)
  })

async function check({ printer, options }: Shell<object>): Promise<void> {
  const { checkLifecycles } = await import('../lifecycle/check-lifecycle.ts')
  const data = resolve(options.data ?? 'data')
  const { lifecycles } = togetherOf(await loadConfig(options.config, { data, isDev: false }))
  const faults = checkLifecycles(lifecycles)
  const errors = faults.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) process.exitCode = exits.notWell
  if (printer.isJson) return printer.json({ types: lifecycles.map(typeOf), faults })
  for (const { severity, path, fault, suggestion } of faults) {
    printer.line(
      `${printer.paint(severity === 'error' ? 'red' : 'yellow', severity.padEnd(7))}  ${printer.bold(path)}: ${fault}`,
    )
    if (suggestion !== '') printer.line(`         ${suggestion}`)
  }
  const warnings = faults.length - errors.length
  const summary = `${counted(lifecycles.length, 'lifecycle')}: ${counted(errors.length, 'error')}, ${counted(warnings, 'warning')}.`
  printer.line(errors.length === 0 ? printer.paint('green', summary) : printer.paint('red', summary))
}

interface DrawOptions {
  readonly mermaid?: boolean
  readonly dark?: boolean
  readonly output?: string
}

async function draw({ printer, options }: Shell<DrawOptions>, given?: string): Promise<void> {
  const [{ pictureOf }, { svgOf }, { toMermaid }] = await Promise.all([
    import('../drawing/picture.ts'),
    import('../drawing/svg.ts'),
    import('../lifecycle/to-mermaid.ts'),
  ])
  const data = resolve(options.data ?? 'data')
  const { lifecycles } = togetherOf(await loadConfig(options.config, { data, isDev: false }))
  const type = given === undefined ? null : pick(given, lifecycles.map(typeOf))
  const wanted = lifecycles.filter((one) => type === null || typeOf(one) === type)
  const drawn = wanted.map((one) =>
    options.mermaid ? toMermaid(one, lifecycles) : svgOf(pictureOf(one, lifecycles), options.dark ? 'dark' : 'light'),
  )
  const text = drawn.join('\n')
  if (options.output === undefined) return printer.line(text)
  writeNamed(options.output, `${text}\n`)
  printer.note(`Written to ${options.output}.`)
}
