// Plays one operation of a declared lifecycle on the production engine in the invented world, with at most one chosen fault, and
// tells it moment by moment; or tries every fault at every commit and call of it and tells the first broken promise. Always the
// same for the same question, touches nothing real, and is bounded: it can be asked of a server that works.
import { systemClock } from '../base/clock.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Event } from '../decision/state.ts'
import { compilePlans } from '../lifecycle/compile-plan.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Violation } from './checkers.ts'
import { strikesOn } from './explore.ts'
import type { Strike } from './fault-plan.ts'
import { hurried } from './hurried.ts'
import { outsideMicrotasks } from './microtasks.ts'
import { preparations, type Prepared } from './rehearsal-script.ts'
import { Simulator, type Conditions, type Outcome } from './simulation.ts'
import { beginning } from './simulated-clock.ts'
import type { Line } from './story.ts'

export interface RehearsalAsked {
  readonly type: string
  /** Null: it is found stuck in `from`, and nobody carries anything out. */
  readonly operation: string | null
  /** Where it stands when the operation is asked for; null: the first status that allows it. */
  readonly from: string | null
  /** Left out: invented from the schema. */
  readonly properties?: JsonObject | undefined
  readonly input?: Json | undefined
}

/** What a moment is: somebody asks, a commit, a call of a driver and how it ended, what happens in the world, a fault. */
export type MomentKind =
  | 'asked'
  | 'answered'
  | 'written'
  | 'called'
  | 'replied'
  | 'world'
  | 'fault'
  | 'noticed'
  | 'broken'

export interface Moment {
  /** Milliseconds after the operation was asked for. Long times are cut short. */
  readonly atMs: number
  /** Which worker; `world` for what drivers act upon. */
  readonly lane: string
  readonly kind: MomentKind
  readonly words: string
  readonly resource: { readonly type: string; readonly id: string } | null
  /** Where the resource that is rehearsed stands after it; empty: it is not there. */
  readonly status: string
  readonly event: Pick<Event, 'kind' | 'from' | 'to' | 'epoch' | 'detail'> | null
  /** Where a fault can be put. */
  readonly strikes: { readonly at: 'commit' | 'call'; readonly n: number } | null
}

export interface Rehearsed {
  readonly id: string
  readonly from: string
  readonly properties: JsonObject
  readonly input: Json
  readonly moments: Moment[]
  readonly violation: Violation | null
  readonly status: string
}

export interface Searched {
  readonly schedules: number
  /** Not all were tried: the time was over. */
  readonly isCut: boolean
  /** How often it ended in which status. */
  readonly ends: Record<string, number>
  /** With the fault that led to it, as `commit:3:crashAfter`. */
  readonly violation: (Violation & { readonly strike: string | null }) | null
}

const momentsMost = 400
const eventsMost = 20_000
const schedulesMost = 600
const quiet: Conditions = { seed: 0, choices: {}, stays: 'brief', eventsMost }

export class Rehearsal {
  readonly #plans: Plans
  readonly #simulator: Simulator

  constructor(lifecycles: readonly AnyLifecycle[]) {
    const set = lifecycles.map(hurried)
    this.#plans = compilePlans(set)
    this.#simulator = new Simulator({ name: 'rehearsal', lifecycles: set })
  }

  async play(asked: RehearsalAsked, strikes: readonly Strike[]): Promise<Rehearsed> {
    return outsideMicrotasks(() => {
      const { prepared } = this.#baseline(asked)
      const outcome = this.#run(prepared, strikes, true)
      return this.#told(prepared, outcome, strikes)
    })
  }

  /** A turn of the event loop between two schedules: whatever else the process does goes on. */
  async search(asked: RehearsalAsked, budgetMs: number): Promise<Searched> {
    const { prepared, outcome: first } = await outsideMicrotasks(() => this.#baseline(asked))
    const ends: Record<string, number> = {}
    const count = (outcome: Outcome) => {
      const status = this.#endOf(prepared, outcome)
      ends[status] = (ends[status] ?? 0) + 1
    }
    count(first)
    if (first.violation !== null)
      return { schedules: 1, isCut: false, ends, violation: { ...first.violation, strike: null } }
    const lines = first.story!.lines
    const from = lines.findIndex((line) => line.at >= beginning + prepared.asksAt)
    const before = lines[from - 1] ?? { commit: 0, call: 0 }
    const strikes = strikesOn(first).filter(({ at, n }) => n > before[at])
    const until = systemClock.monotonic() + budgetMs
    let schedules = 1
    for (const strike of strikes) {
      if (schedules >= schedulesMost || systemClock.monotonic() > until)
        return { schedules, isCut: true, ends, violation: null }
      const outcome = await outsideMicrotasks(() => this.#run(prepared, [strike], false))
      schedules++
      count(outcome)
      if (outcome.violation !== null)
        return { schedules, isCut: false, ends, violation: { ...outcome.violation, strike: textOf(strike) } }
    }
    return { schedules, isCut: false, ends, violation: null }
  }

  /** Without faults; of several ways to prepare it the first in which the operation is accepted. */
  #baseline(asked: RehearsalAsked): { readonly prepared: Prepared; readonly outcome: Outcome } {
    let found: { prepared: Prepared; outcome: Outcome } | null = null
    for (const prepared of preparations(this.#plans, asked)) {
      const outcome = this.#run(prepared, [], true)
      const isAccepted = outcome.story!.lines.some(
        ({ at, mark, text }) => at >= beginning + prepared.asksAt && mark === '=' && text === 'accepted',
      )
      found ??= { prepared, outcome }
      if (isAccepted && prepared.isReady()) return { prepared, outcome }
    }
    return found!
  }

  #run(prepared: Prepared, strikes: readonly Strike[], isTold: boolean): Outcome {
    prepared.begin()
    return this.#simulator.run({ ...quiet, script: prepared.script, strikes, isTold })
  }

  #endOf({ resource: { type, id } }: Prepared, outcome: Outcome): string {
    return outcome.statuses.get(`${type}/${id}`) ?? ''
  }

  #told(prepared: Prepared, outcome: Outcome, strikes: readonly Strike[]): Rehearsed {
    const { resource, from, properties, input } = prepared
    const moments: Moment[] = []
    let status = prepared.creates ? '' : from
    let isStruck = false
    for (const line of outcome.story!.lines) {
      const { event } = line.about ?? {}
      const isOfIt = line.about?.resource.type === resource.type && line.about.resource.id === resource.id
      if (event !== undefined && isOfIt) status = event.to
      if (line.at < beginning + prepared.asksAt) continue
      const moment = momentOf(line, status, line.at - beginning - prepared.asksAt)
      if (moment !== null) moments.push(moment)
      const inside = strikes.find((one) => one.at === 'call' && line.mark === '→' && line.call === one.n)
      if (inside === undefined || isStruck) continue
      isStruck = true
      const words = deathWords[inside.fault]
      if (words !== undefined)
        moments.push({ ...moment!, kind: 'fault', words, event: null, resource: null, strikes: null })
    }
    const last = moments.findLastIndex(({ kind, event }) => kind === 'broken' || event !== null || kind === 'answered')
    return {
      id: resource.id,
      from: prepared.creates ? '' : from,
      properties,
      input,
      moments: moments.slice(0, Math.min(last + 1, momentsMost)),
      violation: outcome.violation,
      status: this.#endOf(prepared, outcome),
    }
  }
}

const textOf = ({ at, n, fault }: Strike): string => `${at}:${n}:${fault}`

const deathWords: Readonly<Partial<Record<string, string>>> = {
  crash: 'dies while the call is under way; the call has its effect all the same',
  vanish: 'dies while the call is under way, and nobody notices until its lease has run out',
  pause: 'freezes while the call is under way, for longer than its lease',
}

const faultWords: readonly (readonly [RegExp, string])[] = [
  [/^crashBefore/, 'dies just before this is written: nothing of it is there'],
  [/^crashAfter/, 'dies right after this was written'],
  [/^vanishBefore/, 'dies just before this is written, and nobody notices until its lease has run out'],
  [/^vanishAfter/, 'dies right after this was written, and nobody notices until its lease has run out'],
  [/^pauseBefore/, 'freezes before it can write this, for longer than its lease'],
  [/^pauseAfter/, 'freezes right after this was written, for longer than its lease'],
  [/^unavailable/, 'cannot reach the store'],
]

const kinds: Readonly<Record<string, MomentKind>> = {
  '?': 'asked',
  '=': 'answered',
  '✓': 'written',
  '→': 'called',
  '←': 'replied',
  '*': 'world',
  '!': 'fault',
  '‖': 'fault',
  '~': 'fault',
  '►': 'noticed',
  '○': 'noticed',
  '☼': 'noticed',
  x: 'noticed',
  '✗': 'broken',
}

/** Null: of no interest to somebody who follows one resource. */
function momentOf(line: Line, status: string, atMs: number): Moment | null {
  const { mark, about, lane } = line
  const kind = kinds[mark]
  if (kind === undefined || (kind === 'written' && about?.event === undefined)) return null
  // Heartbeats of a call, and the first start of each worker.
  if (about?.event?.kind === 'progressed' || (mark === '○' && atMs === 0)) return null
  const event = about?.event ?? null
  return {
    atMs,
    lane: lane === '!' ? '' : lane.replace(/^p(\d+)$/, 'worker $1'),
    kind,
    words: wordsOf(line, kind),
    resource: about === null ? null : { type: about.resource.type, id: about.resource.id },
    status,
    event:
      event === null
        ? null
        : { kind: event.kind, from: event.from, to: event.to, epoch: event.epoch, detail: event.detail },
    strikes:
      mark === '✓'
        ? { at: 'commit', n: line.commit }
        : mark === '→' && line.call > 0
          ? { at: 'call', n: line.call }
          : null,
  }
}

function wordsOf({ mark, text, about }: Line, kind: MomentKind): string {
  const call = about?.call
  if (kind === 'asked') return `is asked for: ${text.replace(/ \(request \d+\)$/, '')}`
  if (kind === 'answered') return text === 'accepted' ? 'answers: accepted' : `answers: refused. ${text}`
  if (kind === 'called' && call !== undefined) {
    const phase = call.seen.key.split('/')[1]
    const what = phase === 'undo' ? 'undoes with' : phase === 'step' ? 'calls' : 'looks at the real world with'
    return `${what} ${call.function}${call.seen.attempt > 1 ? `, attempt ${call.seen.attempt}` : ''}`
  }
  if (kind === 'replied' && call !== undefined)
    return `${call.function}: ${replyWords[text.split(' ').at(-1)!] ?? text}`
  if (kind === 'fault') return faultWords.find(([pattern]) => pattern.test(text))?.[1] ?? text
  if (mark === '○') return text.startsWith('is ') ? 'is started' : 'sees that another worker is gone'
  if (mark === '☼') return 'from here on nothing more goes wrong'
  if (mark === '►') return 'goes on as if nothing had happened'
  if (mark === 'x') return text.replace(/^refused: .*/, 'may write nothing more: somebody else has taken over')
  return text
}

const replyWords: Readonly<Record<string, string>> = {
  done: 'done',
  failed: 'the backend says it failed',
  cut: 'it was carried out or not: the reply is lost',
  garbage: 'the reply makes no sense',
  again: 'not finished yet, look again later',
  threw: 'the driver threw an error at once',
  refused: 'the backend refuses: a newer owner has been here',
  aborted: 'given up',
}
