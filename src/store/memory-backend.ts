// The state behind memory handles: resources and what they are found by. One commit at a time; a batch is verified whole
// before any of it is applied.
import { assert, unreachable } from '../base/assert.ts'
import type { Json } from '../base/json.ts'
import type { EndedRun, Incarnation, KeyRecord, LateResult, No, Resource, StoredEvent } from '../decision/state.ts'
import { hasGeneratedId, hasOrphan, isLive, wakeOf } from './facts.ts'
import { chainHash, chainStart } from './chain.ts'
import type {
  Batch,
  Guard,
  JournalEntry,
  KindOf,
  RecordName,
  StoredIncident,
  StoredRecord,
  WorkerRow,
} from './store.ts'

/** What the backend needs to know of a handle. */
export interface Process {
  readonly isOpen: boolean
  /** Somebody committed; `foreign` when it was another process. */
  changed(foreign: boolean): void
}

export const nameOf = (type: string, id: string) => `${type}\n${id}`
export const byNo = (a: No, b: No) => a - b

interface Worker extends WorkerRow {
  readonly process: Process
}

export class Backend {
  kindOf: KindOf | null = null
  readonly resources = new Map<No, Resource>()
  readonly names = new Map<string, No>()
  /** Indexes: numbers of resources by what they are looked up by. */
  readonly live = new Set<No>()
  readonly timed = new Set<No>()
  readonly orphaned = new Set<No>()
  readonly children = new Map<No, Set<No>>()
  readonly linked = new Map<string, Set<No>>()
  /** The event with number n is at n - 1. */
  readonly history: StoredEvent[] = []
  readonly ended: EndedRun[] = []
  readonly endedOf = new Map<No, EndedRun[]>()
  readonly keys = new Map<string, KeyRecord>()
  readonly late = new Map<No, LateResult[]>()
  readonly incidents = new Map<string, StoredIncident>()
  private incidentsOpened = 0
  readonly settings = new Map<string, Json>()
  readonly records = new Map<string, StoredRecord>()
  readonly journal: JournalEntry[] = []
  readonly workers = new Map<Incarnation, Worker>()
  incarnations = 0
  readonly handles = new Set<Process>()

  kind(resource: Resource) {
    assert(this.kindOf, 'useKinds is called before anything else')
    return this.kindOf(resource.type, resource.status)
  }

  useKinds(kindOf: KindOf): void {
    if (kindOf === this.kindOf) return
    if (this.kindOf !== null) for (const resource of this.resources.values()) this.unindex(resource)
    this.kindOf = kindOf
    for (const resource of this.resources.values()) this.index(resource)
  }

  index(resource: Resource): void {
    const kind = this.kind(resource)
    const { no } = resource
    if (isLive(resource, kind)) this.live.add(no)
    if (wakeOf(resource.timers) !== null) this.timed.add(no)
    if (hasOrphan(resource.ledger)) this.orphaned.add(no)
    if (kind === 'terminal') return
    if (resource.parent !== null) addTo(this.children, resource.parent, no)
    for (const link in resource.links) addTo(this.linked, `${link} ${resource.links[link]}`, no)
  }

  unindex(resource: Resource): void {
    const { no } = resource
    this.live.delete(no)
    this.timed.delete(no)
    this.orphaned.delete(no)
    if (resource.parent !== null) removeFrom(this.children, resource.parent, no)
    for (const link in resource.links) removeFrom(this.linked, `${link} ${resource.links[link]}`, no)
  }

  /** Whether anything that an index is made of differs. */
  isIndexedAlike(before: Resource, after: Resource): boolean {
    return (
      before.status === after.status &&
      before.run !== null &&
      after.run !== null &&
      before.timers === after.timers &&
      before.ledger === after.ledger &&
      before.parent === after.parent &&
      before.links === after.links
    )
  }

  find(nos: Iterable<No> | undefined): Resource[] {
    return nos === undefined ? [] : [...nos].sort(byNo).map((no) => this.resources.get(no)!)
  }

  named(type: string, id: string): Resource | null {
    const no = this.names.get(nameOf(type, id))
    return no === undefined ? null : this.resources.get(no)!
  }

  conflictsOf(batch: Batch): { conflicts: Set<No>; keys: Set<string>; records: RecordName[] } {
    const conflicts = new Set<No>()
    const keys = new Set<string>()
    const named = new Map<string, No>()
    for (const { before, after } of batch.writes) {
      const stored = this.resources.get(after.no)
      if (before === null) {
        void hasGeneratedId(after)
        const name = nameOf(after.type, after.id)
        const holder = this.names.get(name) ?? named.get(name)
        if (holder !== undefined) conflicts.add(holder)
        if (holder !== undefined || stored) conflicts.add(after.no)
        named.set(name, after.no)
      } else if (stored?.revision !== before.revision || stored.epoch !== before.epoch) {
        conflicts.add(after.no)
      }
    }
    for (const guard of batch.guards) {
      const broken = this.brokenBy(guard)
      if (broken !== null) conflicts.add(broken)
    }
    const seen = new Set<string>()
    for (const { key } of batch.keys) {
      if (this.keys.has(key) || seen.has(key)) keys.add(key)
      seen.add(key)
    }
    const records: RecordName[] = []
    for (const { kind, key, from } of batch.records ?? []) {
      if ((this.records.get(nameOf(kind, key))?.version ?? 0) !== from) records.push({ kind, key })
    }
    return { conflicts, keys, records }
  }

  /** The resource that a guard says something false about; null when it holds. */
  brokenBy(guard: Guard): No | null {
    switch (guard.guard) {
      case 'revision':
        return this.resources.get(guard.no)?.revision === guard.revision ? null : guard.no
      case 'children':
        return hasExactly(this.children.get(guard.no), guard.members) ? null : guard.no
      case 'linkedBy':
        return hasExactly(this.linked.get(`${guard.link} ${guard.no}`), guard.members) ? null : guard.no
      case 'absent':
        return this.names.get(nameOf(guard.type, guard.id)) ?? null
      default:
        return unreachable(guard)
    }
  }

  /** `first`: the number of the batch's first event. */
  apply(batch: Batch, first = this.history.length + 1): number {
    const last = new Map<No, number>()
    for (const { before, after } of batch.writes) last.set(after.no, before?.last ?? 0)
    for (const { no } of batch.events)
      assert(last.has(no), `an event of resource ${no}, which the batch does not write`)
    let n = first
    for (const event of batch.events) {
      this.history[n - 1] = { ...event, n, prev: last.get(event.no)! }
      last.set(event.no, n++)
    }
    for (const { after } of batch.writes) {
      const stored = this.resources.get(after.no)
      after.last = last.get(after.no)!
      if (!stored) this.names.set(nameOf(after.type, after.id), after.no)
      const alike = stored !== undefined && this.isIndexedAlike(stored, after)
      if (stored && !alike) this.unindex(stored)
      this.resources.set(after.no, after)
      if (!alike) this.index(after)
    }
    for (const run of batch.ended) {
      this.ended.push(run)
      append(this.endedOf, run.no, run)
    }
    for (const key of batch.keys) this.keys.set(key.key, key)
    for (const result of batch.late) append(this.late, result.no, result)
    for (const incident of batch.incidents) {
      const open = `${incident.no} ${incident.kind}`
      if (!this.incidents.has(open)) this.incidents.set(open, { ...incident, n: ++this.incidentsOpened })
    }
    for (const { kind, key, from, to } of batch.records ?? []) {
      if (to === null) this.records.delete(nameOf(kind, key))
      else this.records.set(nameOf(kind, key), { kind, key, value: structuredClone(to), version: from + 1 })
    }
    for (const value of batch.journal ?? []) {
      const n = this.journal.length + 1
      const hash = chainHash(this.journal.at(-1)?.hash ?? chainStart, n, value)
      this.journal.push({ n, value: structuredClone(value), hash })
    }
    return first
  }
}

function append<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

function addTo<Key>(index: Map<Key, Set<No>>, key: Key, no: No): void {
  const members = index.get(key)
  if (members) members.add(no)
  else index.set(key, new Set([no]))
}

function removeFrom<Key>(index: Map<Key, Set<No>>, key: Key, no: No): void {
  const members = index.get(key)
  if (members?.delete(no) && members.size === 0) index.delete(key)
}

const hasExactly = (set: ReadonlySet<No> | undefined, members: readonly No[]) =>
  (set?.size ?? 0) === members.length && members.every((no) => set!.has(no))
