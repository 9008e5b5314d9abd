// What the door knows of the store: cached facts, and on top of them the results of decisions accepted earlier in the same
// batch. It notes every fact that a decision reads, so that the commit can verify those that are not written.
// An entry is usable when it was touched in this batch, or nobody else has written since it was loaded, or its run is owned here and
// the command comes from that run: it can be stale then only if ownership moved on, which the commit finds. A batch goes: begin ->
// decisions (read, apply) with loads between -> commit or rollback. Where the store takes its time, a batch departs when it is sent:
// the next may begin, and a decision that looks at what it has written is blocked until it lands.
import { numberIn } from '../base/number-blocks.ts'
import type { Millis } from '../base/clock.ts'
import type { Changes } from '../decision/decision.ts'
import type { Ask, Situation } from '../decision/situation.ts'
import {
  numberOfGeneratedId,
  type EndedRun,
  type Incarnation,
  type KeyRecord,
  type No,
  type Resource,
} from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Answer, Batch } from '../store/store.ts'
import { BatchState } from './batch-state.ts'
import { Entries } from './entries.ts'
import { type Entry, Family, isGenerated, nameOf } from './entry.ts'

const none: readonly Resource[] = []

export class WorkingSet implements Situation {
  now: Millis = 0
  claimant: Incarnation = 0
  /** Only facts that are known to be current count: set for commands that do not come from the run itself. */
  strict = false
  /** What was current at this count of foreign writes is taken in hope, and keys for new: only a commit tells whether it was right. */
  hopesSince = Infinity
  /** Something was taken in hope in this batch. */
  hasHoped = false
  /** Whose runs are kept in memory. */
  owner: Incarnation = 0

  readonly #plans: Plans
  readonly #cacheSize: number
  readonly #relies: boolean
  readonly #entries = new Entries()
  /** Resources with ids given by users, by type and id. */
  readonly #named = new Map<string, Entry>()
  #families = 0
  #owned = 0
  #added = 0
  #asOf = 1
  #counter = 0

  #batches = 1
  #batch = new BatchState(1, 1)

  /** `cacheSize`: entries kept beside the owned ones. `relies`: commands of a run take what is cached, however old; the commit verifies it. */
  constructor(options: { readonly plans: Plans; readonly cacheSize: number; readonly relies?: boolean }) {
    this.#plans = options.plans
    this.#cacheSize = options.cacheSize
    this.#relies = options.relies ?? false
  }

  /** Facts that were looked for and are not loaded: whatever was computed meanwhile is void. */
  missing: Ask[] = []
  /** Something was looked at that a departed batch has written: to be decided when that has landed. */
  isBlocked = false

  nextNo(): No {
    return numberIn(this.owner, ++this.#counter)
  }

  resource(no: No): Resource | null {
    const entry = this.#entries.get(no)
    if (entry === undefined || !this.#usable(entry)) return this.#lacks({ ask: 'resource', no }, null)
    this.#note(entry)
    return entry.resource
  }

  named(type: string, id: string): Resource | null {
    const no = numberOfGeneratedId(id)
    if (no !== null) {
      const found = this.resource(no)
      return found?.type === type ? found : null
    }
    if (!this.#hasNamed(type, id)) return this.#lacks({ ask: 'named', type, id }, null)
    const entry = this.#named.get(nameOf(type, id))
    if (entry === undefined) return null
    if (!this.#usable(entry)) return this.#lacks({ ask: 'named', type, id }, null)
    this.#note(entry)
    return entry.resource
  }

  children(no: No): readonly Resource[] {
    return this.#members(no, null) ?? this.#lacks({ ask: 'children', no }, none)
  }

  linkedBy(no: No, link: string): readonly Resource[] {
    return this.#members(no, link) ?? this.#lacks({ ask: 'linkedBy', no, link }, none)
  }

  key(key: string): KeyRecord | null {
    const record = this.#batch.gathered.key(key)
    if (record !== undefined) return record
    this.hasHoped ||= this.hopesSince < Infinity
    return this.hopesSince < Infinity ? null : this.#lacks({ ask: 'key', key }, null)
  }

  endedRun(no: No, begun: number): EndedRun | null {
    const run = this.#batch.gathered.endedRun(no, begun)
    return run === undefined ? this.#lacks({ ask: 'endedRun', no, begun }, null) : run
  }

  /** Begins a batch. `asOf` is the present count of foreign writes. */
  begin(now: Millis, asOf: number): void {
    this.now = now
    this.#asOf = asOf
    this.hasHoped = false
    this.#evict()
    this.#batch = new BatchState(++this.#batches, asOf)
  }

  /** Also when it is blocked: to load it would not help. */
  hasResource(no: No): boolean {
    const entry = this.#entries.get(no)
    return entry !== undefined && (entry.isFlying || this.#usable(entry))
  }

  #hasNamed(type: string, id: string): boolean {
    const no = numberOfGeneratedId(id)
    if (no !== null) return this.hasResource(no)
    const entry = this.#named.get(nameOf(type, id))
    if (entry === undefined) return this.#batch.isAbsent(nameOf(type, id))
    return entry.isFlying || this.#usable(entry)
  }

  /** True when a decision could read the fact now: what is known to be needed is loaded before deciding. */
  has(ask: Ask): boolean {
    switch (ask.ask) {
      case 'resource':
        return this.hasResource(ask.no)
      case 'named':
        return this.#hasNamed(ask.type, ask.id)
      case 'key':
        return this.hopesSince < Infinity || this.#batch.gathered.key(ask.key) !== undefined
      case 'endedRun':
        return this.#batch.gathered.endedRun(ask.no, ask.begun) !== undefined
      case 'children':
      case 'linkedBy':
        return false
    }
  }

  /** Takes in what the store answered. */
  supply(ask: Ask, answer: Answer): void {
    switch (ask.ask) {
      case 'resource':
        this.#take(ask.no, answer as Resource | null)
        return
      case 'named': {
        const found = answer as Resource | null
        const name = nameOf(ask.type, ask.id)
        // What was known by this name is no more; as long as it was, it would be asked for for ever.
        if (found === null) this.forget(this.#named.get(name)?.no ?? 0)
        if (found === null) this.#batch.lacks(name, { type: ask.type, id: ask.id })
        else this.#take(found.no, found)
        return
      }
      case 'children':
      case 'linkedBy':
        this.#takeFamily(ask, answer as readonly Resource[])
        return
      case 'key':
        // Whether or not it was hoped to be new.
        if (this.#batch.gathered.key(ask.key) !== undefined) return
        this.#batch.gathered.learnKey(ask.key, answer as KeyRecord | null)
        return
      case 'endedRun':
        if (!this.has(ask)) this.#batch.gathered.learnRun(ask.no, ask.begun, answer as EndedRun | null)
        return
    }
  }

  /** Puts the changes of a decision on top, for the decisions after it. */
  apply(changes: Changes): void {
    for (const after of changes.writes) {
      const entry = this.#entry(after.no)
      if (entry.resource === null && !isGenerated(after)) this.#named.set(nameOf(after.type, after.id), entry)
      if (entry.written !== this.#batch.id) {
        entry.written = this.#batch.id
        this.#batch.writes.push(entry)
      }
      if (this.#families > 0) this.#adjustFamilies(entry.resource, after)
      entry.known = true
      entry.resource = after
    }
    this.#batch.gathered.add(changes)
  }

  get mustCommit(): boolean {
    return this.#batch.mustCommit
  }

  batch(): Batch {
    return this.#batch.asBatch((family) => this.#entry(family.of))
  }

  /** The batch is on its way: until it lands, as committed or rolled back, what it has written is out of reach. */
  depart(): BatchState {
    this.#batch.setFlying(true)
    return this.#end()
  }

  /** The batch is in the store: what it saw is now what is stored. */
  committed(batch = this.#end()): void {
    batch.setFlying(false)
    for (const entry of batch.writes) this.#store(entry, entry.resource, batch.asOf)
    for (const family of batch.familiesChanged) family.stored = family.now
  }

  /** Nothing was written: back to what is stored. What the store named, or everything touched, is read again. */
  rollback(conflicts: readonly No[] | 'all', batch = this.#end()): void {
    batch.setFlying(false)
    for (const entry of batch.writes) {
      if (entry.stored === null) this.#drop(entry)
      else entry.resource = entry.stored
    }
    for (const family of batch.familiesChanged) family.now = family.stored
    if (conflicts !== 'all') {
      for (const no of conflicts) this.forget(no)
      return
    }
    for (const entry of batch.writes) this.forget(entry.no)
    for (const entry of batch.reads) this.forget(entry.no)
    for (const family of batch.familiesRead) this.forget(family.of)
  }

  /** From here on nothing counts as written by the batch under way: everything may be dropped. */
  #end(): BatchState {
    const ended = this.#batch
    this.#batch = new BatchState(++this.#batches, this.#asOf)
    return ended
  }

  /** The next reader loads it anew. Not inside a batch that has written it. */
  forget(no: No): void {
    const entry = this.#entries.get(no)
    if (entry !== undefined && !entry.isFlying && entry.written !== this.#batch.id) this.#drop(entry)
  }

  /** Another incarnation begins: it has its own numbers and owns nothing yet. */
  reborn(owner: Incarnation): void {
    this.owner = owner
    this.#counter = 0
    this.#entries.clear()
    this.#named.clear()
    this.#families = this.#owned = 0
  }

  /** Goes on as if there were nothing, so that one try finds all facts it can that are to be loaded, not only the first. */
  #lacks<T>(ask: Ask, nothing: T): T {
    this.missing.push(ask)
    return nothing
  }

  #entry(no: No): Entry {
    const entry = this.#entries.get(no)
    if (entry !== undefined) return entry
    this.#added++
    return this.#entries.add(no)
  }

  #usable(entry: Entry): boolean {
    if (entry.isFlying) {
      this.isBlocked = true
      return false
    }
    if (!entry.known) return false
    const { id } = this.#batch
    if (entry.asOf === this.#asOf || entry.read === id || entry.written === id) return true
    const isHope = this.strict && entry.asOf >= this.hopesSince && entry.resource !== null
    this.hasHoped ||= isHope
    if (this.strict) return isHope
    if (entry.isOwned) return true
    this.#batch.hasRelied ||= this.#relies && entry.resource !== null
    return this.#relies && entry.resource !== null
  }

  #store(entry: Entry, resource: Resource | null, asOf = this.#asOf): void {
    const run = resource === null ? null : resource.run
    const isOwned = run !== null && run.owner === this.owner
    if (isOwned !== entry.isOwned) this.#owned += isOwned ? 1 : -1
    entry.isOwned = isOwned
    entry.isInUse = false
    entry.stored = resource
    entry.asOf = asOf
  }

  #note(entry: Entry): void {
    if (entry.read === this.#batch.id) return
    entry.isInUse = entry.read !== 0
    entry.read = this.#batch.id
    this.#batch.reads.push(entry)
  }

  #members(no: No, link: string | null): readonly Resource[] | null {
    const owner = this.#entries.get(no)
    if (owner === undefined) return null
    if (this.#batch.isNew(owner) && owner.family(link) === null)
      this.#addFamily(owner, new Family(no, link, [], this.#asOf))
    const family = owner.family(link)
    if (family?.isFlying) this.isBlocked = true
    const { id } = this.#batch
    if (family === null || family.isFlying || (family.asOf !== this.#asOf && family.read !== id)) return null
    const found: Resource[] = []
    for (const member of family.now) {
      const entry = this.#entries.get(member)
      if (entry === undefined || !this.#usable(entry) || entry.resource === null) return null
      this.#note(entry)
      found.push(entry.resource)
    }
    if (family.read !== id) {
      family.read = id
      this.#batch.familiesRead.push(family)
    }
    return found
  }

  #take(no: No, resource: Resource | null): void {
    const entry = this.#entry(no)
    // What this batch has seen stays so: if it is stale, the commit will tell. Only what was not there may have been made since.
    const { id } = this.#batch
    const isSeen = entry.written === id || (entry.read === id && entry.resource !== null)
    if (entry.isFlying || (entry.known && isSeen)) return
    entry.known = true
    entry.resource = resource
    this.#store(entry, resource)
    if (resource !== null && !isGenerated(resource)) this.#named.set(nameOf(resource.type, resource.id), entry)
  }

  #takeFamily(ask: Extract<Ask, { ask: 'children' | 'linkedBy' }>, members: readonly Resource[]): void {
    for (const member of members) this.#take(member.no, member)
    const nos = members.map((member) => member.no)
    this.#addFamily(this.#entry(ask.no), new Family(ask.no, ask.ask === 'linkedBy' ? ask.link : null, nos, this.#asOf))
  }

  #addFamily(owner: Entry, family: Family): void {
    if (owner.family(family.link) === null) this.#families++
    owner.setFamily(family)
    // Decisions accepted before this list was loaded may have changed its membership.
    for (const entry of this.#batch.writes) this.#adjust(family, entry.stored, entry.resource!)
  }

  #adjustFamilies(before: Resource | null, after: Resource): void {
    const isSame =
      before !== null &&
      before.status === after.status &&
      before.parent === after.parent &&
      before.links === after.links
    if (isSame) return
    for (const one of before === null ? [after] : [before, after]) {
      const children = one.parent === null ? null : this.#entries.get(one.parent)?.children
      if (children) this.#adjust(children, before, after)
      for (const link in one.links) {
        const family = this.#entries.get(one.links[link]!)?.linkedBy?.get(link)
        if (family) this.#adjust(family, before, after)
      }
    }
  }

  #adjust(family: Family, before: Resource | null, after: Resource): void {
    const isIn = family.has(this.#plans, after)
    if (family.has(this.#plans, before) === isIn) return
    if (family.isFlying) {
      // Two batches change it at once: the next reader loads it anew.
      if (this.#entries.get(family.of)?.removeFamily(family)) this.#families--
      return
    }
    if (family.changed !== this.#batch.id) {
      family.changed = this.#batch.id
      family.now = [...family.stored]
      this.#batch.familiesChanged.push(family)
    }
    family.change(after.no, isIn)
  }

  #drop(entry: Entry): void {
    if (!this.#entries.drop(entry)) return
    this.#families -= entry.families
    if (entry.isOwned) this.#owned--
    const resource = entry.stored ?? entry.resource
    if (resource === null || isGenerated(resource)) return
    const name = nameOf(resource.type, resource.id)
    if (this.#named.get(name) === entry) this.#named.delete(name)
  }

  /** A few looks for each entry that was added since. */
  #evict(): void {
    const tooMany = this.#entries.size - this.#owned - this.#cacheSize
    for (const entry of this.#entries.takeIdle(tooMany, 3 * this.#added + 50)) this.#drop(entry)
    this.#added = 0
  }
}
