// The healing and drift tables of a declaration as plans.
import {
  compileChanges,
  conditionOrNull,
  landingData,
  listOf,
  statusOf,
  type Context,
  type Data,
} from './compile-landing.ts'
import { healOf } from './declaration.ts'
import { durationMs } from './duration.ts'
import type { DriftPlan, HealPlan, ProbePlan, RecoveryPlan } from './plan.ts'
import { healWords } from './words.ts'

/** Numbers the landings of one row, so that a run can name the one it waits for. */
function recoveryCompiler(context: Context) {
  const landings: RecoveryPlan[] = []
  const recovery = (data: Data): RecoveryPlan => {
    const one = landingData(data)
    const plan: RecoveryPlan = {
      when: conditionOrNull(context, one.when),
      status: one.status === undefined ? undefined : statusOf(one.status),
      changes: compileChanges(context, one),
      attempt: one.attempt ?? null,
      index: landings.length,
    }
    landings.push(plan)
    return plan
  }
  const probe = (data: Data): ProbePlan | null => {
    const [name, answers] = Object.entries<Data>(data ?? {})[0] ?? []
    if (name === undefined) return null
    const known = Object.entries<Data>(answers).filter(([, landing]) => !landing.again)
    return {
      name,
      answers: new Map(known.map(([answer, landing]) => [answer, recovery(landing)])),
      againMs: answers.unknown?.again ? durationMs(answers.unknown.again) : 0,
    }
  }
  return { landings, recovery, probe }
}

export function compileHeal(context: Context, status: string, table: Data): HealPlan {
  const row: Data = healOf(table, status)
  const { landings, recovery, probe } = recoveryCompiler(context)
  const words = healWords(row)
  if (Array.isArray(row)) {
    return { status, resume: false, withOwner: [], unowned: [], probe: null, cases: row.map(recovery), landings, words }
  }
  const own = row.status !== undefined || row.attempt !== undefined ? [recovery(row)] : []
  return {
    status,
    resume: row.resume === true,
    withOwner: Object.entries<Data>(row.withOwner ?? {}).map(([relation, statuses]) => ({
      relation: context.relations.get(relation)!,
      statuses: new Set<string>(statuses),
    })),
    unowned: row.unowned ? listOf(row.unowned).map(recovery) : [],
    probe: probe(row.probe),
    cases: [...own, ...(row.otherwise ? listOf(row.otherwise).map(recovery) : [])],
    landings,
    words,
  }
}

export function compileDrift(context: Context, status: string, drift: Data): DriftPlan {
  const { landings, probe } = recoveryCompiler(context)
  return { status, everyMs: durationMs(drift.every), probe: probe(drift.probe)!, landings }
}
