// P9: what a worker with nothing to do costs, and how long a process takes from its start to its first operation done.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEngine } from '../../src/engine/engine.ts'
import type { Store } from '../../src/store/store.ts'
import type { Ground } from './ground.ts'
import { ms, type Figure, type Options } from './bench.ts'
import { drivers, lifecycles } from './lifecycle.ts'
import { median } from './load.ts'
import { build, WorkerProcess } from './processes.ts'

const idleMs = 10_000

export async function idle({ runs, ground, say }: Options): Promise<Figure[]> {
  build(say)
  say(`P9: counting the queries of an idle worker for ${idleMs / 1000} s`)
  const queries = await idleQueries(ground)
  say(`P9: measuring the processor time of an idle worker for ${idleMs / 1000} s`)
  const share = await idleShare(ground)
  const firsts: number[] = []
  for (let round = 1; round <= Math.max(5, runs); round++) {
    // The tables are made once in the life of a store, not when a process starts.
    await (await ground.openStore(`first-${round}`)).close()
    const worker = new WorkerProcess(ground.placeOf(`first-${round}`), 'first')
    firsts.push((await worker.reached('done')).ms)
    await worker.stop()
    say(`P9 round ${round}: first operation done ${ms(firsts.at(-1)!)} after the start of the process`)
  }
  const first = median(firsts)
  return [
    {
      value: queries.perSecond,
      details: { looks: queries.looksPerSecond, cpuShare: share, firstOperationMs: first },
      what: `P9: store queries a second of an idle worker on ${ground.name}`,
      found: `${queries.perSecond.toFixed(2)}, and ${queries.looksPerSecond.toFixed(1)} looks at what is known of others' commits`,
      goal: 'below 1',
      isMet: queries.perSecond < 1,
    },
    {
      value: share,
      what: `P9: share of a core that an idle worker uses on ${ground.name}`,
      found: `${(100 * share).toFixed(2)} %`,
      goal: 'below 1 %',
      isMet: share < 0.01,
    },
    {
      value: first,
      what: `P9: start of a process until its first operation of 4 steps is done on ${ground.name}`,
      found: `${ms(first)} (${ms(Math.min(...firsts))} to ${ms(Math.max(...firsts))})`,
      goal: 'below 250 ms',
      isMet: first < 250,
    },
  ]
}

interface Queries {
  readonly perSecond: number
  /** Looks whether others have written: a counter in memory, no query. */
  readonly looksPerSecond: number
}

/** Every call of a method of the store counts, heartbeats too. Counted after the first pass of everything that looks around. */
async function idleQueries(ground: Ground): Promise<Queries> {
  const store = await ground.openStore('counted')
  const calls = new Map<string, number>()
  const counting = new Proxy(store, {
    get(target, name: keyof Store) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls.set(name, (calls.get(name) ?? 0) + 1)
        return (value as (...args: unknown[]) => unknown).apply(target, args)
      }
    },
  })
  const engine = createEngine({ store: counting, lifecycles, drivers })
  await engine.start()
  await sleep(1_000)
  calls.clear()
  await sleep(idleMs)
  const looks = calls.get('othersWrote') ?? 0
  let sum = -looks
  for (const count of calls.values()) sum += count
  // The heartbeat of its own thread: three in a lease.
  sum += (idleMs / engine.settings.leaseMs) * 3
  await engine.stop()
  await store.close()
  const seconds = idleMs / 1000
  return { perSecond: sum / seconds, looksPerSecond: looks / seconds }
}

/** User and system time of the whole process, its threads included, from the kernel. */
async function idleShare(ground: Ground): Promise<number> {
  const worker = new WorkerProcess(ground.placeOf('idle'), 'idle')
  await worker.reached('started')
  await sleep(1_000)
  const before = cpuMs(worker.pid)
  await sleep(idleMs)
  const used = cpuMs(worker.pid) - before
  await worker.stop()
  return used / idleMs
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  const ticksPerSecond = 100
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond
}
