// In which order types are healed: owners before owned, so that what an owner's healing moves along is not healed on its own.
import type { Plan, Plans } from '../lifecycle/plan.ts'

/** The place of each type. A cycle is broken by looking at parents only. */
export function typeOrder(plans: Plans): ReadonlyMap<string, number> {
  const order = new Map<string, number>()
  const left = new Set(plans.all)
  const isFree = (plan: Plan, owners: (plan: Plan) => string[]) =>
    owners(plan).every((type) => type === plan.type || order.has(type) || plans.get(type) === undefined)
  while (left.size > 0) {
    const open = [...left]
    const next =
      open.find((plan) => isFree(plan, allOwners)) ??
      open.find((plan) => isFree(plan, withoutLinks)) ??
      open.find((plan) => isFree(plan, parents)) ??
      open[0]!
    order.set(next.type, order.size)
    left.delete(next)
  }
  return order
}

const parents = (plan: Plan): string[] => (plan.parentType === null ? [] : [plan.parentType])

function withoutLinks(plan: Plan): string[] {
  const owners = parents(plan)
  for (const row of plan.heal.values()) for (const { relation } of row.withOwner) owners.push(relation.type)
  if (plan.pair !== null && !plan.pair.leads) owners.push(plan.pair.type)
  return owners
}

function allOwners(plan: Plan): string[] {
  const owners = withoutLinks(plan)
  for (const relation of plan.relations.values()) if (relation.kind === 'link') owners.push(relation.type)
  return owners
}
