// How many resources are in each status, counted along with the commits of this handle, so that asking costs nothing. Counting begins
// when somebody asks for the first time; when others have written it begins anew.
import { byTypeAndStatus } from '../shape.ts'
import type { Batch, StatusCount } from '../store.ts'

export class Tally {
  /** By type and status; null: not known. */
  private counts: Map<string, Map<string, number>> | null = null

  get isKnown(): boolean {
    return this.counts !== null
  }

  begin(counted: readonly StatusCount[]): void {
    this.counts = new Map()
    for (const { type, status, count } of counted) this.add(type, status, count)
  }

  forget(): void {
    this.counts = null
  }

  committed({ writes }: Batch): void {
    if (this.counts === null) return
    for (const { before, after } of writes) {
      if (before?.status === after.status) continue
      if (before !== null) this.add(before.type, before.status, -1)
      this.add(after.type, after.status, 1)
    }
  }

  list(): readonly StatusCount[] {
    const found: StatusCount[] = []
    for (const [type, statuses] of this.counts ?? [])
      for (const [status, count] of statuses) if (count > 0) found.push({ type, status, count })
    return found.sort(byTypeAndStatus)
  }

  private add(type: string, status: string, count: number): void {
    let statuses = this.counts!.get(type)
    if (statuses === undefined) this.counts!.set(type, (statuses = new Map()))
    statuses.set(status, (statuses.get(status) ?? 0) + count)
  }
}
