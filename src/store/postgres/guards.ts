// The guards of a batch as checks. They speak about the store as it is before the batch and are checked when the batch has been written:
// what the batch itself changes is taken into account here.
import { unreachable } from '../../base/assert.ts'
import { numberOfGeneratedId, type No, type Resource } from '../../decision/state.ts'
import type { Batch, Guard, Write } from '../store.ts'
import type { Shapes } from './shapes.ts'
import type { Sheet } from './sheet.ts'
import { toText } from './texts.ts'

type Family = Extract<Guard, { guard: 'children' | 'linkedBy' }>

/** False: one of them contradicts what the batch writes. */
export function planGuards(batch: Batch, shapes: Shapes, sheet: Sheet): boolean {
  if (batch.guards.length === 0) return true
  const writes = new Map<No, Write>()
  for (const write of batch.writes) writes.set(write.after.no, write)
  const revisions = new Map<No, number>()
  const families = new Map<string, Family>()
  for (const guard of batch.guards) {
    switch (guard.guard) {
      case 'revision': {
        const known = writes.has(guard.no) ? (writes.get(guard.no)!.before?.revision ?? -1) : revisions.get(guard.no)
        if (known !== undefined && known !== guard.revision) return false
        // What is written is verified by the write.
        if (!writes.has(guard.no)) revisions.set(guard.no, guard.revision)
        break
      }
      case 'children':
      case 'linkedBy': {
        const name = `${guard.no} ${guard.guard === 'children' ? '' : guard.link}`
        const other = families.get(name)
        if (other !== undefined && !isSame(other.members, guard.members)) return false
        families.set(name, guard)
        break
      }
      case 'absent':
        planAbsent(guard, batch, sheet)
        break
      default:
        return unreachable(guard)
    }
  }
  for (const [no, revision] of [...revisions].sort(([a], [b]) => a - b)) sheet.of('revisions').push(no, revision)
  for (const family of families.values()) planFamily(family, batch.writes, shapes, sheet)
  return true
}

function planAbsent({ type, id }: Extract<Guard, { guard: 'absent' }>, batch: Batch, sheet: Sheet): void {
  // What the batch creates cannot be there: its insert verifies it.
  if (batch.writes.some(({ before, after }) => before === null && after.type === type && after.id === id)) return
  const no = numberOfGeneratedId(id)
  if (no === null) sheet.of('absentIds').push(toText(id), toText(type))
  else sheet.of('absentNos').push(no, toText(type))
}

/** Its members as they must be when the batch has been written: exactly these, no more. */
function planFamily(family: Family, writes: readonly Write[], shapes: Shapes, sheet: Sheet): void {
  const { no } = family
  const isIn = (resource: Resource | null) => {
    if (resource === null) return false
    const relation = family.guard === 'children' ? resource.parent : resource.links[family.link]
    return relation === no && shapes.of(resource.type, resource.status).kind !== 'terminal'
  }
  const members = new Set(family.members)
  for (const { before, after } of writes) {
    const was = isIn(before)
    const is = isIn(after)
    if (was === is) continue
    // A member that the guard does not know makes it fail: then its leaving must not hide that.
    if (is) members.add(after.no)
    else if (!members.delete(after.no)) members.add(-1)
  }
  if (family.guard === 'children') {
    sheet.of('parents').push(no)
    for (const member of members) sheet.of('childMembers').push(no, member)
  } else {
    const link = toText(family.link)
    sheet.of('linkTargets').push(no, link)
    for (const member of members) sheet.of('linkMembers').push(no, link, member)
  }
}

const isSame = (a: readonly No[], b: readonly No[]) => a.length === b.length && new Set([...a, ...b]).size === a.length
