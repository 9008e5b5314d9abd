// Checks how resources are connected: both sides know each other, pairs agree, and what one does to another the other allows.
import { moveOf, sourcesOf, type CaseData, type Declaration } from './declaration.ts'
import { sitesOf } from './declaration-sites.ts'
import { didYouMeanOf } from '../base/did-you-mean.ts'
import type { Faults } from './fault.ts'
import { isKind, valueFault, type Declarations } from './known-names.ts'
import { relatedTypeOf, relationKindOf, type Relation } from './relation.ts'
import { kindsOf, livingOf } from './resource-type.ts'
import { listWords } from './words.ts'

export function checkRelations(faults: Faults, loaded: Declarations, declaration: Declaration): void {
  const { type, relations, resource } = declaration
  const properties = loaded.propertiesOf(resource)
  for (const [name, relation] of Object.entries(relations)) {
    const path = `${type}.relations.${name}`
    if (properties?.has(name))
      faults.error(path, `${name} is also a property`, 'A condition could mean either: rename one.')
    if (name === 'says' || name === 'test')
      faults.error(path, `'${name}' is a word of conditions`, 'Choose another name.')
    const kind = relationKindOf(relation)
    const other = relatedTypeOf(relation)
    if (!kind || !other) {
      faults.error(path, 'is no relation', 'Write, say, { children: ... } or { link: ... }.')
      continue
    }
    const target = loaded.get(other.type)
    if (!target && loaded.types.has(other.type)) continue
    if (!target) {
      const suggestion = `Load its lifecycle too. ${didYouMeanOf(other.type, loaded.types)}`
      faults.error(path, `names the type ${other.type}, which is not loaded`, suggestion)
      continue
    }
    checkWhere(faults, loaded, path, relation)
    if (kind === 'linkedBy') checkLinkedBy(faults, declaration, path, relation as { as: string }, target)
    if (kind === 'pair') checkPair(faults, declaration, path, target)
    if (kind === 'children' || kind === 'child') checkChildren(faults, declaration, path, name, target)
    if (kind === 'descendants') checkDescendants(faults, loaded, declaration, path, target)
  }
}

function checkWhere(faults: Faults, loaded: Declarations, path: string, relation: Relation): void {
  const { where } = relation as { where?: Readonly<Record<string, unknown>> }
  const type = relatedTypeOf(relation)!
  const known = loaded.propertiesOf(type)
  for (const [name, value] of Object.entries(where ?? {})) {
    const schema = known?.get(name)
    if (known && !schema) faults.unknown(`${path}.where`, name, `property of ${type.type}`, known.keys())
    const found = schema && valueFault(schema, value)
    if (!found) continue
    faults.error(
      `${path}.where.${name}`,
      `${name} of ${type.type} ${found.fault}`,
      didYouMeanOf(String(value), found.among),
    )
  }
}

function checkLinkedBy(
  faults: Faults,
  { type }: Declaration,
  path: string,
  { as }: { as: string },
  other: Declaration,
): void {
  const links = Object.entries(other.relations).filter(([, one]) => 'link' in one && relatedTypeOf(one)?.type === type)
  if (links.some(([name]) => name === as)) return
  faults.unknown(
    `${path}.as`,
    as,
    `link from ${other.type} to ${type}`,
    links.map(([name]) => name),
  )
}

function checkPair(faults: Faults, declaration: Declaration, path: string, other: Declaration): void {
  const { type, resource, operations } = declaration
  const back = Object.values(other.relations).filter((one) => relationKindOf(one) === 'pair')
  if (!back.some((one) => relatedTypeOf(one)?.type === type)) {
    faults.error(
      path,
      `${other.type} does not declare the pair`,
      `Give ${other.type} a relation { pair: ... } to ${type}.`,
    )
  }
  const own = kindsOf(resource)
  const theirs = kindsOf(other.resource)
  const different = [...new Set([...own.keys(), ...theirs.keys()])].filter(
    (status) => own.get(status) !== theirs.get(status),
  )
  if (different.length > 0) {
    const fault = `the two sides of the pair differ in ${listWords(different, 'and')}`
    faults.error(path, fault, 'Give both the same statuses of the same kinds.')
  }
  const leads = Object.keys(operations).length > 0
  const led = Object.keys(other.operations).length > 0
  if (leads && led) faults.error(path, 'both sides of the pair have operations', 'Keep them on the side that leads.')
  if (!leads && !led)
    faults.warning(path, 'neither side of the pair has operations', 'Give them to the side that leads.')
}

function checkChildren(faults: Faults, declaration: Declaration, path: string, name: string, other: Declaration): void {
  const parents = parentTypesOf(other)
  if (parents.includes(declaration.type)) return
  const adds = sitesOf(declaration).some(({ data }) => data.add?.[name] !== undefined)
  if (parents.length === 0 && adds) return
  const suggestion = `Give ${other.type} a relation { parent: ... } to ${declaration.type}.`
  faults.error(path, `a ${other.type} is never a child of ${declaration.type}`, suggestion)
}

function checkDescendants(
  faults: Faults,
  loaded: Declarations,
  { type }: Declaration,
  path: string,
  other: Declaration,
): void {
  if (ancestorsOf(loaded, other).has(type)) return
  faults.warning(
    path,
    `a ${other.type} is never below a ${type}`,
    'Its chain of parents leads elsewhere: use links, or remove it.',
  )
}

const parentTypesOf = ({ relations }: Declaration): readonly string[] =>
  Object.values(relations).flatMap((one) => ('parent' in one ? (relatedTypeOf(one)?.type ?? []) : []))

function ancestorsOf(loaded: Declarations, declaration: Declaration): ReadonlySet<string> {
  const found = new Set(parentTypesOf(declaration))
  for (const type of found) for (const next of parentTypesOf(loaded.get(type) ?? declaration)) found.add(next)
  return found
}

/** One thing that a lifecycle does to the status of another. */
interface Done {
  readonly path: string
  readonly relation: string
  readonly to: string
  /** Statuses it names itself; undefined: any that is not terminal. */
  readonly from: readonly string[] | undefined
}

export function checkMoves(faults: Faults, loaded: Declarations, declaration: Declaration): void {
  for (const one of movesBy(declaration)) checkMove(faults, loaded, declaration, one)
  for (const { path, data } of sitesOf(declaration)) checkAdds(faults, loaded, declaration, path, data)
  if (loaded.isWhole) checkUnused(faults, loaded, declaration)
}

/** By `move` and by the items of forEach. */
function movesBy(declaration: Declaration): readonly Done[] {
  const moved = sitesOf(declaration).flatMap(({ path, data }) =>
    Object.entries(data.move ?? {}).flatMap(([relation, how]): Done[] => {
      const { from, to } = moveOf(how)
      return to === undefined ? [] : [{ path: `${path}.move.${relation}`, relation, to, from }]
    }),
  )
  const items = Object.entries(declaration.operations).flatMap(([name, { steps }]) =>
    Object.entries(steps).flatMap(([step, { forEach }]) =>
      Object.entries(forEach ?? {}).flatMap(([relation, each]) =>
        (['done', 'failed'] as const).flatMap((word): Done[] => {
          const to = each[word]
          const path = `${declaration.type}.operations.${name}.steps.${step}.forEach.${relation}.${word}`
          return to === undefined ? [] : [{ path, relation, to, from: each.in }]
        }),
      ),
    ),
  )
  return [...moved, ...items]
}

function checkMove(
  faults: Faults,
  loaded: Declarations,
  declaration: Declaration,
  { path, relation, to, from }: Done,
): void {
  const other = loaded.across(declaration, relation)
  if (!other || !kindsOf(other.resource).has(to)) return
  if (relationKindOf(declaration.relations[relation]!) === 'pair') {
    faults.error(path, 'the two sides of a pair move together by themselves', 'Remove this move.')
    return
  }
  const terminal = (from ?? []).filter((status) => isKind(other.resource, status, 'terminal'))
  if (terminal.length > 0) {
    faults.error(
      path,
      `leaves the terminal status ${listWords(terminal, 'and')} of ${other.type}`,
      'Leave it out here.',
    )
  }
  const wanted = (from ?? livingOf(other.resource)).filter((status) => status !== to && !terminal.includes(status))
  const allowed = wanted.filter((status) =>
    other.moves.some(
      (row, index) =>
        row.to === to &&
        letsMove(loaded, declaration, relation, other, index) &&
        sourcesOf(other, row.from).includes(status),
    ),
  )
  // A bare move takes what it finds; that it can take nothing at all is a mistake for sure.
  if (from ? allowed.length === wanted.length : allowed.length > 0) return
  const refused = from ? listWords(wanted.filter((status) => !allowed.includes(status))) : 'anything'
  const names = listWords(
    (from ? wanted : ['...']).map((status) => `'${status}'`),
    ',',
  ).replaceAll(' ,', ',')
  faults.error(
    path,
    `${other.type} does not let ${declaration.type} move it from ${refused} to ${to}`,
    `Add to moves of ${other.type}: { from: [${names}], to: '${to}', by: ... }.`,
  )
}

/** Does the row of the other's moves name this side? Whoever moves its descendants is let in by the row of their parent. */
function letsMove(
  loaded: Declarations,
  mover: Declaration,
  relation: string,
  other: Declaration,
  index: number,
): boolean {
  const by = other.relations[other.moves[index]!.by]
  if (!by) return false
  if (relatedTypeOf(by)?.type === mover.type) return true
  const isBelow = relationKindOf(mover.relations[relation]!) === 'descendants'
  return isBelow && 'parent' in by && ancestorsOf(loaded, other).has(mover.type)
}

function checkAdds(faults: Faults, loaded: Declarations, declaration: Declaration, path: string, data: CaseData): void {
  for (const [relation, { status }] of Object.entries(data.add ?? {})) {
    const other = loaded.across(declaration, relation)
    if (!other) continue
    const kind = relationKindOf(declaration.relations[relation]!)
    const place = `${path}.add.${relation}`
    if (kind !== 'children' && kind !== 'child')
      faults.error(place, 'only children can be added', 'Use a relation { children: ... }.')
    if (other.begins.includes(status) || !kindsOf(other.resource).has(status)) continue
    const suggestion = `Add begins: ['${status}'] to ${other.type}.`
    faults.error(place, `${other.type} does not let others add it as ${status}`, suggestion)
  }
}

/** What others may do but never do is a hole in the fence. */
function checkUnused(faults: Faults, loaded: Declarations, declaration: Declaration): void {
  const { type, moves, begins } = declaration
  const done = loaded.all.flatMap((mover) => movesBy(mover).map((one) => ({ mover, ...one })))
  moves.forEach((row, index) => {
    const used = done.some(
      ({ mover, relation, to, from }) =>
        to === row.to &&
        loaded.across(mover, relation)?.type === type &&
        letsMove(loaded, mover, relation, declaration, index) &&
        (from ?? livingOf(declaration.resource)).some((status) => sourcesOf(declaration, row.from).includes(status)),
    )
    if (!used)
      faults.warning(
        `${type}.moves[${index}]`,
        `nobody moves it from ${listWords(row.from)} to ${row.to}`,
        'Remove the row.',
      )
  })
  const added = loaded.all.flatMap((adder) =>
    sitesOf(adder).flatMap(({ data }) =>
      Object.entries(data.add ?? {}).flatMap(([relation, { status }]) =>
        loaded.across(adder, relation)?.type === type ? [status] : [],
      ),
    ),
  )
  for (const status of begins) {
    if (!added.includes(status)) faults.warning(`${type}.begins`, `nobody adds it as ${status}`, 'Remove it.')
    if (isKind(declaration.resource, status, 'terminal'))
      faults.error(`${type}.begins`, `begins at its end, ${status}`, 'Remove it.')
  }
}
