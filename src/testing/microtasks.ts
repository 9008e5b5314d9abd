// Runs everything that promises have made ready, at once. An engine whose only waits are our ports is quiet after this: so one
// event can be run to its very end before the next one is chosen, without a turn of the real event loop (4 times cheaper).
import { setFlagsFromString } from 'node:v8'
import { assert } from '../base/assert.ts'
import { systemClock } from '../base/clock.ts'

function checkpoint(): () => void {
  setFlagsFromString('--allow-natives-syntax')
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
  const run = new Function('%PerformMicrotaskCheckpoint()') as () => void
  setFlagsFromString('--no-allow-natives-syntax')
  return run
}

/** Does nothing when called from inside a microtask (after an `await`): use `outsideMicrotasks` around it. */
export const drainMicrotasks = checkpoint()

/** Calls `body` where microtasks can be drained, and answers with what it returns. */
export function outsideMicrotasks<T>(body: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    systemClock.soon(() => {
      try {
        assertDrains()
        resolve(body())
      } catch (error) {
        reject(error as Error)
      }
    })
  })
}

function assertDrains(): void {
  let isRun = false
  queueMicrotask(() => (isRun = true))
  drainMicrotasks()
  assert(isRun, 'microtasks cannot be drained here: the simulation would not be deterministic')
}
