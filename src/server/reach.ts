// How far a principal reaches: his tenant in what he creates and refers to, and the pages he was given.
import { HomeostatError } from '../base/errors.ts'
import { stuckWays, type StuckPlace } from '../engine/stuck.ts'
import type { Plan } from '../lifecycle/plan.ts'
import type { Call } from './call.ts'
import { sees, type Principal } from './principal.ts'

/** Where a new resource goes: a principal of one tenant creates in that one. Null: where its parent is, or by default. */
export function tenantFor(principal: Principal, asked: string | undefined): string | null {
  if (principal.tenant === null) return asked ?? null
  if (asked === undefined || asked === principal.tenant) return principal.tenant
  throw new HomeostatError('forbidden', `${principal.name} works in tenant ${principal.tenant} only.`)
}

/** Parents and links of another tenant are as if they were not there. */
export async function refuseForeign(
  call: Call,
  plan: Plan,
  given: { readonly parent?: string | undefined; readonly links?: Readonly<Record<string, string>> | undefined },
): Promise<void> {
  const { engine } = call.services
  const isForeign = async (type: string, id: string) => {
    const found = await engine.get(type, id)
    return found !== null && !sees(call.principal, found.tenant)
  }
  if (call.principal.tenant === null) return
  if (given.parent !== undefined && plan.parentType !== null && (await isForeign(plan.parentType, given.parent)))
    throw new HomeostatError(
      'parent_invalid',
      `There is no ${plan.parentType} ${given.parent} to be the parent of a ${plan.type}.`,
    )
  for (const [name, id] of Object.entries(given.links ?? {})) {
    const relation = plan.relations.get(name)
    if (relation?.kind === 'link' && (await isForeign(relation.type, id)))
      throw new HomeostatError('link_invalid', `There is no ${relation.type} ${id} to link as ${name}.`)
  }
}

/** What a page token of ours holds; anything else is no token. */
export function tokenNumber(token: string): number {
  if (/^\d{1,15}$/.test(token)) return Number(token)
  throw noToken(token)
}

/** Where a page of what is stuck begins. */
export function stuckPlaceOf(token: string | undefined): StuckPlace | undefined {
  if (token === undefined) return undefined
  const [, name, after] = /^(\w+)-(\d{1,15})$/.exec(token) ?? []
  const way = stuckWays.find((one) => one === name)
  if (way === undefined) throw noToken(token)
  return { way, after: Number(after) }
}

export const stuckToken = (place: StuckPlace | null): string | null =>
  place === null ? null : `${place.way}-${place.after}`

export const noToken = (token: string): HomeostatError =>
  new HomeostatError('request_invalid', `'${token.slice(0, 50)}' is no page token. Take it from the page before.`)
