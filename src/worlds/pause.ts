// Waiting, by the clock that the world was given.
import type { Clock } from '../base/clock.ts'

/** Resolves after `ms`, or at once when the signal fires: the caller looks at the signal. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal?.addEventListener('abort', end, { once: true })
  })
}
