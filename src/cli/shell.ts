// What every command has at hand: the printer, the way to the API, and its options.
import type { Command } from 'commander'
import type { HttpClient } from '../client/http-client.ts'
import { reach, type ReachOptions } from './connect.ts'
import { Printer, terminalOutput } from './print.ts'

export interface GlobalOptions extends ReachOptions {
  readonly json?: boolean
}

export interface Shell<Options> {
  readonly printer: Printer
  readonly options: Options & GlobalOptions
}

export interface Asking<Options> extends Shell<Options> {
  readonly api: HttpClient
}

/** Commander calls with the arguments, the options and the command. */
type Action = (...given: any[]) => Promise<void>

/** A command that works here. */
export function here<Options, Arguments extends readonly unknown[]>(
  act: (shell: Shell<Options>, ...given: Arguments) => Promise<void>,
): Action {
  return async (...given) => {
    const options = (given.at(-1) as Command).optsWithGlobals<Options & GlobalOptions>()
    const printer = new Printer(terminalOutput(options.json ?? false))
    await act({ printer, options }, ...(given.slice(0, -2) as unknown as Arguments))
  }
}

/** A command that asks a server, or a store. */
export function asking<Options, Arguments extends readonly unknown[]>(
  act: (asking: Asking<Options>, ...given: Arguments) => Promise<void>,
): Action {
  return here<Options, Arguments>(async (shell, ...given) => {
    const { api, close } = await reach(shell.options, (words) => shell.printer.isJson || shell.printer.note(words))
    try {
      await act({ ...shell, api }, ...given)
    } finally {
      await close()
    }
  })
}
