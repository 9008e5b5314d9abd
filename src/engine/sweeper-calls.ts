// Calls of a driver's sweeper: what exists, and how it is destroyed. Each has its time, also where a driver ignores its signal.
import type { Clock } from '../base/clock.ts'
import type { LedgerEntry } from '../decision/state.ts'
import type { Sweeper as SweeperDriver } from '../lifecycle/driver.ts'
import { outcomeOfThrown } from './call-outcome.ts'
import { Abort } from './driver-call.ts'
import type { AnyDriver } from './run-step.ts'

const destroyMs = 60_000
/** Of one type, in all its pages. */
const inventoryMs = 600_000

export type Inventory = Awaited<ReturnType<NonNullable<SweeperDriver['inventory']>>>

export class SweeperCalls {
  readonly #drivers: ReadonlyMap<string, AnyDriver>
  readonly #clock: Clock
  readonly #aborts = new Set<Abort>()
  #isStopping = false

  constructor(drivers: ReadonlyMap<string, AnyDriver>, clock: Clock) {
    this.#drivers = drivers
    this.#clock = clock
  }

  /** What is under way is given up, and all that comes. */
  stop(): void {
    this.#isStopping = true
    for (const abort of this.#aborts) abort.abort('the sweeper stops')
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  canDestroy(type: string): boolean {
    return this.#driverOf(type) !== undefined
  }

  /** Null: it is gone. Else why it could not be destroyed. */
  async destroy(type: string, thing: Pick<LedgerEntry, 'kind' | 'name' | 'ref'>): Promise<string | null> {
    const { kind, name, ref } = thing
    const driver = this.#driverOf(type)!
    try {
      await this.#limited(destroyMs, (signal) => driver.destroy({ kind, name, ref, key: `sweep/${name}`, signal }))
      return null
    } catch (thrown) {
      if (thrown instanceof TooLate) return 'it was not destroyed in time'
      const outcome = outcomeOfThrown('destroy', thrown)
      return 'reason' in outcome ? outcome.reason : 'it could not be destroyed'
    }
  }

  /** All that the driver has of the type; null: it does not tell. */
  async inventory(type: string): Promise<Inventory | null> {
    const driver = this.#driverOf(type)
    if (driver?.inventory === undefined) return null
    return listed(await this.#limited(inventoryMs, (signal) => driver.inventory!({ signal })))
  }

  #driverOf(type: string): SweeperDriver | undefined {
    return this.#drivers.get(type)?.sweeper
  }

  async #limited<T>(ms: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isStopping) throw new TooLate()
    const abort = new Abort()
    this.#aborts.add(abort)
    let cancel = () => {}
    const tooLate = new Promise<never>((_, reject) => {
      abort.signal.addEventListener('abort', () => reject(new TooLate()), { once: true })
      cancel = this.#clock.after(ms, () => abort.abort('it took too long'))
    })
    try {
      return await Promise.race([tooLate, call(abort.signal)])
    } finally {
      cancel()
      this.#aborts.delete(abort)
    }
  }
}

/** Copied: what a driver tells may be anything, and may change later. Throws when it is no inventory, with what is wrong. */
function listed(told: unknown): Inventory {
  if (!Array.isArray(told)) throw new Error('it is no list of things')
  return told.map((thing: unknown, i) => {
    const { kind, name, ref } = (thing ?? {}) as Record<string, unknown>
    if (typeof kind === 'string' && typeof name === 'string') return { kind, name, ref }
    throw new Error(`number ${i + 1} of its ${told.length} things is not { kind, name } with two texts`)
  })
}

class TooLate extends Error {
  override readonly message = 'it took too long'
}
