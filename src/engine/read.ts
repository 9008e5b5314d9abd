// Reads what a computation needs, outside of any change: the same "see what is missing, load it, compute again" as the door.
import type { Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Ask, Situation } from '../decision/situation.ts'
import { numberOfGeneratedId, type Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Answer, MaybePromise, Store } from '../store/store.ts'
import { WorkingSet } from './working-set.ts'

export interface ReadFrom {
  readonly store: Pick<Store, 'load' | 'loadNow'>
  readonly plans: Plans
  readonly clock: Clock
}

/** Answers at once where the store does. */
export function read<T>(from: ReadFrom, compute: (situation: Situation) => T): MaybePromise<T> {
  const set = new WorkingSet({ plans: from.plans, cacheSize: Infinity })
  set.begin(from.clock.now(), 1)
  return attempt(from, set, compute)
}

function attempt<T>(from: ReadFrom, set: WorkingSet, compute: (situation: Situation) => T): MaybePromise<T> {
  for (;;) {
    set.missing = []
    let computed: { readonly value: T } | { readonly thrown: unknown }
    try {
      computed = { value: compute(set) }
    } catch (thrown) {
      computed = { thrown }
    }
    const asks = set.missing
    if (asks.length === 0) {
      if ('thrown' in computed) throw computed.thrown
      return computed.value
    }
    const supply = (answers: readonly Answer[]) => asks.forEach((ask, i) => set.supply(ask, answers[i]!))
    const loading = from.store.load(asks)
    if (loading instanceof Promise) {
      return loading.then((answers) => {
        supply(answers)
        return attempt(from, set, compute)
      })
    }
    supply(loading)
  }
}

export async function findNamed(store: Pick<Store, 'load'>, type: string, id: string): Promise<Resource | null> {
  const [found] = await store.load([askNamed(type, id)])
  const resource = (found ?? null) as Resource | null
  return resource?.type === type ? resource : null
}

/** Throws `resource_not_found`. */
export async function existingNamed(store: Pick<Store, 'load'>, type: string, id: string): Promise<Resource> {
  const resource = await findNamed(store, type, id)
  if (resource === null) throw new HomeostatError('resource_not_found', `There is no ${type} ${id}.`)
  return resource
}

/** The question for a resource by its public name. Generated ids are numbers in another form: the asker checks the type. */
export function askNamed(type: string, id: string): Ask {
  const no = numberOfGeneratedId(id)
  return no === null ? { ask: 'named', type, id } : { ask: 'resource', no }
}

/** Does the store answer at once? A far one's answer is not waited for, nor its failure: the next call will meet it. */
export function isNear(store: Store): boolean {
  const answer = store.load([])
  if (!(answer instanceof Promise)) return true
  answer.catch(() => {})
  return false
}
