// The thread's side of the heartbeat: beat, sleep, beat, until told to stop or refused. It must not touch the store itself.
import { workerData } from 'node:worker_threads'
import { systemClock } from '../../base/clock.ts'
import { flag } from '../shared-beat.ts'
import type { HeartbeatOrder } from './heartbeat.ts'

const { file, no, leaseMs, sent, flags } = workerData as HeartbeatOrder
const everyMs = leaseMs / 3

// The lease was taken just now and needs no beat yet: what beating needs is loaded when the process has begun its work, which may be to
// bring back what another left behind.
if (Atomics.wait(flags, flag.stop, 0, everyMs / 2) === 'timed-out') await beatOn()

async function beatOn(): Promise<void> {
  const [{ Connection, workersFile }, { beatSql }] = await Promise.all([
    import('./connection.ts'),
    import('./workers.ts'),
  ])

  // One try may not wait longer than a beat is worth.
  const connection = new Connection({
    file: workersFile(file),
    readonly: false,
    synchronous: 'normal',
    patienceMs: everyMs,
  })
  const renew = connection.prepare(beatSql)
  while (Atomics.load(flags, flag.stop) === 0) {
    const at = process.hrtime.bigint()
    try {
      const now = systemClock.now()
      const { changes } = connection.writing(() => renew.run(now, now + leaseMs, no, now))
      if (changes !== 1) {
        Atomics.store(flags, flag.lost, 1)
        break
      }
      Atomics.store(sent, 0, at)
    } catch {
      // Busy or failing: the next beat may succeed, and the age tells the owner when it is too late.
    }
    Atomics.wait(flags, flag.stop, 0, everyMs)
  }
  connection.close()
}
