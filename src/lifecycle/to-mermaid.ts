// The diagram of a lifecycle as Mermaid text: one arrow per pair of statuses, labelled with what takes it.
import { edgesOf, type Edge } from './lifecycle-graph.ts'
import type { AnyLifecycle } from './lifecycle.ts'
import { kindsOf, statusKinds, type ResourceType } from './resource-type.ts'

const colours = {
  stable: 'fill:#d9f2e3,stroke:#2f855a,color:#1a202c',
  transitional: 'fill:#e2ecfb,stroke:#2b6cb0,color:#1a202c,stroke-dasharray:4 3',
  failed: 'fill:#fde2e1,stroke:#c53030,color:#1a202c',
  terminal: 'fill:#edf2f7,stroke:#718096,color:#1a202c',
} as const

/** A state diagram. Set `only` to leave edges out (say, of healing). */
export function toMermaid(
  lifecycle: AnyLifecycle,
  set: readonly AnyLifecycle[] = [lifecycle],
  only: (edge: Edge) => boolean = () => true,
): string {
  const kinds = kindsOf(lifecycle.resource as ResourceType)
  // Statuses may have names that Mermaid cannot take as identifiers ('Adding Instances').
  const ids = new Map([...kinds.keys()].map((status, index) => [status, `s${index}`]))
  const id = (status: string) => (status === '' ? '[*]' : (ids.get(status) ?? status))
  const lines = ['stateDiagram-v2', ...[...ids].map(([status, name]) => `  state "${status}" as ${name}`)]
  for (const [arrow, labels] of arrows(edgesOf(lifecycle, set).filter(only))) {
    const [from, to] = JSON.parse(arrow) as [string, string]
    lines.push(`  ${id(from)} --> ${id(to)} : ${[...labels].join(', ')}`)
  }
  for (const [status, kind] of kinds) if (kind === 'terminal') lines.push(`  ${id(status)} --> [*]`)
  for (const kind of statusKinds) {
    const members = [...kinds].filter(([, one]) => one === kind).map(([status]) => id(status))
    if (members.length > 0) lines.push(`  classDef ${kind} ${colours[kind]}`, `  class ${members.join(',')} ${kind}`)
  }
  return `${lines.join('\n')}\n`
}

/** Edges between the same two statuses share an arrow. */
function arrows(edges: readonly Edge[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const edge of edges) {
    const key = JSON.stringify([edge.from, edge.to])
    const labels = found.get(key) ?? new Set()
    found.set(key, labels.add(labelOf(edge)))
  }
  return found
}

function labelOf({ kind, operation, why }: Edge): string {
  if (kind === 'failure') return `${operation} fails`
  if (kind === 'heal') return 'healed'
  if (kind === 'drift') return 'drifted'
  return operation ?? (kind === 'move' ? why : kind === 'pair' ? 'with its pair' : 'added')
}
