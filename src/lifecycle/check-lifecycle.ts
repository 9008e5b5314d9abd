// Judges declarations before anything runs: all faults of all of them at once, each with its path and a suggestion.
import { checkFlow } from './check-flow.ts'
import { checkHealing } from './check-healing.ts'
import { checkNames } from './check-names.ts'
import { checkOperations } from './check-operations.ts'
import { checkMoves, checkRelations } from './check-relations.ts'
import { checkRules } from './check-rules.ts'
import { checkSchema, checkShapes } from './check-shapes.ts'
import { checkTimers } from './check-timers.ts'
import { checkWords } from './check-words.ts'
import type { Declaration } from './declaration.ts'
import { Faults, type Fault } from './fault.ts'
import { Declarations } from './known-names.ts'
import { edgesOf } from './lifecycle-graph.ts'
import type { AnyLifecycle } from './lifecycle.ts'

/** All faults of a set of lifecycles; errors first. None of severity `error`: it can be loaded. */
export function checkLifecycles(set: readonly AnyLifecycle[]): readonly Fault[] {
  const faults = new Faults()
  checkTypes(faults, new Declarations(set))
  // What cannot be read is left out, so that the faults of the others are still found.
  const readable = set.filter((lifecycle) => {
    const [declaration] = new Declarations([lifecycle]).all
    const isWorded = checkWords(faults, declaration!, lifecycle.body)
    return checkShapes(faults, declaration!.type, lifecycle.body) && isWorded
  })
  const loaded = new Declarations(readable, set)
  readable.forEach((lifecycle, index) => {
    const declaration = loaded.all[index]!
    checkRelations(faults, loaded, declaration)
    checkNames(faults, loaded, declaration)
    checkFlow(faults, declaration, edgesOf(lifecycle, readable))
    checkOperations(faults, loaded, declaration)
    checkHealing(faults, loaded, declaration)
    checkTimers(faults, loaded, declaration)
    checkMoves(faults, loaded, declaration)
    checkRules(faults, loaded, declaration)
    checkProbesUsed(faults, declaration)
  })
  return faults.all.toSorted((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'))
}

function checkTypes(faults: Faults, loaded: Declarations): void {
  const seen = new Set<string>()
  for (const { type, resource } of loaded.all) {
    checkSchema(faults, `${type}.properties`, resource.properties)
    if (seen.has(type)) faults.error(type, 'is declared twice', 'Load one of the two, or rename one.')
    seen.add(type)
    if (!/^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/.test(type)) {
      faults.error(
        type,
        'the name of the type cannot stand in an address',
        "Use words with dots between: 'shop.database'.",
      )
    }
  }
}

function checkProbesUsed(faults: Faults, { type, probes, operations, heal, drift }: Declaration): void {
  const used = new Set([
    ...Object.values(operations).flatMap(({ steps }) => Object.values(steps).flatMap((step) => step.probe ?? [])),
    ...[...Object.values(heal), ...Object.values(drift)].flatMap((row) =>
      Object.keys(('probe' in row && row.probe) || {}),
    ),
  ])
  for (const name of Object.keys(probes)) {
    if (!used.has(name)) faults.warning(`${type}.probes.${name}`, 'nobody asks it', 'Remove it, or use it.')
  }
}
