// Keeps the table of what is under way small. A run that has ended leaves dead rows there, whose room nobody takes before they are
// vacuumed; the server does that by itself once a minute at most, and by then a busy process has written hundreds of megabytes of pages
// that were used once. So whoever has ended many runs asks for it: a few milliseconds beside the commits.
import { systemClock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Wires } from './wires.ts'

/** So many runs have ended here since the last time. */
const endedMost = 4_000
/** While somebody looks at what was before (a back-up), nothing goes away and the table grows: of the time, cleaning takes one part in so many. */
const restsFor = 20

export class LiveCleaner {
  private readonly wires: Wires
  private readonly log: (line: string) => void
  private count = 0
  private isCleaning = false
  private notBefore = 0

  constructor(wires: Wires, log: (line: string) => void) {
    this.wires = wires
    this.log = log
  }

  /** Told with every commit. */
  ended(runs: number): void {
    this.count += runs
    if (this.count < endedMost || this.isCleaning || systemClock.monotonic() < this.notBefore) return
    this.count = 0
    this.isCleaning = true
    const began = systemClock.monotonic()
    this.wires
      // Where another process is at it, it is left to that. One that takes as long as no answer may is left to the server.
      .use((wire) => wire.query('vacuum (skip_locked, truncate false) live'))
      .catch((error: unknown) => this.log(`could not vacuum what is under way: ${messageOf(error)}`))
      .finally(() => {
        const ended = systemClock.monotonic()
        this.notBefore = ended + restsFor * (ended - began)
        this.isCleaning = false
      })
  }
}
