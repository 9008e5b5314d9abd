// The healing and drift tables of a declaration as plans.
import { compileChanges, conditionOrNull, statusOf, type Context } from './compile-landing.ts'
import { casesOf, healOf, isRow, type CaseData, type DriftData, type ProbeData } from './declaration.ts'
import { durationMs } from './duration.ts'
import type { DriftPlan, HealPlan, ProbePlan, RecoveryPlan } from './plan.ts'
import { healWords } from './words.ts'

/** Numbers the landings of one row, so that a run can name the one it waits for. */
function recoveryCompiler(context: Context) {
  const landings: RecoveryPlan[] = []
  const recovery = (one: CaseData): RecoveryPlan => {
    const plan: RecoveryPlan = {
      when: conditionOrNull(context, one.when),
      status: one.status === undefined ? undefined : statusOf(one),
      changes: compileChanges(context, one),
      attempt: one.attempt ?? null,
      index: landings.length,
    }
    landings.push(plan)
    return plan
  }
  const probe = (data: ProbeData | undefined): ProbePlan | null => {
    const [asked] = Object.entries(data ?? {})
    if (asked === undefined) return null
    const [name, answers] = asked
    const cases = Object.entries(answers).map(([answer, landing]) => [answer, casesOf(landing)[0]!] as const)
    const again = cases.find(([answer]) => answer === 'unknown')?.[1].again
    // What is asked again lands nowhere.
    const landing = cases.filter(([, one]) => one.again === undefined)
    return {
      name,
      answers: new Map(landing.map(([answer, one]) => [answer, recovery(one)])),
      againMs: again === undefined ? 0 : durationMs(again),
    }
  }
  return { landings, recovery, probe }
}

export function compileHeal(context: Context, status: string): HealPlan {
  const row = healOf(context.declaration.heal, status)!
  const { landings, recovery, probe } = recoveryCompiler(context)
  const words = healWords(row)
  if (!isRow(row)) {
    return { status, resume: false, withOwner: [], unowned: [], probe: null, cases: row.map(recovery), landings, words }
  }
  const own = row.status !== undefined || row.attempt !== undefined ? [recovery(row)] : []
  return {
    status,
    resume: row.resume === true,
    withOwner: Object.entries(row.withOwner ?? {}).map(([relation, statuses]) => ({
      relation: context.relations.get(relation)!,
      statuses: new Set(statuses),
    })),
    unowned: casesOf(row.unowned).map(recovery),
    probe: probe(row.probe),
    cases: [...own, ...casesOf(row.otherwise).map(recovery)],
    landings,
    words,
  }
}

export function compileDrift(context: Context, status: string, drift: DriftData): DriftPlan {
  const { landings, probe } = recoveryCompiler(context)
  return { status, everyMs: durationMs(drift.every), probe: probe(drift.probe)!, landings }
}
