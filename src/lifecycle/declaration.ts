// A declaration as plain data, without the types that guide its author: what check, graph, words, JSON and plans read.
// Reading calls no function of the declaration and believes nothing: fields may be missing where the compiler was not asked.
import type { Previous } from './landing.ts'
import type { AnyLifecycle } from './lifecycle.ts'
import type { Relations } from './relation.ts'
import { livingOf, type ResourceType } from './resource-type.ts'
import type { Schema } from './schema.ts'

export type Table<Value> = Readonly<Record<string, Value>>

/** Properties and relations by name, beside `says` and `test`. */
export type ConditionData = Table<unknown>

export interface TestData {
  readonly says: string
  readonly test: unknown
}

export interface MoveData {
  readonly from?: readonly string[]
  readonly only?: TestData
  readonly to?: string
  readonly set?: Table<unknown>
}

export interface ChangesData {
  readonly set?: Table<unknown>
  readonly move?: Table<string | MoveData>
  readonly add?: Table<{ readonly status: string; readonly each?: unknown }>
  readonly link?: Table<unknown>
  readonly say?: string
}

/** A landing, a failure answer or a recovery: one shape serves all three. */
export interface CaseData extends ChangesData {
  readonly when?: ConditionData
  readonly code?: readonly string[]
  readonly status?: string | Previous
  readonly attempt?: string
  readonly undo?: true
  readonly during?: string
  readonly ifUndoFails?: string
  readonly again?: string
  readonly atMost?: string
}
export type CasesData = string | Previous | CaseData | readonly CaseData[]

export interface ForEachData {
  readonly in?: readonly string[]
  readonly only?: TestData
  readonly done?: string
  readonly failed?: string
  readonly stopAtFirst?: true
}

export interface AskData {
  readonly operation: string
  readonly in?: readonly string[]
  readonly input?: unknown
  readonly failed?: 'goOn'
}

export interface StepData {
  readonly meaning?: string
  readonly during: string | (ChangesData & { readonly status: string })
  readonly when?: ConditionData
  readonly forEach?: Table<ForEachData>
  readonly ask?: Table<string | AskData>
  readonly result?: Schema
  readonly undo?: string
  readonly probe?: string
  readonly creates?: string
  readonly destroys?: string
  readonly retry?: { readonly times: number; readonly first?: string; readonly atMost?: string }
  readonly deadline?: string
  readonly progress?: string
  readonly onFailure?: CasesData
  readonly ifForced?: 'skip'
}

export interface OperationData {
  readonly meaning?: string
  readonly from: readonly string[]
  readonly input?: Schema
  readonly requires?: readonly ConditionData[]
  readonly ifBusy?: 'refuse' | 'queue' | 'preempt'
  readonly queueBehind?: number
  readonly ifTerminal?: 'refuse' | 'succeed'
  readonly grace?: string
  readonly force?: string
  readonly whileForced?: string
  readonly steps: Table<StepData>
  readonly to: CasesData
  readonly onFailure: CasesData
  readonly failureText?: string
}

export type ProbeData = Table<Table<string | CaseData>>

export interface HealData extends CaseData {
  readonly resume?: true
  readonly unowned?: CasesData
  readonly probe?: ProbeData
  readonly withOwner?: Table<readonly string[]>
  readonly otherwise?: CasesData
  readonly like?: string
}

export interface DriftData {
  readonly every: string
  readonly probe: ProbeData
}

export interface RuleData {
  readonly says: string
  readonly holds: Table<ConditionData | readonly ConditionData[]>
}

export interface TimerData {
  readonly in: readonly string[]
  readonly when?: ConditionData
  readonly at?: string
  readonly after?: string
  readonly ask: string | Table<string>
  readonly again?: string
  readonly rank?: number
}

export interface MoveRowData {
  readonly from: readonly string[]
  readonly to: string
  readonly by: string
}

export interface Declaration {
  readonly resource: ResourceType
  readonly type: string
  readonly relations: Relations
  readonly begins: readonly string[]
  readonly moves: readonly MoveRowData[]
  readonly probes: Table<readonly string[]>
  readonly rules: Table<RuleData>
  readonly timers: Table<TimerData>
  readonly operations: Table<OperationData>
  readonly heal: Table<HealData | readonly CaseData[]>
  readonly drift: Table<DriftData>
}

export function declarationOf(lifecycle: AnyLifecycle): Declaration {
  const body = lifecycle.body as unknown as Partial<Declaration>
  const resource = lifecycle.resource as ResourceType
  return {
    resource,
    type: resource.type,
    relations: lifecycle.relations as Relations,
    begins: body.begins ?? [],
    moves: body.moves ?? [],
    probes: body.probes ?? {},
    rules: body.rules ?? {},
    timers: body.timers ?? {},
    operations: body.operations ?? {},
    heal: body.heal ?? {},
    drift: body.drift ?? {},
  }
}

export function isPrevious(status: unknown): status is Previous {
  return typeof status === 'object' && status !== null && 'previous' in status
}

/** Every form of target, failure or recovery as a list of cases. */
export function casesOf(data: CasesData | undefined): readonly CaseData[] {
  if (data === undefined) return []
  if (typeof data === 'string' || isPrevious(data)) return [{ status: data }]
  return Array.isArray(data) ? data : [data as CaseData]
}

/** A status that `status` names itself: undefined for `previous` and for none. */
export const namedStatus = (one: CaseData): string | undefined =>
  typeof one.status === 'string' ? one.status : undefined

export const moveOf = (data: string | MoveData): MoveData => (typeof data === 'string' ? { to: data } : data)
export const askOf = (data: string | AskData): AskData => (typeof data === 'string' ? { operation: data } : data)

export function entryOf(step: StepData): CaseData {
  return typeof step.during === 'string' ? { status: step.during } : (step.during ?? {})
}

/** The failure answer for a step: its own, else the operation's. */
export const failureOf = (operation: OperationData, step: StepData): readonly CaseData[] =>
  casesOf(step.onFailure ?? operation.onFailure)

/** A heal row with `like` followed to its end; undefined when there is none, or when rows are alike in a ring. */
export function healOf(heal: Declaration['heal'], status: string): HealData | readonly CaseData[] | undefined {
  const seen = new Set<string>()
  let row = heal[status]
  for (let at = status; row && isRow(row) && row.like !== undefined; row = heal[at]) {
    if (seen.has(at)) return undefined
    seen.add(at)
    at = row.like
  }
  return row
}

/** What `from` names: '*' is every status that is not terminal. */
export const sourcesOf = ({ resource }: Declaration, from: readonly string[] = []): readonly string[] =>
  from.includes('*') ? livingOf(resource) : from

/** A rule's row: any of the list. */
export const alternativesOf = (row: ConditionData | readonly ConditionData[]): readonly ConditionData[] =>
  Array.isArray(row) ? row : [row as ConditionData]

export const isRow = (row: HealData | readonly CaseData[]): row is HealData => !Array.isArray(row)
