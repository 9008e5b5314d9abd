// What is true of every committed state of a resource, whatever led there. Cheap enough for every commit of a simulation.
// A failure is our bug, never the user's.
import { assert } from '../base/assert.ts'
import type { OperationPlan, Plan, Plans } from '../lifecycle/plan.ts'
import { shownStatus } from './owed.ts'
import type { Resource, Run } from './state.ts'
import { driftTimer } from './timers.ts'

/** Throws a Defect that names the resource and what is broken. */
export function assertInvariants(plans: Plans, resource: Resource): void {
  const plan = plans.get(resource.type)
  const name = `${resource.type} ${resource.id} (${resource.status})`
  assert(plan !== undefined, `${name}: its type is not loaded`)
  const kind = plan.kinds.get(resource.status)
  assert(kind !== undefined, `${name}: stands in no declared status`)
  assert(resource.revision >= 1 && resource.epoch >= 1, `${name}: revision and epoch count from 1`)
  assert(resource.heals >= 0, `${name}: heals ${resource.heals}`)
  if (kind === 'terminal') assertTerminal(resource, name)
  if (resource.holder !== null) {
    assert(kind === 'transitional', `${name}: is held although it is not transitional`)
    assert(resource.run === null, `${name}: is held and has a run of its own`)
  }
  assert(
    resource.queue.length === 0 || resource.run !== null || kind === 'transitional',
    `${name}: requests wait, but nothing is under way`,
  )
  assertTimers(plan, resource, name)
  assertLedger(resource, name)
  if (resource.run !== null) assertRun(plan, resource, resource.run, name)
}

function assertTerminal(resource: Resource, name: string): void {
  assert(resource.run === null, `${name}: a terminal resource has a run`)
  assert(resource.holder === null, `${name}: a terminal resource is held`)
  assert(resource.queue.length === 0, `${name}: requests wait for a terminal resource`)
  assert(Object.keys(resource.timers).length === 0, `${name}: timers of a terminal resource are armed`)
  for (const { name: entry, state } of resource.ledger)
    assert(state === 'orphaned' || state === 'sweeping', `${name}: ${entry} is ${state}, and nobody will look after it`)
}

function assertTimers(plan: Plan, { timers, status }: Resource, name: string): void {
  for (const timer in timers) {
    const isArmed =
      timer === driftTimer
        ? plan.drift.has(status)
        : plan.timers.some((one) => one.name === timer && one.in.has(status))
    assert(isArmed, `${name}: timer ${timer} is armed in a status that is not its own`)
    assert(Number.isFinite(timers[timer]), `${name}: timer ${timer} is due at ${timers[timer]}`)
  }
}

function assertLedger({ ledger, run }: Resource, name: string): void {
  for (let i = 0; i < ledger.length; i++) {
    const entry = ledger[i]!
    for (let j = 0; j < i; j++) assert(ledger[j]!.name !== entry.name, `${name}: two ledger entries ${entry.name}`)
    assert(
      entry.state !== 'meant' || run?.begun === entry.begun,
      `${name}: ${entry.name} is meant by a run that is over`,
    )
    assert((entry.state === 'sweeping') === (entry.sweeper !== 0), `${name}: ${entry.name} is ${entry.state} by nobody`)
  }
}

function assertRun(plan: Plan, resource: Resource, run: Run, of: string): void {
  const name = `${of} run ${run.begun} of '${run.operation}' (${run.kind}, ${run.phase})`
  assert(run.begun >= 1 && run.begun <= resource.epoch, `${name}: began at no epoch of the resource`)
  assert(run.attempt >= 1 && run.rounds >= 0 && run.family >= 0 && run.resumed >= 0, `${name}: counters below zero`)
  assert(run.dueAt >= 0 && run.deadlineAt >= 0 && run.progressAt >= 0, `${name}: times below zero`)
  const landing = run.phase === 'undo' || run.phase === 'cascade'
  assert((run.landing !== null) === landing, `${name}: a landing is chosen exactly while undoing or cascading`)
  if (run.parked !== null) {
    assert(run.deadlineAt === 0 && run.progressAt === 0, `${name}: is parked, yet watched`)
    assert(run.parked.reason !== '', `${name}: is parked without a reason`)
  } else if (run.phase !== 'cascade') {
    assert(run.deadlineAt > 0, `${name}: has no deadline`)
  }
  if (run.phase === 'probe' || run.phase === 'healProbe') assert(run.probes >= 1, `${name}: no probe is counted`)
  if (run.kind === 'operation') assertOperationRun(plan, resource, run, name)
  else assertHealRun(plan, resource, run, name)
}

function assertHealRun(plan: Plan, { status }: Resource, run: Run, name: string): void {
  assert(run.phase === 'healProbe' || run.phase === 'cascade', `${name}: is in no phase of healing`)
  assert(run.items === null && run.undoing.length === 0, `${name}: healing has no items and undoes nothing`)
  assert(run.found !== '', `${name}: nobody knows how it was found`)
  if (run.kind === 'heal') {
    assert(plan.heal.has(status), `${name}: heals a status that has no recovery`)
    const asks = plan.heal.get(status)!.probe?.name
    if (run.phase === 'healProbe')
      assert(run.probe === '' ? run.parked !== null : run.probe === asks, `${name}: asks '${run.probe}'`)
  } else {
    assert(plan.kinds.get(status) !== 'transitional', `${name}: a drift probe of a transitional status`)
    if (run.phase === 'healProbe')
      assert(plan.drift.get(status)?.probe.name === run.probe, `${name}: asks ${run.probe}`)
  }
}

function assertOperationRun(plan: Plan, resource: Resource, run: Run, name: string): void {
  const operation = plan.operations.get(run.operation)
  assert(operation !== undefined, `${name}: the operation is not declared`)
  assert(run.phase !== 'healProbe', `${name}: an operation asks a heal probe`)
  for (const result in run.results)
    assert(
      operation.steps.some((step) => step.name === result),
      `${name}: a result of ${result}`,
    )
  for (let i = 0; i < run.steps.length; i++) {
    assert(i === 0 || run.steps[i]! > run.steps[i - 1]!, `${name}: steps begun out of order: ${run.steps.join(', ')}`)
  }
  if (run.phase === 'cascade') return
  assert(plan.kinds.get(resource.status) === 'transitional', `${name}: is under way in a settled status`)
  const step = operation.steps[run.step]
  assert(step !== undefined, `${name}: the cursor is at no step`)
  assert(run.steps.at(-1) === run.step, `${name}: the step at the cursor was never entered`)
  if (run.phase === 'undo') assertUndo(operation, run, name)
  else assert(run.undoing.length === 0, `${name}: undoes nothing yet`)
  if (run.phase === 'probe') assert(step.probe !== null, `${name}: ${step.name} has no probe`)
  const shown = shownStatus(operation, step, run)
  if (run.phase !== 'undo') assert(resource.status === shown, `${name}: ${step.name} is during ${shown}`)
  const goesOver = run.phase === 'step' && (step.forEach !== null || step.asks.length > 0)
  assert((run.items !== null) === goesOver, `${name}: items exactly in a step that goes over some`)
  if (run.items === null) return
  assert(run.items.length > 0 || run.parked !== null, `${name}: ${step.name} has nothing left to do, but is not over`)
  const seen = new Set<string>()
  for (const item of run.items) {
    const key = `${item.relation} ${item.no}`
    assert(!seen.has(key) && item.attempt >= 1, `${name}: item ${key} twice`)
    seen.add(key)
  }
}

function assertUndo(operation: OperationPlan, run: Run, name: string): void {
  assert(run.undoing.length > 0, `${name}: nothing is left to undo`)
  assert(run.items === null, `${name}: undoing goes over no items`)
  for (let i = 0; i < run.undoing.length; i++) {
    const index = run.undoing[i]!
    assert(run.steps.includes(index), `${name}: undoes a step that was never begun`)
    assert(operation.steps[index]?.undo != null, `${name}: undoes a step without an undo`)
    assert(i === 0 || index < run.undoing[i - 1]!, `${name}: undoes not last first`)
  }
}
