// Checks the lifecycle as a graph: every status can be reached and left, terminal ones stay, delete ends.
import { casesOf, namedStatus, sourcesOf, type Declaration } from './declaration.ts'
import type { Faults } from './fault.ts'
import { isKind } from './known-names.ts'
import type { Edge } from './lifecycle-graph.ts'
import { kindsOf, statusKinds } from './resource-type.ts'

export function checkFlow(faults: Faults, declaration: Declaration, edges: readonly Edge[]): void {
  checkKinds(faults, declaration)
  checkTerminal(faults, declaration)
  const { type, resource } = declaration
  const kinds = kindsOf(resource)
  const reached = checkReached(faults, declaration, edges)
  const ending = closure(
    [...kinds.keys()].filter((status) => kinds.get(status) === 'terminal'),
    backwards(edges),
  )
  for (const [status, kind] of kinds) {
    if (kind === 'terminal' || !reached.has(status)) continue
    const path = `${type}.statuses.${status}`
    if (!edges.some((edge) => edge.from === status)) {
      faults.error(path, 'nothing leads out of it', 'Give it an operation or a move out, or make it terminal.')
    } else if (resource.statuses.terminal && !ending.has(status)) {
      faults.warning(path, 'no way leads from it to a terminal status', 'Let delete start from it.')
    }
  }
  checkDelete(faults, declaration, edges)
}

function checkKinds(faults: Faults, { type, resource }: Declaration): void {
  const seen = new Map<string, string>()
  for (const kind of statusKinds) {
    for (const status of Object.keys(resource.statuses[kind] ?? {})) {
      const other = seen.get(status)
      if (other)
        faults.error(`${type}.statuses.${status}`, `stands under ${other} and ${kind}`, 'Keep it under one kind.')
      seen.set(status, kind)
      if (status === '' || status === '*')
        faults.error(`${type}.statuses`, `'${status}' is no name for a status`, 'Use a word.')
    }
  }
}

function checkTerminal(faults: Faults, declaration: Declaration): void {
  const { type, resource } = declaration
  const leaving = (path: string, from: readonly string[]) => {
    for (const status of from) {
      if (!isKind(resource, status, 'terminal')) continue
      faults.error(path, `leaves the terminal status ${status}`, `Make ${status} stable, or leave it out here.`)
    }
  }
  for (const [name, operation] of Object.entries(declaration.operations))
    leaving(`${type}.operations.${name}.from`, operation.from)
  declaration.moves.forEach(({ from }, index) => leaving(`${type}.moves[${index}].from`, from))
  leaving(`${type}.drift`, Object.keys(declaration.drift))
}

/** `back` edges lead only to what was reached before. */
function checkReached(faults: Faults, declaration: Declaration, edges: readonly Edge[]): ReadonlySet<string> {
  const { type, resource } = declaration
  const statuses = [...kindsOf(resource).keys()]
  if (!edges.some((edge) => edge.from === '')) {
    faults.warning(type, 'nothing creates it: only an import can', 'Add an operation with `from: []`, or `begins`.')
    return new Set(statuses)
  }
  const forwards = followers(edges.filter((edge) => !edge.back))
  const reached = closure([''], forwards)
  for (const status of statuses) {
    if (reached.has(status)) continue
    const suggestion = 'Add an operation, a move or a drift that leads to it, or remove it.'
    faults.error(`${type}.statuses.${status}`, 'cannot be reached', suggestion)
  }
  return reached
}

function checkDelete(faults: Faults, declaration: Declaration, edges: readonly Edge[]): void {
  const { type, resource, operations } = declaration
  const operation = operations['delete']
  if (!operation) return
  const ends = casesOf(operation.to).flatMap((one) => namedStatus(one) ?? [])
  const isEnd = (status: string) => isKind(resource, status, 'terminal')
  if ([...closure(ends, byItself(declaration))].some(isEnd)) return
  const path = `${type}.operations.delete`
  if ([...closure(ends, followers(edges))].some(isEnd)) {
    faults.warning(path, 'ends in no terminal status by itself', 'Let a timer ask for the operation that ends it.')
  } else faults.error(path, 'cannot reach a terminal status', 'Let it, or a timer after it, end in a terminal status.')
}

/** Where timers lead without anybody asking. */
function byItself(declaration: Declaration): Follow {
  const { timers, operations } = declaration
  return (status) =>
    Object.values(timers).flatMap((timer) => {
      const operation = typeof timer.ask === 'string' ? operations[timer.ask] : undefined
      if (!operation || !timer.in.includes(status) || !sourcesOf(declaration, operation.from).includes(status))
        return []
      return casesOf(operation.to).flatMap((one) => namedStatus(one) ?? [])
    })
}

type Follow = (status: string) => readonly string[]

const followers =
  (edges: readonly Edge[]): Follow =>
  (status) =>
    edges.filter((edge) => edge.from === status).map((edge) => edge.to)

const backwards =
  (edges: readonly Edge[]): Follow =>
  (status) =>
    edges.filter((edge) => edge.to === status).map((edge) => edge.from)

function closure(start: readonly string[], follow: Follow): ReadonlySet<string> {
  const found = new Set(start)
  for (const status of found) for (const next of follow(status)) found.add(next)
  return found
}
