// No two processes are at work whose declarations count the steps of an operation otherwise: each would carry on what the other began
// with the wrong step. Whoever differs from what is kept says so, in a record, before he looks who is there, and changes what is kept
// only while nobody else is there but those who say the same. Whoever comes meanwhile has registered before he reads: either he is seen,
// or he sees the record, and writes what is kept anew, so that the change fails and is thought over. Those at work stay; who differs waits
// for them a while, and is refused.
import { held, type Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Incarnation } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store, WorkerRow } from '../store/store.ts'
import type { Log } from './log.ts'
import { Pause } from './pause.ts'
import { StepOrders, type Difference } from './step-orders.ts'

export interface Agreeing {
  readonly store: Store
  readonly plans: Plans
  readonly clock: Clock
  readonly log: Log
  /** Registered already; 0: not yet. */
  readonly me: Incarnation
  /** For so long those who count otherwise are waited for. */
  readonly patienceMs: number
  readonly isOver: () => boolean
}

const lookMs = 200

/** What is kept, as it was read before it was found that nothing is against it. Throws `lifecycle_differs`. */
export async function agreeOnSteps(agreeing: Agreeing): Promise<StepOrders> {
  const { store, plans, clock, log, me, patienceMs } = agreeing
  let isWaiting = false
  const until = clock.monotonic() + patienceMs
  for (let hasClaimed = false; ;) {
    const orders = await StepOrders.of(store)
    const differences = orders.differences(plans)
    if (differences.length === 0) {
      if (await orders.insist(store, plans)) return orders
      continue
    }
    if (!hasClaimed && me !== 0) {
      await orders.claim(store, plans, me)
      hasClaimed = true
      continue
    }
    const others = (await liveBeside(agreeing)).filter(({ no }) => !orders.goesAlong(no, plans))
    if (others.length === 0) return orders
    if (clock.monotonic() >= until || agreeing.isOver()) throw refusal(differences, others)
    if (!isWaiting) log('warn', 'waiting for processes whose steps are others', { workers: others.map(({ no }) => no) })
    isWaiting = true
    await held(clock, () => new Pause(clock).of(lookMs))
  }
}

const liveBeside = async ({ store, clock, me }: Agreeing): Promise<readonly WorkerRow[]> =>
  (await store.workers(clock.now())).filter(({ no, state }) => state === 'live' && no !== me)

/** Keeps them, and tidies away its own claim and those of processes that are gone. False: look again. */
export async function keepAgreed(agreeing: Agreeing, orders: StepOrders): Promise<boolean> {
  const { store, plans, me } = agreeing
  const { claimants } = orders
  const live = claimants.length === 0 ? [] : (await liveBeside(agreeing)).map(({ no }) => no)
  const doneWith = claimants.filter((no) => no === me || !live.includes(no))
  return orders.keep(store, plans, doneWith)
}

/** Does what needs agreement; one that is refused leaves nothing of what it claimed. */
export async function withdrawing<T>(parts: Agreeing, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { store, me } = parts
    // If that fails, too, whoever starts next tidies it away.
    await StepOrders.of(store)
      .then((orders) => orders.withdraw(store, me))
      .catch(() => {})
    throw error
  }
}

function refusal(differences: readonly Difference[], others: readonly WorkerRow[]): HomeostatError {
  const lines = differences.map(
    ({ type, operation, here, there }) =>
      `${type}.${operation} has the steps ${here.join(', ')} here, and ${there.join(', ')} in what is at work`,
  )
  const names = others.map(({ no, name }) => `worker ${no} (${name})`)
  return new HomeostatError(
    'lifecycle_differs',
    `Other processes are at work whose steps are others:\n${lines.join('\n')}\n` +
      `A run counts its steps, so that each would carry on the runs of the other with the wrong one. At work: ${names.join(', ')}. ` +
      'Stop them, then start this one; or start it with the declaration that they have.',
    { details: differences },
  )
}
