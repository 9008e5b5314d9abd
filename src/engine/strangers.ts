// Stored resources that stand where the loaded declarations know no way: in a status, operation or step that is no longer
// declared. They stop the start, with a list, unless the mapping says where they go. Nothing is guessed.
import { HomeostatError } from '../base/errors.ts'
import type { Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Declared, KindOf, Store } from '../store/store.ts'
import type { Door } from './door.ts'
import { agreeOnSteps, keepAgreed, withdrawing, type Agreeing } from './agreement.ts'
import { StepOrders } from './step-orders.ts'

/** By type: the declared status to which resources go that stand in one that is not, or whose step is not declared. */
export type Moved = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface Stranger {
  readonly type: string
  readonly status: string
  readonly operation: string
  readonly step: number
  readonly count: number
  readonly why: string
}

/** One function for one set of plans: a store judges anew only what another function might judge otherwise. */
const kindsOf = new WeakMap<Plans, KindOf>()

/** For the store: what is not declared counts as on its way, so that it is found. Types of others are their business. */
export function kindsFor(plans: Plans): KindOf {
  const known = kindsOf.get(plans)
  if (known !== undefined) return known
  const judge: KindOf = (type, status) => {
    const plan = plans.get(type)
    return plan === undefined ? 'stable' : (plan.kinds.get(status) ?? 'transitional')
  }
  kindsOf.set(plans, judge)
  return judge
}

export const declaredBy = (plans: Plans): readonly Declared[] =>
  plans.all.flatMap(({ type, kinds }) => [...kinds.keys()].map((status) => ({ type, status })))

/** What a start finds, and the steps that processes before it knew. */
export interface Found {
  readonly strangers: readonly Stranger[]
  readonly orders: StepOrders
}

/** Throws when the mapping does not say where a stranger goes. */
export async function lookForStrangers(plans: Plans, store: Store, moved: Moved): Promise<Found> {
  const orders = await StepOrders.of(store)
  return { strangers: await findStrangers(plans, store, moved, orders), orders }
}

/**
 * Puts strangers where the mapping says, and keeps the steps of these declarations for those who start next. Only once it is registered:
 * whoever has other steps is seen then, or sees it.
 */
export async function settleStrangers(agreeing: Agreeing, door: Door, first: Found, moved: Moved): Promise<void> {
  const { plans, store } = agreeing
  await withdrawing(agreeing, async () => {
    for (;;) {
      const orders = await agreeOnSteps(agreeing)
      // By other steps than those that are kept nobody has begun a run since.
      const isKnown = orders.isAs(first.orders) && orders.differences(plans).length === 0
      const strangers = isKnown ? first.strangers : await findStrangers(plans, store, moved, orders)
      if (strangers.length > 0) await moveStrangers({ plans, store, door, orders }, strangers, moved)
      // Another process may have kept its own meanwhile, and have begun runs by them.
      if (await keepAgreed(agreeing, orders)) return
    }
  })
}

/** Of a process that lost its lease: others may have taken up other steps since, and have left runs at them. */
export async function settleAgain(agreeing: Agreeing): Promise<void> {
  const { plans, store } = agreeing
  await withdrawing(agreeing, async () => {
    for (;;) {
      const orders = await agreeOnSteps(agreeing)
      if (orders.differences(plans).length === 0) return
      await findStrangers(plans, store, {}, orders)
      if (await keepAgreed(agreeing, orders)) return
    }
  })
}

/** All that stand where no way is known. */
async function findStrangers(
  plans: Plans,
  store: Store,
  moved: Moved,
  orders: StepOrders,
): Promise<readonly Stranger[]> {
  const strangers: Stranger[] = []
  for (const shape of await store.liveShapes()) {
    const why = strangerBecause(plans, shape, orders)
    if (why !== null) strangers.push({ ...shape, why })
  }
  const lost = strangers.filter(({ type, status }) => !plans.get(type)!.kinds.has(moved[type]?.[status] ?? ''))
  if (lost.length === 0) return strangers
  const lines = lost.map(
    ({ type, status, count, why }) => `${count} ${type} in ${status}: ${why}${wrongMove(moved[type]?.[status])}`,
  )
  const example = Object.fromEntries(lost.map(({ type, status }) => [type, { [status]: '<a declared status>' }]))
  throw new HomeostatError(
    'lifecycle_missing',
    `Stored resources stand where the declarations know no way:\n${lines.join('\n')}\n` +
      'Load the declaration that knows them and let them settle, or say in the option `moved` where they go: ' +
      `${JSON.stringify(example)}.`,
    { details: lost },
  )
}

const wrongMove = (to: string | undefined): string =>
  to === undefined ? '' : `; \`moved\` sends them to ${to}, which is not declared either`

/** Puts them where the mapping says. Their runs are closed, their epochs raised, and the history tells it. */
async function moveStrangers(
  context: { readonly plans: Plans; readonly store: Store; readonly door: Door; readonly orders: StepOrders },
  strangers: readonly Stranger[],
  moved: Moved,
): Promise<void> {
  const { plans, store, door, orders } = context
  const kinds = new Map(strangers.map((one) => [`${one.type} ${one.status}`, one]))
  for (const { type, status } of kinds.values()) {
    for (let after = 0; ;) {
      const page = await store.list({ type, status: [status], limit: 500, after })
      const found = page.filter((one) => !isKnownHere(plans, one, orders))
      await Promise.all(found.map((one) => move(door, one, moved[type]![status]!)))
      if (page.length < 500) break
      after = page.at(-1)!.no
    }
  }
}

async function move(door: Door, { no, type, id, status: from }: Resource, status: string): Promise<void> {
  const reason = `${from}, or the step it was at, is no longer declared`
  const decision = await door.ask({ kind: 'setStatus', no, status, reason, by: 'start' })
  if (decision.accepted) return
  throw new HomeostatError('lifecycle_missing', `Cannot move ${type} ${id} to ${status}: ${decision.rejection.message}`)
}

/** Another process may have a newer declaration: what it began and nobody here can carry on is left to it. */
export function isKnownHere(plans: Plans, resource: Resource, orders?: StepOrders): boolean {
  const { type, status, run } = resource
  if (plans.get(type) === undefined) return false
  const shape = { type, status, operation: run?.operation ?? '', step: run?.step ?? -1 }
  return strangerBecause(plans, shape, orders) === null
}

function strangerBecause(
  plans: Plans,
  shape: { readonly type: string; readonly status: string; readonly operation: string; readonly step: number },
  orders: StepOrders | undefined,
): string | null {
  const plan = plans.get(shape.type)
  if (plan === undefined) return null
  if (!plan.kinds.has(shape.status)) {
    return `the status is not declared (declared: ${[...plan.kinds.keys()].join(', ')})`
  }
  if (shape.operation === '') return null
  const operation = plan.operations.get(shape.operation)
  if (operation === undefined) return `the operation ${shape.operation} of its run is not declared`
  if (shape.step >= operation.steps.length) return `step ${shape.step} of ${shape.operation} is not declared`
  const names = operation.steps.map((step) => step.name)
  const changed = orders?.changed(shape.type, shape.operation, names, shape.step) ?? null
  if (changed === null) return null
  return `its run of ${shape.operation} is at or after the step ${changed}, which is at another place now, or gone`
}
