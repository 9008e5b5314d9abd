// Judges declared conditions, and shows the declaration's functions the view they may look at.
import { messageOf } from '../base/errors.ts'
import type { ConditionPlan, Plan, PlanView } from '../lifecycle/plan.ts'
import type { Draft } from './draft.ts'
import { DeclarationDefect, Refusal } from './draft.ts'
import type { Resource } from './state.ts'

/** What a function of the declaration sees. Related resources are looked up only when it asks for them. */
export class View implements PlanView {
  readonly resource: Resource
  readonly input: unknown
  readonly results: unknown
  readonly previous: string
  readonly now: number
  readonly item: Resource | undefined
  private readonly draft: Draft
  private readonly plan: Plan
  private relatedViews: unknown

  constructor(draft: Draft, plan: Plan, resource: Resource, input?: unknown, results?: unknown, item?: Resource) {
    this.draft = draft
    this.plan = plan
    this.resource = resource
    this.input = input ?? resource.run?.input ?? {}
    this.results = results ?? resource.run?.results ?? {}
    this.previous = resource.run?.previous ?? ''
    this.now = draft.now
    this.item = item
  }

  get related(): unknown {
    return (this.relatedViews ??= relatedViews(this.draft, this.plan, this.resource))
  }

  with(item: Resource): View {
    return new View(this.draft, this.plan, this.resource, this.input, this.results, item)
  }
}

function relatedViews(draft: Draft, plan: Plan, resource: Resource): unknown {
  const views = {}
  for (const [name, relation] of plan.relations) {
    const get = () => {
      const found = draft.related(resource, relation)
      return relation.many ? found : found[0]
    }
    Object.defineProperty(views, name, { get, enumerable: true })
  }
  return views
}

export function holds(draft: Draft, resource: Resource, condition: ConditionPlan | null, view: View): boolean {
  if (condition === null) return true
  for (const term of condition.terms) {
    if (term.term === 'property') {
      if (!term.values.includes(resource.properties[term.name])) return false
      continue
    }
    const found = draft.related(resource, term.relation)
    switch (term.term) {
      case 'exists':
        if (found.length > 0 !== term.exists) return false
        break
      case 'one':
      case 'some':
        if (!found.some((one) => term.statuses.has(one.status))) return false
        break
      case 'every':
        for (const one of found) if (!term.statuses.has(one.status)) return false
        break
      case 'none':
        for (const one of found) if (term.statuses.has(one.status)) return false
        break
    }
  }
  return condition.test === null || callDeclared(resource, condition.words, condition.test, view) === true
}

/** So many of the related resources that stand in the way are named. */
const namedMost = 3

/** Why data of a condition does not hold: where the related resources stand instead. Empty where only a property or a test fails. */
export function whereInstead(draft: Draft, resource: Resource, { terms }: ConditionPlan): string {
  const facts = terms.flatMap((term): readonly string[] => {
    if (term.term === 'property') return []
    const found = draft.related(resource, term.relation)
    if (term.term === 'one') {
      const [one] = found
      return one === undefined ? ['there is none'] : term.statuses.has(one.status) ? [] : [`it is ${one.status}`]
    }
    if (term.term === 'some' || (term.term === 'exists' && term.exists)) return []
    const stands = (one: Resource) => term.term === 'exists' || term.statuses.has(one.status) === (term.term === 'none')
    const nameOf = (one: Resource) => (draft.seen(one) === null ? 'one of another tenant' : one.id)
    const named = found.filter(stands).map((one) => `${nameOf(one)} is ${one.status}`)
    return named.length > namedMost ? [...named.slice(0, namedMost), `${named.length - namedMost} more`] : named
  })
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`
}

/** Calls a function of the declaration: one that throws is the declaration's fault, told as an incident. */
export function callDeclared<V, T>(resource: Resource, what: string, compute: (view: V) => T, view: V): T {
  try {
    return compute(view)
  } catch (thrown) {
    // What the core itself throws passes through.
    if (thrown instanceof Refusal || thrown instanceof DeclarationDefect) throw thrown
    throw new DeclarationDefect(resource.no, `A function of the declaration threw (${what}): ${messageOf(thrown)}`)
  }
}

/** The value of a `set`: a constant or a function of the view. */
export function valueOf(resource: Resource, name: string, value: unknown, view: View): unknown {
  return typeof value === 'function'
    ? callDeclared(resource, `set ${name}`, value as (view: View) => unknown, view)
    : value
}
