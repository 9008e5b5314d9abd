// One cached resource of the working set, and the lists of resources that refer to it.
import { numberOfGeneratedId, type No, type Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'

/** One resource: one object, so that a command costs no more than a look-up or two. */
export class Entry {
  readonly no: No
  /** As this batch sees it; null: it does not exist. */
  resource: Resource | null = null
  /** As it was committed. */
  stored: Resource | null = null
  known = false
  /** Its run is carried out here. */
  isOwned = false
  /** The count of foreign writes at which `stored` was current. */
  asOf = 0
  /** Batches in which it was last read and written. */
  read = 0
  written = 0
  /** Read in several batches since it was stored, and not yet spared for that when room was made. */
  isInUse = false
  /** Written by a batch that is on its way to the store. */
  isFlying = false
  /** No longer kept: whoever holds it looks it up again. */
  isGone = false
  children: Family | null = null
  linkedBy: Map<string, Family> | null = null

  constructor(no: No) {
    this.no = no
  }

  family(link: string | null): Family | null {
    return link === null ? this.children : (this.linkedBy?.get(link) ?? null)
  }

  setFamily(family: Family): void {
    if (family.link === null) this.children = family
    else (this.linkedBy ??= new Map()).set(family.link, family)
  }

  /** False: it has another one by now. */
  removeFamily(family: Family): boolean {
    if (this.family(family.link) !== family) return false
    if (family.link === null) this.children = null
    else this.linkedBy!.delete(family.link)
    return true
  }

  get families(): number {
    return (this.children === null ? 0 : 1) + (this.linkedBy === null ? 0 : this.linkedBy.size)
  }
}

/** The members of a relation to many, by number: the children of `of`, or those that link to it under a name. */
export class Family {
  readonly of: No
  readonly link: string | null
  stored: No[]
  /** As this batch sees it; a copy of its own once the batch has changed it. */
  now: No[]
  changed = 0
  read = 0
  /** Changed by a batch that is on its way to the store. */
  isFlying = false
  readonly asOf: number

  constructor(of: No, link: string | null, members: No[], asOf: number) {
    this.of = of
    this.link = link
    this.stored = members
    this.now = members
    this.asOf = asOf
  }

  has(plans: Plans, resource: Resource | null): boolean {
    if (resource === null) return false
    if (this.link === null ? resource.parent !== this.of : resource.links[this.link] !== this.of) return false
    return plans.kindOf(resource.type, resource.status) !== 'terminal'
  }

  /** Puts a member in or takes it out. */
  change(no: No, isIn: boolean): void {
    const at = placeOf(this.now, no)
    if (isIn && this.now[at] !== no) this.now.splice(at, 0, no)
    if (!isIn && this.now[at] === no) this.now.splice(at, 1)
  }
}

/** Where the number is, or would be, in the ordered list. */
function placeOf(list: readonly No[], no: No): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]! < no) low = middle + 1
    else high = middle
  }
  return low
}

/** Found by its number alone. Those that a run has added begin like it, and are found by name: `~2s.nodes.1-0-0`. */
export const isGenerated = (resource: Resource): boolean => numberOfGeneratedId(resource.id) !== null

export const nameOf = (type: string, id: string): string => `${type}\u0000${id}`
