// What a batch was decided on and is no longer so, for stores that keep rows. The memory store is their model: it judges by itself.
import { unreachable } from '../base/assert.ts'
import type { No } from '../decision/state.ts'
import type { Batch, Guard, RecordName } from './store.ts'

export interface Conflict {
  readonly conflicts: readonly No[]
  readonly keys: readonly string[]
  readonly records?: readonly RecordName[]
}

/** What is stored, as far as a batch may rely on it. */
export interface Kept {
  fence(no: No): readonly [revision: number, epoch: number] | undefined
  /** The number of the resource that has this type and id. */
  holder(type: string, id: string): No | null
  children(no: No): readonly No[]
  linkedBy(no: No, link: string): readonly No[]
  hasKey(key: string): boolean
  /** Of a record; 0: there is none. */
  version(kind: string, key: string): number
}

/** What is no longer so, by number and key; null when everything is. */
export function conflictsOf(batch: Batch, kept: Kept): Conflict | null {
  const conflicts = new Set<No>()
  const keys = new Set<string>()
  const names = new Map<string, No>()
  for (const { before, after } of batch.writes) {
    const fence = kept.fence(after.no)
    if (before === null) {
      const name = `${after.type}\n${after.id}`
      const holder = kept.holder(after.type, after.id) ?? names.get(name)
      if (holder !== undefined) conflicts.add(holder)
      if (holder !== undefined || fence !== undefined) conflicts.add(after.no)
      names.set(name, after.no)
    } else if (fence === undefined || fence[0] !== before.revision || fence[1] !== before.epoch) {
      conflicts.add(after.no)
    }
  }
  for (const guard of batch.guards) {
    const broken = brokenBy(guard, kept)
    if (broken !== null) conflicts.add(broken)
  }
  const seen = new Set<string>()
  for (const { key } of batch.keys) {
    if (seen.has(key) || kept.hasKey(key)) keys.add(key)
    seen.add(key)
  }
  const records = (batch.records ?? [])
    .filter(({ kind, key, from }) => kept.version(kind, key) !== from)
    .map(({ kind, key }) => ({ kind, key }))
  if (conflicts.size === 0 && keys.size === 0 && records.length === 0) return null
  const found = { conflicts: [...conflicts].sort((a, b) => a - b), keys: [...keys].sort() }
  return records.length === 0 ? found : { ...found, records }
}

/** The resource that a guard says something false about; null when it holds. */
export function brokenBy(guard: Guard, kept: Pick<Kept, 'fence' | 'holder' | 'children' | 'linkedBy'>): No | null {
  switch (guard.guard) {
    case 'revision':
      // A damaged row has none: NaN, to whoever reads it and here.
      return Object.is(kept.fence(guard.no)?.[0] ?? Number.NaN, guard.revision) ? null : guard.no
    case 'children':
      return areExactly(kept.children(guard.no), guard.members) ? null : guard.no
    case 'linkedBy':
      return areExactly(kept.linkedBy(guard.no, guard.link), guard.members) ? null : guard.no
    case 'absent':
      return kept.holder(guard.type, guard.id)
    default:
      return unreachable(guard)
  }
}

function areExactly(found: readonly No[], expected: readonly No[]): boolean {
  if (found.length !== expected.length) return false
  const members = new Set(found)
  return expected.every((no) => members.has(no))
}
