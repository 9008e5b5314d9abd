// A process of the simulated system: its clock, its handle on the store and its engine. It can die (everything it had pending
// vanishes; the store notices at once, or only by its lease), freeze, and go on as if nothing had happened.
import type { Millis } from '../base/clock.ts'
import type { Store } from '../store/store.ts'
import type { Owner, Timeline } from './simulated-clock.ts'

/** What is simulated under a process: a store of its own process, which may be told that the process is gone. */
export type ProcessStore = Store & { crash?(): void }

/** How a process dies: `crash` is noticed by the store at once, `vanish` only when its lease has run out. */
export type Death = 'crash' | 'vanish'

export class SimulatedProcess implements Owner {
  readonly name: string
  readonly rank: number
  state: Owner['state'] = 'running'
  diedAt: Millis = 0
  /** Messages to a far store that have not arrived yet: they arrive although it dies. */
  messages = 0
  #isForGood = false
  readonly #timeline: Timeline
  readonly #inner: ProcessStore
  readonly #onDied: (process: SimulatedProcess) => void

  /** `onDied` is given once and for all: where such a function is set later, V8 keeps whole simulations until a full collection. */
  constructor(
    name: string,
    rank: number,
    parts: { timeline: Timeline; inner: ProcessStore; onDied: (process: SimulatedProcess) => void },
  ) {
    this.name = name
    this.rank = rank
    this.#timeline = parts.timeline
    this.#inner = parts.inner
    this.#onDied = parts.onDied
  }

  get isAlive(): boolean {
    return this.state !== 'dead'
  }

  get isRunning(): boolean {
    return this.state === 'running'
  }

  die(death: Death): void {
    if (this.state === 'dead') return
    this.state = 'dead'
    this.diedAt = this.#timeline.now
    if (death === 'crash') this.#inner.crash?.()
    this.#onDied(this)
  }

  /** Freezes it for a while. */
  pause(ms: number, onGoOn: () => void = () => {}): void {
    if (this.state !== 'running') return
    this.state = 'paused'
    this.#timeline.after(ms, null, () => {
      if (this.state !== 'paused' || this.#isForGood) return
      this.state = 'running'
      this.#timeline.goOn(this)
      onGoOn()
    })
  }

  /** Freezes it for ever. */
  freeze(): void {
    this.#isForGood = true
    if (this.state === 'running') this.state = 'paused'
  }
}
