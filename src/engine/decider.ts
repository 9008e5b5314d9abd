// Decides the commands of one batch, one after another, on what the working set knows; facts that are missing are loaded together.
// A request would always be preceded by a look whether others wrote and by a look-up of its key; where the store learns late what others
// wrote, by a round trip. So requests are first decided in hope: that what is cached still holds and that their keys are new. What
// is accepted so, the commit verifies as it does anyway, by revisions and by the keys' own uniqueness; a refusal would be verified by
// nobody, and is decided again on facts that are loaded. What is not cached is loaded, with the keys, and what else is cached is hoped to
// hold all the same. One hope in vain costs the whole batch: many requests hope only where it spares a round trip and nobody else was heard
// to write lately, and after a hope in vain they ask first for a while.
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
    if (!isHopeful(items) || !this.#dares(items, mayHope)) return this.#decideStrictly(items)
    this.#beginInHope()
    const deciding = this.#loadAndDecide(items)
    const unlessHeld = () => (this.#holds(items) ? null : this.#decideStrictly(items))
    return deciding === null ? unlessHeld() : deciding.then(unlessHeld)
  }

  #decideStrictly(items: Item[]): Promise<unknown> | null {
    this.#begin(items)
    return this.#loadAndDecide(items)
  }

  #begin(items: readonly Item[]): void {
    // Commands of runs are decided on what is known of them here; if that is old, the commit finds it.
    const { foreign, clock } = this.#options
    this.asOf = items.every(({ command }) => isOfRun(command)) ? foreign.strictCount : foreign.lookStrictly()
    this.#set.begin(clock.now(), this.asOf)
    this.#set.hopesSince = Infinity
  }

  #beginInHope(): void {
    const { foreign, clock, store } = this.#options
    // Where a look costs next to nothing, what others were heard to have written is not hoped to be as it was.
    this.asOf = store.learnsLater ? foreign.lookStrictly() : foreign.strictCount
    this.#set.begin(clock.now(), this.asOf)
    this.#set.hopesSince = foreign.quietSince
  }

  /** What is not cached is asked for, all of it at once, in hope or not. */
  #loadAndDecide(items: Item[]): Promise<unknown> | null {
    const asks = this.#foreseen(items)
    if (asks.length === 0) return this.#decideWhatCan(items)
    // Asked anyway, the store is also asked for the keys that were hoped to be new.
    for (const { command } of items)
      if (command.kind === 'requestOperation' && command.key !== undefined) asks.push({ ask: 'key', key: command.key })
    const loading = this.#load(distinct(asks))
    return loading === null ? this.#decideWhatCan(items) : loading.then(() => this.#decideWhatCan(items))
  }

  /** Whether hope was enough: nobody is refused because of it. Else nothing is decided. */
  #holds(items: readonly Item[]): boolean {
    const { store } = this.#options
    // A store that always knows what others wrote was not asked for it: whatever was cached was hoped to hold.
    const isHope = this.#set.hasHoped || !store.learnsLater
    if (!isHope || items.every((item) => item.decision === null || item.decision.accepted || !isHoped(item)))
      return true
    // All of it is decided twice.
    if (items.length > fewCommands) this.#cautious = cautiousBatches
    this.#set.rollback([])
    return false
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
