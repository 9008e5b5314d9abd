// Healing in people's hands: what is stuck, what would be done about it, and the switches.
import { HomeostatError } from '../base/errors.ts'
import type { Decision } from '../decision/decision.ts'
import { previewHeal, type HealPreview } from '../decision/preview.ts'
import type { No, Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Beside } from '../store/store.ts'
import type { Door } from './door.ts'
import type { Breaker, HealingMode, HealingPolicy, Score } from './healing-policy.ts'
import { askNamed, read } from './read.ts'
import {
  findHow,
  findOverdue,
  findOwnerLost,
  findUnowned,
  type Stuck,
  type StuckContext,
  type StuckPage,
} from './stuck.ts'
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

/** The ways of being stuck that are looked for, in this order. */
export const stuckWays = ['ownerLost', 'unowned', 'overdue'] as const

/** Where a page of what is stuck begins: in which way, and after which resource. */
export interface StuckPlace {
  readonly way: (typeof stuckWays)[number]
  readonly after: No
}

export interface StuckQuery {
  readonly limit?: number | undefined
  /** Left out: of all. */
  readonly tenant?: string | undefined
  /** Left out: from the first on. */
  readonly from?: StuckPlace | undefined
}

const firstPlace: StuckPlace = { way: stuckWays[0], after: 0 }

export class HealControl {
  readonly #context: HealControlContext

  constructor(context: HealControlContext) {
    this.#context = context
  }

  /** What is stuck now, of all or of one tenant, owners before owned. */
  async stuck(limit = 1_000, tenant?: string): Promise<readonly Stuck[]> {
    return (await this.stuckPage({ limit, tenant })).stuck
  }

  /** The same page by page; `next` is null when there is no more. */
  async stuckPage(query: StuckQuery): Promise<{ readonly stuck: readonly Stuck[]; readonly next: StuckPlace | null }> {
    const { limit = 1_000, tenant, from = firstPlace } = query
    const look = await this.#looks(tenant)
    const found: Stuck[] = []
    let next: StuckPlace | null = from
    while (next !== null && found.length < limit) {
      const { way, after }: StuckPlace = next
      const page = await look[way](after)
      const taken = page.stuck.slice(0, limit - found.length)
      found.push(...taken)
      next = taken.length < page.stuck.length ? { way, after: taken.at(-1)!.resource.no } : placeAfter(way, page.next)
    }
    const order = typeOrder(this.#context.plans)
    const rank = ({ resource }: Stuck) => order.get(resource.type) ?? 0
    return { stuck: found.sort((a, b) => rank(a) - rank(b) || a.resource.no - b.resource.no), next }
  }

  async #looks(tenant: string | undefined): Promise<Record<StuckPlace['way'], (after: No) => Promise<StuckPage>>> {
    const { store, clock } = this.#context
    const context = { ...this.#context, tenant }
    const rows = await store.workers(clock.now())
    const gone = rows.filter((row) => row.state !== 'live').map((row) => row.no)
    const live = new Set(rows.filter((row) => row.state === 'live').map((row) => row.no))
    return {
      ownerLost: async (after) => (gone.length === 0 ? { stuck: [], next: null } : findOwnerLost(context, gone, after)),
      unowned: (after) => findUnowned(context, after),
      overdue: (after) => findOverdue(context, live, after),
    }
  }

  /** What would be healed and how, in words; nothing is done. */
  async preview(limit = 200, tenant?: string): Promise<readonly PreviewRow[]> {
    return (await this.previewPage({ limit, tenant })).rows
  }

  /** The same page by page, as `stuckPage`. */
  async previewPage(
    query: StuckQuery,
  ): Promise<{ readonly rows: readonly PreviewRow[]; readonly next: StuckPlace | null }> {
    const { stuck, next } = await this.stuckPage(query)
    await this.#context.policy.load()
    const rows: PreviewRow[] = []
    for (const one of stuck) rows.push(await this.#preview(one))
    return { rows, next }
  }

  /** The same of one resource; null: it is not stuck. */
  async previewOf(resource: Resource): Promise<PreviewRow | null> {
    const found = await findHow(this.#context, resource)
    if (found === null) return null
    await this.#context.policy.load()
    return this.#preview({ resource, found })
  }

  async #preview({ resource, found }: Stuck): Promise<PreviewRow> {
    const { plans, policy } = this.#context
    const preview = await read(this.#context, (situation) => previewHeal(plans, situation, resource, found))
    return { ...preview, mode: policy.modeOf(resource), held: policy.held(resource, found) }
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

/** In the same way, or where the next one begins. */
function placeAfter(way: StuckPlace['way'], after: No | null): StuckPlace | null {
  if (after !== null) return { way, after }
  const next = stuckWays[stuckWays.indexOf(way) + 1]
  return next === undefined ? null : { way: next, after: 0 }
}
