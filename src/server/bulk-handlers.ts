// Bulk operations over HTTP: made with a frozen list of targets, looked at, paused, resumed, cancelled.
import { didYouMeanOf } from '../base/did-you-mean.ts'
import { isoTime } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { allowedOperations, inputFault } from '../decision/begin-run.ts'
import type { Resource } from '../decision/state.ts'
import type { RouteName } from '../protocol/routes.ts'
import { z } from 'zod'
import type * as shape from '../protocol/shapes.ts'
import { bulkId, itemKey } from './bulk-runner.ts'
import { Reply, type Call, type Handlers } from './call.ts'
import { fits, storeQuery } from './find-resources.ts'
import { isConflict, type BulkItemRecord, type BulkRecord, type Found } from './objects.ts'
import { sees } from './principal.ts'
import { noToken, tokenNumber } from './reach.ts'
import { refuseUnknown } from './unknown-names.ts'

type Names = 'createBulk' | 'listBulk' | 'getBulk' | 'listBulkItems' | 'pauseBulk' | 'resumeBulk' | 'cancelBulk'
type WireBulk = z.infer<typeof shape.bulk>

const targetsMax = 100_000
/** Items written in one commit: the bulk operation begins when all are there. */
const itemsAtOnce = 1_000

export const bulkHandlers: Handlers<Names> = {
  async createBulk(call) {
    const { body, services } = call
    const { filter, operation, reason, perSecond, dryRun, expected } = body
    const plan = call.plan(filter.type)
    if (!plan.operations.has(operation) || plan.operations.get(operation)!.creates) {
      const known = [...plan.operations.values()].filter((one) => !one.creates).map((one) => one.name)
      throw new HomeostatError(
        'operation_unknown',
        `${plan.type} has no operation '${operation}' for what exists. ${didYouMeanOf(operation, known)}`,
      )
    }
    const asked = plan.operations.get(operation)!
    if (asked.input !== null)
      refuseUnknown('input_invalid', `The input of ${operation} of ${plan.type} does not`, asked.input, body.input)
    // Every one of them would be refused.
    const misfit = inputFault(plan, asked, body.input)
    if (misfit !== null) throw new HomeostatError(misfit.code, misfit.message, { details: misfit.details })
    const before = call.replayed as { readonly bulk: string } | null
    if (before !== null) {
      const bulk = await bulkOf(call, before.bulk)
      return madeReply({ bulk, total: bulk.total, allowed: bulk.total, sample: [] })
    }
    const targets = await targetsOf(call)
    const allowed = targets.filter((one) => allowedOperations(plan, one).includes(operation)).length
    const sample = targets.slice(0, 20).map(({ type, id }) => ({ type, id }))
    if (expected !== undefined && expected !== targets.length)
      throw new HomeostatError(
        'bulk_changed',
        `${targets.length} resources fit the filter, not ${expected}. Look again.`,
        {
          details: { total: targets.length },
        },
      )
    if (dryRun) return new Reply({ bulk: null, total: targets.length, allowed, sample }, { status: 200 })
    const now = services.clock.now()
    const id = bulkId(now, call.asked.id)
    const record: BulkRecord = {
      id,
      tenant: call.principal.tenant,
      filter: filter as Json,
      operation,
      input: body.input ?? null,
      reason,
      by: call.principal.name,
      state: 'running',
      perSecond,
      total: targets.length,
      createdAt: now,
      endedAt: null,
    }
    const noted = { target: `bulk/${id}`, reason, detail: { operation, total: targets.length } }
    try {
      await freeze(call, id, targets)
      await call.write([services.objects.change('bulk', id, 0, record)], noted, { bulk: id })
    } catch (error) {
      // The same request was quicker in another process: this list is nobody's.
      if (isConflict(error)) await services.bulk.forget(id)
      throw error
    }
    services.bulk.wake()
    return madeReply({ bulk: await bulkOf(call, id), total: targets.length, allowed, sample })
  },
  async listBulk(call) {
    const { pageSize, pageToken } = call.query
    const tenant = call.principal.tenant ?? undefined
    const after = pageToken === undefined ? '' : keyToken(pageToken)
    const page = await call.services.objects.list('bulk', { after, limit: pageSize, tenant })
    return {
      items: await Promise.all(page.map(({ value }) => wireBulk(call, value))),
      nextPageToken: page.length < pageSize ? null : page.at(-1)!.key,
    }
  },
  getBulk: (call) => bulkOf(call, call.parameters.bulk),
  async listBulkItems(call) {
    const { objects, wire } = call.services
    const { value } = await found(call, call.parameters.bulk)
    const { pageSize, pageToken } = call.query
    const from = pageToken === undefined ? 0 : tokenNumber(pageToken)
    const items = await objects.under('bulk item', `${value.id}/`, {
      after: from === 0 ? '' : itemKey(value.id, from - 1),
      limit: pageSize,
    })
    const names = await wire.names(items.map((item) => item.value.no))
    return {
      items: items.map((item, index) => ({
        index: from + index,
        resource: refOf(names.get(item.value.no)),
        state: item.value.state,
        run: item.value.run,
        code: item.value.code,
        message: item.value.message,
      })),
      nextPageToken: items.length < pageSize ? null : String(from + items.length),
    }
  },
  pauseBulk: (call) => turn(call, 'paused'),
  resumeBulk: (call) => turn(call, 'running'),
  cancelBulk: (call) => turn(call, 'cancelled'),
}

const madeReply = (answer: { readonly bulk: WireBulk } & Record<string, unknown>) =>
  new Reply(answer, { headers: { location: `/v1/bulk/${answer.bulk.id}` } })

const refOf = (ref: { readonly type: string; readonly id: string } | undefined) => ({
  type: ref?.type ?? '',
  id: ref?.id ?? '',
})

/** A key of a bulk operation, as the page before gave it. */
function keyToken(token: string): string {
  if (/^[\w-]{1,100}$/.test(token)) return token
  throw noToken(token)
}

async function targetsOf(call: Call<'createBulk'>): Promise<Resource[]> {
  const { engine } = call.services
  const { type, ...given } = call.body.filter
  const plan = call.plan(type)
  const query = await storeQuery(call, plan, given)
  const targets: Resource[] = []
  if (query === null) return targets
  const isWanted = fits(plan, given)
  for (let after: number | null = 0; after !== null;) {
    const page: Awaited<ReturnType<typeof engine.list>> = await engine.list({ ...query, after, limit: 1_000 })
    targets.push(...page.resources.filter((one) => isWanted(one) && sees(call.principal, one.tenant)))
    if (targets.length > targetsMax)
      throw new HomeostatError('limit_exceeded', `More than ${targetsMax} resources fit. Narrow the filter.`)
    after = page.next
  }
  return targets
}

async function freeze(call: Call<'createBulk'>, id: string, targets: readonly Resource[]): Promise<void> {
  const { objects } = call.services
  const waiting = { state: 'waiting', run: null, code: null, message: '' } as const
  for (let from = 0; from < targets.length; from += itemsAtOnce) {
    const some = targets.slice(from, from + itemsAtOnce)
    const items = some.map(({ no }, index) => {
      const item: BulkItemRecord = { no, ...waiting }
      return objects.change('bulk item', itemKey(id, from + index), 0, item)
    })
    await objects.write(items)
  }
}

async function found(call: Call<RouteName>, id: string): Promise<Found<'bulk'>> {
  const bulk = await call.services.objects.get('bulk', id)
  if (bulk !== null && sees(call.principal, bulk.value.tenant)) return bulk
  throw new HomeostatError('bulk_not_found', `There is no bulk operation ${id}.`)
}

const bulkOf = async (call: Call<RouteName>, id: string): Promise<WireBulk> =>
  wireBulk(call, (await found(call, id)).value)

async function wireBulk(call: Call<RouteName>, bulk: BulkRecord): Promise<WireBulk> {
  const { objects } = call.services
  const counts = { waiting: 0, accepted: 0, refused: 0 }
  for (let after = ''; ;) {
    const page = await objects.under('bulk item', `${bulk.id}/`, { after, limit: 1_000 })
    for (const { value } of page) counts[value.state]++
    if (page.length < 1_000) break
    after = page.at(-1)!.key
  }
  return {
    id: bulk.id,
    tenant: bulk.tenant,
    filter: bulk.filter as unknown as WireBulk['filter'],
    operation: bulk.operation,
    input: bulk.input,
    reason: bulk.reason,
    by: bulk.by,
    state: bulk.state,
    perSecond: bulk.perSecond,
    total: bulk.total,
    accepted: counts.accepted,
    refused: counts.refused,
    left: counts.waiting,
    createdAt: isoTime(bulk.createdAt),
    endedAt: bulk.endedAt === null ? null : isoTime(bulk.endedAt),
  }
}

async function turn(
  call: Call<'pauseBulk' | 'resumeBulk' | 'cancelBulk'>,
  state: 'running' | 'paused' | 'cancelled',
): Promise<WireBulk> {
  const { objects, clock, bulk } = call.services
  const { value, version } = await found(call, call.parameters.bulk)
  if (call.replayed === null) {
    if (value.state === 'done' || value.state === 'cancelled')
      throw new HomeostatError(
        'bulk_over',
        `The bulk operation is ${value.state}: nothing of it is left to change. Begin another.`,
      )
    const next = { ...value, state, endedAt: state === 'cancelled' ? clock.now() : null }
    const reason = (call.body as { readonly reason?: string } | null | undefined)?.reason
    await call.write([objects.change('bulk', value.id, version, next)], { target: `bulk/${value.id}`, reason })
    bulk.wake()
  }
  return bulkOf(call, value.id)
}
