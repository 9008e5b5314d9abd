// Decides the commands of one batch, one after another, on what the working set knows; facts that are missing are loaded together.
// A request would always be preceded by a look whether others wrote and by a look-up of its key; where the store learns late what others
// wrote, by a round trip. So requests are first decided in hope: that what is cached still holds and that their keys are new. What
// is accepted so, the commit verifies as it does anyway, by revisions and by the keys' own uniqueness; a refusal would be verified by
// nobody, and is decided again on facts that are loaded. One hope in vain costs the whole batch: many requests hope only where it spares
// a round trip and nobody else was heard to write lately, and after a hope in vain they ask first for a while.
import { messageOf } from '../base/errors.ts'
import type { Ask } from '../decision/situation.ts'
import type { Store } from '../store/store.ts'
import { distinct } from './asks.ts'
import type { Item } from './command-queue.ts'
import type { DoorOptions } from './door-options.ts'
import { foresee, isOfRun } from './foresee.ts'
import { rejected } from './rejections.ts'
import type { WorkingSet } from './working-set.ts'

/** A decision that keeps asking for facts is broken. */
const loadRoundsMax = 1_000
/** So few commands are decided in hope whatever happened before: in vain it costs about as much as asking. */
const fewCommands = 8
/** So many batches of more commands ask first after a hope in vain, or after others were heard: if every hope is in vain, one in so many. */
const cautiousBatches = 64

export class Decider {
  readonly #options: DoorOptions
  readonly #set: WorkingSet
  /** How many batches of many commands still ask first. */
  #cautious = 0
  /** The count of what others were heard to write when many commands last came. */
  #heard: number
  /** How often others were known to have written when the batch began. */
  asOf = 0

  constructor(options: DoorOptions, set: WorkingSet) {
    this.#options = options
    this.#set = set
    this.#heard = options.foreign.count
  }

  /** Null: done without waiting. Commands that a departed batch blocks are left without a decision. */
  decide(items: Item[], mayHope: boolean): Promise<unknown> | null {
    if (isHopeful(items) && this.#dares(items, mayHope) && this.#decideInHope(items)) return null
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

  /** What may not hope came back: it may have hoped in vain. Where others write, it is likelier. */
  #dares(items: readonly Item[], mayHope: boolean): boolean {
    if (items.length <= fewCommands) return mayHope
    const { store, foreign } = this.#options
    if (!store.learnsLater) return false
    const heard = foreign.look()
    if (!mayHope || heard !== this.#heard) this.#cautious = cautiousBatches
    this.#heard = heard
    if (this.#cautious === 0) return true
    this.#cautious--
    return false
  }

  /** False: nothing is decided. */
  #decideInHope(items: readonly Item[]): boolean {
    const { foreign, clock, store } = this.#options
    // Where a look costs next to nothing, what others were heard to have written is not hoped to be as it was.
    this.asOf = store.learnsLater ? foreign.lookStrictly() : foreign.strictCount
    this.#set.begin(clock.now(), this.asOf)
    this.#set.hopesSince = foreign.quietSince
    const isKnown = this.#foreseen(items).length === 0
    const isDecided = isKnown && items.every((item) => this.#holdsInHope(item))
    this.#set.hopesSince = Infinity
    if (isDecided) return true
    // All of it is decided twice.
    if (isKnown && items.length > fewCommands) this.#cautious = cautiousBatches
    this.#set.rollback([])
    return false
  }

  /** What a departed batch blocks is left for later, in hope or not. */
  #holdsInHope(item: Item): boolean {
    return this.#decideOne(item) ? item.decision!.accepted || !isHoped(item) : this.#set.isBlocked
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
      item.decision = rejected('declaration_defect', `Cannot decide ${item.command.kind}: ${messageOf(error)}.`)
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

const isHoped = ({ command }: Item): boolean => command.kind === 'requestOperation'

/** There are requests, and nothing but what may be beside them. */
const isHopeful = (items: readonly Item[]): boolean =>
  items.some(isHoped) && items.every((item) => isHoped(item) || isOfRun(item.command))
