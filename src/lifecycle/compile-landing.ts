// What operations and healing have in common when declarations become plans: conditions, and what changes with a landing.
// `checkLifecycles` has judged what is read here: what stands where a function belongs is one.
import {
  casesOf,
  isPrevious,
  moveOf,
  type CaseData,
  type CasesData,
  type ChangesData,
  type ConditionData,
  type Declaration,
  type MoveData,
} from './declaration.ts'
import type { AddPlan, ChangesPlan, ConditionPlan, LandingPlan, MovePlan, RelationPlan, Term } from './plan.ts'
import type { StatusKind } from './resource-type.ts'
import { conditionWords } from './words.ts'

/** A declaration, and what its names stand for. */
export interface Context {
  readonly declaration: Declaration
  readonly relations: ReadonlyMap<string, RelationPlan>
  readonly kinds: ReadonlyMap<string, StatusKind>
}

export function compileCondition(context: Context, when: ConditionData): ConditionPlan {
  const terms = Object.entries(when).flatMap(([key, is]): Term[] => {
    if (key === 'says' || key === 'test') return []
    const relation = context.relations.get(key)
    if (!relation) return [{ term: 'property', name: key, values: Array.isArray(is) ? is : [is] }]
    return [relatedTerm(relation, is as RelatedIs)]
  })
  return { terms, test: (when['test'] as ConditionPlan['test'] | undefined) ?? null, words: conditionWords(when) }
}

type RelatedIs = readonly string[] | { readonly exists: boolean } | Quantified
type Quantified = { readonly [Word in 'every' | 'some' | 'none']?: readonly string[] }

function relatedTerm(relation: RelationPlan, is: RelatedIs): Term {
  if (isList(is)) return { term: 'one', relation, statuses: new Set(is) }
  if ('exists' in is) return { term: 'exists', relation, exists: is.exists }
  const term = 'every' in is ? 'every' : 'some' in is ? 'some' : 'none'
  return { term, relation, statuses: new Set(is[term]) }
}

/** `Array.isArray` does not tell a readonly list from an object. */
const isList = (is: RelatedIs): is is readonly string[] => Array.isArray(is)

export const conditionOrNull = (context: Context, when: ConditionData | undefined): ConditionPlan | null =>
  when ? compileCondition(context, when) : null

export function compileChanges(context: Context, changes: ChangesData): ChangesPlan | null {
  const { set, move, add, link, say } = changes
  if (!set && !move && !add && !link && say === undefined) return null
  return {
    set: Object.entries(set ?? {}),
    move: Object.entries(move ?? {}).map(([name, how]) => compileMove(context, name, moveOf(how))),
    add: Object.entries(add ?? {}).map(([name, { status, each }]): AddPlan => ({
      relation: context.relations.get(name)!,
      status,
      each: each as AddPlan['each'],
    })),
    link: Object.entries(link ?? {}) as unknown as ChangesPlan['link'],
    say: say ?? null,
  }
}

function compileMove(context: Context, name: string, { from, only, to, set }: MoveData): MovePlan {
  return {
    relation: context.relations.get(name)!,
    from: setOrNull(from),
    only: (only as MovePlan['only'] | undefined) ?? null,
    to: to ?? null,
    set: Object.entries(set ?? {}),
  }
}

/** Null where nothing is said: any. */
export const setOrNull = (statuses: readonly string[] | undefined): ReadonlySet<string> | null =>
  statuses ? new Set(statuses) : null

/** Null: where the run came from. */
export const statusOf = ({ status }: CaseData): string | null => (isPrevious(status) ? null : status!)

export const compileLandings = (context: Context, target: CasesData): LandingPlan[] =>
  casesOf(target).map((one) => ({
    when: conditionOrNull(context, one.when),
    status: statusOf(one),
    changes: compileChanges(context, one),
  }))
