// Waits for the end of runs: told by commits made here, and by a look at the store when others may have written.
import type { Clock } from '../base/clock.ts'
import type { No, Resource, RunRef } from '../decision/state.ts'
import type { Store, Write } from '../store/store.ts'
import type { Log } from './log.ts'
import { Rhythm } from './rhythm.ts'

export interface RunWaiterOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
}

interface Waiter {
  readonly ref: RunRef
  readonly resolve: () => void
}

const lookMs = 1_000

export class RunWaiter {
  readonly #options: RunWaiterOptions
  readonly #rhythm: Rhythm
  readonly #waiters = new Map<No, Set<Waiter>>()

  constructor(options: RunWaiterOptions) {
    this.#options = options
    const { clock, log } = options
    this.#rhythm = new Rhythm({
      clock,
      log,
      name: 'run waiter',
      pass: () => this.#look(),
      gapMs: 100,
      afterFailureMs: lookMs,
    })
  }

  start(): void {
    this.#rhythm.start()
  }

  /** All who wait are answered with what is known. */
  async stop(): Promise<void> {
    await this.#rhythm.stop()
    for (const waiters of this.#waiters.values()) for (const { resolve } of waiters) resolve()
    this.#waiters.clear()
  }

  /** Resolves when the run is over, or the time is. */
  async wait(ref: RunRef, timeoutMs: number): Promise<void> {
    let cancel = () => {}
    const release = this.#options.clock.hold?.()
    await new Promise<void>((resolve) => {
      const waiter = { ref, resolve }
      const waiters = this.#waiters.get(ref.no) ?? new Set()
      this.#waiters.set(ref.no, waiters.add(waiter))
      cancel = this.#options.clock.after(timeoutMs, () => {
        waiters.delete(waiter)
        resolve()
      })
      this.#rhythm.wake()
    })
    cancel()
    release?.()
  }

  /** The store says that something may have been written. */
  wake(): void {
    if (this.#waiters.size > 0) this.#rhythm.wake()
  }

  committed(writes: readonly Write[]): void {
    if (this.#waiters.size === 0) return
    for (const { after } of writes) this.#tell(after)
  }

  #tell(resource: Resource): void {
    const waiters = this.#waiters.get(resource.no)
    if (waiters === undefined) return
    for (const waiter of waiters) {
      if (resource.run?.begun === waiter.ref.begun) continue
      waiters.delete(waiter)
      waiter.resolve()
    }
    if (waiters.size === 0) this.#waiters.delete(resource.no)
  }

  async #look(): Promise<number | undefined> {
    const nos = [...this.#waiters.keys()]
    if (nos.length === 0) return undefined
    for (const found of await this.#options.store.load(nos.map((no) => ({ ask: 'resource', no })))) {
      if (found !== null) this.#tell(found as Resource)
    }
    return lookMs
  }
}
