// Every place of a declaration where a status is written or a condition is judged, with its path: what the checks walk over.
import {
  alternativesOf,
  casesOf,
  entryOf,
  isRow,
  namedStatus,
  sourcesOf,
  type CaseData,
  type ConditionData,
  type Declaration,
  type OperationData,
  type StepData,
} from './declaration.ts'

/** A place where the resource is put into a status, and what changes with it. */
export interface Site {
  readonly path: string
  readonly role: 'entry' | 'target' | 'failure' | 'heal' | 'drift'
  readonly data: CaseData
  /** Statuses it stands in before, when no step in between was passed; '' before it is created. */
  readonly from: readonly string[]
  readonly operation?: OperationData
  readonly step?: StepData
}

/** A place where a condition is judged. */
export interface ConditionSite {
  readonly path: string
  readonly when: ConditionData
}

export function sitesOf(declaration: Declaration): readonly Site[] {
  return [
    ...Object.entries(declaration.operations).flatMap(([name, operation]) =>
      operationSites(declaration, `${declaration.type}.operations.${name}`, operation),
    ),
    ...Object.keys(declaration.heal).flatMap((status) => healSites(declaration, status)),
    ...Object.entries(declaration.drift).flatMap(([status, drift]) =>
      probeSites(`${declaration.type}.drift.${status}.probe`, drift.probe, { role: 'drift', from: [status] }),
    ),
  ]
}

function operationSites(declaration: Declaration, path: string, operation: OperationData): Site[] {
  const sites: Site[] = []
  let from = operation.from.length === 0 ? [''] : sourcesOf(declaration, operation.from)
  for (const [name, step] of Object.entries(operation.steps)) {
    const place = `${path}.steps.${name}`
    const entry = entryOf(step)
    const status = namedStatus(entry)
    sites.push({ path: `${place}.during`, role: 'entry', data: entry, from, operation, step })
    const inStatus = status === undefined ? [] : [status]
    const failing = { role: 'failure', from: inStatus, operation, step } as const
    if (step.onFailure !== undefined) sites.push(...caseSites(`${place}.onFailure`, casesOf(step.onFailure), failing))
    from = inStatus
  }
  const inherited = Object.values(operation.steps).filter((step) => step.onFailure === undefined)
  const failed = [...new Set(inherited.flatMap((step) => namedStatus(entryOf(step)) ?? []))]
  return [
    ...sites,
    ...caseSites(`${path}.to`, casesOf(operation.to), { role: 'target', from, operation }),
    ...caseSites(`${path}.onFailure`, casesOf(operation.onFailure), { role: 'failure', from: failed, operation }),
  ]
}

type Context = Omit<Site, 'path' | 'data'>

const caseSites = (path: string, cases: readonly CaseData[], context: Context): Site[] =>
  cases.map((data, index) => ({ path: cases.length > 1 ? `${path}[${index}]` : path, data, ...context }))

function healSites(declaration: Declaration, status: string): Site[] {
  const row = declaration.heal[status]!
  const path = `${declaration.type}.heal.${status}`
  const context = { role: 'heal', from: [status] } as const
  if (!isRow(row)) return caseSites(path, row, context)
  const { otherwise, unowned, probe } = row
  const says = row.status !== undefined || row.attempt !== undefined || row.move !== undefined || row.set !== undefined
  return [
    ...(says ? [{ path, data: row, ...context }] : []),
    ...probeSites(`${path}.probe`, probe, context),
    ...caseSites(`${path}.otherwise`, casesOf(otherwise), context),
    ...caseSites(`${path}.unowned`, casesOf(unowned), context),
  ]
}

function probeSites(path: string, probe: Declaration['drift'][string]['probe'] | undefined, context: Context): Site[] {
  return Object.entries(probe ?? {}).flatMap(([name, answers]) =>
    Object.entries(answers).flatMap(([answer, landing]) =>
      caseSites(`${path}.${name}.${answer}`, casesOf(landing), context),
    ),
  )
}

export function conditionsOf(declaration: Declaration): readonly ConditionSite[] {
  const { type } = declaration
  const found: ConditionSite[] = []
  const add = (path: string, when: ConditionData | undefined) => {
    if (when !== undefined) found.push({ path, when })
  }
  for (const { path, data } of sitesOf(declaration)) add(`${path}.when`, data.when)
  for (const [name, operation] of Object.entries(declaration.operations)) {
    operation.requires?.forEach((when, index) => add(`${type}.operations.${name}.requires[${index}]`, when))
    for (const [step, { when }] of Object.entries(operation.steps))
      add(`${type}.operations.${name}.steps.${step}.when`, when)
  }
  for (const [name, rule] of Object.entries(declaration.rules)) {
    for (const [status, row] of Object.entries(rule.holds)) {
      const rows = alternativesOf(row)
      rows.forEach((when, index) =>
        add(`${type}.rules.${name}.holds.${status}${rows.length > 1 ? `[${index}]` : ''}`, when),
      )
    }
  }
  for (const [name, timer] of Object.entries(declaration.timers)) add(`${type}.timers.${name}.when`, timer.when)
  return found
}
