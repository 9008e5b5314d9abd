// What the console needs beside what programs ask for: kept views, figures over time, lanes and drains, late results, ways to sign in.
import { isoTime } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { Reply, type Call, type Handlers } from './call.ts'
import { padded, type Found } from './objects.ts'
import { sha256 } from './principal.ts'

type Names =
  | 'listViews'
  | 'saveView'
  | 'deleteView'
  | 'readTrends'
  | 'readLanes'
  | 'drainWorker'
  | 'signInWays'
  | 'listLateResults'

const viewsMost = 500

export const consoleHandlers: Handlers<Names> = {
  async listViews(call) {
    const views = await viewsOf(call)
    return {
      items: views.map(wireView).toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    }
  },
  async saveView(call) {
    const { objects, clock } = call.services
    const { tenant, name: by } = call.principal
    const { name, search } = call.body
    const id = sha256(JSON.stringify([tenant, name])).slice(0, 16)
    const before = await objects.get('view', id)
    if (before !== null && call.replayed !== null) return wireView(before)
    if (before === null && (await viewsOf(call)).length >= viewsMost)
      throw new HomeostatError('limit_exceeded', `${viewsMost} views are kept already. Remove some first.`)
    const record = { tenant, name, search, by, at: clock.now() }
    await call.write([objects.change('view', id, before?.version ?? 0, record)], { target: `view/${name}` })
    return wireView({ key: id, value: record, version: 0 })
  },
  async deleteView(call) {
    const { objects } = call.services
    const found = (await viewsOf(call)).find(({ key }) => key === call.parameters.view)
    if (found === undefined && call.replayed === null)
      throw new HomeostatError('view_not_found', 'There is no such view.')
    if (found !== undefined)
      await call.write([objects.change('view', found.key, found.version, null)], { target: `view/${found.value.name}` })
    return new Reply(undefined)
  },

  readTrends(call) {
    const { minutes, type } = call.query
    if (type !== undefined) call.plan(type)
    const { sliceMs, since, points, whole } = call.services.trends.read(minutes, type)
    return {
      sliceMs,
      since: isoTime(since),
      points: points.map((point) => ({ ...point, at: isoTime(point.at) })),
      whole,
    }
  },
  async readLanes({ services }) {
    const { engine, objects } = services
    const { worker, incarnation } = engine.health()
    const drains = await objects.list('drain', { limit: 100 })
    const living = new Set((await engine.workers()).map(({ no }) => no))
    return {
      worker: incarnation,
      hasWorker: worker !== null,
      capacity: engine.settings.concurrency,
      owned: worker?.owned ?? 0,
      runsMost: engine.settings.runs,
      oldestWaitMs: await engine.oldestWaitMs(),
      lanes: (worker?.lanes ?? []).map((figures) => ({ ...figures })),
      drains: drains
        .filter(({ key }) => living.has(Number(key)))
        .map(({ key, value: { by, at, reason } }) => ({
          worker: Number(key),
          by,
          at: isoTime(at),
          reason,
          // Of another process only its own log can tell.
          isDone: Number(key) === incarnation && worker === null,
        })),
    }
  },
  async drainWorker(call) {
    const { engine, objects, clock } = call.services
    const no = Number(call.parameters.worker)
    const found = (await engine.workers()).find((one) => one.no === no)
    if (found === undefined || found.state !== 'live')
      throw new HomeostatError(
        'worker_not_found',
        `No worker ${call.parameters.worker} is alive. GET /v1/workers names those that are.`,
      )
    const before = await objects.get('drain', padded(no))
    const { reason } = call.body
    if (before === null) {
      const record = { by: call.principal.name, at: clock.now(), reason }
      await call.write([objects.change('drain', padded(no), 0, record)], { target: `worker/${no}`, reason })
    }
    // Another process looks for itself (drain-watch.ts).
    const isHere = no === engine.incarnation
    if (isHere) void engine.drain()
    return { worker: no, isHere }
  },
  signInWays: ({ services: { issuer } }) => ({
    oidc: issuer === null ? null : { href: '/sign-in/oidc', issuer: URL.parse(issuer)?.host ?? '' },
  }),
  async listLateResults(call) {
    const { type, id } = call.parameters
    await call.resource(type, id)
    const late = await call.services.engine.lateResults(type, id)
    return {
      items: late.map(({ call: name, epoch, at, outcome }) => ({ call: name, epoch, at: isoTime(at), outcome })),
    }
  },
}

/** Of the tenant of who asks; who works in all tenants has views of his own kind. */
async function viewsOf(call: Call): Promise<readonly Found<'view'>[]> {
  const { tenant } = call.principal
  const all = await call.services.objects.all('view', tenant)
  return all.filter(({ value }) => value.tenant === tenant)
}

const wireView = ({ key, value: { name, search, by, at } }: Found<'view'>) => ({
  id: key,
  name,
  search,
  by,
  at: isoTime(at),
})
