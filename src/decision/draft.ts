// The state a decision is working on: what was loaded, overlaid by what this decision has changed so far.
// Nothing here is visible to anybody until the whole decision is accepted and committed.
import type { ErrorCode } from '../base/errors.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Millis } from '../base/clock.ts'
import type { Plan, Plans, RelationPlan } from '../lifecycle/plan.ts'
import type { Command } from './command.ts'
import { damageReport, damageWords, isDamaged } from './damage.ts'
import type { Changes, Rejection } from './decision.ts'
import type { Situation } from './situation.ts'
import type { Damage, EndedRun, Event, EventKind, Incident, KeyRecord, LateResult, No, Resource } from './state.ts'

/** Leaves a decision from anywhere inside it: the command is rejected, nothing it drafted is kept. */
export class Refusal {
  readonly rejection: Rejection
  constructor(code: ErrorCode, message: string, details?: Json) {
    this.rejection = details === undefined ? { code, message } : { code, message, details }
  }
}

/** The declaration itself is wrong here (a function threw, a move is not declared). Rejected, with an incident. */
export class DeclarationDefect {
  readonly no: No
  readonly text: string
  constructor(no: No, text: string) {
    this.no = no
    this.text = text
  }
}

/** Most decisions write one resource and one event: lists are made with their first entry, so that they are no longer than that. */
const empty: readonly never[] = []

/** So far a draft had come, so that something that was refused on the way can be taken back whole. */
export interface Mark {
  readonly writes: readonly Resource[]
  readonly events: number
  readonly ended: number
  readonly followUps: number
  readonly incidents: number
}

/** With more writes than this they are found by a map. */
const fewWrites = 16

export class Draft {
  readonly plans: Plans
  readonly situation: Situation
  readonly now: Millis
  readonly by: string
  writes: Resource[] = empty as unknown as Resource[]
  /** What each of the writes was before this decision; null: it is new. */
  befores: (Resource | null)[] = empty as unknown as Resource[]
  events: Event[] = empty as unknown as Event[]
  ended: EndedRun[] | null = null
  followUps: Command[] | null = null
  incidents: Incident[] | null = null
  late: LateResult[] | null = null
  key: KeyRecord | null = null
  /** Of this one a person says where it really stands: what could not be read is given up. */
  repairs: No | null = null
  /** Whoever asks sees only what is of this tenant; undefined: all. */
  within: string | undefined = undefined
  private places: Map<No, number> | null = null

  constructor(plans: Plans, situation: Situation, by: string) {
    this.plans = plans
    this.situation = situation
    this.now = situation.now
    this.by = by
  }

  changes(): Changes {
    return {
      writes: this.writes,
      events: this.events,
      ended: this.ended ?? empty,
      key: this.key,
      late: this.late ?? empty,
      incidents: this.incidents ?? empty,
      followUps: this.followUps ?? empty,
    }
  }

  /** A resource that somebody has named. Null: there is none, or none that he sees. */
  seen(resource: Resource | null): Resource | null {
    return this.within === undefined || resource?.tenant === this.within ? resource : null
  }

  /** As whoever asks may know it: what is of another tenant is not named. */
  nameOf(resource: Resource): string {
    return this.seen(resource) === null ? `a ${resource.type} of another tenant` : `${resource.type} ${resource.id}`
  }

  planOf(resource: Resource): Plan {
    const plan = this.plans.get(resource.type)
    if (!plan) throw new Refusal('type_unknown', `No lifecycle of type ${resource.type} is loaded.`)
    return plan
  }

  mark(): Mark {
    return {
      writes: [...this.writes],
      events: this.events.length,
      ended: this.ended?.length ?? 0,
      followUps: this.followUps?.length ?? 0,
      incidents: this.incidents?.length ?? 0,
    }
  }

  /** Takes back everything since the mark. */
  restore({ writes, events, ended, followUps, incidents }: Mark): void {
    this.writes = [...writes]
    this.befores = this.befores.slice(0, writes.length)
    this.places = null
    this.events = this.events.slice(0, events)
    if (this.ended !== null) this.ended.length = ended
    if (this.followUps !== null) this.followUps.length = followUps
    if (this.incidents !== null) this.incidents.length = incidents
  }

  private place(no: No): number {
    const { writes } = this
    if (writes.length <= fewWrites) {
      for (let i = writes.length - 1; i >= 0; i--) if (writes[i]!.no === no) return i
      return -1
    }
    this.places ??= new Map(writes.map((one, at) => [one.no, at]))
    return this.places.get(no) ?? -1
  }

  private push(before: Resource | null, after: Resource): Resource {
    if (this.writes.length === 0) {
      this.befores = [before]
      this.writes = [after]
    } else {
      this.places?.set(after.no, this.writes.length)
      this.befores.push(before)
      this.writes.push(after)
    }
    return after
  }

  get(no: No): Resource | null {
    const at = this.place(no)
    return at >= 0 ? this.writes[at]! : this.situation.resource(no)
  }

  /** Every touched resource counts one revision, however often this decision changes it. */
  change(before: Resource, patch: Partial<Omit<Resource, 'no' | 'type' | 'id' | 'revision' | 'last'>>): Resource {
    const at = this.place(before.no)
    const after: Record<string, unknown> = { ...(at >= 0 ? this.writes[at]! : before) }
    for (const name in patch) after[name] = patch[name as keyof typeof patch]
    return this.keep(at, before, after as unknown as Resource)
  }

  /** Takes a state that the caller has made anew and whole; its revision is set here. */
  put(before: Resource, after: Resource): Resource {
    return this.keep(this.place(before.no), before, after)
  }

  private keep(at: number, before: Resource, after: { -readonly [Key in keyof Resource]: Resource[Key] }): Resource {
    if (before.damaged !== undefined) this.overDamaged(before, after)
    after.revision = at >= 0 ? this.writes[at]!.revision : before.revision + 1
    return at >= 0 ? (this.writes[at] = after) : this.push(before, after)
  }

  /** Nothing is written over what could not be read, but for the record of a run, which healing knows how to do without. */
  private overDamaged(before: Resource, after: { damaged?: Damage }): void {
    if (isDamaged(before) && this.repairs !== before.no) this.refuseDamaged(before)
    this.report(damageReport(before))
    delete after.damaged
  }

  refuseDamaged(resource: Resource): never {
    this.report(damageReport(resource))
    throw new Refusal('state_damaged', damageWords(resource))
  }

  create(resource: Resource): Resource {
    return this.push(null, resource)
  }

  isCreated(no: No): boolean {
    const at = this.place(no)
    return at >= 0 && this.befores[at] === null
  }

  /** A fact for the history. `resource` is its state after the change. */
  tell(
    resource: Resource,
    kind: EventKind,
    from: string,
    detail: JsonObject | null,
    begun = resource.run?.begun ?? 0,
  ): void {
    const event: Event = {
      no: resource.no,
      at: this.now,
      kind,
      from,
      to: resource.status,
      revision: resource.revision,
      epoch: resource.epoch,
      begun,
      by: this.by,
      detail,
    }
    if (this.events.length === 0) this.events = [event]
    else this.events.push(event)
  }

  end(run: EndedRun): void {
    ;(this.ended ??= []).push(run)
  }

  follow(command: Command): void {
    ;(this.followUps ??= []).push(command)
  }

  report(incident: Omit<Incident, 'at'>): void {
    ;(this.incidents ??= []).push({ ...incident, at: this.now })
  }

  isTerminal(resource: Resource): boolean {
    return this.plans.kindOf(resource.type, resource.status) === 'terminal'
  }

  isTransitional(resource: Resource): boolean {
    return this.plans.kindOf(resource.type, resource.status) === 'transitional'
  }

  /** The related resources as they are in this draft. To-many relations hold only what is not terminal. */
  related(of: Resource, relation: RelationPlan): readonly Resource[] {
    switch (relation.kind) {
      case 'parent':
        return this.one(of.parent, relation.type)
      case 'link':
        return this.one(of.links[relation.name] ?? null, relation.type)
      case 'pair':
        return this.pairOf(of, relation)
      case 'linkedBy':
        return this.linking(of, relation)
      case 'siblings':
        return of.parent === null ? empty : this.childrenOf(of.parent, relation).filter((one) => one.no !== of.no)
      case 'children':
        return this.childrenOf(of.no, relation)
      case 'child':
        return this.childrenOf(of.no, relation).slice(0, 1)
      case 'descendants':
        return this.descendantsOf(of.no, relation)
    }
  }

  private one(no: No | null, type: string): readonly Resource[] {
    const found = no === null ? null : this.get(no)
    return found !== null && found.type === type ? [found] : empty
  }

  /** The follower links to its leader under the name `pair`. */
  private pairOf(of: Resource, relation: RelationPlan): readonly Resource[] {
    if (of.links['pair'] !== undefined) return this.one(of.links['pair'], relation.type)
    return this.linking(of, { ...relation, as: 'pair' })
  }

  private linking(of: Resource, relation: RelationPlan): readonly Resource[] {
    const found: Resource[] = []
    // Nothing stored can link to a resource that is created here; to ask would never end, since each try gives it another number.
    if (!this.isCreated(of.no)) {
      for (const one of this.situation.linkedBy(of.no, relation.as)) {
        const now = this.current(one)
        if (now.links[relation.as] === of.no && now.type === relation.type && !this.isTerminal(now)) found.push(now)
      }
    }
    for (const one of this.writes) {
      if (
        one.links[relation.as] === of.no &&
        one.type === relation.type &&
        !this.isTerminal(one) &&
        !found.includes(one)
      )
        found.push(one)
    }
    return found
  }

  /** Stored and new ones; a relation asks for those of its type that fit it, none for all. */
  private childrenOf(parent: No, relation: RelationPlan | null): Resource[] {
    const found: Resource[] = []
    // A resource created here can have no stored children.
    if (!this.isCreated(parent)) {
      for (const one of this.situation.children(parent)) {
        if (relation !== null && one.type !== relation.type) continue
        this.add(found, this.current(one), relation)
      }
    }
    for (let i = 0; i < this.writes.length; i++) {
      const one = this.writes[i]!
      if (one.parent === parent && this.befores[i] === null) this.add(found, one, relation)
    }
    return found
  }

  private add(found: Resource[], one: Resource, relation: RelationPlan | null): void {
    if (relation !== null && !fits(one, relation)) return
    if (!this.isTerminal(one)) found.push(one)
  }

  private descendantsOf(root: No, relation: RelationPlan): Resource[] {
    const found: Resource[] = []
    const seen = new Set<No>([root])
    const open = [root]
    for (let no = open.pop(); no !== undefined; no = open.pop()) {
      for (const child of this.childrenOf(no, null)) {
        if (seen.has(child.no)) continue
        seen.add(child.no)
        if (fits(child, relation)) found.push(child)
        open.push(child.no)
      }
    }
    return found.sort((a, b) => a.no - b.no)
  }

  private current(loaded: Resource): Resource {
    const at = this.place(loaded.no)
    return at >= 0 ? this.writes[at]! : loaded
  }
}

function fits(resource: Resource, relation: RelationPlan): boolean {
  if (resource.type !== relation.type) return false
  for (const [name, value] of relation.where) if (resource.properties[name] !== value) return false
  return true
}
