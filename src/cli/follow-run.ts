// Waits for a run and shows its steps as they go: drawn over on a terminal, else a line for each that has ended.
import { z } from 'zod'
import { systemClock } from '../base/clock.ts'
import { codes, HomeostatError } from '../base/errors.ts'
import type { HttpClient } from '../client/http-client.ts'
import { attemptWords, isTriedAgain } from '../protocol/attempt-words.ts'
import type * as shape from '../protocol/shapes.ts'
import { CliError, exits, tellingOf } from './cli-error.ts'
import { harmless, lasting, type Printer } from './print.ts'

export type Run = z.infer<typeof shape.run>
type Step = Run['steps'][number]

export interface FollowOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** How often steps are shown; the end of the run is told at once. */
const lookSeconds = 0.25
const marks: Readonly<Record<Step['state'], string>> = {
  todo: '·',
  running: '▸',
  done: '✔',
  skipped: '-',
  failed: '✘',
  undoing: '◂',
  undone: '↶',
}
const states: Readonly<Record<Step['state'], string>> = {
  todo: '',
  running: 'under way',
  done: 'done',
  skipped: 'not needed',
  failed: 'failed',
  undoing: 'being undone',
  undone: 'undone',
}

/** The run as it ended. */
export async function followRun(api: HttpClient, id: string, printer: Printer, options: FollowOptions): Promise<Run> {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  const signal = options.signal === undefined ? leaving.signal : AbortSignal.any([leaving.signal, options.signal])
  // Who no longer waits is told that it goes on. A second Ctrl-C ends at once.
  process.once('SIGINT', leave)
  try {
    return await untilOver(api, id, printer, { ...options, signal })
  } catch (error) {
    if (!leaving.signal.aborted) throw error
    throw new CliError(exits.interrupted, 'Not waited for any more.', `${goesOn(id)}\n${endsIt(id)}`)
  } finally {
    process.off('SIGINT', leave)
  }
}

async function untilOver(api: HttpClient, id: string, printer: Printer, options: FollowOptions): Promise<Run> {
  const begun = systemClock.monotonic()
  const view = printer.isJson ? silent : printer.output.columns === null ? new Lines(printer) : new Drawing(printer)
  for (let wait = 0; ; wait = lookSeconds) {
    const run = await api
      .call('getRun', { path: { run: id }, query: { wait } }, { signal: options.signal })
      .catch((error: unknown) => Promise.reject(lostSight(error, id)))
    view.show(run)
    if (run.isOver) {
      view.end(run)
      return run
    }
    if (systemClock.monotonic() - begun > options.timeoutMs) {
      throw new CliError(exits.notWell, `Not ended within ${lasting(options.timeoutMs)}.`, goesOn(id))
    }
  }
}

const goesOn = (id: string): string => `It goes on without us: homeostat run ${id} --wait`
const endsIt = (id: string): string => `To end it: homeostat cancel ${id} --reason "..."`

/** A server that does not answer says nothing on the run: it was accepted, and is carried out. */
function lostSight(error: unknown, id: string): unknown {
  const { text, hint, exit } = tellingOf(error)
  return error instanceof HomeostatError && codes[error.code].retryable
    ? new CliError(exit, text, [hint, goesOn(id)].filter((line) => line !== '').join('\n'))
    : error
}

/** One sentence on how a run ended. */
export function endWords(run: Run, printer: Printer): string {
  const took = run.endedAt === null ? '' : ` after ${lasting(Date.parse(run.endedAt) - Date.parse(run.acceptedAt))}`
  const style = run.state === 'succeeded' || run.state === 'healed' ? 'green' : 'red'
  // Attempts that failed in the same way are told once.
  const reasons = run.state === 'succeeded' ? [] : [...new Set(run.reasons)]
  const why = reasons.length > 0 ? `: ${reasons.join('; ')}` : ''
  return `${printer.paint(style, `${run.operation} ${run.state}`)}${took}, ${run.resource.type}/${run.resource.id} is ${run.status}${why}`
}

interface View {
  show(run: Run): void
  end(run: Run): void
}

const silent: View = { show: () => {}, end: () => {} }

export const stepLine = (step: Step, width: number, printer: Printer): string => {
  const style = { done: 'green', failed: 'red', running: 'blue', undoing: 'yellow', undone: 'yellow' } as const
  const text = `${marks[step.state]} ${step.name.padEnd(width)}  ${states[step.state]}`
  return step.state in style ? printer.paint(style[step.state as keyof typeof style], text) : printer.dim(text)
}

/** For files and pipes: every step when it has come to something. */
class Lines implements View {
  readonly #printer: Printer
  readonly #told = new Map<string, string>()

  constructor(printer: Printer) {
    this.#printer = printer
  }

  show(run: Run): void {
    const width = Math.max(0, ...run.steps.map(({ name }) => name.length))
    for (const step of run.steps) {
      if (step.state === 'todo' || step.state === 'running' || step.state === 'undoing') continue
      if (this.#told.get(step.name) === step.state) continue
      this.#told.set(step.name, step.state)
      this.#printer.line(stepLine(step, width, this.#printer))
    }
  }

  end(run: Run): void {
    this.#printer.line(endWords(run, this.#printer))
  }
}

/** For terminals: a bar and all steps, drawn again in place. */
class Drawing implements View {
  readonly #printer: Printer
  #drawn = 0

  constructor(printer: Printer) {
    this.#printer = printer
  }

  show(run: Run): void {
    const lines = drawn(run, this.#printer)
    this.#clear()
    for (const line of lines) this.#printer.line(line)
    this.#drawn = lines.length
  }

  end(run: Run): void {
    this.#printer.line(endWords(run, this.#printer))
  }

  #clear(): void {
    if (this.#drawn > 0) process.stdout.write(`\u001b[${this.#drawn}A\u001b[0J`)
  }
}

/** Each is one line of the terminal: one that wrapped would not be drawn over. */
export function drawn(run: Run, printer: Printer): string[] {
  const width = Math.max(0, ...run.steps.map(({ name }) => name.length))
  const done = run.steps.filter(({ state }) => state === 'done' || state === 'skipped').length
  const attempt = isTriedAgain(run) ? `, ${attemptWords(run)}` : ''
  const what = `${bar(done, run.steps.length)} ${run.operation} ${run.resource.id}: ${run.status}${attempt} ${run.progress}`
  const lines = [what.trimEnd(), ...run.steps.map((step) => `  ${stepLine(step, width, printer)}`)]
  return lines.map((line) => printer.cut(harmless(line, printer.output.isColoured).replaceAll(/\s*[\n\t]\s*/g, ' ')))
}

export function bar(done: number, total: number, width = 20): string {
  const filled = total === 0 ? width : Math.round((done / total) * width)
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done}/${total}`
}
