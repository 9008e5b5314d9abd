// Healing, orphans, incidents and workers over HTTP.
import { isoTime } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { isOrphan } from '../decision/ledger.ts'
import type { Incident, Resource } from '../decision/state.ts'
import { approveAll } from './approve-all.ts'
import { Reply, type Call, type Handlers } from './call.ts'
import { sees, type Principal } from './principal.ts'
import { stuckPlaceOf, stuckToken, tokenNumber } from './reach.ts'
import { recordConflict } from './objects.ts'
import type { Services } from './services.ts'
import { healPreviewOf, ledgerEntryOf } from './wire.ts'

type Names =
  | 'listStuck'
  | 'getHealing'
  | 'previewHealing'
  | 'runHealing'
  | 'approveHealing'
  | 'approveAllHealing'
  | 'setHealingMode'
  | 'setBreaker'
  | 'listOrphans'
  | 'sweepOrphan'
  | 'adoptOrphan'
  | 'writeOffOrphan'
  | 'listIncidents'
  | 'closeIncident'
  | 'listWorkers'

const stuckQuery = (
  principal: Principal,
  query: { readonly pageSize: number; readonly pageToken?: string | undefined },
) => ({
  limit: query.pageSize,
  tenant: principal.tenant ?? undefined,
  from: stuckPlaceOf(query.pageToken),
})

export const healingHandlers: Handlers<Names> = {
  async listStuck({ services, principal, query }) {
    const { engine, wire } = services
    const { stuck, next } = await engine.heal.stuckPage(stuckQuery(principal, query))
    const [resources, held] = await Promise.all([
      wire.resources(
        principal,
        stuck.map(({ resource }) => resource),
      ),
      engine.heal.heldOf(stuck),
    ])
    return {
      items: stuck.map(({ found, resource: { type, status } }, index) => ({
        resource: resources[index]!,
        found,
        rule: engine.plans.get(type)?.heal.get(status)?.words ?? '',
        held: held[index]!,
      })),
      nextPageToken: stuckToken(next),
    }
  },
  getHealing: ({ services }) => healingOf(services),
  async previewHealing({ services, principal, query }) {
    const { rows, next } = await services.engine.heal.previewPage(stuckQuery(principal, query))
    return {
      items: rows.map(healPreviewOf),
      nextPageToken: stuckToken(next),
    }
  },
  async runHealing(call) {
    // It changes nothing by itself: what healing does has its own events.
    await call.write([], { target: 'healing' })
    call.services.engine.heal.run()
    return { asked: true }
  },
  async approveHealing(call) {
    const { type, id, reason } = call.body
    const resource = await call.resource(type, id)
    const { no, revision } = resource
    const { heal } = call.services.engine
    const isNew = call.replayed === null
    const found = isNew ? await heal.foundFor(resource) : 'unowned'
    const by = call.principal.name
    const command = { kind: 'heal', no, found, revision, owner: 0, by, override: true } as const
    const done = await call.submit(command, { reason, detail: { found } })
    if (isNew) await heal.countApproved([{ resource, found }])
    return call.accepted(done)
  },
  approveAllHealing: approveAll,
  async setHealingMode(call) {
    const { type, status } = call.parameters
    const { mode, reason } = call.body
    const { heal } = call.services.engine
    const was = (await heal.modes())[`${type}/${status}`] ?? 'auto'
    const noted = { target: `${type}/${status}`, reason, detail: { mode, was } }
    await heal.setMode(type, status, mode, call.beside(noted, {}))
    return healingOf(call.services)
  },
  async setBreaker(call) {
    const { type } = call.parameters
    const { isOpen, reason } = call.body
    call.plan(type)
    const { heal } = call.services.engine
    const beside = call.beside({ target: type, reason, detail: { isOpen } }, {})
    await (isOpen ? heal.openBreaker(type, reason, beside) : heal.closeBreaker(type, beside))
    return healingOf(call.services)
  },

  async listOrphans(call) {
    const { services, principal } = call
    const { engine } = services
    const { pageSize, pageToken } = call.query
    const after = pageToken === undefined ? 0 : tokenNumber(pageToken)
    // A page is of resources; each has few orphans.
    const found = await engine.orphans(pageSize, after, principal.tenant ?? undefined)
    const last = found.at(-1)?.resource.no ?? null
    const owners = new Set(found.map(({ resource }) => resource.no)).size
    return {
      items: found.map(({ resource: { type, id, tenant }, entry }) => ({
        id: entry.name,
        resource: { type, id },
        tenant,
        entry: ledgerEntryOf(entry),
      })),
      nextPageToken: owners < pageSize || last === null ? null : String(last),
      ...straysFor(principal, engine),
    }
  },
  async sweepOrphan(call) {
    const { resource, name } = await orphanOf(call)
    const { reason } = call.body
    if (call.replayed !== null) return { swept: true, message: 'It was asked for already.' }
    const fault = await call.services.engine.sweepNow(resource, name, call.principal.name, {
      begun: () => call.beside({ target: name, reason }, {}, 'begun'),
      ended: (why) => ({
        journal: [call.auditEntry(why === null ? 'done' : 'failed', { target: name, reason, detail: { why } })],
      }),
    })
    return { swept: fault === null, message: fault ?? 'It is gone.' }
  },
  adoptOrphan: (call) => endOrphan(call, 'adopted'),
  writeOffOrphan: (call) => endOrphan(call, 'writtenOff'),

  async listIncidents(call) {
    const { services, principal, query } = call
    const { pageSize, pageToken, type, id } = query
    if ((type === undefined) !== (id === undefined))
      throw new HomeostatError('request_invalid', '`type` and `id` name a resource together: give both or none.')
    const of = type === undefined ? null : await call.resource(type, id!)
    const found = await services.engine.incidents(pageSize, {
      tenant: principal.tenant ?? undefined,
      no: of?.no,
      before: pageToken === undefined ? undefined : tokenNumber(pageToken),
    })
    const names = await services.wire.names(found.map(({ no }) => no))
    return {
      items: found.flatMap((incident) => {
        const ref = names.get(incident.no)
        if (ref === undefined) return []
        const { type, id, tenant } = ref
        const { kind, at, status, text, evidence } = incident
        return {
          id: incidentId(incident),
          kind,
          resource: { type, id },
          tenant,
          at: isoTime(at),
          status,
          text,
          evidence: { ...evidence },
        }
      }),
      nextPageToken: found.length < pageSize ? null : String(found.at(-1)!.n),
    }
  },
  async closeIncident(call) {
    if (call.replayed !== null) return new Reply(undefined)
    const { engine } = call.services
    const { owner, kind } = await incidentOf(call)
    const { reason } = call.body
    const beside = call.beside({ target: `${owner.type}/${owner.id}`, reason, detail: { kind } }, {})
    if (!(await engine.closeIncident(owner.no, kind, beside))) throw recordConflict()
    return new Reply(undefined)
  },
  async listWorkers({ services }) {
    const { engine } = services
    const rows = await engine.workers()
    return {
      items: rows.map(({ no, name, state, startedAt, beatAt, leaseUntil }) => ({
        no,
        name,
        state,
        startedAt: isoTime(startedAt),
        beatAt: isoTime(beatAt),
        leaseUntil: isoTime(leaseUntil),
        isHere: no === engine.incarnation,
      })),
    }
  },
}

/** Strays are of no tenant, and only a process with a worker compares inventories. */
function straysFor({ tenant }: Principal, engine: Services['engine']) {
  const straysUnknown =
    tenant !== null
      ? 'Strays belong to no tenant: only principals of all tenants see them.'
      : engine.health().worker === null
        ? 'The server that answers has no worker: it compares no inventories. Ask one that has.'
        : null
  const strays = straysUnknown === null ? engine.strays : []
  return { strays: strays.map((one) => ({ ...one, firstSeenAt: isoTime(one.firstSeenAt) })), straysUnknown }
}

const incidentId = ({ no, kind }: Incident): string => `${no.toString(36)}-${kind}`

/** An open incident of a resource that the principal may see. */
async function incidentOf(
  call: Call<'closeIncident'>,
): Promise<{ readonly owner: Resource; readonly kind: Incident['kind'] }> {
  const { engine } = call.services
  const id = call.parameters.incident
  const at = id.indexOf('-')
  const no = /^[0-9a-z]{1,10}$/.test(id.slice(0, at)) ? Number.parseInt(id.slice(0, at), 36) : 0
  const owner = no === 0 ? null : await engine.getByNo(no)
  const open = owner !== null && sees(call.principal, owner.tenant) ? await engine.incidents(100, { no }) : []
  const found = open.find((one) => incidentId(one) === id)
  if (owner !== null && found !== undefined) return { owner, kind: found.kind }
  throw new HomeostatError('incident_not_found', `There is no open incident ${id}.`)
}

async function healingOf({ engine }: Services) {
  const [modes, breakers, scores] = [
    await engine.heal.modes(),
    await engine.heal.breakers(),
    await engine.heal.scoreboard(),
  ]
  const { lastHealingPassAgeMs, healing } = engine.health()
  return {
    lastPassAgeMs: lastHealingPassAgeMs,
    passes: healing?.passes ?? 0,
    healed: healing?.healed ?? 0,
    modes: engine.plans.all.flatMap(({ type, heal }) =>
      [...heal].map(([status, { words }]) => ({
        type,
        status,
        mode: modes[`${type}/${status}`] ?? ('auto' as const),
        rule: words,
      })),
    ),
    breakers: engine.plans.all.map(({ type }) => {
      const breaker = breakers[type]
      return {
        type,
        isOpen: breaker !== undefined,
        openedAt: breaker === undefined ? null : isoTime(breaker.openedAt),
        reason: breaker?.reason ?? '',
      }
    }),
    scoreboard: scores.map((score) => ({ ...score, lastAt: isoTime(score.lastAt) })),
  }
}

/** An orphan by its name in the ledger, `type/id/kind/n`. */
async function orphanOf(call: Call<'sweepOrphan' | 'adoptOrphan' | 'writeOffOrphan'>) {
  const name = call.parameters.orphan
  const [type = '', id = ''] = name.split('/')
  const resource: Resource | null =
    call.services.engine.plans.get(type) === undefined ? null : await call.services.engine.get(type, id)
  const entry = resource?.ledger.find((one) => one.name === name)
  const isThere = resource !== null && sees(call.principal, resource.tenant)
  if (!isThere || (call.replayed === null && (entry === undefined || !isOrphan(entry))))
    throw new HomeostatError('orphan_not_found', `The ledger has no orphan '${name.slice(0, 200)}'.`)
  return { resource, name }
}

async function endOrphan(call: Call<'adoptOrphan' | 'writeOffOrphan'>, how: 'adopted' | 'writtenOff') {
  const { resource, name } = await orphanOf(call)
  const { reason } = call.body
  const by = call.principal.name
  const command = { kind: 'orphanEnded', no: resource.no, name, how, sweeper: 0, reason, by } as const
  const done = await call.submit(command, { target: name, reason })
  return call.services.wire.resource(call.principal, done.resource)
}
