// Turns checked declarations into plans: every short form written out once, so that deciding has one form to know.
import { compileDrift, compileHeal } from './compile-healing.ts'
import {
  compileChanges,
  compileCondition,
  compileLandings,
  conditionOrNull,
  landingData,
  listOf,
  statusOf,
  type Context,
  type Data,
} from './compile-landing.ts'
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
  RulePlan,
  StepPlan,
  TimerPlan,
} from './plan.ts'
import { isToMany, relationKindOf } from './relation.ts'
import { statusKinds, type StatusKind } from './resource-type.ts'

/** Finite by default: what is not said is this. */
export const defaults = {
  retry: { times: 3, firstMs: 1_000, atMostMs: 60_000 },
  deadlineMs: 3_600_000,
  tryAgainAtMostMs: 3_600_000,
  graceMs: 30_000,
} as const

export function compilePlans(lifecycles: readonly Lifecycle[]): Plans {
  const judgesOf = new Map<string, JudgePlan[]>()
  const all = lifecycles.map((lifecycle) => compile(lifecycle, lifecycles, judgesOf))
  const byType = new Map(all.map((plan) => [plan.type, plan]))
  return {
    all,
    get: (type) => byType.get(type),
    kindOf: (type, status) => byType.get(type)?.kinds.get(status) ?? 'stable',
  }
}

function compile(lifecycle: Lifecycle, set: readonly Lifecycle[], judgesOf: Map<string, JudgePlan[]>): Plan {
  const resource: Data = lifecycle.resource
  const body: Data = lifecycle.body
  const kinds = new Map<string, StatusKind>()
  const meanings = new Map<string, string>()
  for (const kind of statusKinds) {
    for (const [status, meaning] of Object.entries<string>(resource.statuses[kind] ?? {})) {
      kinds.set(status, kind)
      meanings.set(status, meaning)
    }
  }
  const relations = new Map(
    Object.entries<Data>(lifecycle.relations).map(([name, relation]) => [name, compileRelation(name, relation)]),
  )
  const context: Context = { relations, kinds }
  const rules = Object.entries<Data>(body.rules ?? {}).map(([name, rule]) => compileRule(context, name, rule))
  noteJudges(judgesOf, resource.type, rules)
  const failed = [...kinds].filter(([, kind]) => kind === 'failed').map(([status]) => status)
  return {
    type: resource.type,
    properties: resource.properties,
    kinds,
    meanings,
    relations,
    parentType: [...relations.values()].find((relation) => relation.kind === 'parent')?.type ?? null,
    operations: new Map(
      Object.entries<Data>(body.operations ?? {}).map(([name, operation]) => [
        name,
        compileOperation(context, name, operation),
      ]),
    ),
    heal: new Map(Object.keys(body.heal).map((status) => [status, compileHeal(context, status, body.heal)])),
    drift: new Map(
      Object.entries<Data>(body.drift ?? {}).map(([status, drift]) => [status, compileDrift(context, status, drift)]),
    ),
    probes: new Map(Object.entries<readonly string[]>(body.probes ?? {})),
    timers: Object.entries<Data>(body.timers ?? {}).map(([name, timer]) => compileTimer(context, name, timer)),
    rules,
    begins: new Set<string>(body.begins ?? []),
    moves: (body.moves ?? []).map((row: Data) => ({
      from: sources(context, row.from),
      to: row.to,
      byType: relations.get(row.by)?.type ?? '',
    })),
    pair: compilePair(lifecycle, relations, set),
    judges: judgesOf.get(resource.type)!,
    onlyFailed: failed.length === 1 ? failed[0]! : null,
  }
}

function compileRule(context: Context, name: string, { says, holds }: Data): RulePlan {
  const conditionsOf = (conditions: Data) => listOf(conditions).map((one) => compileCondition(context, one))
  return {
    name,
    says,
    holds: new Map(Object.entries<Data>(holds).map(([status, conditions]) => [status, conditionsOf(conditions)])),
  }
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

function compileRelation(name: string, relation: Data): RelationPlan {
  const kind = relationKindOf(relation)!
  return {
    name,
    kind,
    type: relation[kind].type,
    many: isToMany(relation),
    where: Object.entries(relation.where ?? {}),
    as: relation.as ?? '',
  }
}

/** The side with operations leads; where neither has any, the one declared first does. */
function compilePair(
  lifecycle: Lifecycle,
  relations: ReadonlyMap<string, RelationPlan>,
  set: readonly Lifecycle[],
): PairPlan | null {
  const relation = [...relations.values()].find((one) => one.kind === 'pair')
  if (!relation) return null
  const operations = (one: Lifecycle | undefined) => Object.keys((one?.body as Data)?.operations ?? {}).length
  const other = set.find((one) => (one.resource as Data).type === relation.type)
  const leads =
    operations(lifecycle) > 0 || (operations(other) === 0 && (!other || set.indexOf(lifecycle) < set.indexOf(other)))
  return { relation: relation.name, type: relation.type, leads }
}

function sources(context: Context, from: readonly string[]): ReadonlySet<string> {
  if (!from.includes('*')) return new Set(from)
  return new Set([...context.kinds].filter(([, kind]) => kind !== 'terminal').map(([status]) => status))
}

function compileFailure(context: Context, failure: Data): FailurePlan {
  if (failure.again) {
    const againMs = durationMs(failure.again)
    const atMostMs = failure.atMost ? durationMs(failure.atMost) : Math.max(againMs, defaults.tryAgainAtMostMs)
    return { tryAgain: { againMs, atMostMs }, cases: [] }
  }
  const cases = listOf(failure)
    .map(landingData)
    .map((one): FailureCasePlan => ({
      when: conditionOrNull(context, one.when),
      status: statusOf(one.status),
      changes: compileChanges(context, one),
      codes: one.code ? new Set(one.code) : null,
      undo: one.undo === true,
      during: one.during ?? null,
      ifUndoFails: one.ifUndoFails ?? null,
    }))
  return { tryAgain: null, cases }
}

function compileOperation(context: Context, name: string, operation: Data): OperationPlan {
  const to = compileLandings(context, operation.to)
  const ends = to.every((landing) => landing.status !== null && context.kinds.get(landing.status) === 'terminal')
  return {
    name,
    meaning: operation.meaning ?? '',
    creates: operation.from.length === 0,
    from: sources(context, operation.from),
    input: operation.input ?? null,
    requires: (operation.requires ?? []).map((when: Data) => compileCondition(context, when)),
    ifBusy: operation.ifBusy ?? 'refuse',
    queueBehind: operation.queueBehind ?? 0,
    ifTerminal: operation.ifTerminal ?? 'refuse',
    graceMs: operation.grace ? durationMs(operation.grace) : operation.ifBusy === 'preempt' ? defaults.graceMs : 0,
    forceMs: operation.force ? durationMs(operation.force) : 0,
    forcedStatus: operation.whileForced ?? null,
    steps: Object.entries<Data>(operation.steps).map(([step, data], index) => compileStep(context, step, index, data)),
    to,
    onFailure: compileFailure(context, operation.onFailure),
    failureText: operation.failureText ?? null,
    removes: name === 'delete' || operation.ifBusy === 'preempt' || (ends && operation.from.length > 0),
  }
}

function compileStep(context: Context, name: string, index: number, { retry, ...step }: Data): StepPlan {
  const during = typeof step.during === 'string' ? { status: step.during } : step.during
  const [each] = Object.entries<Data>(step.forEach ?? {})
  return {
    name,
    index,
    status: during.status,
    changes: compileChanges(context, during),
    when: conditionOrNull(context, step.when),
    forEach: each ? compileForEach(context, each[0], each[1]) : null,
    asks: Object.entries<Data>(step.ask ?? {}).map(([relation, ask]) => compileAsk(relation, ask)),
    result: step.result ?? null,
    undo: step.undo ?? null,
    probe: step.probe ?? null,
    creates: step.creates ?? null,
    destroys: step.destroys ?? null,
    retry: retry
      ? {
          times: retry.times,
          firstMs: retry.first ? durationMs(retry.first) : defaults.retry.firstMs,
          atMostMs: retry.atMost ? durationMs(retry.atMost) : defaults.retry.atMostMs,
        }
      : defaults.retry,
    deadlineMs: step.deadline ? durationMs(step.deadline) : defaults.deadlineMs,
    progressMs: step.progress ? durationMs(step.progress) : 0,
    onFailure: step.onFailure ? compileFailure(context, step.onFailure) : null,
    skippedIfForced: step.ifForced === 'skip',
  }
}

function compileForEach(context: Context, relation: string, each: Data): ForEachPlan {
  return {
    relation: context.relations.get(relation)!,
    in: each.in ? new Set(each.in) : null,
    only: each.only ?? null,
    done: each.done ?? null,
    failed: each.failed ?? null,
    stopAtFirst: each.stopAtFirst === true,
  }
}

function compileAsk(relation: string, ask: Data): AskPlan {
  const data = typeof ask === 'string' ? { operation: ask } : ask
  return {
    relation,
    operation: data.operation,
    in: data.in ? new Set(data.in) : null,
    input: data.input ?? null,
    goOn: data.failed === 'goOn',
  }
}

function compileTimer(context: Context, name: string, timer: Data): TimerPlan {
  return {
    name,
    in: new Set(timer.in),
    when: conditionOrNull(context, timer.when),
    at: timer.at ?? null,
    afterMs: timer.after ? durationMs(timer.after) : 0,
    asks:
      typeof timer.ask === 'string'
        ? [{ relation: null, operation: timer.ask }]
        : Object.entries<string>(timer.ask).map(([relation, operation]) => ({
            relation: context.relations.get(relation)!,
            operation,
          })),
    againMs: timer.again ? durationMs(timer.again) : 0,
    rank: timer.rank ?? 0,
  }
}
