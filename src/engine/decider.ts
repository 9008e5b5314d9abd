// Decides the commands of one batch, one after another, on what the working set knows; facts that are missing are loaded together.
// A request would always be preceded by a look whether others wrote and by a look-up of its key; where the store learns late what others
// wrote, by a round trip. So few requests are first decided in hope: that what is cached still holds and that their keys are new. What
// is accepted so, the commit verifies as it does anyway, by revisions and by the keys' own uniqueness; a refusal would be verified by
// nobody, and is decided again on facts that are loaded.
import type { Ask } from '../decision/situation.ts'
import type { Store } from '../store/store.ts'
import { distinct } from './asks.ts'
import type { Item } from './command-queue.ts'
import type { DoorOptions } from './door-options.ts'
import { foresee, isOfRun } from './foresee.ts'
import { rejected, textOf } from './rejections.ts'
import type { WorkingSet } from './working-set.ts'

/** A decision that keeps asking for facts is broken. */
const loadRoundsMax = 1_000
/** Of more commands than this one hope in vain is likelier, and a batch in vain dearer than a round trip. */
const hopesAtMost = 8

export class Decider {
  readonly #options: DoorOptions
  readonly #set: WorkingSet
  /** How often others were known to have written when the batch began. */
  asOf = 0

  constructor(options: DoorOptions, set: WorkingSet) {
    this.#options = options
    this.#set = set
  }

  /** Null: done without waiting. Commands that a departed batch blocks are left without a decision. */
  decide(items: Item[], mayHope: boolean): Promise<unknown> | null {
    if (mayHope && items.length <= hopesAtMost && this.#decideInHope(items)) return null
    this.#begin(items)
    const asks = this.#foreseen(items)
    const loading = asks.length === 0 ? null : this.#load(distinct(asks))
    if (loading !== null) return loading.then(() => this.#decideWhatCan(items))
    return this.#decideWhatCan(items)
  }

  #begin(items: readonly Item[]): void {
    // Commands of runs are decided on what is known of them here; if that is old, the commit finds it.
    const { foreign, clock } = this.#options
    this.asOf = items.every(({ command }) => isOfRun(command)) ? foreign.strictCount : foreign.lookStrictly()
    this.#set.begin(clock.now(), this.asOf)
  }

  #foreseen(items: readonly Item[]): Ask[] {
    const asks: Ask[] = []
    for (const item of items) {
      item.decision = null
      this.#set.strict = !isOfRun(item.command)
      foresee(item.command, this.#set, asks)
    }
    return asks
  }

  /** False: nothing is decided. */
  #decideInHope(items: readonly Item[]): boolean {
    const isHoped = ({ command }: Item) => command.kind === 'requestOperation'
    if (!items.some(isHoped) || !items.every((item) => isHoped(item) || isOfRun(item.command))) return false
    const { foreign, clock, store } = this.#options
    // Where a look costs next to nothing, what others were heard to have written is not hoped to be as it was.
    this.asOf = store.learnsLater ? foreign.lookStrictly() : foreign.strictCount
    this.#set.begin(clock.now(), this.asOf)
    this.#set.hopesSince = foreign.quietSince
    const isDecided =
      this.#foreseen(items).length === 0 &&
      items.every((item) => this.#decideOne(item) && (item.decision!.accepted || !isHoped(item)))
    this.#set.hopesSince = Infinity
    if (isDecided) return true
    this.#set.rollback([])
    return false
  }

  #decideWhatCan(items: Item[], rounds = 0): Promise<unknown> | null {
    let left = items
    for (let round = rounds; ; round++) {
      const asks: Ask[] = []
      const stuck: Item[] = []
      for (const item of left) {
        if (this.#decideOne(item) || this.#set.isBlocked) continue
        if (round > loadRoundsMax)
          item.decision = rejected('declaration_defect', 'The decision never stops asking for facts.')
        else {
          for (const ask of this.#set.missing) asks.push(ask)
          stuck.push(item)
        }
      }
      if (stuck.length === 0) return null
      const loading = this.#load(distinct(asks))
      left = stuck
      if (loading !== null) return loading.then(() => this.#decideWhatCan(stuck, round + 1))
    }
  }

  /** False: facts are missing, and what was decided without them is void. */
  #decideOne(item: Item): boolean {
    const set = this.#set
    if (set.missing.length > 0) set.missing = []
    set.isBlocked = false
    set.strict = !isOfRun(item.command)
    set.claimant = this.#options.claimantFor === undefined ? 0 : this.#options.claimantFor(item.command)
    try {
      const decision = this.#options.decide(this.#options.plans, set, item.command)
      if (set.missing.length > 0 || set.isBlocked) return false
      item.decision = decision
      if (decision.changes !== null) set.apply(decision.changes)
    } catch (error) {
      if (set.missing.length > 0 || set.isBlocked) return false
      this.#options.log('error', 'a decision threw', { error, command: item.command })
      item.decision = rejected('declaration_defect', `Cannot decide ${item.command.kind}: ${textOf(error)}.`)
    }
    return true
  }

  #load(asks: readonly Ask[]): Promise<unknown> | null {
    const loading = this.#options.store.load(asks)
    if (loading instanceof Promise) return loading.then((answers) => this.#supply(asks, answers))
    this.#supply(asks, loading)
    return null
  }

  #supply(asks: readonly Ask[], answers: Awaited<ReturnType<Store['load']>>): void {
    for (let i = 0; i < asks.length; i++) this.#set.supply(asks[i]!, answers[i]!)
  }
}
