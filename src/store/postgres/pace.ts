// Which connection a commit takes while another is under way. On the same one it lies ready when the other is over: one process of the
// server does all the work, and two would hinder each other in the same pages (measured: 25 us of it for an operation instead of 29). But
// there it also waits until the other is flushed. Where that takes long, its rows are better written meanwhile by another process.
import type { Clock } from '../../base/clock.ts'
import type { Wire } from './wire.ts'
import type { Wires } from './wires.ts'

/** What a commit of so few writes takes is how long it takes to be flushed and to be told. */
const fewWrites = 16
/** With a flush that takes longer than this, two connections do more than one. */
const slowMs = 2
/** The quickest of so many tells: any of them may have been held up by something else, and the first teach the server their statements. */
const looksBack = 8

export class Pace {
  private readonly clock: Pick<Clock, 'monotonic'>
  private underWay = 0
  /** How long the latest small commits took that were alone. */
  private readonly took: number[] = []

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.clock = clock
  }

  async with<T>(wires: Wires, writes: number, work: (wire: Wire) => Promise<T>): Promise<T> {
    const tells = this.underWay === 0 && writes <= fewWrites
    const began = this.clock.monotonic()
    this.underWay++
    try {
      const result = await (this.isQuick ? wires.share(work) : wires.use(work))
      if (tells) this.note(this.clock.monotonic() - began)
      return result
    } finally {
      this.underWay--
    }
  }

  /** As long as too little is known it is taken for quick. */
  private get isQuick(): boolean {
    return this.took.length < looksBack || Math.min(...this.took) <= slowMs
  }

  private note(ms: number): void {
    this.took.push(ms)
    if (this.took.length > looksBack) this.took.shift()
  }
}
