// How the scene speaks: words, a little colour where the terminal wants it, and a board that is redrawn in place.
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters, styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Plain where colour is not wanted: NO_COLOR, or no terminal. */
export const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout })

const width = 100

export class Telling {
  readonly #isFast: boolean
  #boardLines = 0

  constructor({ isFast }: { readonly isFast: boolean }) {
    this.#isFast = isFast
  }

  /** In a terminal the board can be redrawn; elsewhere it is printed now and then. */
  get isLive(): boolean {
    return process.stdout.isTTY === true && !this.#isFast
  }

  title(text: string): void {
    this.#print(`\n${paint(['bold', 'cyan'], text)}\n${paint('cyan', '─'.repeat(width))}`)
  }

  chapter(text: string): void {
    this.#print(`\n${paint('bold', text)}`)
  }

  say(text: string): void {
    this.#print(wrapped(text))
  }

  aside(text: string): void {
    this.#print(paint('dim', wrapped(text)))
  }

  line(text: string): void {
    this.#print(`  ${text}`)
  }

  /** Stays where it is until something else is said; drawn again it replaces itself. */
  board(lines: readonly string[]): void {
    if (this.isLive && this.#boardLines > 0) process.stdout.write(`\x1b[${this.#boardLines}A\x1b[J`)
    process.stdout.write(`${lines.join('\n')}\n`)
    this.#boardLines = lines.length
  }

  async pause(ms: number): Promise<void> {
    await sleep(this.#isFast ? ms / 10 : ms)
  }

  #print(text: string): void {
    this.#boardLines = 0
    process.stdout.write(`${text}\n`)
  }
}

function wrapped(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && stripVTControlCharacters(`${line} ${word}`).length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}
