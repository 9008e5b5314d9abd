// Tells a simulation as a lane diagram: one column per process, time downward. `!` dies, `‖` freezes, `►` goes on, `✓` a commit,
// `x` refused or fenced, `→` a call begins, `←` it ends, `*` the world changes, `✗` what is broken.
import type { Millis } from '../base/clock.ts'
import type { Event } from '../decision/state.ts'
import { beginning } from './simulated-clock.ts'
import type { WorldCall } from './simulated-world.ts'

/** What a line is about, for readers who draw it. */
export interface About {
  readonly resource: { readonly type: string; readonly id: string }
  readonly event?: Event
  readonly call?: WorldCall
}

export interface Line {
  readonly at: Millis
  readonly lane: string
  readonly mark: string
  readonly text: string
  readonly about: About | null
  /** The last commit and the last call of a driver until then: where a chosen fault would strike. */
  readonly commit: number
  readonly call: number
}

export class Story {
  readonly lines: Line[] = []
  readonly #now: () => Millis
  readonly #counts: { readonly commits: number; readonly calls: number }

  constructor(now: () => Millis, counts: { readonly commits: number; readonly calls: number }) {
    this.#now = now
    this.#counts = counts
  }

  readonly tell = (lane: string, mark: string, text: string, about: About | null = null): void => {
    const { commits, calls } = this.#counts
    this.lines.push({ at: this.#now(), lane, mark, text, about, commit: commits, call: calls })
  }

  /** The last lines as text; all of them when `last` is left out. */
  draw(last = Infinity): string {
    const lanes = [...new Set(this.lines.map((line) => line.lane))].filter((lane) => lane !== '!')
    const shown = this.lines.slice(-Math.min(last, this.lines.length))
    const width = Math.max(4, ...lanes.map((lane) => lane.length)) + 1
    const head = `${'seconds'.padStart(10)}  ${lanes.map((lane) => lane.padEnd(width)).join('')}`
    const rows = shown.map(({ at, lane, mark, text }) => {
      const columns = lanes.map((one) => (one === lane ? mark : lane === '!' ? '✗' : '│').padEnd(width)).join('')
      return `${((at - beginning) / 1000).toFixed(3).padStart(10)}  ${columns} ${text}`
    })
    const left = this.lines.length - shown.length
    return [head, ...(left > 0 ? [`${'…'.padStart(10)}  (${left} lines before)`] : []), ...rows].join('\n')
  }
}
