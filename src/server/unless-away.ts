// What is asked of the store by whoever must be answered also while it is away.
import type { Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'

/** Prometheus gives up after ten seconds, two of these come before that. */
const patienceMs = 3_000

/** Null: the store does not answer, or not in this time. */
export async function unlessAway<T>(clock: Clock, answer: Promise<T>): Promise<T | null> {
  let stop = () => {}
  const late = new Promise<null>((resolve) => (stop = clock.after(patienceMs, () => resolve(null))))
  const known = answer.catch((error: unknown) => {
    if (error instanceof HomeostatError && error.code === 'store_unavailable') return null
    throw error
  })
  return Promise.race([known, late]).finally(stop)
}
