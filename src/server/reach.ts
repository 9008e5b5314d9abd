// How far a principal reaches: his tenant in what he creates and looks for, and the pages he was given.
import { HomeostatError } from '../base/errors.ts'
import { stuckWays, type StuckPlace } from '../engine/stuck.ts'
import type { Principal } from './principal.ts'

/** Where a new resource goes: a principal of one tenant creates in that one. Null: where its parent is, or by default. */
export function tenantFor(principal: Principal, asked: string | undefined): string | null {
  if (principal.tenant === null) return asked ?? null
  if (asked === undefined || asked === principal.tenant) return principal.tenant
  throw new HomeostatError('forbidden', `${principal.name} works in tenant ${principal.tenant} only.`)
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
