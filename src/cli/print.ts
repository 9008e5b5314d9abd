// How the command line looks: tables that line up, colours only on a terminal, times as people say them, JSON for programs.
import { styleText } from 'node:util'
import { isoTime, systemClock } from '../base/clock.ts'

type Style = Parameters<typeof styleText>[0]

/** Where it writes to. Tests give their own. */
export interface Output {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** Columns of the terminal; null: it is none, and nothing is cut or drawn over. */
  readonly columns: number | null
  readonly isColoured: boolean
  readonly isJson: boolean
}

export const terminalOutput = (isJson: boolean): Output => {
  const isTerminal = process.stdout.isTTY
  const isForced = (process.env['FORCE_COLOR'] ?? '') !== '' && process.env['FORCE_COLOR'] !== '0'
  const isRefused = (process.env['NO_COLOR'] ?? '') !== '' || process.env['TERM'] === 'dumb'
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    // Asked each time: its window may be changed. Some that are one do not know how wide they are.
    get columns() {
      return isTerminal && process.stdout.columns > 0 ? process.stdout.columns : null
    },
    isColoured: !isJson && !isRefused && (isTerminal || isForced),
    isJson,
  }
}

export class Printer {
  readonly output: Output

  constructor(output: Output) {
    this.output = output
  }

  get isJson(): boolean {
    return this.output.isJson
  }

  line(text = ''): void {
    this.output.out(harmless(text, this.output.isColoured))
  }

  /** Beside what was asked for: not part of the answer. */
  note(text: string): void {
    this.output.err(harmless(text, this.output.isColoured))
  }

  json(value: unknown): void {
    this.output.out(JSON.stringify(value, null, 2))
  }

  paint(style: Style, text: string): string {
    return this.output.isColoured ? styleText(style, text, { validateStream: false }) : text
  }

  dim(text: string): string {
    return this.paint('gray', text)
  }

  bold(text: string): string {
    return this.paint('bold', text)
  }

  /** A status in the colour of its kind. */
  status(status: string, kind: string): string {
    return this.paint(colours[kind] ?? 'reset', status)
  }

  /**
   * Rows under headings, as wide as what is in them. They are cut where the terminal ends; the status, or the outcome, is the last to
   * go: what stands before it is shortened, times after all others.
   */
  table(headings: readonly string[], given: readonly (readonly string[])[]): void {
    const { isColoured, columns } = this.output
    const rows = given.map((row) => row.map((cell) => harmless(cell, isColoured).replaceAll(/\s*\n\s*/g, ' ')))
    const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => widthOf(row[i] ?? ''))))
    const before = headings.findIndex((heading) => ['STATUS', 'STATE', 'OUTCOME'].includes(heading))
    if (columns !== null) shrink(widths, before, columns, (i) => headings[i] === 'AT')
    const fitted = (cell: string, i: number) => pad(i < before ? shortened(cell, widths[i]!) : cell, widths[i]!)
    const line = (cells: readonly string[]) =>
      this.cut(cells.map((cell, i) => (i === cells.length - 1 ? cell : fitted(cell, i))).join('  ')).trimEnd()
    this.line(this.dim(line(headings)))
    for (const row of rows) this.line(line(row))
  }

  /** Names and values under each other. */
  facts(rows: readonly (readonly [name: string, value: string])[]): void {
    const width = Math.max(...rows.map(([name]) => name.length))
    for (const [name, value] of rows) {
      const [first = '', ...rest] = value.split('\n')
      this.line(`${this.dim(name.padEnd(width))}  ${first}`)
      for (const more of rest) this.line(`${' '.repeat(width)}  ${more}`)
    }
  }

  /** As much of a line as the terminal has room for. */
  cut(text: string): string {
    const { columns } = this.output
    if (columns === null || widthOf(text) <= columns) return text
    let left = columns - 1
    // Marks of colour take no room and are kept, so that what was begun is ended.
    // oxlint-disable-next-line no-control-regex
    return text.replaceAll(/(\u001b\[\d+m)|([^\u001b])/gu, (_, mark?: string, letter = '') =>
      mark !== undefined ? mark : left-- > 0 ? (letter as string) : left === -1 ? '…' : '',
    )
  }
}

/**
 * Text of strangers (properties, reasons of drivers) as it is safe on a terminal: a control character could move the cursor, change the
 * title or write to the clipboard of whoever looks. Only line ends, tabs and, where there are colours, marks of colour stay.
 */
export const harmless = (text: string, isColoured = false): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(/\u001b\[\d+m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (found) =>
    found.length > 1 && isColoured
      ? found
      : found.replace(/^./su, (one) => `\\u${one.codePointAt(0)!.toString(16).padStart(4, '0')}`),
  )

const colours: Readonly<Record<string, Style>> = {
  stable: 'green',
  transitional: 'blue',
  failed: 'red',
  terminal: 'gray',
}

// oxlint-disable-next-line no-control-regex
const plainOf = (text: string): string => text.replaceAll(/\u001b\[\d+m/g, '')
const widthOf = (text: string): number => plainOf(text).length
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

const gap = 2
const narrowest = 4

/** Takes from the widest of the first columns, in turns, until the one after them ends where the terminal does. */
function shrink(widths: number[], first: number, columns: number, isLast: (i: number) => boolean): void {
  if (first < 1) return
  // What follows shows by a mark that it was cut.
  const room = first === widths.length - 1 ? columns : columns - gap
  const end = widths.slice(0, first + 1).reduce((sum, width) => sum + width + gap, -gap)
  for (let over = end - room; over > 0; over--) {
    const widest = widestOf(widths, (i) => i < first && !isLast(i)) ?? widestOf(widths, (i) => i < first)
    if (widest === null) return
    widths[widest]!--
  }
}

/** Null: none of them can give anything. */
function widestOf(widths: readonly number[], isOne: (i: number) => boolean): number | null {
  const most = Math.max(...widths.filter((_, i) => isOne(i)))
  return most <= narrowest ? null : widths.findIndex((width, i) => width === most && isOne(i))
}

/** Without its middle: types and ids are told apart by how they begin and end. */
function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const plain = plainOf(text)
  const end = Math.floor((width - 1) / 2)
  return `${plain.slice(0, width - 1 - end)}…${plain.slice(plain.length - end)}`
}

/** How long, in the two largest units. */
export function lasting(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} days`
}

/** A moment beside now: `12 s ago`, `in 3 min`. */
export function beside(at: string, now = systemClock.now()): string {
  const ms = Date.parse(at) - now
  if (Math.abs(ms) < 1_000) return 'now'
  return ms < 0 ? `${lasting(-ms)} ago` : `in ${lasting(ms)}`
}

/** To the millisecond, with the day where it is another one. */
export function exactly(at: string, now = systemClock.now()): string {
  const day = at.slice(0, 10)
  return `${day === isoTime(now).slice(0, 10) ? '' : `${day} `}${at.slice(11, 23)}`
}

/** A moment with its distance: `14:03:22 (in 3 min)`, with the day where it is another one. */
export function moment(at: string, now = systemClock.now()): string {
  const today = isoTime(now).slice(0, 10)
  const day = at.slice(0, 10)
  const time = `${at.slice(11, 19)} UTC`
  return `${day === today ? time : `${day} ${time}`} (${beside(at, now)})`
}

/** Moments in a sentence, as people read them. */
export const spoken = (text: string, now = systemClock.now()): string =>
  text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => moment(at, now))

/** `1 cluster`, `2 clusters`. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`
