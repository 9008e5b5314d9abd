// Heartbeats that go on while the event loop is busy: a thread with a connection of its own renews the lease.
import { Worker } from 'node:worker_threads'
import type { Incarnation } from '../../decision/state.ts'
import type { Heartbeat } from '../store.ts'
import type { AddressOptions } from './address.ts'

/** What the two threads share: a time in nanoseconds of the process's monotonic clock, and two flags. */
export interface HeartbeatOrder {
  readonly address: AddressOptions
  readonly settings: Readonly<Record<string, string>>
  readonly no: Incarnation
  readonly leaseMs: number
  /** When the last renewal that succeeded was sent. */
  readonly sent: BigInt64Array
  readonly flags: Int32Array
}
export const flag = { stop: 0, lost: 1 } as const

/** The incarnation must have been registered just now: until the first beat, its age counts from here. */
export function startHeartbeatThread(options: Omit<HeartbeatOrder, 'sent' | 'flags'>): Heartbeat {
  const sent = new BigInt64Array(new SharedArrayBuffer(8))
  const flags = new Int32Array(new SharedArrayBuffer(8))
  Atomics.store(sent, 0, process.hrtime.bigint())
  const order: HeartbeatOrder = { ...options, sent, flags }
  // Run from the sources it is a .ts file, published it is a .js file: as this one is.
  const thread = new Worker(new URL(import.meta.url.replace(/heartbeat(\.[jt]s)(\?.*)?$/, 'heartbeat-thread$1')), {
    workerData: order,
  })
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
