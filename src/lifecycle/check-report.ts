// What the check of a set says about one of its lifecycles, for people: what was found, and what was looked at and holds.
import { casesOf, declarationOf } from './declaration.ts'
import type { Fault } from './fault.ts'
import { edgesOf } from './lifecycle-graph.ts'
import type { AnyLifecycle } from './lifecycle.ts'
import { kindsOf, type ResourceType } from './resource-type.ts'

export interface CheckReport {
  readonly findings: readonly Fault[]
  readonly checked: readonly string[]
}

const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`

/** `faults` is the check of the whole set: it is made once for all of them. */
export function checkReport(
  lifecycle: AnyLifecycle,
  set: readonly AnyLifecycle[],
  faults: readonly Fault[],
): CheckReport {
  const { type, operations, drift, rules, timers, relations, probes } = declarationOf(lifecycle)
  const findings = faults.filter(({ path }) => path === type || path.startsWith(`${type}.`))
  const kinds = [...kindsOf(lifecycle.resource as ResourceType)].map(([, kind]) => kind)
  const transitional = kinds.filter((kind) => kind === 'transitional').length
  const terminal = kinds.filter((kind) => kind === 'terminal').length
  const steps = Object.values(operations).flatMap(({ steps: some }) => Object.values(some))
  const undone = steps.filter(({ undo }) => undo !== undefined).length
  const failing = Object.values(operations).flatMap(({ onFailure }) => casesOf(onFailure)).length
  const part = (number: number, words: string): string[] => (number === 0 ? [] : [words])
  return {
    findings,
    checked: [
      `${count(kinds.length, 'status', 'statuses')} and ${count(edgesOf(lifecycle, set).length, 'way')} between them: every status can be reached.`,
      ...part(
        transitional,
        `${count(transitional, 'transitional status', 'transitional statuses')}: each has a way out by healing, with a recorded run and without one, and none leads in a ring.`,
      ),
      ...part(
        terminal,
        `${count(terminal, 'terminal status', 'terminal statuses')}: nothing leads out, and delete leads in.`,
      ),
      ...part(
        Object.keys(operations).length,
        `${count(Object.keys(operations).length, 'operation')} with ${count(steps.length, 'step')}: each starts from and lands in statuses that are there, and says what follows a failure (${count(failing, 'answer')}, ${count(undone, 'undo', 'undos')}).`,
      ),
      ...part(
        Object.keys(relations).length,
        `${count(Object.keys(relations).length, 'relation')}: both sides know each other, and what one does to the other is allowed there.`,
      ),
      ...part(
        Object.keys(probes).length,
        `${count(Object.keys(probes).length, 'question')} to the driver: for every answer it is said where to land (in healing${Object.keys(drift).length === 0 ? '' : ` and in a regular look at ${count(Object.keys(drift).length, 'status', 'statuses')}`}).`,
      ),
      ...part(
        Object.keys(rules).length,
        `${count(Object.keys(rules).length, 'rule')}: no declared way breaks one, as far as data decides it.`,
      ),
      ...part(
        Object.keys(timers).length,
        `${count(Object.keys(timers).length, 'timer')}: each asks for something that can be asked then.`,
      ),
    ],
  }
}
