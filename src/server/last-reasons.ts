// Why ended runs failed, for lists of them. The record of an ended run does not tell: its events do, and what they told never changes.
// So each is looked up once and remembered.
import type { No, StoredEvent } from '../decision/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { RunView } from '../engine/run-view.ts'
import { isFailure } from './steps.ts'

/** Runs that are remembered. */
const most = 20_000
/** Histories that are read at a time. */
const atOnce = 8
const none: ReadonlyMap<string, string> = new Map()

export class LastReasons {
  readonly #engine: Engine
  /** By the id of the run; null: there is none to be told. */
  readonly #known = new Map<string, string | null>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** By the id of the run, of those that failed or were cancelled. */
  async of(views: readonly RunView[]): Promise<ReadonlyMap<string, string>> {
    const failed = views.filter(({ isOver, state }) => isOver && (state === 'failed' || state === 'cancelled'))
    if (failed.length === 0) return none
    const missing = Map.groupBy(
      failed.filter(({ id }) => !this.#known.has(id)),
      ({ no }) => no,
    )
    const found = new Map<string, string | null>()
    const owners = [...missing]
    for (let from = 0; from < owners.length; from += atOnce) {
      const looked = await Promise.all(owners.slice(from, from + atOnce).map(([no, runs]) => this.#lookUp(no, runs)))
      for (const [id, reason] of looked.flat()) found.set(id, reason)
    }
    const answer = new Map<string, string>()
    for (const { id } of failed) {
      const reason = found.get(id) ?? this.#known.get(id) ?? null
      if (reason !== null) answer.set(id, reason)
    }
    for (const [id, reason] of found) this.#keep(id, reason)
    return answer
  }

  async #lookUp(no: No, runs: readonly RunView[]): Promise<(readonly [string, string | null])[]> {
    const events = await this.#engine.runHistories(no, new Set(runs.map(({ begun }) => begun)))
    return runs.map(({ id, begun }) => [id, reasonsIn(events.filter((event) => event.begun === begun)).at(-1) ?? null])
  }

  #keep(id: string, reason: string | null): void {
    if (this.#known.size >= most) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(id, reason)
  }
}

/** What failed, first to last, from events that are newest first. */
export const reasonsIn = (events: readonly StoredEvent[]): string[] =>
  events
    .filter((event) => isFailure(event) || event.kind === 'attemptFailed')
    .flatMap(({ detail }) => (typeof detail?.['reason'] === 'string' ? [detail['reason']] : []))
    .toReversed()
