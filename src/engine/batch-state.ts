// What one batch has read, written and looked up so far; and what becomes of that when it is committed or undone.
import type { Batch, Guard, Write } from '../store/store.ts'
import type { Entry, Family } from './entry.ts'
import { Gathered } from './gathered.ts'

export class BatchState {
  readonly id: number
  /** The count of foreign writes when it began. */
  readonly asOf: number
  readonly reads: Entry[] = []
  readonly writes: Entry[] = []
  readonly familiesRead: Family[] = []
  readonly familiesChanged: Family[] = []
  /** Names that nobody has; null: none was looked for. */
  #absent: Map<string, { readonly type: string; readonly id: string }> | null = null
  readonly gathered = new Gathered()
  /** What is cached was taken as it is, however old. */
  hasRelied = false

  constructor(id: number, asOf: number) {
    this.id = id
    this.asOf = asOf
  }

  /** There is something to write, or something was read that may be old: only a commit tells whether what was decided on it holds. */
  get mustCommit(): boolean {
    return this.writes.length > 0 || !this.gathered.isEmpty || this.hasRelied
  }

  /** Nobody has this name. */
  lacks(name: string, of: { readonly type: string; readonly id: string }): void {
    this.#absent ??= new Map()
    this.#absent.set(name, of)
  }

  isAbsent(name: string): boolean {
    return this.#absent?.has(name) ?? false
  }

  /** Created in this batch: the store can have nothing that refers to it. */
  isNew(entry: Entry): boolean {
    return entry.stored === null && entry.written === this.id
  }

  /** Everything, folded to one write per resource, with guards for what was read and not written. */
  asBatch(ownerOf: (family: Family) => Entry): Batch {
    const writes: Write[] = []
    for (const entry of this.writes) writes.push({ before: entry.stored, after: entry.resource! })
    const guards: Guard[] = []
    for (const entry of this.reads) {
      if (entry.written === this.id || entry.stored === null) continue
      guards.push({ guard: 'revision', no: entry.no, revision: entry.stored.revision })
    }
    for (const family of this.familiesRead) {
      if (this.isNew(ownerOf(family))) continue
      const { of: no, link, stored: members } = family
      guards.push(link === null ? { guard: 'children', no, members } : { guard: 'linkedBy', no, link, members })
    }
    for (const { type, id } of this.#absent?.values() ?? []) guards.push({ guard: 'absent', type, id })
    return { writes, guards, ...this.gathered.facts }
  }

  /** On its way to the store, or back from there. */
  setFlying(isFlying: boolean): void {
    for (const entry of this.writes) entry.isFlying = isFlying
    for (const family of this.familiesChanged) family.isFlying = isFlying
  }
}
