// Things in drivers' inventories that no ledger names: listed, and destroyed after a while where they carry a name of ours.
import { nextTurn, type Clock, type Millis } from '../base/clock.ts'
import type { Ask } from '../decision/situation.ts'
import type { LedgerEntry, Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store } from '../store/store.ts'
import { keepText } from './json-result.ts'
import type { Log } from './log.ts'
import { askNamed } from './read.ts'
import type { Inventory, SweeperCalls } from './sweeper-calls.ts'

/** A thing in a driver's inventory that no ledger names. */
export interface Stray {
  readonly type: string
  readonly kind: string
  readonly name: string
  readonly firstSeenAt: Millis
}

export interface StraysOptions {
  readonly store: Store
  readonly plans: Plans
  readonly clock: Clock
  readonly log: Log
  readonly calls: SweeperCalls
  /** Else they are only listed. */
  readonly mayDestroy: (type: string) => boolean
  /** A thing that no ledger names is left alone for so long after it was first seen. */
  readonly strayGraceMs: number
}

const pageSize = 200
const namesTold = 10
/** A resource has one of each kind. */
const incidentsMost = 20

export class Strays {
  readonly #options: StraysOptions
  readonly #known = new Map<string, Stray>()

  constructor(options: StraysOptions) {
    this.#options = options
  }

  get all(): readonly Stray[] {
    return [...this.#known.values()]
  }

  /** Never throws: types do not wait for one another, and what goes wrong with one is told. */
  async compareAll(): Promise<void> {
    const { plans, log } = this.#options
    const comparing = plans.all.map(({ type }) =>
      this.#compare(type).catch((error: unknown) =>
        log('warn', 'the inventory could not be compared', { type, error }),
      ),
    )
    await Promise.all(comparing)
  }

  /** What the driver has, against what the ledgers name. */
  async #compare(type: string): Promise<void> {
    const { calls, log } = this.#options
    let things: Inventory | null
    try {
      things = await calls.inventory(type)
    } catch (error) {
      if (!calls.isStopping) log('warn', 'the inventory could not be read', { type, error })
      return
    }
    if (things === null) return
    const named = await this.#namedByLedgers(things.map((thing) => thing.name))
    const unnamed = things.filter(({ name }) => !named.has(name))
    this.#tell(type, unnamed)
    const left = new Set<string>()
    for (const thing of unnamed) {
      const stray = this.#noted(type, thing)
      if (calls.isStopping) return
      if (!(await this.#isDestroyed(stray, thing))) left.add(placeOf(type, thing.name))
    }
    for (const [at, stray] of this.#known) if (stray.type === type && !left.has(at)) this.#known.delete(at)
  }

  /** Those that were not known before, in one line: after a restore there may be thousands. */
  #tell(type: string, things: Inventory): void {
    const fresh = things.map(({ name }) => name).filter((name) => !this.#known.has(placeOf(type, name)))
    if (fresh.length === 0) return
    const names = fresh.slice(0, namesTold).map((name) => keepText(name, 500))
    this.#options.log('warn', 'something exists that no ledger names', { type, count: fresh.length, names })
  }

  #noted(type: string, { kind, name }: Inventory[number]): Stray {
    const { clock } = this.#options
    const at = placeOf(type, name)
    const known = this.#known.get(at)
    if (known !== undefined) return known
    const stray = { type, kind: keepText(kind, 200), name: keepText(name, 500), firstSeenAt: clock.now() }
    this.#known.set(at, stray)
    return stray
  }

  /** Only what carries a name of ours is ever destroyed: the rest is somebody else's. */
  async #isDestroyed({ type, firstSeenAt }: Stray, { kind, name, ref }: Inventory[number]): Promise<boolean> {
    const { calls, clock, log, mayDestroy, strayGraceMs } = this.#options
    const isOurs = partsOf(name)?.type === type
    if (!isOurs || !mayDestroy(type) || firstSeenAt + strayGraceMs > clock.now()) return false
    // A store and a driver that answer at once would leave nobody else a turn, for as long as there are strays.
    await nextTurn(clock)
    if (await this.#mayBeOwned(name)) return false
    const fault = await calls.destroy(type, { kind, name, ref: (ref ?? null) as LedgerEntry['ref'] })
    const words = fault === null ? 'destroyed what no ledger named' : 'could not destroy a stray'
    log('warn', words, { type, name, fault })
    return fault === null
  }

  /** The ledger of a damaged resource cannot be read, or is lost: a person closes the incident when all that is there has been looked at. */
  async #mayBeOwned(name: string): Promise<boolean> {
    const { type, id } = partsOf(name)!
    const { store } = this.#options
    const [found] = (await store.load([askNamed(type, id)])) as readonly (Resource | null)[]
    if (!found) return false
    if (found.damaged !== undefined) return true
    return (await store.incidents({ no: found.no, limit: incidentsMost })).some(({ kind }) => kind === 'damaged')
  }

  async #namedByLedgers(names: readonly string[]): Promise<ReadonlySet<string>> {
    const named = new Set<string>()
    const { store, clock } = this.#options
    for (let i = 0; i < names.length; i += pageSize) {
      if (i > 0) await nextTurn(clock)
      const asks: Ask[] = []
      for (const name of names.slice(i, i + pageSize)) {
        const parts = partsOf(name)
        if (parts !== null) asks.push(askNamed(parts.type, parts.id))
      }
      for (const answer of asks.length === 0 ? [] : await store.load(asks)) {
        for (const entry of (answer as Resource | null)?.ledger ?? []) named.add(entry.name)
      }
    }
    return named
  }
}

const placeOf = (type: string, name: string): string => `${type} ${name}`

/** The parts of a ledger name, `type/id/kind/n`; null when it is none. */
function partsOf(name: string): { readonly type: string; readonly id: string } | null {
  const parts = name.split('/')
  return parts.length === 4 && /^\d+(-\d+)?$/.test(parts[3]!) ? { type: parts[0]!, id: parts[1]! } : null
}
