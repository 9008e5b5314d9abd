// Plays commands against `decide` on a table top: a plain in-memory situation, time by hand, no store, no engine.
// Every accepted decision is judged from outside (outside-checks.ts) before it is applied; what follows from it is delivered.
import { assert } from '../base/assert.ts'
import type { Millis } from '../base/clock.ts'
import type { Command, Found, ImportResource, Outcome, RequestOperation } from '../decision/command.ts'
import { View } from '../decision/conditions.ts'
import { decide } from '../decision/decide.ts'
import type { Accepted, Changes, Decision, Rejection } from '../decision/decision.ts'
import { Draft } from '../decision/draft.ts'
import { askKey, owedCalls, stepOf, type OwedCall } from '../decision/owed.ts'
import type { Situation } from '../decision/situation.ts'
import {
  runId,
  type EndedRun,
  type Event,
  type Incident,
  type KeyRecord,
  type LateResult,
  type No,
  type Resource,
} from '../decision/state.ts'
import { compilePlans } from '../lifecycle/compile-plan.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plans } from '../lifecycle/plan.ts'
import { OutsideChecks } from './outside-checks.ts'

/** A resource by its id (`type/id` where ids are not unique), its number or a state of it. */
export type Name = string | No | Resource

/** A call that some run owes. */
export interface Owed {
  readonly resource: Resource
  readonly call: OwedCall
}

/** What a pretended driver says to a call; null: nothing, ever. */
export type Answer = (owed: Owed) => Outcome | null

export class TableTop implements Situation {
  readonly plans: Plans
  readonly checks: OutsideChecks
  now: Millis = 1_000_000
  claimant = 1
  readonly resources = new Map<No, Resource>()
  readonly events: Event[] = []
  readonly ended: EndedRun[] = []
  readonly late: LateResult[] = []
  readonly incidents: Incident[] = []
  /** Follow-ups that were rejected when they were delivered. */
  readonly undelivered: { readonly command: Command; readonly rejection: Rejection }[] = []
  /** Ask related resources as soon as a run owes it, like a worker does. */
  asks = true
  /** Accepted decisions so far. */
  decisions = 0
  private readonly keys = new Map<string, KeyRecord>()
  private readonly asked = new Set<string>()
  private last: No = 0
  private changedNos: No[] = []

  /** A table with nothing on it; or a copy of another, on which one can try what would happen. */
  constructor(from: readonly AnyLifecycle[] | TableTop) {
    if (!(from instanceof TableTop)) {
      this.plans = compilePlans(from)
      this.checks = new OutsideChecks(from, this.plans)
      return
    }
    this.plans = from.plans
    this.checks = from.checks
    this.now = from.now
    this.claimant = from.claimant
    this.asks = from.asks
    this.last = from.last
    this.changedNos = [...from.changedNos]
    for (const [no, resource] of from.resources) this.resources.set(no, resource)
    for (const [key, record] of from.keys) this.keys.set(key, record)
    for (const key of from.asked) this.asked.add(key)
    this.events.push(...from.events)
    this.ended.push(...from.ended)
    this.incidents.push(...from.incidents)
  }

  // The situation.

  resource(no: No): Resource | null {
    return this.resources.get(no) ?? null
  }

  named(type: string, id: string): Resource | null {
    for (const one of this.resources.values()) if (one.type === type && one.id === id) return one
    return null
  }

  children(no: No): readonly Resource[] {
    return this.living((one) => one.parent === no)
  }

  linkedBy(no: No, link: string): readonly Resource[] {
    return this.living((one) => one.links[link] === no)
  }

  key(key: string): KeyRecord | null {
    return this.keys.get(key) ?? null
  }

  endedRun(no: No, begun: number): EndedRun | null {
    return this.ended.find((run) => run.no === no && run.begun === begun) ?? null
  }

  nextNo(): No {
    return ++this.last
  }

  private living(fits: (one: Resource) => boolean): Resource[] {
    return [...this.resources.values()]
      .filter((one) => fits(one) && this.plans.kindOf(one.type, one.status) !== 'terminal')
      .sort((a, b) => a.no - b.no)
  }

  // Commands.

  /** Decides, judges and applies the command, and delivers what follows from it. */
  send(command: Command): Decision {
    const decision = this.decideOne(command)
    const open = [...(decision.changes?.followUps ?? [])]
    if (this.asks) open.push(...this.owedAsks())
    for (let next = open.shift(), sent = 0; next !== undefined; next = open.shift()) {
      assert(++sent < 100_000, 'the follow-ups never end')
      const answer = this.decideOne(next)
      if (!answer.accepted) this.undelivered.push({ command: next, rejection: answer.rejection })
      if (!answer.accepted && next.kind === 'requestOperation' && next.askedBy)
        open.push(refusedAsk(next, answer.rejection))
      open.push(...(answer.changes?.followUps ?? []))
      if (this.asks) open.push(...this.owedAsks())
    }
    return decision
  }

  /** Without delivering what follows. */
  decideOne(command: Command): Decision {
    const before = this.last
    const decision = decide(this.plans, this, command)
    this.checks.judge(this, command, decision)
    if (!decision.accepted) this.last = before
    if (decision.changes !== null) this.apply(decision.changes)
    if (decision.accepted) {
      this.decisions++
      this.checks.judgeWorld(this, command)
    }
    return decision
  }

  private apply(changes: Changes): void {
    for (const written of changes.writes) {
      this.resources.set(written.no, written)
      this.changedNos.push(written.no)
    }
    this.events.push(...changes.events)
    this.ended.push(...changes.ended)
    this.late.push(...changes.late)
    this.incidents.push(...changes.incidents)
    if (changes.key !== null) this.keys.set(changes.key.key, changes.key)
  }

  /** Sends a command that must be accepted. */
  ok(command: Command): Accepted {
    const decision = this.send(command)
    assert(decision.accepted, `${command.kind} was refused: ${decision.accepted ? '' : words(decision.rejection)}`)
    return decision
  }

  /** Sends a command that must be refused. */
  refused(command: Command): Rejection {
    const decision = this.send(command)
    assert(!decision.accepted, `${command.kind} was accepted`)
    return decision.rejection
  }

  asking(name: Name, operation: string, input?: unknown, more: Partial<RequestOperation> = {}): RequestOperation {
    const { no, type } = this.get(name)
    return { kind: 'requestOperation', type, no, operation, input, by: 'ann', ...more }
  }

  request(name: Name, operation: string, input?: unknown, more: Partial<RequestOperation> = {}): Accepted {
    return this.ok(this.asking(name, operation, input, more))
  }

  creating(
    type: string,
    id: string | undefined,
    create: RequestOperation['create'] & { readonly input?: unknown; readonly operation?: string } = {},
  ): RequestOperation {
    const { input, operation = 'create', ...given } = create
    return { kind: 'requestOperation', type, id, operation, input, create: given, by: 'ann' }
  }

  create(...of: Parameters<TableTop['creating']>): Resource {
    return this.ok(this.creating(...of)).resource
  }

  /** Puts a resource there as it is, also in a transitional status. */
  place(type: string, id: string, status: string, more: Partial<ImportResource> = {}): Resource {
    const command = { kind: 'importResource', type, id, status, properties: {}, by: 'importer', ...more } as const
    return this.ok(command).resource
  }

  // Outcomes of the calls that a run owes.

  ending(name: Name, outcome: Outcome, item?: Name): Command {
    const resource = this.get(name)
    const call = this.call(resource, item)
    return { kind: 'callEnded', no: resource.no, epoch: resource.epoch, call: call.name, outcome, by: 'worker' }
  }

  end(name: Name, outcome: Outcome, item?: Name): Resource {
    return this.ok(this.ending(name, outcome, item)).resource
  }

  done(name: Name, result?: unknown, item?: Name): Resource {
    return this.end(name, { kind: 'done', result }, item)
  }

  /** For good, unless `terminal: false`. */
  failed(
    name: Name,
    reason: string,
    { item, code = 'Broken', terminal = true }: { item?: Name; code?: string; terminal?: boolean } = {},
  ): Resource {
    return this.end(name, { kind: 'failed', code, reason, terminal }, item)
  }

  again(name: Name, afterMs: number, item?: Name): Resource {
    return this.end(name, { kind: 'again', afterMs }, item)
  }

  unknown(name: Name, reason = 'connection lost', item?: Name): Resource {
    return this.end(name, { kind: 'unknown', reason }, item)
  }

  answered(name: Name, answer: string, observed: unknown = null): Resource {
    return this.end(name, { kind: 'answered', answer, observed })
  }

  healing(name: Name, found: Found = 'ownerLost', more: { readonly override?: boolean } = {}): Command {
    const { no, revision } = this.get(name)
    return { kind: 'heal', no, found, revision, owner: this.claimant, by: 'healer', ...more }
  }

  heal(name: Name, found: Found = 'ownerLost', more: { readonly override?: boolean } = {}): Resource {
    return this.ok(this.healing(name, found, more)).resource
  }

  deadline(name: Name): Command {
    const { no, epoch } = this.get(name)
    return { kind: 'deadlinePassed', no, epoch, by: 'worker' }
  }

  /** Time passes; nothing else happens by itself. */
  advance(ms: number): void {
    this.now += ms
  }

  /** Fires the timers that are due: by rank, then due time, then number. */
  fireTimers(): void {
    const due = [...this.resources.values()].flatMap((one) =>
      Object.entries(one.timers)
        .filter(([, at]) => at <= this.now)
        .map(([timer, at]) => ({ no: one.no, timer, at, rank: this.rankOf(one, timer) })),
    )
    due.sort((a, b) => a.rank - b.rank || a.at - b.at || a.no - b.no)
    for (const { no, timer } of due) this.send({ kind: 'timerFired', no, timer, by: 'clock' })
  }

  private rankOf({ type }: Resource, timer: string): number {
    return this.plans.get(type)?.timers.find((one) => one.name === timer)?.rank ?? 0
  }

  // Looking.

  find(name: Name): Resource | null {
    if (typeof name === 'object') return this.resource(name.no)
    if (typeof name === 'number') return this.resource(name)
    const found = [...this.resources.values()].filter((one) => one.id === name || `${one.type}/${one.id}` === name)
    assert(found.length <= 1, `several resources are called ${name}: say type/id`)
    return found[0] ?? null
  }

  get(name: Name): Resource {
    const found = this.find(name)
    assert(found !== null, `nothing is called ${typeof name === 'object' ? name.id : name}`)
    return found
  }

  status(name: Name): string {
    return this.get(name).status
  }

  statuses(...names: Name[]): string[] {
    return names.map((name) => this.status(name))
  }

  /** What every run owes now; asks and parked runs excepted. */
  owed(): readonly Owed[] {
    return [...this.resources.values()].flatMap((resource) =>
      owedCalls(this.plans.get(resource.type)!, resource)
        .filter((call) => call.does !== 'ask')
        .map((call) => ({ resource, call })),
    )
  }

  /** The functions that a run owes calls of, with their items. */
  owedBy(name: Name): string[] {
    const resource = this.get(name)
    return owedCalls(this.plans.get(resource.type)!, resource).map((call) =>
      call.item === 0 ? call.function : `${call.function}(${this.get(call.item).id})`,
    )
  }

  call(name: Name, item?: Name): OwedCall {
    const resource = this.get(name)
    const no = item === undefined ? undefined : this.get(item).no
    const calls = owedCalls(this.plans.get(resource.type)!, resource)
    const call = calls.find((one) => no === undefined || one.item === no)
    assert(call !== undefined, `${resource.id} (${resource.status}) owes no such call`)
    return call
  }

  eventsOf(name: Name): Event[] {
    const { no } = this.get(name)
    return this.events.filter((event) => event.no === no)
  }

  lastEvent(name: Name): Event {
    const event = this.eventsOf(name).at(-1)
    assert(event !== undefined, 'nothing happened to it')
    return event
  }

  // Asks, sent like a worker does.

  /** New requests of runs that changed since the last look. */
  private owedAsks(): Command[] {
    const commands: Command[] = []
    for (const no of this.changedNos) {
      const resource = this.resources.get(no)!
      const plan = this.plans.get(resource.type)!
      for (const call of owedCalls(plan, resource)) {
        if (call.does !== 'ask' || this.asked.has(call.key)) continue
        this.asked.add(call.key)
        const item = this.resources.get(call.item)!
        const isGone = this.plans.kindOf(item.type, item.status) === 'terminal'
        commands.push(
          isGone ? this.ending(resource, { kind: 'done', result: null }, item) : this.askFor(resource, call),
        )
      }
    }
    this.changedNos = []
    return commands
  }

  /** The request that an asking run owes. */
  askFor(resource: Resource, call: OwedCall): RequestOperation {
    const run = resource.run!
    const plan = this.plans.get(resource.type)!
    const item = this.resources.get(call.item)!
    const relation = run.items!.find((one) => one.no === call.item)!.relation
    const ask = stepOf(plan, run).asks.find((one) => one.relation === relation)!
    const view = new View(new Draft(this.plans, this, ''), plan, resource).with(item)
    const asker = { no: resource.no, begun: run.begun }
    return {
      kind: 'requestOperation',
      type: item.type,
      no: item.no,
      operation: call.function,
      input: ask.input?.(view),
      by: `run ${runId(asker)}`,
      lane: run.lane,
      key: askKey(call.key),
      askedBy: asker,
    }
  }
}

function refusedAsk({ no, askedBy }: RequestOperation, { message }: Rejection): Command {
  const item = { no: no!, begun: 0 }
  return { kind: 'relatedRunEnded', no: askedBy!.no, begun: askedBy!.begun, item, outcome: 'refused', reason: message }
}

const words = ({ code, message }: Rejection): string => `${code}: ${message}`
