// How many runs a worker may own at a time. A run that only waits for runs of others takes no room: they might wait for it. Nor need
// one that waits for a time keep its room while others wait for a worker. When it is full, deletes and tenants that have less than their
// share still get in.
import type { Millis } from '../base/clock.ts'
import type { NumberMap } from '../base/number-map.ts'
import type { Command, RequestOperation } from '../decision/command.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { OwnedRun } from './owned-run.ts'

/** So many times as many with those that wait for others: memory has an end. */
const withAsking = 10
/** What is due so soon is not given back. */
const soonMs = 1_000

export class Room {
  readonly #runs: number
  readonly #owned: NumberMap<OwnedRun>
  /** Runs of each tenant that has some here. */
  readonly #ofTenants = new Map<string, number>()
  #asking = 0
  #isClosed = false

  constructor(runs: number, owned: NumberMap<OwnedRun>) {
    this.#runs = runs
    this.#owned = owned
  }

  /** Runs that could be taken; none once it is closed. */
  get left(): number {
    if (this.#isClosed) return 0
    const { size } = this.#owned
    return Math.max(0, Math.min(this.#runs - size + this.#asking, withAsking * this.#runs - size))
  }

  /** Deletes get in even when it is full: they are how load goes away. So do those who would wait for another tenant's whole queue. */
  admits(command: Command, plans: Plans): boolean {
    if (this.left > 0) return true
    if (command.kind !== 'requestOperation' || this.#isClosed) return false
    if (this.#owned.size - this.#asking >= 2 * this.#runs) return false
    const isRemoved = plans.get(command.type)?.operations.get(command.operation)?.removes ?? false
    return isRemoved || this.#hasShareOf(tenantOf(command))
  }

  #hasShareOf(tenant: string | null): boolean {
    if (tenant === null) return false
    const own = this.#ofTenants.get(tenant) ?? 0
    return own < this.#runs / (this.#ofTenants.size + (own === 0 ? 1 : 0))
  }

  /** A run is owned from now on (1), or no longer (-1). */
  counts({ resource: { tenant } }: OwnedRun, by: 1 | -1): void {
    const own = (this.#ofTenants.get(tenant) ?? 0) + by
    if (own > 0) this.#ofTenants.set(tenant, own)
    else this.#ofTenants.delete(tenant)
  }

  close(): void {
    this.#isClosed = true
  }

  /** Told with every look at a run, and with its end. */
  asks(owned: OwnedRun, isAsking: boolean): void {
    if (owned.isAsking === isAsking) return
    owned.isAsking = isAsking
    this.#asking += isAsking ? 1 : -1
  }

  /** Runs with nothing to do for a while: whoever has room takes them when they are due. */
  resting(now: Millis): OwnedRun[] {
    const found: OwnedRun[] = []
    if (this.#isClosed) return found
    for (const owned of this.#owned.values()) {
      const isIdle = owned.calls.length === 0 && owned.detached === 0 && !owned.isGivenBack
      if (isIdle && owned.resource.run!.dueAt > now + soonMs) found.push(owned)
    }
    return found
  }
}

/** As far as the request tells: whose the resource is that it names is not known here. */
function tenantOf({ create, tenant }: RequestOperation): string | null {
  const given = create?.tenant ?? tenant
  if (given !== undefined) return given
  return create === undefined || create.parent !== undefined ? null : 'default'
}
