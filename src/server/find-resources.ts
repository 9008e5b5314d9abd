// Lists of resources with filters. What the store has an index for it finds; a free text and 'stuck' are looked for page by page, a
// bounded number of rows for each answer: the next page goes on where this one stopped.
import { z } from 'zod'
import { HomeostatError } from '../base/errors.ts'
import type { Resource } from '../decision/state.ts'
import type { Plan } from '../lifecycle/plan.ts'
import type { Answer } from '../protocol/route.ts'
import type { Routes } from '../protocol/routes.ts'
import type { filter } from '../protocol/shapes.ts'
import type { ListQuery } from '../store/store.ts'
import type { Call } from './call.ts'
import { sees } from './principal.ts'
import { stuckPlaceOf, stuckToken, tenantFor, tokenNumber } from './reach.ts'
import { refuseUnknownStatus } from './unknown-names.ts'

export type Filter = Omit<z.infer<typeof filter>, 'type'>
type StoreQuery = Omit<ListQuery, 'limit' | 'after'>
type ListCall = Call<'listResources' | 'listAllResources'>

/** Most rows that are read for one answer. */
const scanMax = 5_000
const countMax = 100_000
const pageMax = 1_000

export async function findResources(
  call: ListCall,
  plan: Plan | null,
  query: ListCall['query'],
): Promise<Answer<Routes['listResources']>> {
  const { wire } = call.services
  const isStuck = query.stuck === 'true'
  const { resources, next } = isStuck ? await stuckOnes(call, plan, query) : await pageOf(call, plan, query)
  const items = await wire.resources(call.principal, resources)
  const total = query.total === 'true' && !isStuck ? await countAll(call, plan, query) : undefined
  return { items, nextPageToken: next, ...(total === undefined ? {} : { total }) }
}

interface Page {
  readonly resources: readonly Resource[]
  readonly next: string | null
}

/** What is stuck is found by how it is stuck: everything else of the filter is looked at here. */
async function stuckOnes(call: ListCall, plan: Plan | null, given: ListCall['query']): Promise<Page> {
  const { heal } = call.services.engine
  const query = await storeQuery(call, plan, given)
  const resources: Resource[] = []
  if (query === null) return { resources, next: null }
  const { tenant } = query
  const isWanted = meets(plan, given, query)
  let from = stuckPlaceOf(given.pageToken)
  for (let seen = 0; ;) {
    const { stuck, next } = await heal.stuckPage({ limit: given.pageSize - resources.length, tenant, from })
    for (const { resource } of stuck) if (isWanted(resource)) resources.push(resource)
    seen += stuck.length
    if (next === null || resources.length === given.pageSize || seen >= scanMax)
      return { resources, next: stuckToken(next) }
    from = next
  }
}

/** The part of a filter that the store finds by itself. Null: nothing can fit. */
export async function storeQuery(call: Call, plan: Plan | null, given: Filter): Promise<StoreQuery | null> {
  const { engine } = call.services
  const tenant = tenantFor(call.principal, given.tenant)
  let parent: number | undefined
  if (given.parent !== undefined) {
    const type = plan?.parentType
    if (type == null) throw new HomeostatError('request_invalid', 'Only a type that has a parent can be listed by it.')
    const found = await engine.get(type, given.parent)
    if (found === null || !sees(call.principal, found.tenant)) return null
    parent = found.no
  }
  const status = statusesOf(call, plan, given)
  if (status?.length === 0) return null
  return {
    ...(plan === null ? {} : { type: plan.type }),
    ...(status === null ? {} : { status }),
    ...(tenant === null ? {} : { tenant }),
    ...(parent === undefined ? {} : { parent }),
    ...(given.name === undefined ? {} : { name: given.name }),
  }
}

/** The statuses that are asked for, by name and kind; null: all. */
function statusesOf(call: Call, plan: Plan | null, given: Filter): string[] | null {
  const plans = plan === null ? call.services.engine.plans.all : [plan]
  refuseUnknownStatus(plans, given.status ?? [])
  if (given.kind === undefined) return given.status === undefined ? null : [...given.status]
  const ofKind = plans.flatMap(({ kinds }) => [...kinds].filter(([, kind]) => kind === given.kind).map(([one]) => one))
  return [...new Set(ofKind)].filter((one) => given.status === undefined || given.status.includes(one))
}

/** What the store cannot look for. */
export function fits(plan: Plan | null, given: Filter): (resource: Resource) => boolean {
  const q = given.q?.toLowerCase()
  return (resource) =>
    (given.kind === undefined || plan === null || plan.kinds.get(resource.status) === given.kind) &&
    (given.status === undefined || given.status.includes(resource.status)) &&
    (q === undefined ||
      [resource.id, resource.name ?? '', resource.status, resource.description].some((text) =>
        text.toLowerCase().includes(q),
      ))
}

/** All of a filter, also what the store looks for by itself. */
function meets(plan: Plan | null, given: Filter, query: StoreQuery): (resource: Resource) => boolean {
  const { type, status, tenant, parent, name } = query
  const isFit = fits(plan, given)
  return (one) =>
    (type === undefined || one.type === type) &&
    (status === undefined || status.includes(one.status)) &&
    (tenant === undefined || one.tenant === tenant) &&
    (parent === undefined || one.parent === parent) &&
    (name === undefined || one.name === name) &&
    isFit(one)
}

/** What has exactly this id is found by an index: it comes first, however many rows there are to be looked through. */
async function calledSo(call: ListCall, plan: Plan | null, given: ListCall['query'], query: StoreQuery) {
  const { q, pageSize } = given
  if (q === undefined) return []
  const { engine } = call.services
  const plans = plan === null ? engine.plans.all : [plan]
  const found = await Promise.all(plans.map(({ type }) => engine.get(type, q)))
  const isWanted = meets(plan, given, query)
  const wanted = found.filter((one) => one !== null && isWanted(one)) as Resource[]
  return wanted.length <= pageSize ? wanted : []
}

async function pageOf(call: ListCall, plan: Plan | null, given: ListCall['query']): Promise<Page> {
  const query = await storeQuery(call, plan, given)
  const limit = given.pageSize
  if (query === null) return { resources: [], next: null }
  const first = await calledSo(call, plan, given, query)
  const resources = given.pageToken === undefined ? [...first] : []
  const isFit = fits(plan, given)
  const isWanted = (one: Resource) => isFit(one) && !first.some(({ no }) => no === one.no)
  let seen = 0
  let at = given.pageToken === undefined ? 0 : tokenNumber(given.pageToken)
  while (resources.length < limit && seen < scanMax) {
    const size = given.q === undefined ? limit - resources.length : pageMax
    const { resources: page, next } = await call.services.engine.list({ ...query, after: at, limit: size })
    for (const one of page) {
      at = one.no
      if (isWanted(one)) resources.push(one)
      if (resources.length === limit) break
    }
    seen += page.length
    if (next === null && at === (page.at(-1)?.no ?? at)) return { resources, next: null }
  }
  return { resources, next: String(at) }
}

/** Undefined when there are too many to count. */
async function countAll(call: ListCall, plan: Plan | null, given: Filter): Promise<number | undefined> {
  const query = await storeQuery(call, plan, given)
  if (query === null) return 0
  const { engine } = call.services
  if (query.parent === undefined && query.name === undefined && given.q === undefined) {
    const counts = await engine.counts({ tenant: query.tenant })
    return counts
      .filter(({ type, status }) => (query.type ?? type) === type && (query.status ?? [status]).includes(status))
      .reduce((sum, { count }) => sum + count, 0)
  }
  const isWanted = fits(plan, given)
  let total = 0
  let seen = 0
  for (let after: number | null = 0; after !== null;) {
    const page: Awaited<ReturnType<typeof engine.list>> = await engine.list({ ...query, after, limit: pageMax })
    total += page.resources.filter(isWanted).length
    seen += page.resources.length
    if (seen > countMax) return undefined
    after = page.next
  }
  return total
}
