// Who may do what: permissions are named by the rows of the contract, roles are sets of them. Closed by default.

export const permissions = [
  /** See resources, runs, events, lifecycles, what is stuck. */
  'read',
  /** Create, ask for operations, delete. */
  'operate',
  /** Cancel, retry and skip runs; ask for a healing pass; sweep and adopt orphans. */
  'steer',
  /** Delete without waiting for the backend. Needs a reason. */
  'force',
  /** Put a resource into a status, import resources, write orphans off. Needs a reason. */
  'repair',
  /** Heal against modes, budgets and breakers, and change these. Needs a reason. */
  'override',
  /** One operation over many resources. Needs a reason. */
  'bulk',
  /** Tokens, accounts, webhooks, audit. */
  'administer',
  /** Complete the steps of remote drivers: nothing else is open to a worker. */
  'work',
  /** Figures of the process. */
  'metrics',
  /** Switches of the development mode. */
  'develop',
] as const
export type Permission = (typeof permissions)[number]

export const roles = ['viewer', 'operator', 'admin', 'worker'] as const
export type Role = (typeof roles)[number]

export const permissionsOf: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read', 'metrics'],
  operator: ['read', 'metrics', 'operate', 'steer', 'bulk'],
  admin: ['read', 'metrics', 'operate', 'steer', 'bulk', 'force', 'repair', 'override', 'administer', 'develop'],
  worker: ['work'],
}
