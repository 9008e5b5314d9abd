// What somebody did, as lists of the audit tell it and as it is searched for: the route, the operation, and whether it was forced.
import type { Json } from '../base/json.ts'

export function auditWords({ action, detail }: { readonly action: string; readonly detail: Json }): string {
  const { operation, force } = (detail ?? {}) as { readonly operation?: Json; readonly force?: Json }
  const more = [typeof operation === 'string' ? operation : '', force === true ? 'forced' : ''].filter(Boolean)
  return more.length === 0 ? action : `${action} (${more.join(', ')})`
}
