// Heartbeats that go on while the event loop is busy: a thread with a connection of its own renews the lease. This is the side of
// the engine's thread, the same for all stores; the thread itself is the store's.
import { Worker } from 'node:worker_threads'
import { systemClock } from '../base/clock.ts'
import type { Heartbeat } from './store.ts'

/** What the two threads share: a time in nanoseconds of the process's monotonic clock, and two flags. */
export interface SharedBeat {
  /** When the last renewal that succeeded was sent. */
  readonly sent: BigInt64Array
  readonly flags: Int32Array
}
export const flag = { stop: 0, lost: 1 } as const

/** The lease has just begun, and so has the process, which has other things to do than to start a thread. */
const startsAfter = 1 / 20

/**
 * Starts the thread in the file beside `module` that is named as it, with `-thread`. The incarnation must have been registered just
 * now: until the first beat, its age counts from here.
 */
export function startBeating(module: string, order: { readonly leaseMs: number }): Heartbeat {
  const sent = new BigInt64Array(new SharedArrayBuffer(8))
  const flags = new Int32Array(new SharedArrayBuffer(8))
  Atomics.store(sent, 0, process.hrtime.bigint())
  // Run from the sources it is a .ts file, published it is a .js file: as the module is.
  const url = new URL(module.replace(/(\.[jt]s)(\?.*)?$/, '-thread$1'))
  let thread: Worker | null = null
  let ended = Promise.resolve()
  const cancel = systemClock.after(order.leaseMs * startsAfter, () => {
    const started = new Worker(url, { workerData: { ...order, sent, flags } })
    started.unref()
    ended = new Promise<void>((resolve) => {
      // A thread that fails cannot renew any more; its age tells so in time.
      started.on('error', () => resolve())
      started.on('exit', () => resolve())
    })
    thread = started
  })
  return {
    lastRenewalAgeMs: () => Number(process.hrtime.bigint() - Atomics.load(sent, 0)) / 1e6,
    lost: () => Atomics.load(flags, flag.lost) === 1,
    async stop() {
      Atomics.store(flags, flag.stop, 1)
      Atomics.notify(flags, flag.stop)
      cancel()
      thread?.ref()
      await ended
    },
  }
}
