// What goes wrong in a simulation, and when. Two ways: each seed draws which classes of faults are on and how often they happen
// (a swarm), or chosen faults strike at chosen commits and calls (systematic). Once calm is called, nothing goes wrong any more.
import type { EngineSettings } from '../engine/options.ts'
import type { Batch } from '../store/store.ts'
import type { Choices, Stream } from './choices.ts'
import type { CommitFault, StoreFaults } from './faulty-store.ts'
import type { ExchangeFault } from './simulated-committer.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { ServerFaults, ServerKind } from './simulated-server.ts'
import type { Fate, WorldCall, WorldFaults } from './simulated-world.ts'

/** A chosen fault: at the n-th commit of the simulation (from 1) or at the n-th call of a driver. */
export type Strike =
  | { readonly at: 'commit'; readonly n: number; readonly fault: CommitFault | 'delete' }
  | { readonly at: 'call'; readonly n: number; readonly fault: Fate | 'crash' | 'vanish' | 'pause' | 'delete' }

/** What one simulation is like. */
export interface Setting {
  readonly isFar: boolean
  /** What kind of server a far store is. Plain: it takes one commit at a time, at once. */
  readonly server: ServerKind
  readonly processes: number
  readonly checksEpoch: boolean
  readonly leaseMs: number
  readonly shuffle: number
  /** Wall clocks differ by up to this much. */
  readonly skewMs: number
  /** The machine's clock is set now and then. Only near: a far store has a clock of its own. */
  readonly hasJumps: boolean
  /** Somebody looks on: feeds, waits, explanations. */
  readonly isWatched: boolean
  /** The first process only takes requests. */
  readonly hasClerk: boolean
  /** Engines with very little room, so that every limit is met. */
  readonly engine: Partial<EngineSettings>
  readonly rates: Rates
}

export interface Rates {
  /** Around commits, by fault in the order of `commitFaults`. */
  readonly commit: readonly number[]
  /** Of store calls: unavailable, slow. */
  readonly call: readonly number[]
  /** Of driver calls, in the order of `fates`. */
  readonly fate: readonly number[]
  readonly wrongAnswer: number
  readonly lostWake: number
  /** Of messages of a commit to a server, in the order of `exchangeFaults`. */
  readonly exchange: readonly number[]
  /** Processes that die or freeze at any moment, per action of the workload. */
  readonly process: number
  /** Processes that others take for dead although they live, likewise. */
  readonly parting: number
}

const commitFaults: readonly CommitFault[] = [
  'none',
  'crashBefore',
  'crashAfter',
  'vanishBefore',
  'vanishAfter',
  'pauseBefore',
  'pauseAfter',
  'unavailable',
  'slow',
]

const exchangeFaults: readonly ExchangeFault[] = ['none', 'cutRequest', 'cutReply', 'serverDies']

const fates: readonly Fate[] = [
  'none',
  'instant',
  'slow',
  'failed',
  'failedAfter',
  'terminal',
  'hangs',
  'hangsAfter',
  'late',
  'lost',
  'cut',
  'garbage',
  'again',
  'throws',
]

export const quietSetting: Setting = {
  isFar: false,
  server: 'plain',
  processes: 2,
  checksEpoch: true,
  leaseMs: 10_000,
  shuffle: 0,
  skewMs: 0,
  hasJumps: false,
  isWatched: false,
  hasClerk: false,
  engine: {},
  rates: { commit: [1], call: [1], fate: [1], wrongAnswer: 0, lostWake: 0, exchange: [1], process: 0, parting: 0 },
}

const levels = [0.01, 0.03, 0.1, 0.3] as const

/** Draws what this seed is like: half of the fault classes are off, the others rare or frequent. */
export function drawSetting(choices: Choices): Setting {
  const stream = choices.stream('setting')
  const rate = (weight = 1) => drawRate(stream, weight)
  // On a stream of its own: what else a seed is like does not depend on it.
  const server = choices.stream('server')
  const isFar = stream.below(3) === 2
  return {
    isFar,
    server: drawServer(server),
    processes: [2, 1, 3][stream.below(3)]!,
    checksEpoch: stream.below(3) !== 2,
    leaseMs: [10_000, 5_000, 30_000][stream.below(3)]!,
    shuffle: stream.below(2) === 0 ? 0 : choices.seed + 1,
    skewMs: stream.below(4) === 3 ? 2_000 : 0,
    hasJumps: stream.below(4) === 3 && !isFar,
    isWatched: stream.below(6) === 5,
    hasClerk: stream.below(8) === 7,
    engine: stream.below(3) === 2 ? drawEngine(stream) : {},
    rates: {
      commit: withRest(commitFaults.slice(1).map(() => rate(0.5))),
      call: withRest([rate(0.2), rate(0.2)]),
      fate: withRest(fates.slice(1).map(() => rate(0.6))),
      wrongAnswer: rate(),
      lostWake: rate(),
      exchange: withRest([drawRate(server), drawRate(server), drawRate(server, 0.1)]),
      process: rate(),
      // The connection that stands for a process is one to a far store. Also on a stream of its own.
      parting: isFar ? drawRate(choices.stream('parting')) : 0,
    },
  }
}

const drawRate = (stream: Stream, weight = 1) =>
  stream.below(2) === 0 ? 0 : levels[stream.below(levels.length)]! * weight

export const drawServer = (stream: Stream): ServerKind =>
  (['plain', 'snapshot', 'serializable', 'snapshot'] as const)[stream.below(4)]!

/** An engine with very little room here and there. */
export const drawEngine = (stream: Stream): Partial<EngineSettings> => ({
  concurrency: [256, 1, 2][stream.below(3)]!,
  runs: [10_000, 1, 2][stream.below(3)]!,
  batchLimit: [500, 1, 2][stream.below(3)]!,
  cacheSize: [10_000, 1, 3][stream.below(3)]!,
  pollMs: [10_000, 1_000, 3_000][stream.below(3)]!,
  healEveryMs: [5_000, 1_000, 11_000][stream.below(3)]!,
  lookMs: [5_000, 1_000, 20_000][stream.below(3)]!,
  stopPatienceMs: [10_000, 100, 2_000][stream.below(3)]!,
})

/** The quiet one first: what is left of a whole, at least a tenth of it. */
const withRest = (rates: readonly number[]): readonly number[] => [
  Math.max(0.1, 1 - rates.reduce((sum, rate) => sum + rate, 0)),
  ...rates,
]

/** Where a chosen fault wants a delete to arrive. */
export interface Near {
  readonly batch: Batch | null
  readonly call: WorldCall | null
}

export class FaultPlan implements StoreFaults, ServerFaults, WorldFaults {
  readonly setting: Setting
  /** Commits and calls so far, while it was not calm. */
  commits = 0
  calls = 0
  #isCalm = false
  readonly #onDelete: (near: Near) => void
  readonly #strikes: readonly Strike[]
  readonly #commit: Stream
  readonly #store: Stream
  readonly #call: Stream
  readonly #answer: Stream
  readonly #server: Stream

  constructor(setting: Setting, choices: Choices, strikes: readonly Strike[], onDelete: (near: Near) => void) {
    this.#onDelete = onDelete
    this.setting = setting
    this.#strikes = strikes
    this.#commit = choices.stream('commit')
    this.#store = choices.stream('store')
    this.#call = choices.stream('call')
    this.#answer = choices.stream('answer')
    this.#server = choices.stream('server')
  }

  /** From now on everything works. */
  calm(): void {
    this.#isCalm = true
  }

  get isCalm(): boolean {
    return this.#isCalm
  }

  atCommit(_process: SimulatedProcess, batch: Batch): CommitFault {
    if (this.#isCalm) return 'none'
    this.commits++
    if (this.#strikes.length > 0) {
      let chosen: CommitFault = 'none'
      for (const strike of this.#strikes) {
        if (strike.at !== 'commit' || strike.n !== this.commits) continue
        if (strike.fault === 'delete') this.#onDelete({ batch, call: null })
        else chosen = strike.fault
      }
      if (chosen !== 'none') return chosen
    }
    const { commit } = this.setting.rates
    return commit.length === 1 ? 'none' : commitFaults[this.#commit.weighted(commit)]!
  }

  atCall(): 'none' | 'unavailable' | 'slow' {
    const { call } = this.setting.rates
    if (this.#isCalm || call.length === 1) return 'none'
    return (['none', 'unavailable', 'slow'] as const)[this.#store.weighted(call)]!
  }

  latencyMs(): number {
    return this.#isCalm ? 1 : 1 + this.#store.below(4)
  }

  atExchange(): ExchangeFault {
    const { exchange } = this.setting.rates
    if (this.#isCalm || exchange.length === 1) return 'none'
    return exchangeFaults[this.#server.weighted(exchange)]!
  }

  /** Long before its end, in the middle of it, or only after a long silence. */
  noticeMs(): number {
    return [2, 0, 5, 20, 2_000][this.#server.below(5)]!
  }

  downMs(): number {
    return [200, 20, 3_000][this.#server.below(3)]!
  }

  lockMs(): number {
    return this.#isCalm || this.#server.below(4) !== 3 ? 0 : 1 + this.#server.below(3)
  }

  flushMs(): number {
    return this.#isCalm ? 1 : 1 + [0, 1, 4, 15][this.#server.below(4)]!
  }

  isFlushed(): boolean {
    return this.#server.below(2) === 1
  }

  slowMs(): number {
    return [300, 1_500, 4_000, this.setting.leaseMs][this.#store.below(4)]!
  }

  /** Short ones, ones that end exactly with the lease, and long ones. */
  pauseMs(): number {
    const { leaseMs } = this.setting
    const third = Math.ceil(leaseMs / 3)
    return [leaseMs + 1_000, leaseMs, leaseMs - third, third, 3 * leaseMs, 90_000][this.#commit.below(6)]!
  }

  wakeMs(): number | null {
    const { lostWake } = this.setting.rates
    if (this.#isCalm || lostWake === 0) return 1
    return this.#store.chance(lostWake) ? null : 1 + this.#store.below(50)
  }

  fateOf(call: WorldCall): Fate {
    if (this.#isCalm) return 'none'
    this.calls++
    for (const strike of this.#strikes) {
      if (strike.at !== 'call' || strike.n !== this.calls) continue
      const fate = this.#strike(strike.fault, call)
      if (fate !== null) return fate
    }
    const { fate } = this.setting.rates
    return fate.length === 1 ? 'none' : fates[this.#call.weighted(fate)]!
  }

  /** The process dies or freezes inside the call; its effect happens all the same. */
  #strike(fault: Extract<Strike, { at: 'call' }>['fault'], call: WorldCall): Fate | null {
    if (fault === 'crash' || fault === 'vanish') call.process.die(fault)
    else if (fault === 'pause') call.process.pause(this.setting.leaseMs + 1_000)
    else if (fault === 'delete') this.#onDelete({ batch: null, call })
    else return fault
    return null
  }

  tookMs(_call: WorldCall, fate: Fate): number {
    if (this.#isCalm) return 20
    if (fate === 'slow') return [2_000, 8_000, this.setting.leaseMs, 25_000][this.#call.below(4)]!
    if (fate === 'late') return [15_000, 45_000, 100_000][this.#call.below(3)]!
    if (fate !== 'none') return 10 + 50 * this.#call.below(10)
    return this.setting.rates.fate.length === 1 ? 20 : 5 + 20 * this.#call.below(12)
  }

  obeys(): boolean {
    return this.#call.below(2) === 1
  }

  answerOf(_call: WorldCall, answers: number): number {
    const { wrongAnswer } = this.setting.rates
    if (this.#isCalm || wrongAnswer === 0 || !this.#answer.chance(wrongAnswer)) return 0
    return this.#answer.below(answers)
  }
}
