// What goes wrong on the command line itself: a sentence, the way out, and an exit code. Codes of the engine and the server have theirs
// in the table of errors.
import { codes, HomeostatError } from '../base/errors.ts'

/** Exit codes that no error code stands for; numbers as sysexits has them. */
export const exits = {
  ok: 0,
  /** The command did what it should, and found what is not well: a failed run, faults of a declaration, a doctor's complaint. */
  notWell: 1,
  usage: 2,
  notFound: 4,
  unavailable: 69,
  defect: 70,
  cannotCreate: 73,
  interrupted: 130,
} as const

export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exit: number
  readonly hint: string

  constructor(exit: number, message: string, hint = '') {
    super(message)
    this.exit = exit
    this.hint = hint
  }
}

/** What is printed for an error, and what the process ends with. Defects show where they come from. */
export function tellingOf(error: unknown): { readonly text: string; readonly hint: string; readonly exit: number } {
  if (error instanceof CliError) return { text: error.message, hint: error.hint, exit: error.exit }
  if (error instanceof HomeostatError) {
    return { text: error.message, hint: hintOf(error), exit: codes[error.code].exit }
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { text: `A defect of Homeostat: ${stack}`, hint: '', exit: exits.defect }
}

interface Details {
  readonly violations?: readonly { readonly path: string; readonly message: string }[]
  readonly details?: { readonly allowed?: readonly string[] }
  /** The address of a server that does not answer. */
  readonly unreached?: string
  /** What was asked of it changes something, and was sent. */
  readonly mayBeDone?: boolean
}

function hintOf({ code, details, message }: HomeostatError): string {
  const { violations = [], details: inner, unreached, mayBeDone } = (details ?? {}) as Details
  // The first of them stand in the message already.
  const lines = violations.map((one) => `${one.path}: ${one.message}`).filter((line) => !message.includes(line))
  if (inner?.allowed !== undefined && inner.allowed.length > 0) lines.push(`Allowed now: ${inner.allowed.join(', ')}.`)
  if (code === 'unauthenticated') lines.push('Give a token with --token or HOMEOSTAT_TOKEN.')
  if (mayBeDone) lines.push('Whether it was done is not known: look before you ask again.')
  if (unreached !== undefined)
    lines.push(
      'Does a server run there, and is it well? homeostat doctor looks. --patience gives it more time, --url names another.',
    )
  if (code === 'server_unrecognised') lines.push('Name the right one with --url, or its data folder with --data.')
  return lines.join('\n')
}
