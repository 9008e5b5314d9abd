// Those who ask: they wait for an answer, ask again elsewhere with the same key when none comes, and remember every answer they
// were given. What was acknowledged must be there, at once and at the end (G2).
import type { Command } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import type { KeyRecord } from '../decision/state.ts'
import type { Store } from '../store/store.ts'
import type { Checkers } from './checkers.ts'
import type { Stream } from './choices.ts'
import type { Timeline } from './simulated-clock.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** Where can be asked. */
export interface Counter {
  readonly process: SimulatedProcess
  submit(command: Command, done: (decision: Decision) => void): void
}

interface Asked {
  readonly command: Command
  readonly key: string | null
  answer: Decision | null
  tries: number
  /** Where it has been sent, perhaps several times, and not been answered. */
  sentTo: SimulatedProcess[]
}

interface Acknowledged {
  readonly key: string
  readonly no: number
  readonly begun: number
}

const patienceMs = 8_000
const soonMs = 1_500
/** Codes that only say that the moment was bad. */
const passing = new Set(['store_unavailable', 'lease_lost', 'engine_stopped'])

export class SimulatedClient {
  readonly #timeline: Timeline
  readonly #checkers: Checkers
  readonly #stream: Stream
  /** Processes that take requests now. */
  readonly #counters: () => readonly Counter[]
  readonly #acknowledged = new Map<string, Acknowledged>()
  #open: Asked[] = []

  constructor(timeline: Timeline, checkers: Checkers, stream: Stream, counters: () => readonly Counter[]) {
    this.#timeline = timeline
    this.#checkers = checkers
    this.#stream = stream
    this.#counters = counters
  }

  /** Asks; a request with a key is asked until it is answered. */
  ask(command: Command, key: string | null): void {
    const isKeyed = key !== null && command.kind === 'requestOperation'
    const asked: Asked = {
      command: isKeyed ? { ...command, key } : command,
      key: isKeyed ? key : null,
      answer: null,
      tries: 0,
      sentTo: [],
    }
    this.#open.push(asked)
    this.#try(asked)
  }

  /** Requests that will still be answered: all with a key, and those that a process which runs has not answered yet. */
  get pending(): number {
    if (this.#open.length === 0) return 0
    const isOpen = ({ answer, key, sentTo }: Asked) => {
      if (answer === null && key !== null) return true
      return sentTo.some((process) => process.isRunning)
    }
    this.#open = this.#open.filter(isOpen)
    return this.#open.length
  }

  #try(asked: Asked): void {
    const counters = this.#counters()
    if (counters.length > 0) {
      const counter = counters[this.#stream.below(counters.length)]!
      if (asked.tries++ > 0) this.#checkers.situations.saw('answer lost')
      asked.sentTo.push(counter.process)
      this.#checkers.tell(counter.process.name, '?', words(asked.command))
      counter.submit(asked.command, (decision) => this.#answered(asked, decision, counter.process))
    }
    if (asked.key !== null) this.#again(asked, patienceMs)
  }

  #again(asked: Asked, ms: number): void {
    this.#timeline.after(ms, null, () => {
      if (asked.answer === null) this.#try(asked)
    })
  }

  #answered(asked: Asked, decision: Decision, process: SimulatedProcess): void {
    if (!process.isAlive) return
    asked.sentTo.splice(asked.sentTo.indexOf(process), 1)
    this.#checkers.tell(process.name, '=', decision.accepted ? 'accepted' : decision.rejection.message)
    if (!decision.accepted && passing.has(decision.rejection.code)) {
      if (asked.key === null) asked.answer = decision
      else if (asked.answer === null) this.#again(asked, soonMs)
      return
    }
    asked.answer = decision
    if (!decision.accepted && (decision.changes?.writes.length ?? 0) > 0)
      this.#checkers.fail('G2', `${words(asked.command)} was refused, and yet something of it was written`)
    if (decision.accepted) this.#acknowledge(asked, decision)
    else if (decision.rejection.code === 'rule_breached') this.#checkers.situations.saw('rule refused')
  }

  /** G2: what is acknowledged is committed already, once. */
  #acknowledge(asked: Asked, decision: Decision & { accepted: true }): void {
    const { seen } = this.#checkers
    const { no, revision, type, id } = decision.resource
    const stored = seen.states.get(no)
    if (stored === undefined || stored.revision < revision) {
      this.#checkers.fail('G2', `${words(asked.command)} was acknowledged, but ${type} ${id} is not committed so`)
    }
    if (asked.key === null) return
    const record = seen.keys.get(asked.key)
    if (record === undefined || record.no !== no || record.begun !== decision.begun) {
      this.#checkers.fail(
        'G2',
        `${words(asked.command)} was acknowledged as run ${no}-${decision.begun}, which is not committed`,
      )
    }
    const first = this.#acknowledged.get(asked.key)
    if (first !== undefined) this.#checkers.situations.saw('key replayed')
    if (first !== undefined && (first.no !== no || first.begun !== decision.begun)) {
      this.#checkers.fail('G2', `the same request was acknowledged as two runs: ${first.begun} and ${decision.begun}`)
    }
    if (asked.command.kind === 'requestOperation' && seen.runOf(no, decision.begun)?.operation !== undefined)
      this.#joined(no, decision.begun)
    this.#acknowledged.set(asked.key, { key: asked.key, no, begun: decision.begun })
  }

  /** Two requests with different keys that got the same run: the second joined the first. */
  #joined(no: number, begun: number): void {
    for (const one of this.#acknowledged.values()) {
      if (one.no === no && one.begun === begun && begun !== 0) return this.#checkers.situations.saw('delete joined')
    }
  }

  /** Nothing that was acknowledged is lost. */
  judge(reader: Store): void {
    for (const { key, no, begun } of this.#acknowledged.values()) {
      const [record] = reader.load([{ ask: 'key', key }]) as [KeyRecord | null]
      if (record === null || record.no !== no || record.begun !== begun) {
        this.#checkers.fail('G2', `the acknowledged request ${key} is not in the store any more`)
      }
    }
    if (this.pending > 0) this.#checkers.fail('liveness', `${this.pending} requests were never answered`)
  }
}

function words(command: Command): string {
  if (command.kind === 'requestOperation') {
    const { operation, type, id, no, force, key } = command
    return `${force === true ? 'forced ' : ''}${operation} ${type} ${id ?? (no === undefined ? '' : `number ${no}`)} (${key ?? 'no key'})`
  }
  return command.kind
}
