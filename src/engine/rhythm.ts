// One duty that is done again and again: at once when woken, else after a while, never twice at a time.
//
//   resting  -> running   its time has come, or it was woken (not more often than `gapMs`)
//   running  -> resting   the pass is over; it says when the next one is wanted
//   stopped               no timer is left behind; `stop` resolves when a pass under way has ended
import type { Clock } from '../base/clock.ts'
import type { MaybePromise } from '../store/store.ts'
import type { Log } from './log.ts'

export interface RhythmOptions {
  readonly clock: Clock
  readonly log: Log
  readonly name: string
  /** Answers in how many milliseconds the next pass is wanted at the latest; undefined: only when woken. */
  readonly pass: () => MaybePromise<number | undefined>
  /** Least time between two passes. */
  readonly gapMs: number
  /** After a pass that failed. */
  readonly afterFailureMs: number
}

export class Rhythm {
  readonly #options: RhythmOptions
  #state: 'resting' | 'running' | 'stopped' = 'stopped'
  #isWoken = false
  #endedAt = -Infinity
  /** Since the last pass that went well. */
  #failures = 0
  #timer: { readonly at: number; readonly cancel: () => void } | null = null
  #whenStopped: (() => void)[] = []

  constructor(options: RhythmOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#state !== 'stopped') return
    this.#state = 'resting'
    this.#scheduleAt(this.#now)
  }

  /** Something may be to do. */
  wake(): void {
    this.wakeIn(0)
  }

  /** Something will be to do in a while. */
  wakeIn(ms: number): void {
    if (this.#state === 'running') this.#isWoken = true
    else if (this.#state === 'resting') this.#scheduleIn(ms)
  }

  stop(): Promise<void> {
    const wasRunning = this.#state === 'running'
    this.#state = 'stopped'
    this.#cancel()
    return wasRunning ? new Promise((resolve) => this.#whenStopped.push(resolve)) : Promise.resolve()
  }

  /** Not sooner after the last pass than the gap. */
  #scheduleIn(ms: number): void {
    this.#scheduleAt(Math.max(this.#now + ms, this.#endedAt + this.#options.gapMs))
  }

  /** Woken with every commit: what is planned for the same moment already must be seen to be so. */
  #scheduleAt(at: number): void {
    if (this.#timer !== null && this.#timer.at <= at) return
    this.#cancel()
    this.#timer = { at, cancel: this.#options.clock.after(at - this.#now, () => this.#run()) }
  }

  get #now(): number {
    return this.#options.clock.monotonic()
  }

  #cancel(): void {
    this.#timer?.cancel()
    this.#timer = null
  }

  #run(): void {
    this.#timer = null
    if (this.#state !== 'resting') return
    this.#state = 'running'
    this.#isWoken = false
    try {
      const passing = this.#options.pass()
      if (passing instanceof Promise) {
        void this.#await(passing)
      } else this.#ended(passing)
    } catch (error) {
      this.#failed(error)
    }
  }

  async #await(passing: Promise<number | undefined>): Promise<void> {
    try {
      this.#ended(await passing)
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    this.#failures++
    this.#options.log('warn', `${this.#options.name}: a pass failed`, { error })
    this.#rest(this.#options.afterFailureMs)
  }

  #ended(next: number | undefined): void {
    if (this.#failures > 0)
      this.#options.log('info', `${this.#options.name}: goes on`, { failedPasses: this.#failures })
    this.#failures = 0
    this.#rest(next)
  }

  #rest(next: number | undefined): void {
    this.#endedAt = this.#now
    if (this.#state === 'stopped') {
      for (const resolve of this.#whenStopped) resolve()
      this.#whenStopped = []
      return
    }
    this.#state = 'resting'
    if (this.#isWoken) this.#scheduleIn(0)
    else if (next !== undefined) this.#scheduleIn(next)
  }
}
