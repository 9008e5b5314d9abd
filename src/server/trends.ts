// What the installation did over time: changes, ends and times to stable in slices of a minute, for a day. It is told every event that
// the figures for Prometheus are told, so that they cost one reading, however many resources there are; at the start it reads back.
import type { Clock } from '../base/clock.ts'
import type { StoredEvent } from '../decision/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../engine/log.ts'
import type { Wire } from './wire.ts'

const sliceMs = 60_000
const keptSlices = 1_440
/** So many events are read back at the start, at most: the rest of a day would take too long. */
const readBackMost = 20_000
/** Runs whose beginning is remembered. */
const runsMost = 50_000
/** Durations are counted in steps of a tenth: a quantile is right to that. */
const step = Math.log(1.1)

class Slice {
  changes = 0
  succeeded = 0
  failed = 0
  healed = 0
  retried = 0
  /** How many took so long, by the power of 1.1 of their milliseconds. */
  readonly took = new Map<number, number>()

  add(other: Slice): void {
    this.changes += other.changes
    this.succeeded += other.succeeded
    this.failed += other.failed
    this.healed += other.healed
    this.retried += other.retried
    for (const [power, count] of other.took) this.took.set(power, (this.took.get(power) ?? 0) + count)
  }

  quantile(share: number): number | null {
    const sorted = [...this.took].sort(([one], [other]) => one - other)
    const all = sorted.reduce((sum, [, count]) => sum + count, 0)
    let left = all * share
    for (const [power, count] of sorted) if ((left -= count) <= 0) return Math.round(Math.exp(power * step))
    return null
  }

  figures() {
    const { changes, succeeded, failed, healed, retried } = this
    return { changes, succeeded, failed, healed, retried, p50Ms: this.quantile(0.5), p95Ms: this.quantile(0.95) }
  }
}

export type Figures = ReturnType<Slice['figures']>

export class Trends {
  readonly #parts: { readonly engine: Engine; readonly wire: Wire; readonly clock: Clock; readonly log: Log }
  /** By minute, then by type. */
  readonly #slices = new Map<number, Map<string, Slice>>()
  readonly #begun = new Map<string, number>()
  #since: number
  #isStopped = false
  #reading: Promise<void> = Promise.resolve()

  constructor(parts: { readonly engine: Engine; readonly wire: Wire; readonly clock: Clock; readonly log: Log }) {
    this.#parts = parts
    this.#since = parts.clock.now()
  }

  /** Reads what happened before, up to this event, while everything else goes on. */
  start(latest: number): void {
    this.#reading = this.#readBack(latest).catch((error: unknown) =>
      this.#parts.log('warn', 'figures begin only now: what was before could not be read', { error }),
    )
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#reading
  }

  async #readBack(latest: number): Promise<void> {
    const { engine, wire, clock } = this.#parts
    const dayAgo = clock.now() - keptSlices * sliceMs
    const ofDay = (await this.#firstSince(dayAgo, latest)) - 1
    const isCut = ofDay < latest - readBackMost
    let after = isCut ? latest - readBackMost : ofDay
    let since = isCut ? this.#since : dayAgo
    for (let isFirst = true; after < latest && !this.#isStopped; isFirst = false) {
      const events = (await engine.events(after, 500)).filter(({ n }) => n <= latest)
      if (events.length === 0) break
      if (isFirst && isCut) since = events[0]!.at
      const names = await wire.names(events.map(({ no }) => no))
      for (const event of events) this.take(event, names.get(event.no)?.type ?? '')
      after = events.at(-1)!.n
    }
    if (!this.#isStopped) this.#since = since
  }

  /** The slices of the last minutes, merged so that there are at most seventy or so. */
  read(
    minutes: number,
    type: string | undefined,
  ): {
    readonly sliceMs: number
    readonly since: number
    readonly points: readonly ({ readonly at: number } & Figures)[]
    readonly whole: Figures
  } {
    const merged = Math.ceil(minutes / 60)
    const count = Math.ceil(minutes / merged)
    const end = Math.floor(this.#parts.clock.now() / sliceMs / merged) + 1
    const whole = new Slice()
    const points = Array.from({ length: count }, (_, index) => {
      const begin = (end - count + index) * merged
      const slice = new Slice()
      for (let minute = begin; minute < begin + merged; minute++)
        for (const [name, one] of this.#slices.get(minute) ?? [])
          if (type === undefined || name === type) slice.add(one)
      whole.add(slice)
      return { at: begin * sliceMs, ...slice.figures() }
    })
    return { sliceMs: merged * sliceMs, since: this.#since, points, whole: whole.figures() }
  }

  /** The number of the first event at or after a moment: numbers go up with time, so halving finds it in a few reads. */
  async #firstSince(at: number, latest: number): Promise<number> {
    let low = 1
    let high = latest + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const [event] = await this.#parts.engine.events(middle - 1, 1)
      if (event === undefined || event.at >= at) high = middle
      else low = Math.max(middle, event.n) + 1
    }
    return low
  }

  take(event: StoredEvent, type: string): void {
    const slice = this.#sliceOf(event.at, type)
    const run = `${event.no}-${event.begun}`
    if (event.from !== event.to) slice.changes++
    if (event.kind === 'accepted') {
      if (this.#begun.size >= runsMost) this.#begun.delete(this.#begun.keys().next().value!)
      this.#begun.set(run, event.at)
    } else if (event.kind === 'attemptFailed') slice.retried++
    else if (event.kind === 'resumed' || event.kind === 'healed') slice.healed++
    else if (event.kind === 'landed') {
      if (event.detail?.['failed'] === true || event.detail?.['code'] !== undefined) slice.failed++
      else slice.succeeded++
    }
    if (event.kind === 'landed' || event.kind === 'healed') this.#ended(event, slice, type, run)
  }

  #ended(event: StoredEvent, slice: Slice, type: string, run: string): void {
    const begun = this.#begun.get(run)
    this.#begun.delete(run)
    if (begun === undefined || this.#parts.engine.plans.kindOf(type, event.to) !== 'stable') return
    const power = Math.ceil(Math.log(Math.max(1, event.at - begun)) / step)
    slice.took.set(power, (slice.took.get(power) ?? 0) + 1)
  }

  #sliceOf(at: number, type: string): Slice {
    const minute = Math.floor(at / sliceMs)
    let types = this.#slices.get(minute)
    if (types === undefined) {
      types = new Map()
      this.#slices.set(minute, types)
      for (const old of this.#slices.keys()) if (old < minute - keptSlices) this.#slices.delete(old)
    }
    let slice = types.get(type)
    if (slice === undefined) {
      slice = new Slice()
      types.set(type, slice)
    }
    return slice
  }
}
