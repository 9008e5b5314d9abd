// Type and status as one pair, which stores that keep rows name by a small number: what it stands for, and when a declaration judges it anew.
import type { StatusKind } from '../lifecycle/resource-type.ts'
import type { Declared, KindOf } from './store.ts'

export interface Shape extends Declared {
  readonly id: number
  readonly kind: StatusKind
}

/** What a number stands for that nothing was written down for: only a damaged row has such a one. */
export const noShape: Shape = { id: 0, type: '', status: '', kind: 'stable' }

/** A status that the declarations no longer know stays as it was judged; '' is no status. */
export function isJudgedAnew({ type, status, kind }: Shape, kindOf: KindOf): boolean {
  const found: StatusKind | undefined = status === '' ? kind : kindOf(type, status)
  return found !== undefined && found !== kind
}

/** For sorting, by their characters. */
export const byTypeAndStatus = (a: Declared, b: Declared): number => order(a.type, b.type) || order(a.status, b.status)

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
