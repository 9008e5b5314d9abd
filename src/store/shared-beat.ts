// Heartbeats that go on while the event loop is busy: a thread with a connection of its own renews the lease. This is the side of
// the engine's thread, the same for all stores; the thread itself is the store's.
import { Worker } from 'node:worker_threads'
import type { Heartbeat } from './store.ts'
import { threadFile } from './thread-file.ts'

/** What the two threads share: a time in nanoseconds of the process's monotonic clock, and two flags. */
export interface SharedBeat {
  /** When the last renewal that succeeded was sent. */
  readonly sent: BigInt64Array
  readonly flags: Int32Array
}
export const flag = { stop: 0, lost: 1 } as const

/**
 * Starts the thread in the file beside `module` that is named as it, with `-thread`. The incarnation must have been registered just
 * now: until the first beat, its age counts from here.
 */
export function startBeating(module: string, order: object): Heartbeat {
  const sent = new BigInt64Array(new SharedArrayBuffer(8))
  const flags = new Int32Array(new SharedArrayBuffer(8))
  Atomics.store(sent, 0, process.hrtime.bigint())
  const thread = new Worker(threadFile(module), { workerData: { ...order, sent, flags } })
  thread.unref()
  const ended = new Promise<void>((resolve) => {
    // A thread that fails cannot renew any more; its age tells so in time.
    thread.on('error', () => resolve())
    thread.on('exit', () => resolve())
  })
  return {
    lastRenewalAgeMs: () => Number(process.hrtime.bigint() - Atomics.load(sent, 0)) / 1e6,
    lost: () => Atomics.load(flags, flag.lost) === 1,
    async stop() {
      Atomics.store(flags, flag.stop, 1)
      Atomics.notify(flags, flag.stop)
      thread.ref()
      await ended
    },
  }
}
