// Finds out when another process has changed a run that is owned here (pre-empted it, or taken it over): while calls are under
// way it looks every now and then, and before a call is started from knowledge that has grown old.
import type { Clock } from '../base/clock.ts'
import type { NumberMap } from '../base/number-map.ts'
import type { Ask } from '../decision/situation.ts'
import type { Resource } from '../decision/state.ts'
import type { Store } from '../store/store.ts'
import type { Known } from './door.ts'
import type { ForeignWrites } from './foreign-writes.ts'
import type { Log } from './log.ts'
import type { OwnedRun } from './owned-run.ts'

/** How long what is known of a run is trusted although others write too; also how often is looked. */
export const trustMs = 100

export interface RunWatchContext {
  readonly store: Store
  readonly clock: Clock
  readonly foreign: ForeignWrites
  readonly log: Log
}

export class RunWatch {
  readonly #context: RunWatchContext
  readonly #runs: NumberMap<OwnedRun>
  readonly #seen: (resource: Resource, known: Known) => void
  #cancel: (() => void) | null = null
  #isStopped = false

  constructor(context: RunWatchContext, runs: NumberMap<OwnedRun>, seen: (resource: Resource, known: Known) => void) {
    this.#context = context
    this.#runs = runs
    this.#seen = seen
  }

  /** Called when a call begins; watches until none is under way. */
  start(): void {
    if (this.#cancel !== null || this.#isStopped) return
    this.#cancel = this.#context.clock.after(trustMs, () => {
      const running: OwnedRun[] = []
      for (const owned of this.#runs.values()) {
        if (owned.calls.some((call) => call.isUnderWay)) running.push(owned)
      }
      if (running.length === 0) {
        this.#cancel = null
        return
      }
      void this.verify(running).then(() => {
        this.#cancel = null
        this.start()
      })
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
    this.#cancel = null
  }

  /** Where others have written since, what is known of these runs is read again. False: it could not be. */
  async verify(runs: readonly OwnedRun[]): Promise<boolean> {
    if (runs.length === 0) return true
    const { store, foreign, clock, log } = this.#context
    try {
      const asOf = foreign.lookStrictly()
      const readAt = clock.monotonic()
      const asks: Ask[] = []
      for (const one of runs) {
        // Nobody else has written since: it is as it was.
        if (one.asOf === asOf) one.trustedAt = readAt
        else if (one.trustedAt <= readAt - trustMs) asks.push({ ask: 'resource', no: one.no })
      }
      if (asks.length === 0) return true
      for (const answer of await store.load(asks)) {
        const resource = answer as Resource | null
        if (resource === null) continue
        this.#seen(resource, { at: readAt, asOf })
        const owned = this.#runs.get(resource.no)
        if (owned === undefined) continue
        owned.trustedAt = readAt
        owned.asOf = asOf
      }
      return true
    } catch (error) {
      log('warn', 'could not read the runs under way', { error })
      return false
    }
  }

  /** Reads one run again, whatever is known. */
  async refresh(owned: OwnedRun): Promise<void> {
    const { store, clock, foreign } = this.#context
    try {
      const known = { at: clock.monotonic(), asOf: foreign.lookStrictly() }
      const [found] = await store.load([{ ask: 'resource', no: owned.no }])
      if (found) this.#seen(found as Resource, known)
    } catch (error) {
      this.#context.log('warn', 'could not read a run under way', { error })
    }
  }
}
