// Healing in people's hands: what is stuck, what would be done about it, and the switches.
import { HomeostatError } from '../base/errors.ts'
import type { Decision } from '../decision/decision.ts'
import { previewHeal, type HealPreview } from '../decision/preview.ts'
import type { Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Beside } from '../store/store.ts'
import type { Door } from './door.ts'
import type { Breaker, HealingMode, HealingPolicy, Score } from './healing-policy.ts'
import { askNamed, read } from './read.ts'
import { findOverdue, findOwnerLost, findUnowned, type Stuck, type StuckContext } from './stuck.ts'
import { typeOrder } from './type-order.ts'

export interface HealControlContext extends StuckContext {
  readonly plans: Plans
  readonly door: Door
  readonly policy: HealingPolicy
  /** Asks for a pass now; does nothing in a process without a worker. */
  readonly wake: () => void
}

export interface PreviewRow extends HealPreview {
  readonly mode: HealingMode
  /** Why it is not healed by itself; null: it is. */
  readonly held: string | null
}

export class HealControl {
  readonly #context: HealControlContext

  constructor(context: HealControlContext) {
    this.#context = context
  }

  /** Everything that is stuck now, of all or of one tenant, owners before owned. */
  async stuck(limit = 1_000, tenant?: string): Promise<readonly Stuck[]> {
    const { store, clock, plans } = this.#context
    const context = { ...this.#context, tenant }
    const rows = await store.workers(clock.now())
    const gone = rows.filter((row) => row.state !== 'live').map((row) => row.no)
    const live = new Set(rows.filter((row) => row.state === 'live').map((row) => row.no))
    const found: Stuck[] = []
    if (gone.length > 0) await collect(found, limit, (after) => findOwnerLost(context, gone, after))
    await collect(found, limit, (after) => findUnowned(context, after))
    await collect(found, limit, (after) => findOverdue(context, live, after))
    const order = typeOrder(plans)
    const rank = ({ resource }: Stuck) => order.get(resource.type) ?? 0
    return found.sort((a, b) => rank(a) - rank(b) || a.resource.no - b.resource.no).slice(0, limit)
  }

  /** What would be healed and how, in words; nothing is done. */
  async preview(limit = 200, tenant?: string): Promise<readonly PreviewRow[]> {
    const { plans, policy } = this.#context
    const stuck = await this.stuck(limit, tenant)
    await policy.load()
    const rows: PreviewRow[] = []
    for (const { resource, found } of stuck) {
      const preview = await read(this.#context, (situation) => previewHeal(plans, situation, resource, found))
      rows.push({ ...preview, mode: policy.modeOf(resource), held: policy.held(resource, found) })
    }
    return rows
  }

  /** A pass now, whatever the rhythm. */
  run(): void {
    this.#context.wake()
  }

  /** A person heals this one now: mode, budget, rate and breaker do not hold it. */
  async approve(type: string, id: string, by: string): Promise<Decision> {
    const resource = await this.#existing(type, id)
    const { no, revision } = resource
    const how = await this.#foundHow(resource)
    return this.#context.door.ask({ kind: 'heal', no, found: how, revision, owner: 0, by, override: true })
  }

  /** In which way it is stuck. Throws `not_stuck` with what to do instead. */
  async foundHow(type: string, id: string): Promise<Stuck['found']> {
    return this.#foundHow(await this.#existing(type, id))
  }

  async #existing(type: string, id: string): Promise<Resource> {
    const [found] = await this.#context.store.load([askNamed(type, id)])
    const resource = (found ?? null) as Resource | null
    if (resource === null || resource.type !== type) {
      throw new HomeostatError('resource_not_found', `There is no ${type} ${id}.`)
    }
    return resource
  }

  async #foundHow(resource: Resource): Promise<Stuck['found']> {
    const { run } = resource
    if (run === null) return 'unowned'
    if (run.parked !== null) {
      const way = 'Retry, skip or cancel its run.'
      throw new HomeostatError('not_stuck', `${resource.type} ${resource.id} is parked: ${run.parked.reason} ${way}`)
    }
    const rows = await this.#context.store.workers(this.#context.clock.now())
    const isAlive = rows.some((row) => row.no === run.owner && row.state === 'live')
    if (!isAlive) return 'ownerLost'
    const now = this.#context.clock.now()
    const isLate = (run.deadlineAt !== 0 && run.deadlineAt <= now) || (run.progressAt !== 0 && run.progressAt <= now)
    if (isLate) return 'overdue'
    throw new HomeostatError('not_stuck', `${resource.type} ${resource.id} is not stuck: its run is under way.`)
  }

  async modes(): Promise<Readonly<Record<string, HealingMode>>> {
    await this.#context.policy.load()
    return this.#context.policy.modes
  }

  /** What is beside it is written in the same commit. */
  async setMode(type: string, status: string, mode: HealingMode, beside?: Beside): Promise<void> {
    const plan = this.#context.plans.get(type)
    if (plan === undefined) throw new HomeostatError('type_unknown', `No lifecycle of type '${type}' is loaded.`)
    if (!plan.heal.has(status)) {
      const known = [...plan.heal.keys()].join(', ')
      throw new HomeostatError('status_unknown', `${type} has no healing rule for '${status}'. It has ${known}.`)
    }
    await this.#context.policy.setMode(type, status, mode, beside)
    this.#context.wake()
  }

  async breakers(): Promise<Readonly<Record<string, Breaker>>> {
    await this.#context.policy.load()
    return this.#context.policy.breakers
  }

  /** Somebody has looked: healing of the type goes on. */
  async closeBreaker(type: string, beside?: Beside): Promise<void> {
    await this.#context.policy.setBreaker(type, null, beside)
    this.#context.wake()
  }

  async openBreaker(type: string, reason: string, beside?: Beside): Promise<void> {
    await this.#context.policy.setBreaker(type, { openedAt: this.#context.clock.now(), reason }, beside)
  }

  scoreboard(): Promise<readonly Score[]> {
    return this.#context.policy.scoreboard()
  }
}

async function collect(
  found: Stuck[],
  limit: number,
  find: (after: number) => Promise<{ readonly stuck: readonly Stuck[]; readonly next: number | null }>,
): Promise<void> {
  for (let after: number | null = 0; after !== null && found.length < limit;) {
    const page: Awaited<ReturnType<typeof find>> = await find(after)
    found.push(...page.stuck)
    after = page.next
  }
}
