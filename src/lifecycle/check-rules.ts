// Checks rules against what the lifecycle itself does, as far as data decides it: a commit that leaves a related resource where
// the rule's row forbids it, whatever else holds. What depends on functions or on several commits is left to the simulator.
import { alternativesOf, moveOf, namedStatus, type ConditionData, type Declaration, type Table } from './declaration.ts'
import { sitesOf, type Site } from './declaration-sites.ts'
import type { Faults } from './fault.ts'
import type { Declarations } from './known-names.ts'
import { isToMany, relatedTypeOf, relationKindOf } from './relation.ts'
import { kindsOf, livingOf } from './resource-type.ts'
import { conditionWords } from './words.ts'

export function checkRules(faults: Faults, loaded: Declarations, declaration: Declaration): void {
  for (const site of sitesOf(declaration)) {
    const status = namedStatus(site.data)
    if (status === undefined) continue
    for (const [name, rule] of Object.entries(declaration.rules)) {
      const row = rule.holds[status]
      if (row !== undefined) checkSite(faults, loaded, declaration, site, { name, status, row, before: rule.holds })
    }
    checkOthersRules(faults, loaded, declaration, site, status)
  }
}

interface Row {
  readonly name: string
  readonly status: string
  readonly row: ConditionData | readonly ConditionData[]
  /** The whole rule: what held before this commit. */
  readonly before: Table<ConditionData | readonly ConditionData[]>
}

/** Is the row broken, whatever else holds, from a status in which this commit can be made? */
function checkSite(
  faults: Faults,
  loaded: Declarations,
  declaration: Declaration,
  site: Site,
  { name, status, row, before }: Row,
): void {
  for (const from of site.from) {
    const known = knownBefore(declaration, site, from, before)
    if ([...known.values()].some((statuses) => statuses.length === 0)) continue // Can never be made from there.
    const broken = alternativesOf(row).map((one) => brokenTerm(loaded, declaration, site, one, known))
    if (broken.length === 0 || broken.some((words) => words === undefined)) continue
    const start = from === '' || from === status ? '' : ` from ${from}`
    faults.error(
      site.path,
      `breaks the rule ${name}${start}: ${status} needs that ${broken[0]}`,
      `Move it in the same commit, or change the row of ${status}.`,
    )
  }
}

type Known = ReadonlyMap<string, readonly string[]>

/** What is known of the related statuses before the commit: the rule's own row for `from`, the requirements, the case's `when`. */
function knownBefore(declaration: Declaration, site: Site, from: string, before: Row['before']): Known {
  const known = new Map<string, readonly string[]>()
  const narrow = (when: ConditionData) => {
    for (const [name, is] of Object.entries(when)) {
      const relation = declaration.relations[name]
      const statuses = relation && certainStatuses(is, isToMany(relation))
      if (statuses)
        known.set(
          name,
          (known.get(name) ?? statuses).filter((status) => statuses.includes(status)),
        )
    }
  }
  const rows = before[from] === undefined ? [] : alternativesOf(before[from])
  if (rows.length === 1) narrow(rows[0]!)
  // Requirements hold only when it is accepted; the row holds at every commit.
  if (site.role === 'entry' && site.operation && Object.values(site.operation.steps)[0] === site.step) {
    for (const when of site.operation.requires ?? []) narrow(when)
  }
  if (site.data.when) narrow(site.data.when)
  return known
}

/** The statuses that every related one certainly stands in; undefined when the term does not tell. */
function certainStatuses(is: unknown, many: boolean): readonly string[] | undefined {
  if (Array.isArray(is)) return many ? undefined : (is as string[])
  return many ? (is as { every?: readonly string[] } | null)?.every : undefined
}

/** The words of a term that cannot hold after the commit; undefined when every term may. */
function brokenTerm(
  loaded: Declarations,
  declaration: Declaration,
  site: Site,
  row: ConditionData,
  known: Known,
): string | undefined {
  for (const [name, is] of Object.entries(row)) {
    const words = conditionWords({ [name]: is })
    if (Object.hasOwn(declaration.relations, name)) {
      const after = statusesAfter(loaded, declaration, site, name, known)
      if (after && !canHold(is, after)) return words
    } else if (site.data.set && Object.hasOwn(site.data.set, name)) {
      const value = site.data.set[name]
      const allowed: readonly unknown[] = Array.isArray(is) ? is : [is]
      if (typeof value !== 'function' && !allowed.includes(value)) return words
    }
  }
  return undefined
}

interface After {
  /** Statuses the related ones may stand in. */
  readonly may: ReadonlySet<string>
  /** Statuses that some of them stand in for sure, if this commit moves or adds any. */
  readonly moved: ReadonlySet<string>
}

/** Where the related ones stand after the commit; undefined when nothing is known. */
function statusesAfter(
  loaded: Declarations,
  declaration: Declaration,
  site: Site,
  name: string,
  known: Known,
): After | undefined {
  const relation = declaration.relations[name]!
  const type = relatedTypeOf(relation)
  if (!type || overlaps(loaded, declaration, site, name)) return undefined
  const all = isToMany(relation) ? livingOf(type) : [...kindsOf(type).keys()]
  const may = new Set(known.get(name) ?? all)
  const moved = new Set<string>()
  const move = site.data.move?.[name]
  if (move !== undefined) {
    const { from, only, to } = moveOf(move)
    if (to !== undefined) {
      const taken = [...may].filter((status) => (from ? from.includes(status) : livingOf(type).includes(status)))
      if (taken.length > 0 || !known.has(name)) {
        if (!only) for (const status of taken) may.delete(status)
        may.add(to)
        if (livingOf(type).includes(to)) moved.add(to)
      }
    }
  }
  const added = site.data.add?.[name]
  if (added) {
    may.add(added.status)
    moved.add(added.status)
  }
  for (const status of itemStatuses(loaded, declaration, site, name)) may.add(status)
  return { may, moved }
}

/** The last item of a forEach step ends in the commit that lands or enters the next step. */
function itemStatuses(loaded: Declarations, declaration: Declaration, site: Site, name: string): readonly string[] {
  if (!site.operation) return []
  const steps = Object.values(site.operation.steps)
  const before = site.role === 'entry' ? steps.slice(0, steps.indexOf(site.step!)) : site.step ? [site.step] : steps
  return before.flatMap((step) =>
    Object.entries(step.forEach ?? {})
      .filter(([relation]) => sameType(loaded, declaration, relation, name))
      .flatMap(([, each]) => [each.done ?? [], each.failed ?? []].flat()),
  )
}

/** Another relation to the same type is changed too: which resources it takes is not known here. */
const overlaps = (loaded: Declarations, declaration: Declaration, { data }: Site, name: string): boolean =>
  [...Object.keys(data.move ?? {}), ...Object.keys(data.add ?? {})].some(
    (other) => other !== name && sameType(loaded, declaration, other, name),
  )

const sameType = (loaded: Declarations, declaration: Declaration, a: string, b: string): boolean =>
  loaded.typeAcross(declaration, a)?.type === loaded.typeAcross(declaration, b)?.type

function canHold(is: unknown, { may, moved }: After): boolean {
  if (Array.isArray(is))
    return [...may].some((status) => is.includes(status)) && [...moved].every((status) => is.includes(status))
  const { every, some, none } = (is ?? {}) as Readonly<Record<string, readonly string[] | undefined>>
  if (every)
    return [...may].some((status) => every.includes(status)) && [...moved].every((status) => every.includes(status))
  if (some) return [...may].some((status) => some.includes(status))
  if (none) return [...moved].every((status) => !none.includes(status))
  return true
}

/** The other side has a rule over this one, and this commit moves the other side into a row that forbids where this one lands. */
function checkOthersRules(
  faults: Faults,
  loaded: Declarations,
  declaration: Declaration,
  site: Site,
  status: string,
): void {
  for (const [relation, move] of Object.entries(site.data.move ?? {})) {
    const { to, only } = moveOf(move)
    const other = loaded.across(declaration, relation)
    if (to === undefined || only || !other) continue
    for (const [name, rule] of Object.entries(other.rules)) {
      const row = rule.holds[to]
      if (row === undefined) continue
      const back = backTo(declaration, relation, other)
      const forbids = alternativesOf(row).map((one) => back.find((term) => forbidden(one[term], status)))
      if (forbids.some((term) => term === undefined)) continue
      faults.error(
        `${site.path}.move.${relation}`,
        `breaks the rule ${name} of ${other.type}: ${to} needs that ${conditionWords(pick(alternativesOf(row)[0]!, forbids[0]!))}, and this one is ${status}`,
        `Move it elsewhere than ${to}, or change the row.`,
      )
    }
  }
}

const pick = (row: ConditionData, term: string): ConditionData => ({ [term]: row[term] })

const forbidden = (is: unknown, status: string): boolean => {
  if (Array.isArray(is)) return false
  const { every, none } = (is ?? {}) as Readonly<Record<string, readonly string[] | undefined>>
  return (every !== undefined && !every.includes(status)) || (none?.includes(status) ?? false)
}

/** The relations by which the other side sees all resources like this one. */
function backTo({ type, relations }: Declaration, relation: string, other: Declaration): readonly string[] {
  const kind = relationKindOf(relations[relation]!)
  return Object.entries(other.relations)
    .filter(([, one]) => relatedTypeOf(one)?.type === type && !('where' in one))
    .filter(([, one]) =>
      kind === 'parent' ? 'children' in one : kind === 'link' && 'linkedBy' in one && one.as === relation,
    )
    .map(([name]) => name)
}
