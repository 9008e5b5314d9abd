// Plays worker, healer and clock on a table top until everything rests: what the engine does, without an engine.
import { assert } from '../base/assert.ts'
import { Draft } from '../decision/draft.ts'
import { owedCalls } from '../decision/owed.ts'
import type { Resource, Run } from '../decision/state.ts'
import type { Answer, TableTop } from './table-top.ts'

/** Settled, or stopped in a way that the declaration or a person must answer for. */
export type Rest = 'settled' | 'parked' | 'tries for ever'

/** Answers calls, lets time pass, passes deadlines, claims and heals, until nothing moves any more. */
export function settle(table: TableTop, answer: Answer, decisionsMax = 500): void {
  const before = table.decisions
  while (act(table, answer)) {
    assert(table.decisions - before < decisionsMax, `nothing rests after ${decisionsMax} decisions: ${words(table)}`)
  }
}

export function restOf(table: TableTop, resource: Resource): Rest | null {
  const { run } = resource
  if (run !== null && run.parked !== null) return 'parked'
  if (run !== null && triesForEver(run)) return 'tries for ever'
  // Held by a run that rests so: it rests with it.
  const holder = resource.holder === null ? null : table.resource(resource.holder.no)
  if (holder?.run != null && holder.run.begun === resource.holder!.begun) return restOf(table, holder)
  const owner = ownerOf(table, resource)
  if (owner !== undefined) return restOf(table, owner)
  return table.plans.kindOf(resource.type, resource.status) === 'transitional' ? null : 'settled'
}

/** The resource that it is declared to be healed with, while that one stands in the matching status. */
function ownerOf(table: TableTop, resource: Resource): Resource | undefined {
  const draft = new Draft(table.plans, table, '')
  const withOwner = table.plans.get(resource.type)!.heal.get(resource.status)?.withOwner ?? []
  return withOwner
    .flatMap(({ relation, statuses }) => draft.related(resource, relation).filter((one) => statuses.has(one.status)))
    .at(0)
}

/** Its failure is answered with "again", or its probe with "ask again": by declaration it never gives up. */
const triesForEver = (run: Run): boolean => run.rounds >= 3 || (run.kind !== 'operation' && run.probes > 6)

/** One thing that somebody would do now. False: nobody has anything to do. */
function act(table: TableTop, answer: Answer): boolean {
  const live = [...table.resources.values()].filter((one) => one.run !== null || restOf(table, one) === null)
  return (
    live.some((one) => claims(table, one)) ||
    live.some((one) => calls(table, one, answer)) ||
    live.some((one) => passes(table, one)) ||
    heals(table, live) ||
    waits(table, live)
  )
}

const isMoving = ({ run }: Resource): boolean => run !== null && run.parked === null && !triesForEver(run)

function claims(table: TableTop, one: Resource): boolean {
  if (one.run === null || one.run.parked !== null || one.run.owner !== 0) return false
  return table.send({ kind: 'claim', no: one.no, owner: table.claimant, by: 'worker' }).accepted
}

function calls(table: TableTop, one: Resource, answer: Answer): boolean {
  if (!isMoving(one)) return false
  for (const call of owedCalls(table.plans.get(one.type)!, one)) {
    if (call.does === 'ask' || call.dueAt > table.now) continue
    const outcome =
      call.does === 'cascade' ? ({ kind: 'done', result: null } as const) : answer({ resource: one, call })
    if (outcome === null) continue
    table.ok({ kind: 'callEnded', no: one.no, epoch: one.epoch, call: call.name, outcome, by: 'worker' })
    return true
  }
  return false
}

function passes(table: TableTop, one: Resource): boolean {
  return isMoving(one) && table.send(table.deadline(one)).accepted
}

/** Owners first: what is healed with its owner is refused and found again. */
function heals(table: TableTop, live: readonly Resource[]): boolean {
  return live.some(
    (one) => one.run === null && restOf(table, one) === null && table.send(table.healing(one, 'unowned')).accepted,
  )
}

/** Until the next call is due or the next deadline passes. */
function waits(table: TableTop, live: readonly Resource[]): boolean {
  const times = live
    .filter((one) => isMoving(one))
    .flatMap((one) => {
      const { deadlineAt, progressAt } = one.run!
      return [deadlineAt, progressAt, ...owedCalls(table.plans.get(one.type)!, one).map((call) => call.dueAt)]
    })
    .filter((at) => at > table.now)
  if (times.length === 0) return false
  table.now = Math.min(...times)
  return true
}

const words = (table: TableTop): string =>
  [...table.resources.values()]
    .filter((one) => one.run !== null || restOf(table, one) === null)
    .map((one) => `${one.type} ${one.id} ${one.status} ${JSON.stringify(one.run)}`)
    .join('\n')
