// Whether what a batch was decided on is still so. Guards are looked at in every commit; everything else only when a write
// did not find what it expected, in order to say what has changed.
import type { StatementSync } from 'node:sqlite'
import { unreachable } from '../../base/assert.ts'
import { numberOfGeneratedId, type No } from '../../decision/state.ts'
import type { Batch, Guard, RecordName } from '../store.ts'
import { toText } from '../codec.ts'
import type { Connection } from './connection.ts'
import { RecordReader } from './records.ts'
import type { Shapes } from './shapes.ts'

export class Verifier {
  private readonly shapes: Shapes
  private readonly records: RecordReader
  private readonly fence: StatementSync
  private readonly generated: StatementSync
  private readonly named: StatementSync
  private readonly children: StatementSync
  private readonly linkedBy: StatementSync
  private readonly key: StatementSync

  constructor(connection: Connection, shapes: Shapes) {
    this.shapes = shapes
    this.records = new RecordReader(connection)
    this.fence = connection.prepare(
      'select revision, epoch from live where no = ?1 union all select revision, epoch from settled where no = ?1 limit 1',
    )
    this.generated = connection.prepare(
      `select coalesce(l.shape, s.shape) from resource r left join live l using (no) left join settled s using (no)
        where r.no = ? and r.id is null`,
    )
    this.named = connection.prepare('select no from name where id = ? and type = ?')
    this.children = connection.prepare('select no from resource where parent = ? and terminal = 0 order by no')
    this.linkedBy = connection.prepare('select source from link where target = ? and name = ? order by source')
    this.key = connection.prepare('select 1 from key where key = ?')
  }

  /** The number of the resource that has this type and id. */
  find(type: string, id: string): No | null {
    const no = numberOfGeneratedId(id)
    const row = no === null ? undefined : (this.generated.get(no) as unknown as [number] | undefined)
    if (row !== undefined && this.shapes.get(row[0]).type === type) return no
    const named = this.named.get(toText(id), type) as unknown as [number] | undefined
    return named === undefined ? null : named[0]
  }

  membersOf(ask: { readonly children: No } | { readonly target: No; readonly link: string }): No[] {
    const rows = 'children' in ask ? this.children.all(ask.children) : this.linkedBy.all(ask.target, ask.link)
    return (rows as unknown as [number][]).map(([no]) => no)
  }

  guardsHold(guards: readonly Guard[]): boolean {
    // Commands of one batch often rely on the same parent.
    let previous: Guard | null = null
    let seen: Map<No, number> | null = null
    for (const guard of guards) {
      if (guard.guard === 'revision') {
        if (previous?.guard === 'revision' && previous.no === guard.no && previous.revision === guard.revision) continue
        seen ??= new Map()
        if (seen.get(guard.no) === guard.revision) continue
        seen.set(guard.no, guard.revision)
      }
      if (this.brokenBy(guard) !== null) return false
      previous = guard
    }
    return true
  }

  /** What is no longer so, by number and key; null when everything is. */
  conflictsOf(batch: Batch): {
    readonly conflicts: readonly No[]
    readonly keys: readonly string[]
    readonly records?: readonly RecordName[]
  } | null {
    const conflicts = new Set<No>()
    const keys = new Set<string>()
    const names = new Map<string, No>()
    for (const { before, after } of batch.writes) {
      const fence = this.fence.get(after.no) as unknown as [number, number] | undefined
      if (before === null) {
        const name = `${after.type}\n${after.id}`
        const holder = this.find(after.type, after.id) ?? names.get(name)
        if (holder !== undefined) conflicts.add(holder)
        if (holder !== undefined || fence !== undefined) conflicts.add(after.no)
        names.set(name, after.no)
      } else if (fence === undefined || fence[0] !== before.revision || fence[1] !== before.epoch) {
        conflicts.add(after.no)
      }
    }
    for (const guard of batch.guards) {
      const broken = this.brokenBy(guard)
      if (broken !== null) conflicts.add(broken)
    }
    const seen = new Set<string>()
    for (const { key } of batch.keys) {
      if (seen.has(key) || this.key.get(toText(key)) !== undefined) keys.add(key)
      seen.add(key)
    }
    const records = batch.records === undefined ? [] : this.records.conflictsOf(batch.records)
    if (conflicts.size === 0 && keys.size === 0 && records.length === 0) return null
    const found = { conflicts: [...conflicts].sort((a, b) => a - b), keys: [...keys].sort() }
    return records.length === 0 ? found : { ...found, records }
  }

  private brokenBy(guard: Guard): No | null {
    switch (guard.guard) {
      case 'revision': {
        const fence = this.fence.get(guard.no) as unknown as [number, number] | undefined
        return fence?.[0] === guard.revision ? null : guard.no
      }
      case 'children':
        return sameMembers(this.membersOf({ children: guard.no }), guard.members) ? null : guard.no
      case 'linkedBy':
        return sameMembers(this.membersOf({ target: guard.no, link: guard.link }), guard.members) ? null : guard.no
      case 'absent':
        return this.find(guard.type, guard.id)
      default:
        return unreachable(guard)
    }
  }
}

function sameMembers(found: readonly No[], expected: readonly No[]): boolean {
  if (found.length !== expected.length) return false
  const members = new Set(found)
  return expected.every((no) => members.has(no))
}
