// What driver calls must keep to: each was owed by a committed state before it began (no effect before its commit), is the only
// one of its name, is not begun once others have ended its run (G6, but for a short time that the design allows), undos come last
// first. And at the end: nothing exists that no record names (G7).
import type { Millis } from '../base/clock.ts'
import { parseRunId, type Incarnation } from '../decision/state.ts'
import { trustMs } from '../engine/run-watch.ts'
import type { Checkers } from './checkers.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { SimulatedWorld, WorldCall, WorldWatch } from './simulated-world.ts'

/** A far store's answer is that old at most, when nothing is slow. */
const farMs = 20

export class CallChecks implements WorldWatch {
  readonly #checkers: Checkers
  readonly #isFar: boolean
  readonly #live = new Map<string, WorldCall>()
  readonly #sweeps = new Map<string, { readonly call: WorldCall; readonly by: Incarnation }>()
  began = 0

  constructor(checkers: Checkers, isFar: boolean) {
    this.#checkers = checkers
    this.#isFar = isFar
  }

  callBegan(call: WorldCall): void {
    this.began++
    this.#checkers.mix(this.began)
    if (call.sweeps !== null) return this.#sweepBegan(call, call.sweeps)
    const { key, epoch, attempt } = call.seen
    const about = { resource: call.seen.resource, call }
    this.#checkers.tell(call.process.name, '→', `${call.function} ${key} e${epoch} #${attempt} (${call.fate})`, about)
    this.#judgeOwed(call)
    this.#judgeOnly(call)
    if (key.split('/')[1] === 'undo') this.#judgeUndo(call)
  }

  callEnded(call: WorldCall, outcome: string): void {
    const about = { resource: call.seen.resource, call }
    this.#checkers.tell(call.process.name, '←', `${call.function} ${outcome}`, about)
    if (call.sweeps !== null) {
      if (this.#sweeps.get(call.sweeps)?.call === call) this.#sweeps.delete(call.sweeps)
      return
    }
    const name = nameOf(call)
    if (this.#live.get(name) === call) this.#live.delete(name)
    const [run, phase, cursor] = call.seen.key.split('/')
    if (phase !== 'undo' || outcome !== 'done') return
    const ref = parseRunId(run!)
    if (ref !== null) this.#checkers.seen.runOf(ref.no, ref.begun)?.undone.add(Number(cursor))
  }

  effect(call: WorldCall, what: string): void {
    this.#checkers.tell('world', '*', what, { resource: call.seen.resource, call })
    this.#checkers.mix(what.length)
    if (what.startsWith('refused')) this.#checkers.situations.saw('stale call refused')
  }

  /** The commit that owes a call comes before the call; and no call begins that is owed no more. */
  #judgeOwed(call: WorldCall): void {
    const { seen, now } = this.#checkers
    const { key, epoch, attempt } = call.seen
    const ref = parseRunId(key.split('/')[0]!)
    const owed = ref === null ? undefined : seen.owedBy(ref.no, epoch, key, attempt)
    if (owed === undefined) {
      return this.#checkers.fail('effects', `${call.function} (${key}, epoch ${epoch}) began, but no commit owes it`)
    }
    if (owed.until === null) return
    const staleMs = now - owed.until
    if (staleMs <= this.#allowedMs(call.process, owed.until, owed.endedBy)) return
    this.#checkers.fail(
      'G6',
      `${call.function} (${key}, epoch ${epoch}) began at ${call.process.name} ${staleMs} ms after it was owed no more`,
    )
  }

  /** The process that ended it knows at once; another one finds out within its time of trust. */
  #allowedMs(process: SimulatedProcess, until: Millis, endedBy: SimulatedProcess | null): number {
    if (!this.#isFar) return endedBy === process ? 0 : trustMs
    // What a far store said may have been long on its way, and the process frozen meanwhile.
    return (this.#hasBeenSlow.get(process) ?? -Infinity) >= until - 60_000 ? Infinity : trustMs + farMs
  }

  readonly #hasBeenSlow = new Map<SimulatedProcess, Millis>()

  /** A far store's answer was late, or the process was frozen. */
  wasSlow(process: SimulatedProcess): void {
    this.#hasBeenSlow.set(process, this.#checkers.now)
  }

  /** At most one live call of a name in an epoch. */
  #judgeOnly(call: WorldCall): void {
    const name = nameOf(call)
    const other = this.#live.get(name)
    if (other !== undefined && other.process.isAlive) {
      this.#checkers.fail('effects', `${call.function} (${call.seen.key}, epoch ${call.seen.epoch}) is under way twice`)
    }
    this.#live.set(name, call)
  }

  /** A step is undone only after it may have begun; the last one first. */
  #judgeUndo(call: WorldCall): void {
    const [name, , cursor] = call.seen.key.split('/')
    const ref = parseRunId(name!)
    const run = ref === null ? undefined : this.#checkers.seen.runOf(ref.no, ref.begun)
    if (run === undefined) return
    const index = Number(cursor)
    const stored = this.#checkers.seen.states.get(run.no)
    if (!run.steps.has(index) && !(stored?.run?.steps.includes(index) ?? false)) {
      this.#checkers.fail('undo', `step ${index} of run ${name} is undone, but never began`)
    }
    const last = run.undoCalls.at(-1)
    if (last !== undefined && index > last) {
      this.#checkers.fail('undo', `step ${index} of run ${name} is undone after step ${last}: not last first`)
    }
    run.undoCalls.push(index)
  }

  #sweepBegan(call: WorldCall, orphan: string): void {
    this.#checkers.tell(call.process.name, '→', `sweeps ${orphan} (${call.fate})`)
    // What no ledger names cannot be claimed; it is destroyed by its name, so twice does no harm.
    if (!this.#isNamed(orphan)) return this.#checkers.situations.saw('stray found')
    const other = this.#sweeps.get(orphan)
    const { seen, wall, now } = this.#checkers
    // Whoever has lost its lease does not know it yet, or its call does not obey.
    const isAtIt = other !== undefined && other.call.process.isRunning && !seen.isGone(other.by, wall)
    if (isAtIt && call.process !== other.call.process) {
      const sinceMs = now - other.call.startedAt
      // A sweeper gives up after a minute; only then may another one be at it.
      if (sinceMs < 60_000) this.#checkers.fail('sweeping', `${orphan} is swept by two at once`)
    }
    this.#sweeps.set(orphan, { call, by: seen.incarnationOf(call.process) })
  }

  /** Its sweeper has told how it ended, or has given up, although its call may hang for ever. */
  sweepOver(orphan: string): void {
    this.#sweeps.delete(orphan)
  }

  #isNamed(orphan: string): boolean {
    for (const { ledger } of this.#checkers.seen.states.values()) {
      if (ledger.some((entry) => entry.name === orphan)) return true
    }
    return false
  }

  /** G7: what exists is named by some ledger. Late effects that a backend without checks lets in are the sweeper's to find. */
  judgeLeaks(world: SimulatedWorld): void {
    for (const name of this.strays(world)) this.#checkers.fail('G7', `${name} exists, and no ledger names it`)
  }

  /** What exists and is named by no ledger, nor written off by a person. */
  strays(world: SimulatedWorld): string[] {
    const { states, writtenOff } = this.#checkers.seen
    const named = new Set<string>(writtenOff)
    for (const { ledger } of states.values()) for (const entry of ledger) named.add(entry.name)
    return [...world.things.keys()].filter((name) => !named.has(name))
  }
}

const nameOf = ({ seen }: WorldCall): string => `${seen.epoch} ${seen.attempt} ${seen.key}`
