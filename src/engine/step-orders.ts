// The steps of every operation in their order, as the processes before this one knew them. A run counts its steps: were one put in
// before the step at which it stands, it would leave that out and do another twice. Such runs stop the start, as all strangers do.
import type { Json } from '../base/json.ts'
import type { Plan, Plans } from '../lifecycle/plan.ts'
import { emptyBatch, type Store, type StoredRecord } from '../store/store.ts'

const kind = 'steps'
const pageSize = 500

/** Names of steps by operation, in the order of their names: stores need not keep the order of an object's. */
type Orders = readonly (readonly [operation: string, steps: readonly string[]])[]

export class StepOrders {
  readonly #records = new Map<string, StoredRecord>()

  static async of(store: Store): Promise<StepOrders> {
    const orders = new StepOrders()
    for (let after = ''; ;) {
      const page = await store.records({ kind, after, limit: pageSize })
      for (const record of page) orders.#records.set(record.key, record)
      if (page.length < pageSize) return orders
      after = page.at(-1)!.key
    }
  }

  /** The step at this place, or before it, that is another now; null: none is, or nobody knows what they were. */
  changed(type: string, operation: string, steps: readonly string[], upTo: number): string | null {
    const was = this.#orders(type)?.find(([name]) => name === operation)?.[1] ?? []
    return was.find((name, at) => at <= upTo && steps[at] !== name) ?? null
  }

  /** Those of these declarations, where they differ from what is stored: in one commit. False: somebody else wrote meanwhile. */
  async keep(store: Store, plans: Plans): Promise<boolean> {
    const records = plans.all.flatMap((plan) => {
      const { orders, text } = ordersOf(plan)
      if (text === JSON.stringify(this.#orders(plan.type))) return []
      const from = this.#records.get(plan.type)?.version ?? 0
      return [{ kind, key: plan.type, from, to: orders as unknown as Json }]
    })
    return records.length === 0 || (await store.commit({ ...emptyBatch, records })).committed
  }

  #orders(type: string): Orders | undefined {
    return this.#records.get(type)?.value as Orders | undefined
  }
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
