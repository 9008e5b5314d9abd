// The steps of every operation in their order, as the processes before this one knew them, and those beside it do. A run counts its
// steps: were one put in before the step at which it stands, it would leave that out and do another twice. Such runs stop the start, as
// all strangers do; and whoever counts otherwise than those at work does not begin beside them (agreement.ts).
import type { Json } from '../base/json.ts'
import type { Incarnation } from '../decision/state.ts'
import type { Plan, Plans } from '../lifecycle/plan.ts'
import { emptyBatch, type RecordChange, type Store, type StoredRecord } from '../store/store.ts'

const kind = 'steps'
const pageSize = 500

/** Names of steps by operation, in the order of their names: stores need not keep the order of an object's. */
type Orders = readonly (readonly [operation: string, steps: readonly string[]])[]

/** Who would change what is kept says so first, in a record of this key and its number: no type is named so. */
const claimPrefix = 'by '
type Claim = readonly (readonly [type: string, orders: Orders])[]

/** An operation that has other steps at the same places, here and there. */
export interface Difference {
  readonly type: string
  readonly operation: string
  readonly here: readonly string[]
  readonly there: readonly string[]
}

export class StepOrders {
  readonly #records = new Map<string, StoredRecord>()
  readonly #claims = new Map<Incarnation, StoredRecord>()

  static async of(store: Store): Promise<StepOrders> {
    const orders = new StepOrders()
    for (let after = ''; ;) {
      const page = await store.records({ kind, after, limit: pageSize })
      for (const record of page) orders.#take(record)
      if (page.length < pageSize) return orders
      after = page.at(-1)!.key
    }
  }

  #take(record: StoredRecord): void {
    const { key } = record
    if (key.startsWith(claimPrefix)) this.#claims.set(Number(key.slice(claimPrefix.length)), record)
    else this.#records.set(key, record)
  }

  /** Whether nothing was written since the other was read. */
  isAs(other: StepOrders): boolean {
    const records = [...this.#records.values()]
    return (
      records.length === other.#records.size &&
      records.every(({ key, version }) => other.#records.get(key)?.version === version)
    )
  }

  /** The step at this place, or before it, that is another now; null: none is, or nobody knows what they were. */
  changed(type: string, operation: string, steps: readonly string[], upTo: number): string | null {
    const was = stepsIn(this.#orders(type), operation)
    return was.find((name, at) => at <= upTo && steps[at] !== name) ?? null
  }

  /** Where these declarations count otherwise than what is kept. One that only has more steps after them does not. */
  differences(plans: Plans): Difference[] {
    return plans.all.flatMap((plan) => differencesOf(plan, this.#orders(plan.type)))
  }

  get claimants(): readonly Incarnation[] {
    return [...this.#claims.keys()]
  }

  /** Whether this one has said what it would keep, and it is not against these declarations. */
  goesAlong(no: Incarnation, plans: Plans): boolean {
    const claim = this.#claims.get(no)
    return claim !== undefined && this.#claimedAgainst(claim, plans).length === 0
  }

  /** Says what this one would keep. */
  async claim(store: Store, plans: Plans, me: Incarnation): Promise<void> {
    const to = plans.all.map((plan) => [plan.type, ordersOf(plan).orders]) as unknown as Json
    const key = `${claimPrefix}${me}`
    const from = this.#claims.get(me)?.version ?? 0
    await store.commit({ ...emptyBatch, records: [{ kind, key, from, to }] })
  }

  async withdraw(store: Store, me: Incarnation): Promise<void> {
    const claim = this.#claims.get(me)
    if (claim === undefined) return
    await store.commit({ ...emptyBatch, records: [{ kind, key: claim.key, from: claim.version, to: null }] })
  }

  /** Writes what somebody would change as it is: he finds that it was, and looks who is there. False: he was quicker. */
  async insist(store: Store, plans: Plans): Promise<boolean> {
    const types = new Set([...this.#claims.values()].flatMap((claim) => this.#claimedAgainst(claim, plans)))
    const records = [...types].flatMap((type) => {
      const kept = this.#records.get(type)
      return kept === undefined ? [] : [{ kind, key: type, from: kept.version, to: kept.value }]
    })
    return records.length === 0 || (await store.commit({ ...emptyBatch, records })).committed
  }

  /**
   * Those of these declarations, where they differ from what is stored, and claims that are done with, in one commit. What is stored and
   * not known here stays: a process with a newer declaration may have begun runs by it. False: somebody else wrote meanwhile.
   */
  async keep(store: Store, plans: Plans, doneWith: readonly Incarnation[] = []): Promise<boolean> {
    const records = plans.all.flatMap((plan): RecordChange[] => {
      const stored = this.#orders(plan.type)
      const { orders, text } = ordersOf(plan)
      const was = JSON.stringify(stored)
      if (text === was) return []
      const to = stored === undefined ? orders : merged(stored, orders)
      if (JSON.stringify(to) === was) return []
      return [{ kind, key: plan.type, from: this.#records.get(plan.type)?.version ?? 0, to: to as unknown as Json }]
    })
    const claims = doneWith.flatMap((no) => this.#claims.get(no) ?? [])
    records.push(...claims.map(({ key, version }) => ({ kind, key, from: version, to: null })))
    return records.length === 0 || (await store.commit({ ...emptyBatch, records })).committed
  }

  #claimedAgainst(record: StoredRecord, plans: Plans): string[] {
    return ((listOf(record) ?? []) as Claim).flatMap(([type, orders]) => {
      const plan = plans.get(type)
      return plan !== undefined && differencesOf(plan, orders).length > 0 ? [type] : []
    })
  }

  #orders(type: string): Orders | undefined {
    return listOf(this.#records.get(type)) as Orders | undefined
  }
}

/** What is damaged counts as never written. */
const listOf = (record: StoredRecord | undefined): unknown => (Array.isArray(record?.value) ? record.value : undefined)

const stepsIn = (orders: Orders | undefined, operation: string): readonly string[] =>
  orders?.find(([name]) => name === operation)?.[1] ?? []

const isOtherAt = (here: readonly string[], there: readonly string[]): boolean =>
  here.some((name, at) => at < there.length && there[at] !== name)

function differencesOf(plan: Plan, orders: Orders | undefined): Difference[] {
  return ordersOf(plan).orders.flatMap(([operation, here]) => {
    const there = stepsIn(orders, operation)
    return isOtherAt(here, there) ? [{ type: plan.type, operation, here, there }] : []
  })
}

/** The new ones; what they lack, operations and steps after theirs, as it was. */
function merged(stored: Orders, orders: Orders): Orders {
  const names = new Set([...stored, ...orders].map(([name]) => name))
  return [...names].toSorted().map((name) => {
    const [was, is] = [stepsIn(stored, name), stepsIn(orders, name)]
    return [name, is.length < was.length && !isOtherAt(is, was) ? was : is]
  })
}

interface Written {
  readonly orders: Orders
  readonly text: string
}

/** Plans never change: engines made from the same ones, as a simulation makes them by the thousand, share what is written of them. */
const written = new WeakMap<Plan, Written>()

function ordersOf(plan: Plan): Written {
  const known = written.get(plan)
  if (known !== undefined) return known
  const orders = [...plan.operations]
    .map(([name, { steps }]) => [name, steps.map((step) => step.name)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const made = { orders, text: JSON.stringify(orders) }
  written.set(plan, made)
  return made
}
