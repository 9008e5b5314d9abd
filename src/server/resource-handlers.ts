// Lifecycles and resources over HTTP.
import { isoTime } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { RequestOperation } from '../decision/command.ts'
import type { Resource } from '../decision/state.ts'
import { pictureOf } from '../drawing/picture.ts'
import { placedOf } from '../drawing/placed.ts'
import { svgOf } from '../drawing/svg.ts'
import { jsonSchemaOf } from '../lifecycle/schema.ts'
import { lifecycleJson } from '../lifecycle/lifecycle-json.ts'
import { toMermaid } from '../lifecycle/to-mermaid.ts'
import { typeOf, type AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plan } from '../lifecycle/plan.ts'
import { z } from 'zod'
import type { lifecycle as lifecycleShape } from '../protocol/lifecycle-shape.ts'
import type { RouteName } from '../protocol/routes.ts'
import { Reply, type Call, type Handlers } from './call.ts'
import { importLines } from './import-lines.ts'
import { madeOnce } from './made-once.ts'
import { findResources } from './find-resources.ts'
import { demand, sees, type Principal } from './principal.ts'
import { tenantFor, tokenNumber } from './reach.ts'
import type { Services } from './services.ts'
import { refuseUnknown } from './unknown-names.ts'
import { etagOf, eventOf, ledgerEntryOf } from './wire.ts'

type Names =
  | 'listLifecycles'
  | 'getLifecycle'
  | 'drawLifecycle'
  | 'placeLifecycle'
  | 'drawMermaid'
  | 'countResources'
  | 'createResource'
  | 'listAllResources'
  | 'listResources'
  | 'getResource'
  | 'setStatus'
  | 'operate'
  | 'deleteResource'
  | 'getHistory'
  | 'listRunsOf'
  | 'explainResource'
  | 'getLedger'
  | 'getRelated'
  | 'importResources'

export const resourceHandlers: Handlers<Names> = {
  async listLifecycles({ services, principal }) {
    const counts = await countsFor(services, principal)
    return {
      items: services.engine.lifecycles.map((lifecycle) => {
        const type = typeOf(lifecycle)
        return { type, lifecycle: jsonOf(services, lifecycle), counts: counts.get(type) ?? {} }
      }),
    }
  },
  getLifecycle: (call) => jsonOf(call.services, lifecycleOf(call)),
  drawLifecycle(call) {
    const { theme } = call.query
    const lifecycle = lifecycleOf(call)
    const svg = madeOnce(call.services, `svg ${theme} ${typeOf(lifecycle)}`, () =>
      svgOf(pictureFor(call, lifecycle), theme),
    )
    return new Reply(svg, { headers: { 'content-type': 'image/svg+xml; charset=utf-8' } })
  },
  placeLifecycle(call) {
    const lifecycle = lifecycleOf(call)
    return madeOnce(call.services, `places ${typeOf(lifecycle)}`, () => placedOf(pictureFor(call, lifecycle)))
  },
  async countResources({ services, principal }) {
    const counts = await countsFor(services, principal)
    return { items: services.engine.lifecycles.map(typeOf).map((type) => ({ type, counts: counts.get(type) ?? {} })) }
  },
  drawMermaid: (call) => new Reply(toMermaid(lifecycleOf(call), call.services.engine.lifecycles)),

  async createResource(call) {
    const { body, principal } = call
    const plan = call.plan(call.parameters.type)
    const operation = body.operation ?? creationOf(plan)
    refuseOtherThanCreating(plan, operation)
    const tenant = tenantFor(principal, body.tenant)
    const { parent, properties, links, name, id } = body
    const create = {
      tenant: tenant ?? undefined,
      name,
      links,
      properties,
      parent: parent === undefined ? undefined : { type: plan.parentType ?? '', id: parent },
    }
    const command: RequestOperation = {
      kind: 'requestOperation',
      type: plan.type,
      id,
      operation,
      create,
      input: body.input,
      by: principal.name,
      // Decided in the commit: what it names of another tenant is as if it were not there.
      tenant: principal.tenant ?? undefined,
      trace: call.trace,
      ...ownKey(call),
    }
    await refuseLost(call, plan, command)
    const done = await call.submit(command, { detail: { operation } })
    return acceptedReply(call, done)
  },
  listAllResources: (call) => findResources(call, null, call.query),
  listResources: (call) => findResources(call, call.plan(call.parameters.type), call.query),
  async getResource(call) {
    const resource = await call.resource(call.parameters.type, call.parameters.id)
    const etag = etagOf(resource)
    const known = call.asked.header('if-none-match')
    if (known !== undefined && known.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, ''))))
      return new Reply(undefined, { status: 304, headers: { etag } })
    return new Reply(await call.services.wire.detailed(call.principal, resource), { headers: { etag } })
  },
  async setStatus(call) {
    const { status, reason } = call.body
    const ifRevision = call.ifRevision
    const { no, revision } = await call.resource(call.parameters.type, call.parameters.id)
    if (ifRevision !== undefined && ifRevision !== revision && call.replayed === null) throw staleAt(call, revision)
    const command = { kind: 'setStatus', no, status, reason, by: call.principal.name, ifRevision } as const
    return call.accepted(await call.submit(command, { reason, detail: { status } }))
  },
  async operate(call) {
    const { type, id, operation } = call.parameters
    const command = request(call, type, id, operation, call.body)
    await refuseLost(call, call.plan(type), command)
    const done = await call.submit(command, { reason: reasonIn(call.body), detail: { operation } })
    return acceptedReply(call, done)
  },
  async deleteResource(call) {
    const { type, id } = call.parameters
    const { force, reason } = call.query
    const isForced = force === 'true'
    if (isForced) {
      demand(call.principal, 'force')
      if (reason === undefined)
        throw new HomeostatError('reason_required', 'A forced delete needs a reason: give `reason` in the query.')
    }
    const plan = call.plan(type)
    const operation = removalOf(plan)
    const input = reason !== undefined && takesReason(call.services, plan, operation) ? { reason } : undefined
    const command = { ...request(call, type, id, operation, input), force: isForced, reason }
    const done = await call.submit(command, { reason, detail: { operation, force: isForced } })
    return acceptedReply(call, done)
  },

  async getHistory(call) {
    const { type, id } = call.parameters
    const resource = await call.resource(type, id)
    const { pageSize, pageToken } = call.query
    const before = pageToken === undefined ? null : tokenNumber(pageToken)
    const events = await call.services.engine.history(type, id, before, pageSize)
    return {
      items: events.map((event) => eventOf(event, resource)),
      nextPageToken: events.length < pageSize ? null : String(events.at(-1)!.n),
    }
  },
  async listRunsOf(call) {
    const { type, id } = call.parameters
    await call.resource(type, id)
    const { pageSize, pageToken } = call.query
    const before = pageToken === undefined ? undefined : tokenNumber(pageToken)
    const { runs, next } = await call.services.engine.runsPageOf(type, id, { limit: pageSize, before })
    const items = await call.services.wire.runs(call.principal, runs)
    return { items, nextPageToken: next === null ? null : String(next) }
  },
  async explainResource(call) {
    const { type, id } = call.parameters
    const resource = await call.resource(type, id)
    const { engine } = call.services
    const [explanation, healing] = await Promise.all([
      engine.explain(type, id, call.principal.tenant ?? undefined),
      engine.heal.previewOf(resource),
    ])
    const { because, next, settlesWithinMs, allowed } = explanation
    return {
      because: [...because],
      next: next === null ? null : { what: next.what, at: next.at === null ? null : isoTime(next.at) },
      settlesWithinMs,
      allowed: [...allowed],
      stuck:
        healing === null
          ? null
          : { found: healing.found, rule: healing.rule, would: healing.would, held: healing.held },
    }
  },
  async getLedger(call) {
    const { ledger } = await call.resource(call.parameters.type, call.parameters.id)
    return { items: ledger.map(ledgerEntryOf) }
  },
  async getRelated(call) {
    const { type, id } = call.parameters
    await call.resource(type, id)
    const { wire, engine } = call.services
    const relations: Record<string, Awaited<ReturnType<typeof wire.resources>>> = {}
    for (const [name, found] of Object.entries(await engine.related(type, id))) {
      const seen = found.filter((one) => sees(call.principal, one.tenant)).slice(0, relatedMax)
      relations[name] = await wire.resources(call.principal, seen)
    }
    return { relations }
  },
  importResources: (call) => importLines(call),
}

const relatedMax = 1_000
const reasonMost = 1_000

type WireLifecycle = z.infer<typeof lifecycleShape>

const jsonOf = (services: Services, lifecycle: AnyLifecycle) =>
  madeOnce(services, `json ${typeOf(lifecycle)}`, () => lifecycleJson(lifecycle) as unknown as WireLifecycle)

const pictureFor = ({ services }: Call, lifecycle: AnyLifecycle) => pictureOf(lifecycle, services.engine.lifecycles)

function lifecycleOf(call: Call<'getLifecycle' | 'drawLifecycle' | 'placeLifecycle' | 'drawMermaid'>): AnyLifecycle {
  const { type } = call.parameters
  call.plan(type)
  return call.services.engine.lifecycles.find((one) => typeOf(one) === type)!
}

/** Resources by type and status, of the principal's tenant. */
async function countsFor({ engine }: Services, { tenant }: Principal): Promise<Map<string, Record<string, number>>> {
  const byType = new Map<string, Record<string, number>>()
  const add = (type: string, status: string, count: number) => {
    const counts = byType.get(type) ?? {}
    counts[status] = (counts[status] ?? 0) + count
    byType.set(type, counts)
  }
  const of = tenant === null ? {} : { tenant }
  for (const { type, status, count } of await engine.counts(of)) add(type, status, count)
  return byType
}

function refuseOtherThanCreating(plan: Plan, operation: string): void {
  if (plan.operations.get(operation)?.creates) return
  const creating = [...plan.operations.values()].filter((one) => one.creates).map((one) => one.name)
  const bringer = plan.parentType ?? plan.relations.get(plan.pair?.relation ?? '')?.type
  throw new HomeostatError(
    'operation_unknown',
    creating.length === 0
      ? `No ${plan.type} is created by itself: it comes with ${bringer === undefined ? 'another resource' : `its ${bringer}`}.`
      : `${plan.type} has no operation '${operation}' that creates. It has ${creating.join(', ')}.`,
  )
}

/** `create`, or the only operation that starts from nothing. */
function creationOf(plan: Plan): string {
  const creating = [...plan.operations.values()].filter((one) => one.creates)
  return creating.length === 1 ? creating[0]!.name : 'create'
}

function removalOf(plan: Plan): string {
  if (plan.operations.has('delete')) return 'delete'
  const removing = [...plan.operations.values()].filter((one) => one.removes && !one.creates)
  if (removing.length === 1) return removing[0]!.name
  const names = removing.map((one) => one.name).join(', ') || 'none'
  throw new HomeostatError(
    'operation_unknown',
    `${plan.type} has no operation 'delete'; operations that remove: ${names}.`,
  )
}

/** Whether the operation's own input has a reason: whoever deletes with one is asked for it only once. */
const takesReason = (services: Services, plan: Plan, operation: string): boolean =>
  madeOnce(services, `reason ${plan.type} ${operation}`, () => {
    const schema = jsonSchemaOf(plan.operations.get(operation)?.input ?? undefined, 'input')
    const names = schema?.['properties'] as Record<string, { readonly type?: Json }> | undefined
    return names?.['reason']?.type === 'string'
  })

/** The reason that an operation is given as input is the one that the audit keeps, as with a delete. */
function reasonIn(input: Json | undefined): string | undefined {
  const { reason } = (input ?? {}) as { readonly reason?: Json }
  return typeof reason === 'string' ? reason.slice(0, reasonMost) : undefined
}

function request(
  call: Call<'operate' | 'deleteResource'>,
  type: string,
  id: string,
  operation: string,
  input: Json | undefined,
): RequestOperation {
  const plan = call.plan(type)
  const known = plan.operations.get(operation)
  if (known?.creates)
    throw new HomeostatError('operation_unknown', `${operation} creates one ${type}: POST /v1/resources/${type}.`)
  return {
    kind: 'requestOperation',
    type,
    id,
    operation,
    // An input that is left out is an empty one, where there is something to give.
    input: input ?? (known?.input ? {} : undefined),
    by: call.principal.name,
    ifRevision: call.ifRevision,
    // Decided in the commit: of another tenant is as if it were not there.
    tenant: call.principal.tenant ?? undefined,
    trace: call.trace,
    ...ownKey(call),
  }
}

/** What a schema would drop without a word is refused: a mistyped name would be lost. Reasons that come before it are told first. */
async function refuseLost(call: Call, plan: Plan, command: RequestOperation): Promise<void> {
  const { operation, create, input } = command
  try {
    if (create !== undefined)
      refuseUnknown(
        'properties_invalid',
        `The properties of the new ${plan.type} do not`,
        plan.properties,
        create.properties,
      )
    const known = plan.operations.get(operation)?.input
    if (known) refuseUnknown('input_invalid', `The input of ${operation} of ${plan.type} does not`, known, input)
  } catch (error) {
    const before = await call.services.engine.wouldRefuse(command)
    if (before === null) throw error
    throw new HomeostatError(before.code, before.message, { details: before.details })
  }
}

const ownKey = ({ key }: Call<RouteName>): { readonly key?: string } => (key === null ? {} : { key: `http/${key}` })

async function acceptedReply(
  call: Call,
  done: { readonly resource: Resource; readonly begun: number },
): Promise<Reply> {
  const answer = { ...(await call.accepted(done)), outcome: outcomeOf(call, done) }
  const { resource, run } = answer
  const location = run === null ? `/v1/resources/${enc(resource.type)}/${enc(resource.id)}` : `/v1/runs/${enc(run.id)}`
  return new Reply(answer, { headers: { location, etag: resource.etag } })
}

/** Only what has its turn still to come can stand where something may yet be done. */
function outcomeOf({ services }: Call, { resource, begun }: { readonly resource: Resource; readonly begun: number }) {
  if (begun !== 0) return 'begun'
  return services.engine.plans.kindOf(resource.type, resource.status) === 'terminal' ? 'over' : 'queued'
}

const enc = encodeURIComponent

const staleAt = (call: Call<'setStatus'>, revision: number) =>
  new HomeostatError(
    'revision_conflict',
    `${call.parameters.type} ${call.parameters.id} is at revision ${revision}. Read it again.`,
    { details: { revision } },
  )
