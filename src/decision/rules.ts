// The declared rules, judged on the state that is about to be committed: for every resource that has changed in what rules look
// at (status, properties, links), and for every resource whose rules look at such a one.
import type { Plan, RelationPlan } from '../lifecycle/plan.ts'
import { holds, View } from './conditions.ts'
import type { Draft } from './draft.ts'
import type { No, Resource } from './state.ts'

export interface Breach {
  readonly words: string
}

export function findBreaches(draft: Draft): readonly Breach[] {
  let breaches: Breach[] | null = null
  let judged: Set<No> | null = null
  // The list grows by nothing while we judge: rules are only read.
  for (let i = 0; i < draft.writes.length; i++) {
    const resource = draft.writes[i]!
    const before = draft.befores[i]!
    const plan = draft.planOf(resource)
    if ((plan.rules.length === 0 && plan.judges.length === 0) || !isChanged(before, resource)) continue
    // One write that nobody else's rules look at: nothing can be judged twice.
    if (draft.writes.length === 1 && plan.judges.length === 0) return judge(draft, plan, resource, null, null) ?? none
    judged ??= new Set()
    if (plan.rules.length > 0) breaches = judge(draft, plan, resource, judged, breaches)
    for (const { type, relation } of plan.judges) {
      const judgePlan = draft.plans.get(type)!
      for (const owner of reachedFrom(draft, resource, type, relation))
        breaches = judge(draft, judgePlan, owner, judged, breaches)
      if (before !== null && before.links !== resource.links && relation.kind === 'linkedBy') {
        for (const owner of reachedFrom(draft, before, type, relation))
          breaches = judge(draft, judgePlan, owner, judged, breaches)
      }
    }
  }
  return breaches ?? none
}

/** In what rules look at. A state that was broken from outside binds nobody until it changes. */
const isChanged = (before: Resource | null, after: Resource): boolean =>
  before === null ||
  before.status !== after.status ||
  before.properties !== after.properties ||
  before.links !== after.links

const none: readonly Breach[] = []

function judge(
  draft: Draft,
  plan: Plan,
  resource: Resource,
  judged: Set<No> | null,
  breaches: Breach[] | null,
): Breach[] | null {
  if (judged?.has(resource.no)) return breaches
  judged?.add(resource.no)
  for (const rule of plan.rules) {
    const rows = rule.holds.get(resource.status)
    if (rows === undefined || rows.length === 0) continue
    const view = new View(draft, plan, resource)
    if (rows.some((row) => holds(draft, resource, row, view))) continue
    ;(breaches ??= []).push({
      words: `${resource.type} ${resource.id} would be ${resource.status}, which needs that ${rows.map((row) => row.words).join('; or that ')} (rule ${rule.name}: ${rule.says})`,
    })
  }
  return breaches
}

/** The resources of `type` whose `relation` reaches `touched`: the relation walked backwards. */
export function reachedFrom(
  draft: Draft,
  touched: Resource,
  type: string,
  relation: RelationPlan,
): readonly Resource[] {
  switch (relation.kind) {
    case 'children':
    case 'child':
      return ancestors(draft, touched, 1).filter((one) => one.type === type)
    case 'descendants':
      return ancestors(draft, touched, Number.POSITIVE_INFINITY).filter((one) => one.type === type)
    case 'linkedBy': {
      const target = touched.links[relation.as]
      const found = target === undefined ? null : draft.get(target)
      return found !== null && found.type === type ? [found] : []
    }
    case 'parent':
      return draft.related(touched, { ...relation, kind: 'children', type, where: [] })
    case 'siblings':
      return draft.related(touched, { ...relation, type, where: [] })
    case 'link':
      return draft.related(touched, { ...relation, kind: 'linkedBy', as: relation.name, type })
    case 'pair':
      return draft.related(touched, { ...relation, type })
  }
}

function ancestors(draft: Draft, of: Resource, depth: number): Resource[] {
  const found: Resource[] = []
  for (let no = of.parent; no !== null && found.length < depth;) {
    const parent: Resource | null = draft.get(no)
    if (parent === null || found.includes(parent)) break
    found.push(parent)
    no = parent.parent
  }
  return found
}
