// The outside world that drivers act upon, with a truth of its own: what really exists, whatever the records say. A call can
// fail, hang, be slow, answer garbage, succeed too late or lose its answer; its effect happens although the caller died.
// It may check keys and epochs like a careful backend (a call of an older epoch is refused), or believe everybody.
import type { Millis } from '../base/clock.ts'
import type { Json } from '../base/json.ts'
import { TerminalError, UnknownOutcomeError, type LedgerView } from '../lifecycle/driver.ts'
import type { Timeline } from './simulated-clock.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** Something that exists. */
export interface Thing {
  readonly name: string
  readonly kind: string
  readonly epoch: number
  readonly at: Millis
  /** It came to be when its call's epoch was already over: only a backend that believes everybody lets this happen. */
  readonly isLate: boolean
}

/** What a driver function gets, as far as the world looks at it. */
export interface SeenCall {
  readonly resource: { readonly id: string; readonly type: string; readonly status: string }
  readonly ledger: readonly LedgerView[]
  readonly name: string | undefined
  readonly key: string
  readonly epoch: number
  readonly attempt: number
  readonly forced: boolean
  readonly signal: AbortSignal
  readonly progress: (text: string) => void
}

/** A call under way in the world. */
export interface WorldCall {
  readonly process: SimulatedProcess
  readonly function: string
  readonly seen: SeenCall
  /** Of a sweep: the orphan's name. */
  readonly sweeps: string | null
  readonly startedAt: Millis
  fate: Fate
  isOver: boolean
  hadEffect: boolean
}

/** How a call goes. `none` is quick and good. */
export type Fate =
  | 'none'
  | 'instant'
  | 'slow'
  | 'failed'
  | 'failedAfter'
  | 'terminal'
  | 'hangs'
  | 'hangsAfter'
  | 'late'
  | 'lost'
  | 'cut'
  | 'garbage'
  | 'again'
  | 'throws'

export interface WorldFaults {
  /** How this call goes. */
  fateOf(call: WorldCall): Fate
  /** How long it takes; `slow`, `late` and `again` take longer. */
  tookMs(call: WorldCall, fate: Fate): number
  /** Whether the driver listens to its signal. */
  obeys(call: WorldCall): boolean
  /** Which of so many answers a look at the world gives; 0 is the true one. */
  answerOf(call: WorldCall, answers: number): number
}

export interface WorldWatch {
  callBegan(call: WorldCall): void
  callEnded(call: WorldCall, outcome: string): void
  effect(call: WorldCall, what: string): void
}

/** What a function of the driver does to the world, and what it answers then. */
export interface Deed {
  readonly creates: string | null
  /** Names of things that go. */
  readonly removes: readonly string[]
  readonly answer: () => unknown
}

export class SimulatedWorld {
  readonly things = new Map<string, Thing>()
  /** Keys of calls whose effect has happened. */
  readonly done = new Set<string>()
  /** What was removed, by name: how a careful backend knows that a late creation is no longer wanted. */
  readonly removed = new Set<string>()
  readonly checksEpoch: boolean
  readonly #epochs = new Map<string, number>()
  readonly #timeline: Timeline
  readonly #faults: WorldFaults
  readonly #watch: WorldWatch

  constructor(timeline: Timeline, faults: WorldFaults, watch: WorldWatch, checksEpoch: boolean) {
    this.#timeline = timeline
    this.#faults = faults
    this.#watch = watch
    this.checksEpoch = checksEpoch
  }

  /** A driver function is called. Dead processes call nobody. */
  call(process: SimulatedProcess, fn: string, seen: SeenCall, deed: Deed, sweeps: string | null = null): unknown {
    if (!process.isAlive) return new Promise(() => {})
    const call: WorldCall = {
      process,
      function: fn,
      seen,
      sweeps,
      startedAt: this.#timeline.now,
      fate: 'none',
      isOver: false,
      hadEffect: false,
    }
    call.fate = this.#faults.fateOf(call)
    // Destroying an orphan knows no "look again".
    if (sweeps !== null && call.fate === 'again') call.fate = 'failed'
    this.#see(seen)
    this.#watch.callBegan(call)
    if (call.fate === 'throws') {
      this.#end(call, 'threw')
      throw new Error('the driver threw at once')
    }
    if (call.fate === 'instant') {
      const refused = this.#carryOut(call, deed)
      this.#end(call, refused === null ? 'done' : 'refused')
      if (refused !== null) throw refused
      return deed.answer()
    }
    return new Promise((resolve, reject) => this.#run(call, deed, resolve, reject))
  }

  #run(call: WorldCall, deed: Deed, resolve: (value: unknown) => void, reject: (error: Error) => void): void {
    const { fate, process } = call
    const tookMs = this.#faults.tookMs(call, fate)
    const settle = (ms: number, outcome: string, how: () => void) =>
      this.#timeline.after(ms, process, () => {
        if (call.isOver) return
        this.#end(call, outcome)
        try {
          how()
        } catch (error) {
          reject(error as Error)
        }
      })
    const fail = (error: Error, outcome = 'failed') => settle(tookMs, outcome, () => reject(error))
    if (fate !== 'none' && this.#faults.obeys(call)) {
      call.seen.signal.addEventListener('abort', () => {
        if (call.isOver) return
        this.#end(call, 'aborted')
        reject(call.seen.signal.reason as Error)
      })
    }
    switch (fate) {
      case 'failed':
        return void fail(coded('backend_error', 'the backend failed'))
      case 'failedAfter':
        this.#carryOut(call, deed)
        return void fail(coded('backend_error', 'the backend failed in the middle'))
      case 'terminal':
        return void fail(new TerminalError('refused_by_backend', 'the backend refused for good'))
      case 'hangs':
        return
      case 'hangsAfter':
        this.#carryOut(call, deed)
        return
      case 'cut':
        return void fail(new UnknownOutcomeError('the connection was cut'), 'cut')
      case 'lost':
        this.#carryOut(call, deed)
        return void fail(new UnknownOutcomeError('the connection was cut'), 'cut')
      case 'again':
        return void settle(tookMs, 'again', () => resolve({ again: `${1 + (tookMs % 5)}s` }))
      case 'garbage':
        this.#carryOut(call, deed)
        return void settle(tookMs, 'garbage', () => resolve(garbage(tookMs)))
      case 'none':
      case 'slow':
      case 'late':
      case 'instant':
      case 'throws':
        this.#succeed(call, deed, tookMs, settle, resolve, reject)
    }
  }

  /** The effect comes at once, or at the end of a call that takes long; the answer after it. */
  #succeed(
    call: WorldCall,
    deed: Deed,
    tookMs: number,
    settle: (ms: number, outcome: string, how: () => void) => void,
    resolve: (value: unknown) => void,
    reject: (error: Error) => void,
  ): void {
    if (call.fate === 'slow') call.seen.progress('working on it')
    const effectMs = call.fate === 'none' ? 0 : tookMs
    const happen = () => {
      const refused = this.#carryOut(call, deed)
      if (refused !== null) settle(tookMs - effectMs, 'refused', () => reject(refused))
      else settle(tookMs - effectMs, 'done', () => resolve(deed.answer()))
    }
    if (effectMs === 0) happen()
    else this.#timeline.after(effectMs, null, happen)
  }

  /** The world changes. Answers an error when a careful backend refuses. */
  #carryOut(call: WorldCall, deed: Deed): Error | null {
    const { seen } = call
    const isLate = seen.epoch < (this.#epochs.get(resourceOf(seen)) ?? 0)
    if (this.checksEpoch && isLate) {
      this.#watch.effect(call, 'refused: a newer epoch has been seen')
      return coded('stale_epoch', 'a newer epoch has been seen')
    }
    if (this.checksEpoch && deed.creates !== null && this.removed.has(seen.name ?? '')) {
      this.#watch.effect(call, `refused: ${seen.name} was removed`)
      return coded('removed', 'it was removed')
    }
    call.hadEffect = true
    this.done.add(seen.key)
    if (deed.creates !== null && seen.name !== undefined && !this.things.has(seen.name)) {
      this.things.set(seen.name, {
        name: seen.name,
        kind: deed.creates,
        epoch: seen.epoch,
        at: this.#timeline.now,
        isLate,
      })
      this.#watch.effect(call, `made ${seen.name}`)
    }
    for (const name of deed.removes) {
      if (this.things.delete(name)) this.#watch.effect(call, `removed ${name}`)
      this.removed.add(name)
    }
    return null
  }

  answerOf(call: { process: SimulatedProcess; seen: SeenCall; function: string }, answers: number): number {
    return this.#faults.answerOf(
      { ...call, sweeps: null, startedAt: 0, fate: 'none', isOver: false, hadEffect: false },
      answers,
    )
  }

  #see(seen: SeenCall): void {
    const resource = resourceOf(seen)
    if (seen.epoch > (this.#epochs.get(resource) ?? 0)) this.#epochs.set(resource, seen.epoch)
  }

  #end(call: WorldCall, outcome: string): void {
    call.isOver = true
    this.#watch.callEnded(call, outcome)
  }
}

/** `type/id`, as what is told names it. */
export const resourceOf = (seen: SeenCall): string => `${seen.resource.type}/${seen.resource.id}`

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** What no schema expects. */
function garbage(kind: number): unknown {
  switch (kind % 5) {
    case 0: {
      const cyclic: { self?: unknown } = {}
      cyclic.self = cyclic
      return cyclic
    }
    case 1:
      return () => 'a function'
    case 2:
      return Number.NaN
    case 3:
      return JSON.parse('{"__proto__":{"status":"Ready"},"constructor":1}') as Json
    default:
      return { answer: 17, removed: 'all of them' }
  }
}
