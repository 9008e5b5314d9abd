// The thread's side of the heartbeat: beat, sleep, beat, until told to stop or refused. Its connection is its own: neither a busy event
// loop nor commits that wait for a standby keep it from beating.
import { parentPort, workerData } from 'node:worker_threads'
import { flag } from '../shared-beat.ts'
import type { HeartbeatOrder } from './heartbeat.ts'
import type { Wire as WireType } from './wire.ts'

const { address, settings, no, leaseMs, sent, flags } = workerData as HeartbeatOrder
const everyMs = leaseMs / 3

// The lease was taken just now and needs no beat yet: what beating needs is loaded and connected when the process has begun its work,
// which may be to bring back what another left behind.
if (Atomics.wait(flags, flag.stop, 0, everyMs / 2) === 'timed-out') await beatOn()

async function beatOn(): Promise<void> {
  const [{ addressOf }, { workerStatements }, { Wire }] = await Promise.all([
    import('./address.ts'),
    import('./workers.ts'),
    import('./wire.ts'),
  ])

  // Between two connections nothing else would keep the thread going.
  parentPort!.on('message', () => {})
  let wire: WireType | null = null
  while (Atomics.load(flags, flag.stop) === 0) {
    const at = process.hrtime.bigint()
    try {
      const statements = { beat: workerStatements.beat }
      // One try may not take longer than a beat is worth.
      wire ??= await Wire.open({
        address: addressOf(address),
        settings,
        statements,
        openMs: everyMs,
        answerMs: everyMs,
      })
      const values = [String(no), String(leaseMs), null]
      const [rows] = await wire.run([{ name: 'beat', values }])
      if (rows!.length === 0) {
        Atomics.store(flags, flag.lost, 1)
        break
      }
      Atomics.store(sent, 0, at)
    } catch {
      // The next beat may succeed, and the age tells the owner when it is too late.
      wire?.cut()
      wire = null
    }
    const pause = Atomics.waitAsync(flags, flag.stop, 0, wire === null ? everyMs / 4 : everyMs)
    if (pause.async) await pause.value
  }
  await wire?.close().catch(() => {})
  parentPort!.close()
}
