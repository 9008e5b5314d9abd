// Finds what is stuck, from the present rows alone: owner lost, overdue although the owner lives, or transitional without a run.
import type { Clock } from '../base/clock.ts'
import type { Found } from '../decision/command.ts'
import type { Ask } from '../decision/situation.ts'
import type { Incarnation, No, Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store } from '../store/store.ts'
import { isKnownHere } from './strangers.ts'

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

const pageSize = 500

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

/** In which of these ways this one is stuck; null: in none. */
export async function findHow(context: StuckContext, resource: Resource): Promise<Found | null> {
  const { store, plans, clock, overdueSlackMs } = context
  const { run } = resource
  if (!isKnownHere(plans, resource)) return null
  if (run === null) {
    if (plans.kindOf(resource.type, resource.status) !== 'transitional') return null
    return (await freedom(store, [resource]))(resource) ? 'unowned' : null
  }
  if (run.parked !== null || run.owner === 0) return null
  const now = clock.now()
  const rows = await store.workers(now)
  if (!rows.some(({ no, state }) => no === run.owner && state === 'live')) return 'ownerLost'
  const isPast = (at: number) => at !== 0 && at <= now - overdueSlackMs
  return isPast(run.deadlineAt) || isPast(run.progressAt) ? 'overdue' : null
}

function page(
  context: StuckContext,
  found: readonly Resource[],
  isStuck: (one: Resource) => boolean,
  how: Found,
): StuckPage {
  const stuck: Stuck[] = []
  for (const resource of found) {
    if (isKnownHere(context.plans, resource) && isStuck(resource)) stuck.push({ resource, found: how })
  }
  return { stuck, next: found.length < pageSize ? null : found.at(-1)!.no }
}
