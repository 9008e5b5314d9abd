// Judges decisions from outside, by the declarations alone and with code of its own: what the core computes is never believed.
// Used on the table top and in the simulation.
import { assert } from '../base/assert.ts'
import type { Command } from '../decision/command.ts'
import type { Changes, Decision } from '../decision/decision.ts'
import { assertInvariants } from '../decision/invariants.ts'
import type { Event, Item, No, Resource } from '../decision/state.ts'
import { declarationOf, type ConditionData, type Declaration } from '../lifecycle/declaration.ts'
import { edgesOf } from '../lifecycle/lifecycle-graph.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plans } from '../lifecycle/plan.ts'
import { relatedTypeOf, relationKindOf } from '../lifecycle/relation.ts'

/** All resources as they are before the decision is applied. */
export interface World {
  readonly resources: ReadonlyMap<No, Resource>
}

export class OutsideChecks {
  private readonly plans: Plans
  private readonly declarations: ReadonlyMap<string, Declaration>
  private readonly edges: ReadonlySet<string>

  constructor(lifecycles: readonly AnyLifecycle[], plans: Plans) {
    this.plans = plans
    this.declarations = new Map(lifecycles.map((one) => [declarationOf(one).type, declarationOf(one)]))
    this.edges = new Set(
      lifecycles.flatMap((one) => edgesOf(one, lifecycles)).map(({ type, from, to }) => edge(type, from, to)),
    )
  }

  /** Called with the world before the decision is applied. */
  judge(world: World, command: Command, decision: Decision): void {
    const { changes } = decision
    if (changes === null) return
    if (!decision.accepted) {
      assert(changes.writes.length === 0 && changes.events.length === 0, `${command.kind}: rejected, yet it writes`)
      return
    }
    const written = new Map(changes.writes.map((after) => [after.no, after]))
    assert(written.size === changes.writes.length, `${command.kind}: one resource is written twice`)
    for (const after of changes.writes) {
      this.judgeWrite(world.resources.get(after.no) ?? null, after, command)
      const before = world.resources.get(after.no)
      if (before !== undefined) this.judgeChange(before, after, command)
      this.judgeEvents(world.resources.get(after.no) ?? null, after, changes, command)
    }
    for (const event of changes.events) assert(written.has(event.no), `${command.kind}: an event of nothing written`)
    for (const { no, begun } of changes.ended) {
      assert(written.get(no)?.run?.begun !== begun, `${command.kind}: a run that ended is still under way`)
    }
    this.judgeLostRuns(world, changes, command)
    this.judgeAskers(world, changes, command)
    if (command.kind !== 'importResource') this.judgeRules(world, written, command)
  }

  private judgeWrite(before: Resource | null, after: Resource, command: Command): void {
    const name = `${command.kind}: ${after.type} ${after.id}`
    assert(
      after.revision === (before?.revision ?? 0) + 1,
      `${name}: from revision ${before?.revision} to ${after.revision}`,
    )
    assert(before === null || after.epoch >= before.epoch, `${name}: the epoch went down`)
    assert(before === null || before.type === after.type, `${name}: the type changed`)
    assertInvariants(this.plans, after)
    if (before !== null && before.status !== after.status)
      assert(after.since >= before.since, `${name}: since went back`)
    const checked = this.plans.get(after.type)!.properties['~standard'].validate(after.properties)
    assert(!(checked instanceof Promise) && checked.issues === undefined, `${name}: its properties do not fit`)
  }

  /** Ownership moves only with the epoch, what may exist leaves the ledger only when somebody says that it is gone. */
  private judgeChange(before: Resource, after: Resource, command: Command): void {
    const name = `${command.kind}: ${after.type} ${after.id}`
    if (this.plans.kindOf(before.type, before.status) === 'terminal')
      assert(after.status === before.status, `${name}: left ${before.status} for ${after.status}`)
    const was = before.run
    const is = after.run
    if (is !== null && (was === null || was.begun !== is.begun || was.owner !== is.owner || was.family !== is.family))
      assert(after.epoch > before.epoch, `${name}: its run changed hands without a new epoch`)
    if (fencing.has(command.kind) && 'no' in command && command.no === after.no)
      assert(after.epoch > before.epoch || after.queue !== before.queue, `${name}: nobody is fenced off`)
    if (is !== null && was?.begun === is.begun && 'outcome' in command && typeof command.outcome === 'object') {
      const isSame = (one: Item) => is.items?.find(({ no }) => no === one.no)?.attempt === one.attempt
      if (command.outcome.kind === 'again' && after.no === command.no)
        assert(is.attempt === was.attempt && (was.items ?? []).every(isSame), `${name}: "again" spent an attempt`)
    }
    if (maySayGone(command)) return
    for (const entry of before.ledger)
      assert(
        after.ledger.some((one) => one.name === entry.name),
        `${name}: ${entry.name} (${entry.state}) left the ledger, though nobody said that it is gone`,
      )
  }

  /** Whoever asked for a run is told of its end in the same decision, unless it is attempted again. */
  private judgeAskers(world: World, changes: Changes, command: Command): void {
    for (const { no, begun } of changes.ended) {
      const run = world.resources.get(no)?.run
      if (run?.begun !== begun || run.askedBy === null) continue
      const next = changes.writes.find((after) => after.no === no)?.run?.askedBy
      const isTold = changes.followUps.some(
        (one) => one.kind === 'relatedRunEnded' && one.no === run.askedBy!.no && one.item.no === no,
      )
      const goesOn = next?.no === run.askedBy.no && next.begun === run.askedBy.begun
      assert(isTold || goesOn, `${command.kind}: nobody tells the asker of run ${begun} of resource ${no}`)
    }
  }

  /** The events of a resource tell its way without a gap, and every move on it is declared. */
  private judgeEvents(before: Resource | null, after: Resource, changes: Changes, command: Command): void {
    const name = `${command.kind}: ${after.type} ${after.id}`
    const events = changes.events.filter((event) => event.no === after.no)
    let at = before?.status ?? ''
    const told = new Set<string>()
    for (const event of events) {
      assert(event.from === at, `${name}: ${event.kind} is told from ${event.from}, but it stood in ${at}`)
      at = event.to
      assert(event.revision === after.revision, `${name}: ${event.kind} tells revision ${event.revision}`)
      assert(event.epoch <= after.epoch, `${name}: ${event.kind} tells epoch ${event.epoch}`)
      const once = `${event.kind} ${event.begun}`
      assert(event.kind === 'moved' || event.kind === 'dropped' || !told.has(once), `${name}: ${once} is told twice`)
      told.add(once)
      this.judgeEdge(event, after, command)
    }
    assert(at === after.status, `${name}: stands in ${after.status}, but the last event tells ${at}`)
    if (before?.run != null && after.run?.begun !== before.run.begun && before.run.kind !== 'drift') {
      assert(events.length > 0, `${name}: its run ended without an event`)
    }
  }

  private judgeEdge(event: Event, { type, id }: Resource, command: Command): void {
    if (event.from === event.to || command.kind === 'setStatus' || command.kind === 'importResource') return
    assert(
      this.edges.has(edge(type, event.from, event.to)),
      `${command.kind}: ${type} ${id} goes from '${event.from}' to '${event.to}' (${event.kind}), which no declaration says`,
    )
  }

  /** A run leaves a resource only by its end, which is recorded. */
  private judgeLostRuns(world: World, changes: Changes, command: Command): void {
    for (const after of changes.writes) {
      const run = world.resources.get(after.no)?.run
      if (run == null || after.run?.begun === run.begun || run.kind === 'drift') continue
      assert(
        changes.ended.some((one) => one.no === after.no && one.begun === run.begun),
        `${command.kind}: the run of ${after.type} ${after.id} is gone without a record`,
      )
    }
  }

  /** Every rule of every resource holds, unless it was broken before and nothing it looks at has changed. */
  private judgeRules(world: World, written: ReadonlyMap<No, Resource>, command: Command): void {
    if (written.size === 0) return
    const after = new Map([...world.resources, ...written])
    for (const resource of after.values()) {
      const breach = this.breachOf(after, resource)
      if (breach === null) continue
      const isOld = world.resources.has(resource.no) && this.breachOf(world.resources, resource) !== null
      const looks = [resource, ...this.lookedAt(after, resource)]
      const touched = looks.filter((one) => isChanged(world.resources.get(one.no), written.get(one.no)))
      assert(isOld && touched.length === 0, `${command.kind}: ${resource.type} ${resource.id} breaks ${breach}`)
    }
  }

  private breachOf(world: ReadonlyMap<No, Resource>, { no, type }: Resource): string | null {
    const resource = world.get(no)!
    const { rules } = this.declarations.get(type)!
    for (const [name, { holds }] of Object.entries(rules)) {
      const rows = holds[resource.status]
      if (rows === undefined) continue
      const list = (Array.isArray(rows) ? rows : [rows]) as readonly ConditionData[]
      if (!list.some((row) => this.isSo(world, resource, row))) return `${name} in ${resource.status}`
    }
    return null
  }

  private lookedAt(world: ReadonlyMap<No, Resource>, resource: Resource): Resource[] {
    const { relations } = this.declarations.get(resource.type)!
    return Object.keys(relations).flatMap((name) => this.related(world, resource, name))
  }

  private isSo(world: ReadonlyMap<No, Resource>, resource: Resource, row: ConditionData): boolean {
    const { relations } = this.declarations.get(resource.type)!
    return Object.entries(row).every(([key, is]) => {
      if (!(key in relations)) return (Array.isArray(is) ? is : [is]).includes(resource.properties[key])
      const statuses = this.related(world, resource, key).map((one) => one.status)
      if (Array.isArray(is)) return statuses.some((one) => is.includes(one))
      const how = is as { every?: string[]; some?: string[]; none?: string[]; exists?: boolean }
      if (how.exists !== undefined) return statuses.length > 0 === how.exists
      if (how.every) return statuses.every((one) => how.every!.includes(one))
      if (how.some) return statuses.some((one) => how.some!.includes(one))
      return !statuses.some((one) => how.none!.includes(one))
    })
  }

  /** To-many relations hold only what is not terminal. */
  private related(world: ReadonlyMap<No, Resource>, of: Resource, name: string): Resource[] {
    const relation = this.declarations.get(of.type)!.relations[name]!
    const kind = relationKindOf(relation)
    const type = relatedTypeOf(relation)?.type
    const { where = {}, as = '' } = relation as { where?: Record<string, unknown>; as?: string }
    const all = [...world.values()].filter((one) => one.type === type)
    const living = all
      .filter((one) => this.plans.kindOf(one.type, one.status) !== 'terminal')
      .filter((one) => Object.entries(where).every(([key, value]) => one.properties[key] === value))
      .sort((a, b) => a.no - b.no)
    const isUnder = (one: Resource): boolean =>
      one.parent !== null && (one.parent === of.no || (world.has(one.parent) && isUnder(world.get(one.parent)!)))
    switch (kind) {
      case 'parent':
        return all.filter((one) => one.no === of.parent)
      case 'link':
        return all.filter((one) => one.no === of.links[name])
      case 'children':
        return living.filter((one) => one.parent === of.no)
      case 'child':
        return living.filter((one) => one.parent === of.no).slice(0, 1)
      case 'siblings':
        return living.filter((one) => of.parent !== null && one.parent === of.parent && one.no !== of.no)
      case 'linkedBy':
        return living.filter((one) => one.links[as] === of.no)
      case 'pair':
        return of.links['pair'] === undefined
          ? living.filter((one) => one.links['pair'] === of.no)
          : all.filter((one) => one.no === of.links['pair'])
      case 'descendants':
        return living.filter(isUnder)
      case undefined:
        return []
    }
  }

  /** Called with the world after the decision was applied. */
  judgeWorld({ resources }: World, command: Command): void {
    for (const resource of resources.values()) {
      const plan = this.plans.get(resource.type)!
      if (plan.kinds.get(resource.status) !== 'transitional' || resource.run !== null) continue
      const holder = resource.holder === null ? undefined : resources.get(resource.holder.no)
      const isHeld = holder?.run != null && holder.run.begun === resource.holder!.begun
      assert(
        isHeld || plan.heal.has(resource.status),
        `${command.kind}: ${resource.type} ${resource.id} stands in ${resource.status}, and nothing leads out`,
      )
    }
    this.judgePairs(resources, command)
  }

  /** Both sides of a pair show the same status, unless somebody put them there by hand. */
  private judgePairs(resources: ReadonlyMap<No, Resource>, command: Command): void {
    if (command.kind === 'importResource') return
    for (const follower of resources.values()) {
      const leader = follower.links['pair'] === undefined ? undefined : resources.get(follower.links['pair'])
      if (leader === undefined || this.apart.has(follower.no)) continue
      assert(
        leader.status === follower.status,
        `${command.kind}: ${leader.type} ${leader.id} is ${leader.status}, its pair ${follower.status}`,
      )
    }
  }

  /** Followers that a test put out of step on purpose. */
  readonly apart = new Set<No>()
}

/** What takes a run out of the hands it was in. */
const fencing: ReadonlySet<Command['kind']> = new Set([
  'claim',
  'handOver',
  'heal',
  'setStatus',
  'cancelRun',
  'retryRun',
  'skipStep',
])

/** A call that ended well, or a sweeper or person: only these know that something is gone. */
function maySayGone(command: Command): boolean {
  if (command.kind === 'orphanEnded') return true
  if (command.kind !== 'callEnded' && command.kind !== 'completeStep') return false
  return command.outcome.kind === 'done' || command.outcome.kind === 'answered'
}

const edge = (type: string, from: string, to: string): string => `${type}\n${from}\n${to}`

/** What rules look at. */
const isChanged = (before: Resource | undefined, after: Resource | undefined): boolean =>
  after !== undefined &&
  (before === undefined ||
    before.status !== after.status ||
    JSON.stringify(before.properties) !== JSON.stringify(after.properties) ||
    JSON.stringify(before.links) !== JSON.stringify(after.links))
