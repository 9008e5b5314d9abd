// Whether what a batch was decided on is still so. Guards are looked at in every commit; everything else only when a write
// did not find what it expected, in order to say what has changed.
import type { StatementSync } from 'node:sqlite'
import { numberOfGeneratedId, type No } from '../../decision/state.ts'
import { toText } from '../codec.ts'
import { brokenBy, conflictsOf, type Conflict, type Kept } from '../conflicts.ts'
import type { Batch, Guard } from '../store.ts'
import { numbers, type Connection } from './connection.ts'
import { RecordReader } from './records.ts'
import type { Shapes } from './shapes.ts'

export class Verifier implements Kept {
  private readonly shapes: Shapes
  private readonly records: RecordReader
  private readonly fences: StatementSync
  private readonly generated: StatementSync
  private readonly named: StatementSync
  private readonly members: StatementSync
  private readonly sources: StatementSync
  private readonly keys: StatementSync

  constructor(connection: Connection, shapes: Shapes) {
    this.shapes = shapes
    this.records = new RecordReader(connection)
    this.fences = connection.prepare(
      'select revision, epoch from live where no = ?1 union all select revision, epoch from settled where no = ?1 limit 1',
    )
    this.generated = connection.prepare(
      `select coalesce(l.shape, s.shape) from resource r left join live l using (no) left join settled s using (no)
        where r.no = ? and r.id is null`,
    )
    this.named = connection.prepare('select no from name where id = ? and type = ?')
    this.members = connection.prepare('select no from resource where parent = ? and terminal = 0 order by no')
    this.sources = connection.prepare('select source from link where target = ? and name = ? order by source')
    this.keys = connection.prepare('select 1 from key where key = ?')
  }

  guardsHold(guards: readonly Guard[]): boolean {
    // Commands of one batch often rely on the same parent.
    let previous: Guard | null = null
    let seen: Map<No, number> | null = null
    for (const guard of guards) {
      if (guard.guard === 'revision' && guards.length > 1) {
        if (previous?.guard === 'revision' && previous.no === guard.no && previous.revision === guard.revision) continue
        seen ??= new Map()
        if (seen.get(guard.no) === guard.revision) continue
        seen.set(guard.no, guard.revision)
      }
      if (brokenBy(guard, this) !== null) return false
      previous = guard
    }
    return true
  }

  conflictsOf(batch: Batch): Conflict | null {
    return conflictsOf(batch, this)
  }

  fence(no: No): [revision: number, epoch: number] | undefined {
    const row = this.fences.get(no) as unknown as [number | null, number | null] | undefined
    return row === undefined ? undefined : [row[0] ?? Number.NaN, row[1] ?? Number.NaN]
  }

  holder(type: string, id: string): No | null {
    const no = numberOfGeneratedId(id)
    const row = no === null ? undefined : (this.generated.get(no) as unknown as [number] | undefined)
    if (row !== undefined && this.shapes.get(row[0]).type === type) return no
    const named = this.named.get(toText(id), type) as unknown as [number] | undefined
    return named === undefined ? null : named[0]
  }

  children(no: No): No[] {
    return numbers(this.members.all(no))
  }

  linkedBy(no: No, link: string): No[] {
    return numbers(this.sources.all(no, link))
  }

  hasKey(key: string): boolean {
    return this.keys.get(toText(key)) !== undefined
  }

  version(kind: string, key: string): number {
    return this.records.record(kind, key)?.version ?? 0
  }
}
