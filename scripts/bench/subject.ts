// The engine under measurement, put together as a program would: a store, the bench lifecycle, one worker. The only
// thing added is a look at what each commit ended, so that the benchmark knows when an operation is done and durable.
import { NumberMap } from '../../src/base/number-map.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import type { EngineSettings } from '../../src/engine/options.ts'
import type { No } from '../../src/decision/state.ts'
import type { Batch, CommitAnswer, Store } from '../../src/store/store.ts'
import { drivers, lifecycles } from './lifecycle.ts'

export interface Subject {
  readonly engine: Engine
  readonly store: Store
  /** Numbers of the pools that new volumes go to. */
  readonly pools: readonly No[]
  /** Asks for a new volume; `done` when its run has ended, in the store, with its number. */
  create(done: (no: No) => void): void
  /** The same for an operation of a volume that is there. */
  operate(no: No, operation: string, done: () => void): void
  close(): Promise<void>
}

export const poolCount = 10

/** The store is closed with the subject. */
export async function openSubject(given: Store, options: Partial<EngineSettings> = {}): Promise<Subject> {
  // Not a Map, which grows and shrinks again with a single operation in flight.
  const waiting = new NumberMap<(no: No) => void>()
  const store = watched(given, (no) => {
    const done = waiting.get(no)
    if (done === undefined) return
    waiting.delete(no)
    done(no)
  })
  const engine = createEngine({ store, lifecycles, drivers, options, log: complain })
  await engine.start()
  const pools = await findPools(engine)
  let keys = 0
  const run = `${engine.incarnation}`
  const begun = (no: No, done: (no: No) => void) => waiting.set(no, done)
  return {
    engine,
    store,
    pools,
    create(done) {
      const n = ++keys
      const request = {
        type: 'bench.volume',
        operation: 'create',
        by: 'bench',
        key: `${run}-${n}`,
        create: { parent: { no: pools[n % pools.length]! }, properties: { sizeGb: 10, label: 'measured' } },
      }
      engine.request(request).then(({ resource }) => begun(resource.no, done), fail)
    },
    operate(no, operation, done) {
      const request = { type: 'bench.volume', no, operation, by: 'bench', key: `${run}-${++keys}` }
      engine.request(request).then(() => begun(no, done), fail)
    },
    async close() {
      await engine.stop()
      await store.close()
    },
  }
}

/** Pools are there already in a store that was used before. */
async function findPools(engine: Engine): Promise<No[]> {
  const pools: No[] = []
  for (let i = 0; i < poolCount; i++) {
    const id = `pool-${i}`
    const there = await engine.get('bench.pool', id)
    if (there !== null) {
      pools.push(there.no)
      continue
    }
    const decision = await engine.submit({
      kind: 'importResource',
      type: 'bench.pool',
      id,
      status: 'Open',
      properties: { region: 'here' },
      by: 'bench',
    })
    // Another process may have been faster.
    const made = decision.accepted ? decision.resource : await engine.get('bench.pool', id)
    if (made === null) throw new Error(`there is no ${id}`)
    pools.push(made.no)
  }
  return pools
}

/** The same store; `ended` is told each run that a commit has ended. */
function watched(store: Store, ended: (no: No) => void): Store {
  const watching: Store = Object.create(store) as Store
  watching.commit = (batch: Batch) => {
    // After what the door itself does with the answer.
    const tell = (answer: CommitAnswer, soon: (work: () => void) => void): CommitAnswer => {
      if (answer.committed && batch.ended.length > 0) soon(() => batch.ended.forEach((run) => ended(run.no)))
      return answer
    }
    const committing = store.commit(batch)
    if (!(committing instanceof Promise)) return tell(committing, queueMicrotask)
    return committing.then((answer) => tell(answer, setImmediate))
  }
  return watching
}

const complain = (level: string, text: string, facts?: object) => {
  if (level !== 'info' && level !== 'debug') console.error(level, text, facts)
}

const fail = (error: unknown) => {
  console.error(error)
  process.exit(1)
}
