// A store that kills its own process at a marked commit: just before it, or after it and before anybody hears of it.
// Wrapped around the real one in the worker program of the tests; production code has no hook for it.
import type { Store } from '../../src/store/store.ts'
import { die } from './driver.ts'

export interface DeathAt {
  /** The first commit is 1. */
  readonly commit: number
  readonly when: 'before' | 'after'
}

/** `onCommit` is told the number of each commit that is in the store. */
export function dyingStore(store: Store, death: DeathAt | undefined, onCommit: (count: number) => void): Store {
  let count = 0
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'commit') return value.bind(target)
      return (batch: Parameters<Store['commit']>[0]) => {
        const nth = ++count
        const isLast = death?.commit === nth
        if (isLast && death.when === 'before') die()
        const answer = target.commit(batch)
        const isOver = (landed: Awaited<typeof answer>) => {
          if (isLast) die()
          onCommit(nth)
          return landed
        }
        return answer instanceof Promise ? answer.then(isOver) : isOver(answer)
      }
    },
  })
}
