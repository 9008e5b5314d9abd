// What can be sent into a world: what users and drivers do, and everything else, sensible or not.
import { canonical } from '../../src/base/json.ts'
import type { Command, Found, Outcome } from '../../src/decision/command.ts'
import { owedCalls } from '../../src/decision/owed.ts'
import type { Resource } from '../../src/decision/state.ts'
import { TableTop, type Answer } from '../../src/testing/table-top.ts'
import { emptyTable, worldIn, type Family } from './families.ts'

const isTerminal = (t: TableTop, one: Resource) => t.plans.kindOf(one.type, one.status) === 'terminal'

/** The same but for numbers and times. */
function shapeOf(t: TableTop): string {
  const runShape = ({ run }: Resource) =>
    run === null
      ? null
      : [
          run.operation,
          run.kind,
          run.phase,
          run.step,
          run.items?.length ?? -1,
          run.undoing,
          run.parked?.code ?? '',
          Math.min(run.rounds, 1),
          run.forced,
          run.attempt > 1,
        ]
  return canonical(
    [...t.resources.values()].map((one) => [
      one.type,
      one.status,
      runShape(one),
      one.holder !== null,
      one.ledger.map((entry) => entry.state),
      one.queue.length,
    ]),
  )
}

/** Everything that can become of a call. */
function outcomesOf(t: TableTop, family: Family, call: string, phase: string): Outcome[] {
  const result = family.results?.[call]
  const probes = [...t.plans.all].flatMap((plan) => plan.probes.get(call) ?? [])
  return phase === 'probe' || phase === 'healProbe'
    ? [...probes, 'unknown', 'nonsense'].map((answer) => ({
        kind: 'answered',
        answer,
        observed: { size: 3, memory: 'x' },
      }))
    : [
        { kind: 'done', result },
        { kind: 'failed', code: 'Broken', reason: 'broken', terminal: true },
        { kind: 'failed', code: 'InvalidInput', reason: 'slow', terminal: false },
        { kind: 'unknown', reason: 'cut' },
      ]
}

/** Worlds that requests and drivers lead to from a status, each shape once. */
export function explore(family: Family, status: string, most: number): TableTop[] {
  const start = worldIn(family, status)
  const found = new Map([[shapeOf(start), start]])
  const open = [start]
  const visit = (from: TableTop, command: Command) => {
    const t = new TableTop(from)
    if (!t.send(command).accepted) return
    const shape = shapeOf(t)
    if (found.has(shape) || found.size >= most) return
    found.set(shape, t)
    open.push(t)
  }
  for (let t = open.shift(); t !== undefined && found.size < most; t = open.shift()) {
    for (const command of likely(t, family)) visit(t, command)
  }
  return [...found.values()].flatMap((t) => [t, ...parked(t)])
}

/** The same world, where a call was cut again and again until nobody dares to repeat it. */
function parked(from: TableTop): TableTop[] {
  const t = new TableTop(from)
  const one = [...t.resources.values()].find(({ run }) => run?.kind === 'operation' && run.phase === 'step')
  if (one === undefined || one.run!.parked !== null) return []
  for (let n = 0; n < 8; n++) {
    const call = owedCalls(t.plans.get(one.type)!, t.get(one)).find(({ does }) => does === 'driver')
    if (call === undefined) break
    t.now = Math.max(t.now, call.dueAt)
    t.end(one, { kind: 'unknown', reason: 'cut' }, call.item || undefined)
  }
  return t.get(one).run?.parked == null ? [] : [t]
}

/** What users and drivers do. */
export function likely(t: TableTop, family: Family): Command[] {
  const commands: Command[] = []
  for (const one of t.resources.values()) {
    const plan = t.plans.get(one.type)!
    for (const call of owedCalls(plan, one)) {
      for (const outcome of outcomesOf(t, family, call.function, call.name.phase))
        commands.push({ kind: 'callEnded', no: one.no, epoch: one.epoch, call: call.name, outcome, by: 'worker' })
    }
    if (one.type !== family.type || isTerminal(t, one)) continue
    for (const operation of plan.operations.values()) {
      if (operation.creates) continue
      commands.push(t.asking(one, operation.name, family.inputs[operation.name]))
      if (operation.forceMs > 0)
        commands.push(t.asking(one, operation.name, family.inputs[operation.name], { force: true, reason: 'now' }))
    }
    if (one.run !== null) commands.push(t.healing(one))
  }
  return commands
}

/** Everything, sensible or not. */
export function* every(t: TableTop, family: Family): Generator<Command> {
  for (const one of t.resources.values()) {
    const { no, type, epoch, revision, run } = one
    const plan = t.plans.get(type)!
    const by = 'tester'
    if (type === family.type) {
      for (const name of [...plan.operations.keys(), 'noSuchOperation']) {
        for (const input of [family.inputs[name], undefined, { nonsense: [] }, 17]) {
          yield t.asking(one, name, input)
          yield t.asking(one, name, input, { force: true, reason: 'because' })
        }
        yield t.asking(one, name, family.inputs[name], { force: true })
        yield t.asking(one, name, family.inputs[name], { ifRevision: revision + 7 })
        yield t.asking(one, name, family.inputs[name], { tenant: 'somebody else' })
        yield t.asking(one, name, family.inputs[name], {
          create: { properties: one.properties, parent: { no: one.parent ?? 0 } },
        })
        yield t.asking(one, name, family.inputs[name], { askedBy: { no: 1, begun: 99 }, key: 'asked' })
      }
      for (const status of [...plan.kinds.keys(), 'noSuchStatus']) {
        yield { kind: 'setStatus', no, status, reason: 'repair', by }
        yield { kind: 'setStatus', no, status, reason: ' ', by }
        yield { kind: 'setStatus', no, status, reason: 'repair', by, ifRevision: revision - 1 }
        yield { kind: 'importResource', type, status, properties: one.properties, by }
        yield { kind: 'importResource', type, id: one.id, status, properties: one.properties, by }
      }
      for (const probe of [...plan.probes.keys(), 'noSuchProbe']) {
        for (const answer of [...(plan.probes.get(probe) ?? []), 'unknown', 'nonsense'])
          yield { kind: 'observed', no, probe, answer, observed: { size: -1 }, by }
      }
    }
    for (const call of [
      ...owedCalls(plan, one).map((owed) => owed.name),
      { phase: 'undo', step: 99, item: 0, attempt: 7 } as const,
    ]) {
      const fn = owedCalls(plan, one).find((owed) => owed.name === call)?.function ?? ''
      const absurd: Outcome[] = [
        { kind: 'again', afterMs: Number.NaN },
        { kind: 'again', afterMs: -5 },
        { kind: 'done', result: { nonsense: true } },
        { kind: 'answered', answer: 'nonsense', observed: 'garbage' },
      ]
      for (const outcome of [...outcomesOf(t, family, fn, call.phase), ...absurd]) {
        yield { kind: 'callEnded', no, epoch, call, outcome, by }
        yield { kind: 'callEnded', no, epoch: epoch - 1, call, outcome, by }
      }
      const outcome: Outcome = { kind: 'done', result: family.results?.[fn] }
      yield { kind: 'callEnded', no, epoch, call: { ...call, item: 999 }, outcome, by }
      yield { kind: 'callEnded', no, epoch, call: { ...call, attempt: 99 }, outcome, by }
      yield { kind: 'callEnded', no, epoch, call: { ...call, phase: 'cascade' }, outcome, by }
    }
    for (const { key } of owedCalls(plan, one))
      yield { kind: 'completeStep', no, key, outcome: { kind: 'done', result: null }, by }
    yield { kind: 'completeStep', no, key: 'wrong', outcome: { kind: 'done', result: null }, by }
    for (const found of ['ownerLost', 'overdue', 'unowned', 'drifted'] satisfies Found[]) {
      yield { kind: 'heal', no, found, revision, owner: 2, by }
      yield { kind: 'heal', no, found, revision, owner: 0, by, override: true }
      yield { kind: 'heal', no, found, revision, owner: 0, by, held: 'it waits for approval' }
      yield { kind: 'heal', no, found, revision: revision + 1, owner: 2, by }
    }
    for (const at of [epoch, epoch + 1]) {
      yield { kind: 'deadlinePassed', no, epoch: at, by }
      yield { kind: 'progressReported', no, epoch: at, text: 'x'.repeat(1000), by }
      yield { kind: 'handOver', no, epoch: at, by }
    }
    yield { kind: 'claim', no, owner: 2, by }
    for (const timer of [...plan.timers.map(({ name }) => name), 'drift probe', 'noSuchTimer'])
      yield { kind: 'timerFired', no, timer, by }
    for (const begun of [undefined, run?.begun ?? 1, 77]) {
      yield { kind: 'cancelRun', no, begun, by, reason: 'enough' }
      yield { kind: 'cancelRun', no, begun, by, reason: 'enough', askedBy: { no: 1, begun: 3 } }
      yield { kind: 'retryRun', no, begun, by }
      yield { kind: 'skipStep', no, begun, by, reason: 'done by hand' }
      yield { kind: 'skipStep', no, begun, by, reason: '' }
      yield { kind: 'skipStep', no, begun, by, reason: 'done by hand', result: { nonsense: true } }
      for (const item of t.resources.values())
        yield {
          kind: 'relatedRunEnded',
          no,
          begun: begun ?? 0,
          item: { no: item.no, begun: item.epoch },
          outcome: 'refused',
          reason: 'no',
        }
    }
    for (const name of [...one.ledger.map((entry) => entry.name), 'noSuchThing']) {
      yield { kind: 'sweepOrphan', no, name, sweeper: 3, by }
      for (const how of ['swept', 'sweepFailed', 'adopted', 'writtenOff'] as const)
        yield { kind: 'orphanEnded', no, name, how, sweeper: 3, reason: 'x', by }
    }
  }
  for (const kind of ['claim', 'heal', 'retryRun', 'timerFired', 'setStatus', 'sweepOrphan'] as const)
    yield {
      kind,
      no: 987_654,
      owner: 1,
      by: 'x',
      found: 'unowned',
      revision: 1,
      timer: 't',
      status: 's',
      reason: 'r',
      name: 'n',
      sweeper: 1,
    }
  yield { kind: 'requestOperation', type: 'no.such', operation: 'x', by: 'x' }
  yield { kind: 'importResource', type: 'no.such', status: 'x', properties: null, by: 'x' }
}

export const drivers: Readonly<Record<string, (family: Family) => Answer>> = {
  'always answers':
    (family) =>
    ({ call, resource }) =>
      call.name.phase === 'probe' || call.name.phase === 'healProbe'
        ? { kind: 'answered', answer: answerOf(family, resource.type, call.function), observed: null }
        : { kind: 'done', result: family.results?.[call.function] },
  'always fails': () => () => ({ kind: 'failed', code: 'Broken', reason: 'broken', terminal: true }),
  'never answers': () => () => null,
}

const answerOf = (family: Family, type: string, probe: string): string =>
  emptyTable(family).plans.get(type)!.probes.get(probe)?.[0] ?? 'unknown'
