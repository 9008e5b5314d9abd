// Turns checked declarations into plans: every short form written out once, so that deciding has one form to know.
import { compileDrift, compileHeal } from './compile-healing.ts'
import {
  compileChanges,
  compileCondition,
  compileLandings,
  conditionOrNull,
  setOrNull,
  statusOf,
  type Context,
} from './compile-landing.ts'
import {
  alternativesOf,
  askOf,
  casesOf,
  declarationOf,
  entryOf,
  namedStatus,
  sourcesOf,
  type AskData,
  type CasesData,
  type Declaration,
  type ForEachData,
  type OperationData,
  type RuleData,
  type StepData,
  type Table,
  type TimerData,
} from './declaration.ts'
import { durationMs } from './duration.ts'
import type { Lifecycle } from './lifecycle.ts'
import type {
  AskPlan,
  ConditionPlan,
  FailureCasePlan,
  FailurePlan,
  ForEachPlan,
  JudgePlan,
  OperationPlan,
  PairPlan,
  Plan,
  Plans,
  RelationPlan,
  RetryPlan,
  RulePlan,
  StepPlan,
  TimerPlan,
} from './plan.ts'
import { isToMany, relatedTypeOf, relationKindOf, type Relation } from './relation.ts'
import { kindsOf, statusKinds } from './resource-type.ts'

/** Finite by default: what is not said is this. */
export const defaults = {
  retry: { times: 3, firstMs: 1_000, atMostMs: 60_000 },
  deadlineMs: 3_600_000,
  tryAgainAtMostMs: 3_600_000,
  graceMs: 30_000,
} as const

export function compilePlans(lifecycles: readonly Lifecycle[]): Plans {
  const judgesOf = new Map<string, JudgePlan[]>()
  const declarations = lifecycles.map(declarationOf)
  const all = declarations.map((declaration) => compile(declaration, declarations, judgesOf))
  const byType = new Map(all.map((plan) => [plan.type, plan]))
  return {
    all,
    get: (type) => byType.get(type),
    kindOf: (type, status) => byType.get(type)?.kinds.get(status) ?? 'stable',
  }
}

function compile(declaration: Declaration, set: readonly Declaration[], judgesOf: Map<string, JudgePlan[]>): Plan {
  const { type, resource } = declaration
  const kinds = kindsOf(resource)
  const relations = mapOf(declaration.relations, compileRelation)
  const context: Context = { declaration, relations, kinds }
  const rules = Object.entries(declaration.rules).map(([name, rule]) => compileRule(context, name, rule))
  noteJudges(judgesOf, type, rules)
  const failed = [...kinds].filter(([, kind]) => kind === 'failed').map(([status]) => status)
  return {
    type,
    properties: resource.properties,
    kinds,
    meanings: new Map(statusKinds.flatMap((kind) => Object.entries(resource.statuses[kind] ?? {}))),
    relations,
    parentType: [...relations.values()].find((relation) => relation.kind === 'parent')?.type ?? null,
    operations: mapOf(declaration.operations, (operation, name) => compileOperation(context, name, operation)),
    heal: mapOf(declaration.heal, (_, status) => compileHeal(context, status)),
    drift: mapOf(declaration.drift, (drift, status) => compileDrift(context, status, drift)),
    probes: new Map(Object.entries(declaration.probes)),
    timers: Object.entries(declaration.timers).map(([name, timer]) => compileTimer(context, name, timer)),
    rules,
    begins: new Set(declaration.begins),
    moves: declaration.moves.map(({ from, to, by }) => ({
      from: new Set(sourcesOf(declaration, from)),
      to,
      byType: relations.get(by)?.type ?? '',
    })),
    pair: compilePair(declaration, relations, set),
    judges: judgesOf.get(type)!,
    onlyFailed: failed.length === 1 ? failed[0]! : null,
  }
}

const mapOf = <Value, Made>(table: Table<Value>, make: (value: Value, name: string) => Made): Map<string, Made> =>
  new Map(Object.entries(table).map(([name, value]) => [name, make(value, name)]))

function compileRule(context: Context, name: string, { says, holds }: RuleData): RulePlan {
  const rows = mapOf(holds, (row) => alternativesOf(row).map((one) => compileCondition(context, one)))
  return { name, says, holds: rows }
}

/** A change of a related resource can break a rule of this type: that resource's plan must know who judges it. */
function noteJudges(judgesOf: Map<string, JudgePlan[]>, type: string, rules: readonly RulePlan[]): void {
  for (const relation of relationsReadBy(rules.flatMap((rule) => [...rule.holds.values()].flat()))) {
    const judges = judgesOf.get(relation.type) ?? []
    judges.push({ type, relation })
    judgesOf.set(relation.type, judges)
  }
  if (!judgesOf.has(type)) judgesOf.set(type, [])
}

function relationsReadBy(conditions: readonly ConditionPlan[]): Set<RelationPlan> {
  return new Set(
    conditions.flatMap(({ terms }) => terms.flatMap((term) => (term.term === 'property' ? [] : [term.relation]))),
  )
}

function compileRelation(relation: Relation, name: string): RelationPlan {
  const { where = {}, as = '' } = relation as { readonly where?: Table<unknown>; readonly as?: string }
  return {
    name,
    kind: relationKindOf(relation)!,
    type: relatedTypeOf(relation)!.type,
    many: isToMany(relation),
    where: Object.entries(where),
    as,
  }
}

/** The side with operations leads; where neither has any, the one declared first does. */
function compilePair(
  declaration: Declaration,
  relations: ReadonlyMap<string, RelationPlan>,
  set: readonly Declaration[],
): PairPlan | null {
  const relation = [...relations.values()].find((one) => one.kind === 'pair')
  if (!relation) return null
  const hasOperations = (one: Declaration | undefined) => Object.keys(one?.operations ?? {}).length > 0
  const other = set.find((one) => one.type === relation.type)
  const isFirst = !other || set.indexOf(declaration) < set.indexOf(other)
  const leads = hasOperations(declaration) || (!hasOperations(other) && isFirst)
  return { relation: relation.name, type: relation.type, leads }
}

function compileFailure(context: Context, failure: CasesData): FailurePlan {
  const cases = casesOf(failure)
  const again = cases[0]?.again
  if (again !== undefined) {
    const againMs = durationMs(again)
    const atMost = cases[0]!.atMost
    const atMostMs = atMost ? durationMs(atMost) : Math.max(againMs, defaults.tryAgainAtMostMs)
    return { tryAgain: { againMs, atMostMs }, cases: [] }
  }
  const compiled = cases.map((one): FailureCasePlan => ({
    when: conditionOrNull(context, one.when),
    status: statusOf(one),
    changes: compileChanges(context, one),
    codes: setOrNull(one.code),
    undo: one.undo === true,
    during: one.during ?? null,
    ifUndoFails: one.ifUndoFails ?? null,
  }))
  return { tryAgain: null, cases: compiled }
}

function compileOperation(context: Context, name: string, operation: OperationData): OperationPlan {
  const to = compileLandings(context, operation.to)
  const ends = to.every((landing) => landing.status !== null && context.kinds.get(landing.status) === 'terminal')
  return {
    name,
    meaning: operation.meaning ?? '',
    creates: operation.from.length === 0,
    from: new Set(sourcesOf(context.declaration, operation.from)),
    input: operation.input ?? null,
    requires: (operation.requires ?? []).map((when) => compileCondition(context, when)),
    ifBusy: operation.ifBusy ?? 'refuse',
    queueBehind: operation.queueBehind ?? 0,
    ifTerminal: operation.ifTerminal ?? 'refuse',
    graceMs: operation.grace ? durationMs(operation.grace) : operation.ifBusy === 'preempt' ? defaults.graceMs : 0,
    forceMs: operation.force ? durationMs(operation.force) : 0,
    forcedStatus: operation.whileForced ?? null,
    steps: Object.entries(operation.steps).map(([step, data], index) => compileStep(context, step, index, data)),
    to,
    onFailure: compileFailure(context, operation.onFailure),
    failureText: operation.failureText ?? null,
    removes: name === 'delete' || operation.ifBusy === 'preempt' || (ends && operation.from.length > 0),
  }
}

function compileStep(context: Context, name: string, index: number, step: StepData): StepPlan {
  const entry = entryOf(step)
  const [each] = Object.entries(step.forEach ?? {})
  return {
    name,
    index,
    status: namedStatus(entry)!,
    changes: compileChanges(context, entry),
    when: conditionOrNull(context, step.when),
    forEach: each ? compileForEach(context, each[0], each[1]) : null,
    asks: Object.entries(step.ask ?? {}).map(([relation, ask]) => compileAsk(relation, askOf(ask))),
    result: step.result ?? null,
    undo: step.undo ?? null,
    probe: step.probe ?? null,
    creates: step.creates ?? null,
    destroys: step.destroys ?? null,
    retry: compileRetry(step.retry),
    deadlineMs: step.deadline ? durationMs(step.deadline) : defaults.deadlineMs,
    progressMs: step.progress ? durationMs(step.progress) : 0,
    onFailure: step.onFailure ? compileFailure(context, step.onFailure) : null,
    skippedIfForced: step.ifForced === 'skip',
  }
}

function compileRetry(retry: StepData['retry']): RetryPlan {
  if (retry === undefined) return defaults.retry
  return {
    times: retry.times,
    firstMs: retry.first ? durationMs(retry.first) : defaults.retry.firstMs,
    atMostMs: retry.atMost ? durationMs(retry.atMost) : defaults.retry.atMostMs,
  }
}

function compileForEach(context: Context, relation: string, each: ForEachData): ForEachPlan {
  return {
    relation: context.relations.get(relation)!,
    in: setOrNull(each.in),
    only: (each.only as ForEachPlan['only'] | undefined) ?? null,
    done: each.done ?? null,
    failed: each.failed ?? null,
    stopAtFirst: each.stopAtFirst === true,
  }
}

function compileAsk(relation: string, ask: AskData): AskPlan {
  return {
    relation,
    operation: ask.operation,
    in: setOrNull(ask.in),
    input: (ask.input as AskPlan['input'] | undefined) ?? null,
    goOn: ask.failed === 'goOn',
  }
}

function compileTimer(context: Context, name: string, timer: TimerData): TimerPlan {
  return {
    name,
    in: new Set(timer.in),
    when: conditionOrNull(context, timer.when),
    at: timer.at ?? null,
    afterMs: timer.after ? durationMs(timer.after) : 0,
    asks:
      typeof timer.ask === 'string'
        ? [{ relation: null, operation: timer.ask }]
        : Object.entries(timer.ask).map(([relation, operation]) => ({
            relation: context.relations.get(relation)!,
            operation,
          })),
    againMs: timer.again ? durationMs(timer.again) : 0,
    rank: timer.rank ?? 0,
  }
}
