// Finds what is stuck, from the present rows alone: owner lost, transitional without a run, or overdue although the owner lives.
import type { Clock } from '../base/clock.ts'
import type { Found } from '../decision/command.ts'
import { isDamaged } from '../decision/damage.ts'
import type { Ask } from '../decision/situation.ts'
import { isLate, nobody, type Incarnation, type No, type Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store } from '../store/store.ts'
import { isKnownHere } from './strangers.ts'
import { typeOrder } from './type-order.ts'

export interface Stuck {
  readonly resource: Resource
  readonly found: Found
}

export interface StuckContext {
  readonly store: Store
  readonly plans: Plans
  readonly clock: Clock
  /** An overdue run is its owner's own business for so long. */
  readonly overdueSlackMs: number
  /** Only of this tenant; left out: of all. */
  readonly tenant?: string | undefined
}

/** A page of stuck resources, and where the next page begins; null: there is none. */
export interface StuckPage {
  readonly stuck: readonly Stuck[]
  readonly next: No | null
}

/** The ways of being stuck that are looked for, in this order. */
export const stuckWays = ['ownerLost', 'unowned', 'overdue'] as const

/** Where a page of what is stuck in any way begins: in which way, and after which resource. */
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

const pageSize = 500
const firstPlace: StuckPlace = { way: stuckWays[0], after: 0 }

/** A page of what is stuck in any way, owners before owned; `next` is null when there is no more. */
export async function findStuck(
  context: Omit<StuckContext, 'tenant'>,
  { limit = 1_000, tenant, from = firstPlace }: StuckQuery,
): Promise<{ readonly stuck: readonly Stuck[]; readonly next: StuckPlace | null }> {
  const look = await looks({ ...context, tenant })
  const found: Stuck[] = []
  let next: StuckPlace | null = from
  while (next !== null && found.length < limit) {
    const { way, after }: StuckPlace = next
    const page = await look[way](after)
    const taken = page.stuck.slice(0, limit - found.length)
    found.push(...taken)
    next = taken.length < page.stuck.length ? { way, after: taken.at(-1)!.resource.no } : placeAfter(way, page.next)
  }
  const order = typeOrder(context.plans)
  const rank = ({ resource }: Stuck) => order.get(resource.type) ?? 0
  return { stuck: found.sort((a, b) => rank(a) - rank(b) || a.resource.no - b.resource.no), next }
}

async function looks(context: StuckContext): Promise<Record<StuckPlace['way'], (after: No) => Promise<StuckPage>>> {
  const rows = await context.store.workers(context.clock.now())
  const gone = rows.filter((row) => row.state !== 'live').map((row) => row.no)
  const live = new Set(rows.filter((row) => row.state === 'live').map((row) => row.no))
  return {
    ownerLost: async (after) => (gone.length === 0 ? { stuck: [], next: null } : findOwnerLost(context, gone, after)),
    unowned: (after) => findUnowned(context, after),
    overdue: (after) => findOverdue(context, live, after),
  }
}

/** In the same way, or where the next one begins. */
function placeAfter(way: StuckPlace['way'], after: No | null): StuckPlace | null {
  if (after !== null) return { way, after }
  const next = stuckWays[stuckWays.indexOf(way) + 1]
  return next === undefined ? null : { way: next, after: 0 }
}

export async function findOwnerLost(
  context: StuckContext,
  gone: readonly Incarnation[],
  after: No,
): Promise<StuckPage> {
  const { store, clock, tenant } = context
  const found = await store.work({ work: 'ownedBy', owners: gone, tenant }, clock.now(), pageSize, after)
  return page(context, found, () => true, 'ownerLost')
}

/** Those of a live holder are left out: they are moved on by its run. */
export async function findUnowned(context: StuckContext, after: No): Promise<StuckPage> {
  const { store, clock, tenant } = context
  const found = await store.work({ work: 'withoutRun', tenant }, clock.now(), pageSize, after)
  return page(context, found, await freedom(store, found), 'unowned')
}

/** Tells of each of these whether no run of another holds it. */
async function freedom(store: Store, found: readonly Resource[]): Promise<(resource: Resource) => boolean> {
  const held = found.filter((one) => one.holder !== null)
  const asks: Ask[] = [...new Set(held.map((one) => one.holder!.no))].map((no) => ({ ask: 'resource', no }))
  const holders = new Map<No, Resource>()
  for (const answer of asks.length === 0 ? [] : await store.load(asks)) {
    if (answer !== null) holders.set((answer as Resource).no, answer as Resource)
  }
  return ({ holder }) => holder === null || holders.get(holder.no)?.run?.begun !== holder.begun
}

/** Runs of a lost owner, or of none yet, are found otherwise. */
export async function findOverdue(
  context: StuckContext,
  live: ReadonlySet<Incarnation>,
  after: No,
): Promise<StuckPage> {
  const { store, clock, overdueSlackMs, tenant } = context
  const found = await store.work({ work: 'overdue', tenant }, clock.now() - overdueSlackMs, pageSize, after)
  return page(context, found, ({ run }) => run!.parked === null && live.has(run!.owner), 'overdue')
}

/** In which of these ways one resource is stuck, or why in none of them. */
export type Judged =
  | { readonly found: Found }
  | {
      readonly found: null
      /** waiting: for a worker to claim its run. unknownHere: the declarations loaded here know no way for it. */
      readonly because: 'damaged' | 'settled' | 'held' | 'parked' | 'waiting' | 'inTime' | 'unknownHere'
    }

export async function judge(context: StuckContext, resource: Resource): Promise<Judged> {
  const { store, plans, clock, overdueSlackMs } = context
  const { run } = resource
  if (isDamaged(resource)) return { found: null, because: 'damaged' }
  if (!isKnownHere(plans, resource)) return { found: null, because: 'unknownHere' }
  if (run === null) {
    if (plans.kindOf(resource.type, resource.status) !== 'transitional') return { found: null, because: 'settled' }
    return (await freedom(store, [resource]))(resource) ? { found: 'unowned' } : { found: null, because: 'held' }
  }
  if (run.parked !== null) return { found: null, because: 'parked' }
  if (run.owner === nobody) return { found: null, because: 'waiting' }
  const now = clock.now()
  const rows = await store.workers(now)
  if (!rows.some(({ no, state }) => no === run.owner && state === 'live')) return { found: 'ownerLost' }
  return isLate(run, now - overdueSlackMs) ? { found: 'overdue' } : { found: null, because: 'inTime' }
}

function page(
  context: StuckContext,
  found: readonly Resource[],
  isStuck: (one: Resource) => boolean,
  how: Found,
): StuckPage {
  const stuck: Stuck[] = []
  for (const resource of found) {
    if (resource.type !== '' && !isKnownHere(context.plans, resource)) continue
    if (resource.damaged !== undefined) stuck.push({ resource, found: 'unowned' })
    else if (isStuck(resource)) stuck.push({ resource, found: how })
  }
  return { stuck, next: found.length < pageSize ? null : found.at(-1)!.no }
}
