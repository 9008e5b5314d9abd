// Judges declared rules over what was committed, by the declarations alone: what the core computed is not believed.
import type { No, Resource } from '../decision/state.ts'
import { declarationOf, type ConditionData, type Declaration } from '../lifecycle/declaration.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import { relatedTypeOf, relationKindOf, type Relation } from '../lifecycle/relation.ts'
import { kindsOf } from '../lifecycle/resource-type.ts'

type States = ReadonlyMap<No, Resource>

export class RuleJudge {
  readonly #declarations: ReadonlyMap<string, Declaration>
  readonly #terminal: ReadonlySet<string>
  readonly hasRules: boolean

  constructor(lifecycles: readonly AnyLifecycle[]) {
    const declarations = lifecycles.map(declarationOf)
    this.#declarations = new Map(declarations.map((one) => [one.type, one]))
    this.#terminal = new Set(
      declarations.flatMap(({ type, resource }) =>
        [...kindsOf(resource)].filter(([, kind]) => kind === 'terminal').map(([status]) => `${type} ${status}`),
      ),
    )
    this.hasRules = declarations.some(({ rules }) => Object.keys(rules).length > 0)
  }

  /** The rule that a resource breaks, in words; null when all hold. */
  breachOf(states: States, resource: Resource): string | null {
    const declaration = this.#declarations.get(resource.type)
    if (declaration === undefined) return null
    for (const [name, { holds }] of Object.entries(declaration.rules)) {
      const rows = holds[resource.status]
      if (rows === undefined) continue
      const cases = (Array.isArray(rows) ? rows : [rows]) as readonly ConditionData[]
      if (cases.length > 0 && !cases.some((row) => this.#isSo(states, declaration, resource, row))) {
        return `${resource.type} ${resource.id} is ${resource.status} and breaks rule ${name}`
      }
    }
    return null
  }

  /** All breaches, by resource. */
  breaches(states: States): Map<No, string> {
    const found = new Map<No, string>()
    for (const resource of states.values()) {
      const breach = this.breachOf(states, resource)
      if (breach !== null) found.set(resource.no, breach)
    }
    return found
  }

  #isSo(states: States, { relations }: Declaration, resource: Resource, row: ConditionData): boolean {
    for (const [name, is] of Object.entries(row)) {
      const relation = relations[name]
      if (relation === undefined) {
        if (!(Array.isArray(is) ? is : [is]).includes(resource.properties[name])) return false
        continue
      }
      const statuses = this.#related(states, resource, name, relation).map((one) => one.status)
      if (!fits(statuses, is)) return false
    }
    return true
  }

  #isLiving(resource: Resource): boolean {
    return !this.#terminal.has(`${resource.type} ${resource.status}`)
  }

  #related(states: States, of: Resource, name: string, relation: Relation): Resource[] {
    const type = relatedTypeOf(relation)!.type
    const { where = {}, as = '' } = relation as { where?: Readonly<Record<string, unknown>>; as?: string }
    const one = (no: No | null | undefined) => {
      const found = no === null || no === undefined ? undefined : states.get(no)
      return found !== undefined && found.type === type ? [found] : []
    }
    const many = (isRelated: (other: Resource) => boolean) => {
      const found: Resource[] = []
      for (const other of states.values()) {
        if (other.type !== type || !isRelated(other) || !this.#isLiving(other)) continue
        if (Object.entries(where).every(([key, value]) => other.properties[key] === value)) found.push(other)
      }
      return found.sort((a, b) => a.no - b.no)
    }
    switch (relationKindOf(relation)!) {
      case 'parent':
        return one(of.parent)
      case 'link':
        return one(of.links[name])
      case 'pair':
        return of.links['pair'] === undefined ? many((other) => other.links['pair'] === of.no) : one(of.links['pair'])
      case 'children':
        return many((other) => other.parent === of.no)
      case 'child':
        return many((other) => other.parent === of.no).slice(0, 1)
      case 'siblings':
        return of.parent === null ? [] : many((other) => other.parent === of.parent && other.no !== of.no)
      case 'linkedBy':
        return many((other) => other.links[as] === of.no)
      case 'descendants':
        return many((other) => isUnder(states, other, of.no))
    }
  }
}

/** Terminal ones in between do not pass their children on: what is not terminal has only living ancestors that count. */
function isUnder(states: States, resource: Resource, root: No): boolean {
  for (let no = resource.parent; no !== null; no = states.get(no)?.parent ?? null) if (no === root) return true
  return false
}

function fits(statuses: readonly string[], is: unknown): boolean {
  if (Array.isArray(is)) return statuses.some((status) => is.includes(status))
  const { exists, every, some, none } = is as {
    exists?: boolean
    every?: readonly string[]
    some?: readonly string[]
    none?: readonly string[]
  }
  if (exists !== undefined) return statuses.length > 0 === exists
  if (every !== undefined) return statuses.every((status) => every.includes(status))
  if (some !== undefined) return statuses.some((status) => some.includes(status))
  return !statuses.some((status) => none!.includes(status))
}
