// Who asks, and what he may do. Decided once per request; what is of another tenant does not exist for him.
import { hash } from 'node:crypto'
import { HomeostatError } from '../base/errors.ts'
import { permissionsOf, type Permission, type Role } from '../protocol/permissions.ts'

export interface Principal {
  /** Stands in runs, events and the audit. */
  readonly name: string
  readonly role: Role
  readonly permissions: ReadonlySet<Permission>
  /** Null: all tenants. */
  readonly tenant: string | null
  readonly via: 'token' | 'session' | 'open' | 'nobody'
  /** By which an open stream learns that it must end: the hash of the token or session. */
  readonly credential: string
  readonly expiresAt: number | null
  /** May complete this step only: a driver elsewhere, with the token that it was given for the step. */
  readonly step?: { readonly type: string; readonly key: string }
}

/** Of the permissions of the role, those that are named; none named: all. */
export function grantedBy(role: Role, scopes: readonly Permission[] = []): ReadonlySet<Permission> {
  const granted = permissionsOf[role]
  return new Set(scopes.length === 0 ? granted : granted.filter((one) => scopes.includes(one)))
}

export const nobodyYet: Principal = {
  name: 'nobody',
  role: 'viewer',
  permissions: new Set(),
  tenant: '',
  via: 'nobody',
  credential: '',
  expiresAt: null,
}

/** On this machine without authentication: whoever can reach the port may do everything. */
export const everybody: Principal = {
  name: 'local',
  role: 'admin',
  permissions: grantedBy('admin'),
  tenant: null,
  via: 'open',
  credential: '',
  expiresAt: null,
}

/** Null: he may. */
export function whyNot(principal: Principal, permission: Permission): HomeostatError | null {
  if (principal.permissions.has(permission)) return null
  return new HomeostatError(
    'forbidden',
    `${principal.name} (${principal.role}) may not do this: it needs '${permission}'.`,
  )
}

export function demand(principal: Principal, permission: Permission): void {
  const refusal = whyNot(principal, permission)
  if (refusal !== null) throw refusal
}

/** Whether what is of a tenant (null: of all) is there for him. What is not is answered as if it did not exist. */
export const sees = (principal: Principal, tenant: string | null): boolean =>
  principal.tenant === null || principal.tenant === tenant

export const sha256 = (text: string): string => hash('sha256', text)
