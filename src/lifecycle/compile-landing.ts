// What operations and healing have in common when declarations become plans: conditions, and what changes with a landing.
import type { AddPlan, ChangesPlan, ConditionPlan, LandingPlan, MovePlan, RelationPlan, Term } from './plan.ts'
import type { StatusKind } from './resource-type.ts'
import { conditionWords } from './words.ts'

// A declaration is read here as plain data of many shapes; `checkLifecycles` has judged it before.
// oxlint-disable-next-line typescript/no-explicit-any
export type Data = any

/** What the names of one declaration stand for. */
export interface Context {
  readonly relations: ReadonlyMap<string, RelationPlan>
  readonly kinds: ReadonlyMap<string, StatusKind>
}

export const listOf = (x: Data): Data[] => (Array.isArray(x) ? x : [x])

export function compileCondition(context: Context, when: Data): ConditionPlan {
  const terms = Object.entries<Data>(when).flatMap(([key, is]): Term[] => {
    if (key === 'says' || key === 'test') return []
    const relation = context.relations.get(key)
    if (!relation) return [{ term: 'property', name: key, values: listOf(is) }]
    if (Array.isArray(is)) return [{ term: 'one', relation, statuses: new Set(is) }]
    if ('exists' in is) return [{ term: 'exists', relation, exists: is.exists }]
    const term = 'every' in is ? 'every' : 'some' in is ? 'some' : 'none'
    return [{ term, relation, statuses: new Set<string>(is[term]) }]
  })
  return { terms, test: when.test ?? null, words: conditionWords(when) }
}

export const conditionOrNull = (context: Context, when: Data): ConditionPlan | null =>
  when ? compileCondition(context, when) : null

export function compileChanges(context: Context, changes: Data): ChangesPlan | null {
  const { set, move, add, link, say } = changes
  if (!set && !move && !add && !link && say === undefined) return null
  return {
    set: Object.entries(set ?? {}),
    move: Object.entries<Data>(move ?? {}).map(([name, how]) => compileMove(context, name, how)),
    add: Object.entries<Data>(add ?? {}).map(([name, how]): AddPlan => ({
      relation: context.relations.get(name)!,
      status: how.status,
      each: how.each,
    })),
    link: Object.entries<Data>(link ?? {}),
    say: say ?? null,
  }
}

function compileMove(context: Context, name: string, how: Data): MovePlan {
  const some = typeof how === 'string' ? { to: how } : how
  return {
    relation: context.relations.get(name)!,
    from: some.from ? new Set(some.from) : null,
    only: some.only ?? null,
    to: some.to ?? null,
    set: Object.entries(some.set ?? {}),
  }
}

/** A bare status or `previous` is the short form of a landing. */
export const landingData = (x: Data): Data => (typeof x === 'string' || x?.previous === true ? { status: x } : x)
export const statusOf = (status: Data): string | null => (status?.previous === true ? null : status)

export function compileLandings(context: Context, target: Data): LandingPlan[] {
  return listOf(target)
    .map(landingData)
    .map((one) => ({
      when: conditionOrNull(context, one.when),
      status: statusOf(one.status),
      changes: compileChanges(context, one),
    }))
}
