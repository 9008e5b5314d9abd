// People and programs that only look: one follows the feed of a process, one waits for runs, one asks why things stand where they
// stand. None of it may throw, and what it is told must have been committed.
import type { Engine } from '../engine/engine.ts'
import type { StoredEvent } from '../decision/state.ts'
import { runId } from '../decision/state.ts'
import type { Checkers } from './checkers.ts'
import type { Timeline } from './simulated-clock.ts'
import type { SimulatedProcess } from './simulated-process.ts'

const everyMs = 7_000
const patienceMs = 20_000
/** What a reader may be told besides an answer. */
const passing = new Set(['store_unavailable', 'engine_stopped', 'lease_lost', 'resource_not_found', 'run_not_found'])

export class Onlookers {
  readonly #timeline: Timeline
  readonly #checkers: Checkers
  #isOver = false

  constructor(timeline: Timeline, checkers: Checkers) {
    this.#timeline = timeline
    this.#checkers = checkers
  }

  /** From now on nobody looks: the rest of the simulation is about the engine alone. */
  leave(): void {
    this.#isOver = true
  }

  watch(process: SimulatedProcess, engine: Engine): void {
    this.#follow(process, engine)
    this.#lookAround(process, engine)
  }

  /** Every event once, in order, without a gap. */
  #follow(process: SimulatedProcess, engine: Engine): void {
    let last = 0
    engine.subscribe(0, (events: readonly StoredEvent[]) => {
      for (const { n } of events) {
        if (n !== last + 1) this.#checkers.fail('S4', `the feed of ${process.name} told event ${n} after ${last}`)
        last = n
      }
      if (last > this.#checkers.seen.events) this.#checkers.fail('S4', `the feed told event ${last} before its commit`)
    })
  }

  #lookAround(process: SimulatedProcess, engine: Engine): void {
    this.#timeline.after(everyMs, process, () => {
      if (this.#isOver) return
      this.#lookAround(process, engine)
      const all = [...this.#checkers.seen.states.values()]
      const one = all[this.#timeline.count % Math.max(1, all.length)]
      engine.health()
      this.#read('heal.preview', engine.heal.preview())
      this.#read('stuck', engine.heal.stuck())
      if (one === undefined) return
      this.#read(`explain ${one.type} ${one.id}`, engine.explain(one.type, one.id))
      this.#read(`related ${one.type} ${one.id}`, engine.related(one.type, one.id))
      if (one.run !== null) this.#await(engine, one.no, one.run.begun)
    })
  }

  /** Who waits for a run is told of its end, and not before. */
  #await(engine: Engine, no: number, begun: number): void {
    const waiting = engine.waitForRun(runId({ no, begun }), { timeoutMs: patienceMs }).then((view) => {
      const run = this.#checkers.seen.runOf(no, begun)
      if (view.isOver && run?.ended == null) this.#checkers.fail('G2', `run ${view.id} was told to be over, but is not`)
    })
    this.#read('waitForRun', waiting)
  }

  #read(what: string, reading: Promise<unknown>): void {
    reading.catch((error: unknown) => {
      const { code, stack } = error as { code?: string; stack?: string }
      if (code === undefined || !passing.has(code)) this.#checkers.fail('defect', `${what} threw: ${stack}`)
    })
  }
}
