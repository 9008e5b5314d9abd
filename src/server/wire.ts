// Facts of the engine as they go over the wire: numbers become names, times become text. What is of another tenant is left out.
import { isoTime, type Millis } from '../base/clock.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { isOrphan } from '../decision/ledger.ts'
import { attemptOf } from '../decision/next-attempt.ts'
import { runId, whatFailed, type LedgerEntry, type No, type Resource, type StoredEvent } from '../decision/state.ts'
import type { PreviewRow } from '../engine/heal-control.ts'
import type { Engine } from '../engine/engine.ts'
import { liveStateOf, type RunView } from '../engine/run-view.ts'
import { z } from 'zod'
import type * as shape from '../protocol/shapes.ts'
import { sees, type Principal } from './principal.ts'
import { LastReasons, reasonsIn } from './last-reasons.ts'
import { stepsOf } from './steps.ts'

export type WireResource = z.infer<typeof shape.resource>
export type WireRun = z.infer<typeof shape.run>
export type WireEvent = z.infer<typeof shape.event>
export type CloudEvent = z.infer<typeof shape.cloudEvent>

export interface Ref {
  readonly type: string
  readonly id: string
  readonly tenant: string
}

export const etagOf = ({ revision }: Resource): string => `"r${revision}"`
export const timeOf = (at: Millis): string | null => (at === 0 ? null : isoTime(at))

/** Names of resources never change: remembered, up to so many. */
const namesMax = 50_000

export class Wire {
  readonly #engine: Engine
  readonly #names = new Map<No, Ref>()
  readonly #reasons: LastReasons

  constructor(engine: Engine) {
    this.#engine = engine
    this.#reasons = new LastReasons(engine)
  }

  /** The names of these resources, as far as they are there. */
  async names(nos: Iterable<No>): Promise<ReadonlyMap<No, Ref>> {
    const found = new Map<No, Ref>()
    const missing: No[] = []
    for (const no of new Set(nos)) {
      const known = this.#names.get(no)
      if (known === undefined) missing.push(no)
      else found.set(no, known)
    }
    for (const resource of await this.#engine.getMany(missing)) {
      if (resource === null) continue
      found.set(resource.no, this.learn(resource))
    }
    return found
  }

  /** A resource that is at hand need not be asked for by its number. */
  learn({ no, type, id, tenant }: Resource): Ref {
    const known = this.#names.get(no)
    if (known !== undefined) return known
    const ref = { type, id, tenant }
    if (this.#names.size >= namesMax) this.#names.delete(this.#names.keys().next().value!)
    this.#names.set(no, ref)
    return ref
  }

  async resources(principal: Principal, resources: readonly Resource[]): Promise<WireResource[]> {
    const related = new Set<No>()
    for (const { parent, links } of resources) {
      if (parent !== null) related.add(parent)
      for (const name in links) related.add(links[name]!)
    }
    const names = await this.names(related)
    const refOf = (no: No | null) => {
      const ref = no === null ? undefined : names.get(no)
      return ref !== undefined && sees(principal, ref.tenant) ? { type: ref.type, id: ref.id } : null
    }
    return resources.map((resource) => this.#resource(resource, refOf))
  }

  async resource(principal: Principal, resource: Resource): Promise<WireResource> {
    return (await this.resources(principal, [resource]))[0]!
  }

  #resource(resource: Resource, refOf: (no: No | null) => { type: string; id: string } | null): WireResource {
    const { id, type, tenant, name, status, description, properties, revision, epoch, since, createdAt } = resource
    const links: WireResource['links'] = {}
    for (const link in resource.links) {
      const ref = refOf(resource.links[link]!)
      if (ref !== null) links[link] = ref
    }
    return {
      id,
      type,
      tenant,
      name,
      parent: refOf(resource.parent),
      links,
      status,
      kind: this.#engine.plans.kindOf(type, status),
      description,
      properties: properties as WireResource['properties'],
      revision,
      epoch,
      etag: etagOf(resource),
      since: isoTime(since),
      createdAt: isoTime(createdAt),
      run: this.#runSummary(resource),
      timers: Object.fromEntries(Object.entries(resource.timers).map(([timer, at]) => [timer, isoTime(at)])),
      queued: resource.queue.map(({ operation, by, at }) => ({ operation, by, at: isoTime(at) })),
      orphans: resource.ledger.filter(isOrphan).length,
    }
  }

  #runSummary(resource: Resource): WireResource['run'] {
    const { run } = resource
    if (run === null) return null
    const operation = this.#engine.plans.get(resource.type)?.operations.get(run.operation)
    return {
      id: runId({ no: resource.no, begun: run.begun }),
      operation: run.operation,
      kind: run.kind,
      state: liveStateOf(run),
      step: operation?.steps[run.step]?.name ?? null,
      ...attemptOf(operation?.steps[run.step]?.retry, run),
      progress: run.progress,
    }
  }

  /** One resource with what may be asked of it, and for the rest the reason why not. */
  async detailed(principal: Principal, resource: Resource): Promise<WireResource> {
    const wire = await this.resource(principal, resource)
    const plan = this.#engine.plans.get(resource.type)
    if (plan === undefined) return { ...wire, allowed: [], refused: [] }
    const allowed = [...(await this.#engine.openOperations(resource))]
    const refused: NonNullable<WireResource['refused']> = []
    for (const { name, creates } of plan.operations.values()) {
      if (creates || allowed.includes(name)) continue
      const { type, no, id } = resource
      const request = {
        kind: 'requestOperation',
        type,
        no,
        id,
        operation: name,
        input: {},
        by: principal.name,
        tenant: principal.tenant ?? undefined,
      } as const
      const rejection = await this.#engine.wouldRefuse(request)
      // With an input that fits it would be accepted: nothing else stands against it.
      if (rejection === null || rejection.code === 'input_invalid') allowed.push(name)
      else refused.push({ operation: name, code: rejection.code, reason: rejection.message })
    }
    return { ...wire, allowed, refused }
  }

  /** Runs of resources that the principal may see; of the ended ones that failed the last reason. */
  async runs(principal: Principal, views: readonly RunView[]): Promise<WireRun[]> {
    const names = await this.names(views.map(({ no }) => no))
    const seen = views.flatMap((view) => {
      const ref = names.get(view.no)
      return ref !== undefined && sees(principal, ref.tenant) ? [{ view, ref }] : []
    })
    const reasons = await this.#reasons.of(seen.map(({ view }) => view))
    return seen.map(({ view, ref }) => {
      const run = this.#run(view, ref, null)
      const reason = reasons.get(view.id)
      return reason === undefined ? run : { ...run, reasons: [reason] }
    })
  }

  /** One run with what it did; null when it is of another tenant. */
  async run(principal: Principal, view: RunView): Promise<WireRun | null> {
    const ref = (await this.names([view.no])).get(view.no)
    if (ref === undefined || !sees(principal, ref.tenant)) return null
    const events = await this.#engine.runHistory(view.id)
    return { ...this.#run(view, ref, events), events: events.map((event) => eventOf(event, ref)) }
  }

  #run(view: RunView, ref: Ref, events: readonly StoredEvent[] | null): WireRun {
    const { id, operation, kind, state, isOver, status, by, live } = view
    const plan = this.#engine.plans.get(ref.type)?.operations.get(operation)
    return {
      id,
      resource: { type: ref.type, id: ref.id },
      operation,
      kind,
      state,
      isOver,
      status,
      by,
      acceptedAt: isoTime(view.acceptedAt),
      endedAt: view.endedAt === null ? null : isoTime(view.endedAt),
      phase: live?.phase ?? null,
      steps: plan === undefined ? [] : stepsOf(plan, view, events ?? []),
      ...(live === null ? { attempt: 0, round: 0 } : attemptOf(plan?.steps[live.step]?.retry, live)),
      input: live === null ? inputIn(events ?? []) : live.input,
      forced: live?.forced ?? state === 'forced',
      reasons: live === null ? reasonsIn(events ?? []) : [...whatFailed(live)],
      progress: live?.progress ?? '',
      nextCallAt: timeOf(live?.dueAt ?? 0),
      deadlineAt: timeOf(live?.deadlineAt ?? 0),
      parked: live?.parked == null ? null : { ...live.parked, at: isoTime(live.parked.at) },
      owner: live?.owner ?? 0,
      uncertain: live?.uncertain ?? false,
    }
  }

  /** Events of resources that the principal may see, as CloudEvents. */
  async cloudEvents(principal: Principal, events: readonly StoredEvent[]): Promise<CloudEvent[]> {
    const names = await this.names(events.map(({ no }) => no))
    return events.flatMap((event) => {
      const ref = names.get(event.no)
      return ref !== undefined && sees(principal, ref.tenant) ? [cloudEventOf(event, ref)] : []
    })
  }
}

/** What an ended run was asked with: its record does not tell, the event of its beginning does. */
const inputIn = (events: readonly StoredEvent[]): Json =>
  (events.find(({ kind }) => kind === 'accepted')?.detail?.['input'] ?? null) as Json

export function eventOf(event: StoredEvent, ref: Ref): WireEvent {
  const { n, at, kind, from, to, revision, epoch, begun, by, detail } = event
  return {
    n,
    at: isoTime(at),
    kind,
    resource: { type: ref.type, id: ref.id },
    from,
    to,
    revision,
    epoch,
    run: begun === 0 ? null : runId({ no: event.no, begun }),
    by,
    detail: detail as JsonObject | null,
  }
}

export function cloudEventOf(event: StoredEvent, ref: Ref): CloudEvent {
  return {
    specversion: '1.0',
    id: String(event.n),
    source: `/homeostat/${encodeURIComponent(ref.type)}`,
    type: `io.homeostat.resource.${event.kind}.v1`,
    subject: `${ref.type}/${ref.id}`,
    time: isoTime(event.at),
    datacontenttype: 'application/json',
    sequence: String(event.n).padStart(16, '0'),
    tenant: ref.tenant,
    data: eventOf(event, ref),
  }
}

export const ledgerEntryOf = ({ name, kind, state, ref, step, since }: LedgerEntry) => ({
  name,
  kind,
  state,
  ref: ref as Json,
  step,
  since: isoTime(since),
})

export const healPreviewOf = ({ type, id, status, found, rule, would, acts, mode, held }: PreviewRow) => ({
  resource: { type, id },
  status,
  found,
  rule,
  would,
  acts,
  mode,
  held,
})
