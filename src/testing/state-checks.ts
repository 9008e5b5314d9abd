// What every committed state must keep to, by the state before it, the events of the commit and the declarations: nothing that
// waits, is armed, held or was learnt goes without a word.
import type { Millis } from '../base/clock.ts'
import { canonical } from '../base/json.ts'
import type { Event, QueuedRequest, Resource, Run } from '../decision/state.ts'
import { driftTimer } from '../decision/timers.ts'
import type { Batch } from '../store/store.ts'
import type { Checkers } from './checkers.ts'

export class StateChecks {
  readonly #checkers: Checkers

  constructor(checkers: Checkers) {
    this.#checkers = checkers
  }

  /** Called before what was committed is taken as seen. */
  judge(batch: Batch): void {
    const { states } = this.#checkers.seen
    const told = new Map<number, Event[]>()
    for (const event of batch.events) {
      const list = told.get(event.no)
      if (list === undefined) told.set(event.no, [event])
      else list.push(event)
    }
    for (const { after } of batch.writes) {
      const events = told.get(after.no) ?? none
      const before = states.get(after.no)
      this.#judgeStanding(after)
      this.#judgeRevisions(before, after, events)
      this.#judgeTimers(before, after, events)
      if (before === undefined) continue
      this.#judgeQueue(before, after, events)
      this.#judgeRun(before, after, events, batch)
    }
    for (const { no, begun } of batch.ended) {
      const after = batch.writes.find((write) => write.after.no === no)?.after
      if (after?.run?.begun === begun) this.#fail('G2', after, `run ${begun} has ended and is still under way`)
    }
  }

  #fail(promise: string, { type, id }: Resource, text: string): void {
    this.#checkers.fail(promise, `${type} ${id}: ${text}`)
  }

  #kindOf(type: string, status: string): string | undefined {
    return this.#checkers.seen.plans.kindOf(type, status)
  }

  /** Held is only what is on its way; back is only where something can stay. */
  #judgeStanding(after: Resource): void {
    const { type, status, holder, run } = after
    if (holder !== null && this.#kindOf(type, status) !== 'transitional')
      this.#fail('G1', after, `it is ${status}, and held by run ${holder.begun} of resource ${holder.no}`)
    if (run !== null && run.previous !== '' && this.#kindOf(type, run.previous) === 'transitional')
      this.#fail('G1', after, `its run came from ${run.previous}, where nothing can stay`)
  }

  /** Each event tells the state that it led to. It stands there since the last change of status, or since it passed through others. */
  #judgeRevisions(before: Resource | undefined, after: Resource, events: readonly Event[]): void {
    let last = before?.revision ?? 0
    let since = before === undefined ? [] : [before.since]
    for (const { kind, revision, from, to, at } of events) {
      const isNew = revision > (before?.revision ?? 0) && revision >= last && revision <= after.revision
      if (!isNew) this.#fail('S11', after, `${kind} tells revision ${revision} of ${after.revision}`)
      last = revision
      since = from === to ? [...since, at] : [at]
    }
    if (!since.includes(after.since)) this.#fail('S11', after, `it is ${after.status} since ${after.since}`)
  }

  /** A timer runs in its statuses, and is fired when it is due. */
  #judgeTimers(before: Resource | undefined, after: Resource, events: readonly Event[]): void {
    const plan = this.#checkers.seen.plans.get(after.type)
    for (const name of Object.keys(after.timers)) {
      const isWrong =
        name === driftTimer
          ? !plan?.drift.has(after.status)
          : !plan?.timers.some((timer) => timer.name === name && timer.in.has(after.status))
      if (isWrong) this.#fail('timers', after, `'${name}' runs in ${after.status}, which nothing declares`)
    }
    for (const { kind, detail, at } of events) {
      if (kind !== 'timerFired') continue
      const { timer, due } = detail as { readonly timer: string; readonly due: Millis }
      if (due > at) this.#fail('timers', after, `'${timer}' was fired ${due - at} ms too early`)
      const isFirst = events[0]!.detail === detail
      if (isFirst && before?.timers[timer] !== due)
        this.#fail('timers', after, `'${timer}' was fired for ${due}, and is due at ${before?.timers[timer]}`)
    }
  }

  /** G2: what waits its turn begins with its own input, or is told to be dropped. */
  #judgeQueue(before: Resource, after: Resource, events: readonly Event[]): void {
    if (before.queue.length === 0 || before.queue === after.queue) return
    const left = [...events]
    for (const one of before.queue) {
      if (after.queue.some((other) => isSame(one, other))) continue
      const at = left.findIndex((event) => tellsOf(event, one))
      if (at >= 0) left.splice(at, 1)
      else if (!this.#isOver(after, one))
        this.#fail('G2', after, `the request for ${one.operation} that waited its turn is gone without a word`)
    }
  }

  /** It had nothing left to do when its turn came. */
  #isOver({ type, status }: Resource, { operation }: QueuedRequest): boolean {
    const plan = this.#checkers.seen.plans.get(type)
    return this.#kindOf(type, status) === 'terminal' && plan?.operations.get(operation)?.ifTerminal === 'succeed'
  }

  /** A run keeps what it has learnt, goes over its items one by one, and leaves a record. */
  #judgeRun(before: Resource, after: Resource, events: readonly Event[], batch: Batch): void {
    const was = before.run
    if (was === null || was.kind === 'drift') return
    const is = after.run
    if (is?.begun !== was.begun) {
      if (!batch.ended.some(({ no, begun }) => no === after.no && begun === was.begun))
        this.#fail('G2', after, `run ${was.begun} of ${was.operation} is gone without a record`)
      return
    }
    for (const name of Object.keys(was.results))
      if (!(name in is.results)) this.#fail('G2', after, `run ${was.begun} has lost what ${name} answered`)
    if (is.kind === 'operation') this.#judgeItems(was, is, after, events)
  }

  #judgeItems(was: Run, is: Run, after: Resource, events: readonly Event[]): void {
    if (was.items === null || is.items === null || was.step !== is.step || was.rounds !== is.rounds) return
    const { states } = this.#checkers.seen
    for (const { no } of was.items) {
      if (is.items.some((item) => item.no === no)) continue
      const id = states.get(no)?.id ?? String(no)
      const isTold = events.some(({ kind, detail }) => /^item(Done|Failed)$/.test(kind) && detail?.['item'] === id)
      if (!isTold) this.#fail('effects', after, `${id} was left out of step ${is.step} of ${is.operation}`)
    }
  }
}

const none: readonly Event[] = []

const isSame = (one: QueuedRequest, other: QueuedRequest): boolean =>
  one.operation === other.operation && one.at === other.at && one.key === other.key

function tellsOf({ kind, detail }: Event, { operation, input }: QueuedRequest): boolean {
  if (detail?.['operation'] !== operation) return false
  return kind === 'dropped' || (kind === 'accepted' && canonical(detail['input'] ?? null) === canonical(input))
}
