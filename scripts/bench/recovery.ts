// P5: a worker process with 200 runs in flight is killed with SIGKILL; a new one on the same store brings all of them to their end.
import { compilePlans } from '../../src/lifecycle/compile-plan.ts'
import { audit } from './audit.ts'
import type { Ground } from './ground.ts'
import { ms, type Figure, type Options } from './bench.ts'
import { lifecycles } from './lifecycle.ts'
import { median } from './load.ts'
import { build, WorkerProcess } from './processes.ts'

export async function recovery({ runs, ground, say }: Options): Promise<Figure[]> {
  build(say)
  const times: number[] = []
  const starts: number[] = []
  for (let round = 1; round <= Math.max(5, runs); round++) {
    const name = `killed-${round}`
    const first = new WorkerProcess(ground.placeOf(name), 'hang')
    await first.reached('hanging')
    await first.kill()
    const second = new WorkerProcess(ground.placeOf(name), 'finish')
    starts.push((await second.reached('started')).ms)
    times.push((await second.reached('done')).ms)
    await second.stop()
    await auditKilled(ground, name)
    say(`P5 round ${round}: all 200 done ${ms(times.at(-1)!)} after the start of the new process`)
  }
  const value = median(times)
  return [
    {
      value,
      details: { started: median(starts), lowest: Math.min(...times), highest: Math.max(...times) },
      what: `P5: kill -9 with 200 in flight on ${ground.name}, start of a new process until all are done`,
      found: `${ms(value)} (${ms(Math.min(...times))} to ${ms(Math.max(...times))}), of which ${ms(median(starts))} until the engine is started`,
      goal: '300 ms',
      isMet: value <= 300,
    },
  ]
}

/** All done, and no finished step was done twice. */
async function auditKilled(ground: Ground, name: string): Promise<void> {
  const store = await ground.openStore(name)
  const plans = compilePlans(lifecycles)
  await store.useKinds((type, status) => plans.kindOf(type, status))
  await audit(store, {
    counts: { 'bench.volume/Available': 200, 'bench.pool/Open': 1 },
    events: { accepted: 200, stepDone: 600, landed: 200, resumed: 200 },
  })
  await store.close()
}
