// The simulated servers against the promises of the port: what the simulation shows of the engine counts only if they keep them. Their
// time is moved on by the test as fast as it goes.
import { expect, test } from 'vitest'
import { Choices } from '../../src/testing/choices.ts'
import { FaultPlan, quietSetting } from '../../src/testing/fault-plan.ts'
import type { FaultyStoreParts } from '../../src/testing/faulty-store.ts'
import { ServerStore } from '../../src/testing/server-store.ts'
import { Timeline } from '../../src/testing/simulated-clock.ts'
import { SimulatedProcess } from '../../src/testing/simulated-process.ts'
import { openServer, type ServerBackend } from '../../src/testing/simulated-server.ts'
import { storeConformance } from '../../src/testing/store-conformance.ts'
import type { Store } from '../../src/store/store.ts'

/** Leases run by the times that are given. */
class GivenTimes extends ServerStore {
  readonly #inner: Store
  readonly process: SimulatedProcess

  constructor(parts: FaultyStoreParts, backend: ServerBackend) {
    super(parts, backend)
    this.#inner = parts.inner
    this.process = parts.process
  }

  override register(worker: Parameters<Store['register']>[0]) {
    return this.call(() => this.#inner.register(worker))
  }

  override beat(worker: Parameters<Store['beat']>[0]) {
    return this.call(() => this.#inner.beat(worker))
  }

  override end(worker: Parameters<Store['end']>[0]) {
    return this.call(() => this.#inner.end(worker))
  }

  override workers(now: number) {
    return this.call(() => this.#inner.workers(now))
  }

  override work(...query: Parameters<Store['work']>) {
    return this.call(() => this.#inner.work(...query))
  }
}

const unwatched: FaultyStoreParts['watch'] = {
  committed() {},
  disowned() {},
  saw() {},
  registered() {},
  beaten() {},
  endedWorker() {},
  faulted() {},
}

for (const kind of ['snapshot', 'serializable'] as const) {
  let tests = 0
  storeConformance({
    name: `simulated ${kind} server`,
    test,
    expect,
    create() {
      const timeline = new Timeline()
      const seed = ++tests
      const faults = new FaultPlan({ ...quietSetting, isFar: true, server: kind }, new Choices(seed), [], () => {})
      const server = openServer()
      const backend = server.run(kind, timeline, faults, unwatched)
      let isOver = false
      let opened = 0
      const goOn = () => {
        if (isOver) return
        timeline.step(timeline.now + 1_000)
        setImmediate(goOn)
      }
      setImmediate(goOn)
      return {
        open() {
          const inner = server.open()
          const rank = ++opened
          const process = new SimulatedProcess(`p${rank}`, rank, { timeline, inner, onDied: () => {} })
          return new GivenTimes({ inner, process, timeline, faults, watch: unwatched, isFar: true }, backend)
        },
        crash: (store) => (store as GivenTimes).process.die('crash'),
        remove() {
          isOver = true
        },
      }
    },
  })
}
