// Points 4 and 5: what follows a failure: retry, undo, landing, or trying again later.
import { checkLifecycles, previous, resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { databases } from '../../examples/database.ts'
import { TableTop } from '../testing/table-top.ts'

const cake = resourceType('t.cake', {
  properties: z.object({ eggs: z.number().default(0) }),
  statuses: {
    stable: { Raw: 'Raw.', Baked: 'Baked.' },
    transitional: { Mixing: 'Mixed.', Baking: 'Baked.', Clearing: 'Thrown away.', Eating: 'Eaten.' },
    failed: { Burnt: 'Burnt.', Spilt: 'Spilt.' },
    terminal: { Eaten: 'Eaten.' },
  },
})
const cakes = cake.lifecycle({
  probes: { isHot: ['yes', 'no'] },
  operations: {
    create: { from: [], steps: {}, to: 'Raw', onFailure: 'Burnt' },
    bake: {
      from: ['Raw'],
      steps: {
        mix: {
          during: { status: 'Mixing', set: { eggs: 3 } },
          undo: 'unmix',
          retry: { times: 2, first: '10s', atMost: '15s' },
        },
        taste: { during: 'Mixing', onFailure: [{ code: ['Salt'], status: 'Spilt' }, { status: previous }] },
        heat: { during: 'Baking', undo: 'cool', deadline: '1h', progress: '10m' },
        decorate: { during: 'Baking', retry: { times: 0 } },
      },
      to: 'Baked',
      onFailure: { undo: true, during: 'Clearing', status: 'Burnt', ifUndoFails: 'Spilt', set: { eggs: 0 } },
      failureText: 'No cake: {reasons}',
    },
    warm: {
      from: ['Baked'],
      steps: {
        warmUp: { during: 'Baking', retry: { times: 1, first: '1s' }, onFailure: { again: '1m', atMost: '3m' } },
      },
      to: 'Baked',
      onFailure: 'Burnt',
    },
    eat: {
      from: ['Baked'],
      steps: { chew: { during: 'Eating', retry: { times: 1 } } },
      to: 'Eaten',
      onFailure: previous,
    },
    reheat: {
      from: ['Baked'],
      steps: { heatAgain: { during: 'Baking', probe: 'isHot', deadline: '10m', retry: { times: 1, first: '1s' } } },
      to: 'Baked',
      onFailure: 'Burnt',
    },
  },
  heal: {
    Mixing: { status: 'Spilt' },
    Baking: { resume: true, unowned: { status: 'Burnt' } },
    Clearing: { resume: true, unowned: { status: 'Spilt' } },
    Eating: { resume: true, unowned: { status: 'Baked' } },
  },
})

const reasonsOf = (t: TableTop) => t.get('c').run?.reasons

function table(operation: string, ...done: string[]) {
  const t = new TableTop([cakes])
  t.place('t.cake', 'c', operation === 'bake' ? 'Raw' : 'Baked', { properties: {} })
  t.request('c', operation)
  for (const step of done) {
    expect(t.owedBy('c')).toEqual([step])
    t.done('c')
  }
  return t
}

describe('4 the order of failure', () => {
  test('4 a failed attempt is retried by policy: doubling, bounded, spread; the same key, the next attempt', () => {
    const t = table('bake')
    const { key } = t.call('c')
    t.failed('c', 'no flour', { terminal: false })
    const first = t.call('c')
    expect(first).toMatchObject({ key, name: { attempt: 2 } })
    expect(first.dueAt - t.now).toBeGreaterThanOrEqual(5_000)
    expect(first.dueAt - t.now).toBeLessThanOrEqual(10_000)
    expect(t.lastEvent('c')).toMatchObject({ kind: 'attemptFailed', detail: { attempt: 1, reason: 'no flour' } })
    t.failed('c', 'no flour', { terminal: false })
    expect(t.call('c').dueAt - t.now).toBeLessThanOrEqual(15_000)
    expect(t.status('c')).toBe('Mixing')
    t.failed('c', 'no flour', { terminal: false })
    expect(t.status('c')).toBe('Clearing')
  })

  test('4 a terminal error, and retries that are spent, are answered at once', () => {
    const t = table('bake')
    t.failed('c', 'no oven')
    expect(t.get('c')).toMatchObject({
      status: 'Clearing',
      run: { phase: 'undo', undoing: [0], reasons: ['no oven'], code: 'Broken' },
    })
  })

  test('4 the answer of the step stands before that of the operation; its first case that fits holds', () => {
    const salty = table('bake', 'mix')
    salty.failed('c', 'salty', { code: 'Salt' })
    expect(salty.get('c')).toMatchObject({ status: 'Spilt', description: 'No cake: salty' })
    const bland = table('bake', 'mix')
    bland.failed('c', 'bland')
    expect(bland.get('c')).toMatchObject({ status: 'Raw', run: null, properties: { eggs: 3 } })
  })

  test('4 undo calls every begun step that has one, last first, the failed one included; then it lands with its changes, once', () => {
    const t = table('bake', 'mix', 'taste')
    t.failed('c', 'power cut')
    expect(t.owedBy('c')).toEqual(['cool'])
    expect(t.get('c')).toMatchObject({ status: 'Clearing', properties: { eggs: 3 } })
    t.done('c')
    expect(t.owedBy('c')).toEqual(['unmix'])
    expect(t.lastEvent('c')).toMatchObject({ kind: 'undone', detail: { undone: 'heat' } })
    t.done('c')
    expect(t.get('c')).toMatchObject({
      status: 'Burnt',
      description: 'No cake: power cut',
      run: null,
      properties: { eggs: 0 },
    })
    expect(t.ended.at(-1)).toMatchObject({ operation: 'bake', outcome: 'failed', status: 'Burnt' })
    expect(t.lastEvent('c')).toMatchObject({ kind: 'landed', from: 'Clearing', to: 'Burnt' })
  })

  test('4 an undo that fails for good stops undoing: both reasons are told, and an incident', () => {
    const t = table('bake', 'mix', 'taste')
    t.failed('c', 'power cut')
    t.failed('c', 'too hot', { terminal: false })
    expect(t.get('c').run).toMatchObject({ phase: 'undo', attempt: 2 })
    t.failed('c', 'too hot')
    expect(t.get('c')).toMatchObject({ status: 'Spilt', description: 'No cake: power cut, too hot', run: null })
    expect(t.incidents.map(({ kind }) => kind)).toEqual(['undo_failed'])
  })

  test('4 the outcome of an undo told twice does not count for the next one', () => {
    const t = table('bake', 'mix', 'taste')
    t.failed('c', 'power cut')
    const told = t.ending('c', { kind: 'done', result: null })
    t.ok(told)
    expect(t.refused(told).code).toBe('fenced')
    expect(t.owedBy('c')).toEqual(['unmix'])
  })

  test('4 a deadline that passes is a failure; told twice it is in time', () => {
    const t = table('bake', 'mix', 'taste')
    expect(t.refused(t.deadline('c')).code).toBe('timer_not_due')
    t.advance(3_600_000)
    const passed = t.deadline('c')
    t.ok(passed)
    expect(t.get('c')).toMatchObject({
      status: 'Clearing',
      run: { code: 'deadline_exceeded', reasons: ['heat was not done in time'] },
    })
    expect(t.refused(passed).code).toBe('timer_not_due')
  })

  test('4 silence within the deadline cuts the call: it is tried again with the same key', () => {
    const t = table('bake', 'mix', 'taste')
    const { key } = t.call('c')
    t.advance(600_000)
    t.ok(t.deadline('c'))
    expect(t.call('c')).toMatchObject({ key, name: { attempt: 2 } })
    expect(t.get('c').run!.progressAt).toBe(t.call('c').dueAt + 600_000)
  })

  test('4 what a driver says of its progress keeps the run from hanging, and is fenced like every write', () => {
    const t = table('bake', 'mix', 'taste')
    const { no, epoch } = t.get('c')
    t.advance(500_000)
    t.ok({ kind: 'progressReported', no, epoch, text: 'half', by: 'worker' })
    expect(t.get('c').run).toMatchObject({ progress: 'half', progressAt: t.now + 600_000 })
    expect(t.refused({ kind: 'progressReported', no, epoch: epoch - 1, text: 'old', by: 'worker' }).code).toBe('fenced')
  })

  test('4 reasons are written as they are, whatever signs are in them', () => {
    const t = table('bake', 'mix')
    t.failed('c', 'costs $& and $1')
    expect(t.get('c').description).toBe('No cake: costs $& and $1')
  })

  test('4 nothing to undo: it lands at once', () => {
    const t = new TableTop([databases])
    t.create('shop.database', 'd', { properties: { sizeGb: 1 } })
    t.done('d')
    t.request('d', 'delete')
    t.advance(30_000)
    expect(t.owedBy('d')).toEqual(['stopServer'])
    const grown = new TableTop([databases])
    grown.place('shop.database', 'd', 'Ready', { properties: { sizeGb: 1 } })
    grown.request('d', 'grow', { sizeGb: 2 })
    grown.failed('d', 'full')
    expect(grown.get('d')).toMatchObject({
      status: 'Ready',
      description: 'grow failed: full',
      properties: { sizeGb: 1 },
    })
  })
})

describe('4 cut calls', () => {
  test('4 with a probe the driver is asked before anything is repeated: yes adopts, no repeats', () => {
    const t = table('reheat')
    t.unknown('c')
    expect(t.owedBy('c')).toEqual(['isHot'])
    t.answered('c', 'no')
    expect(t.owedBy('c')).toEqual(['heatAgain'])
    expect(t.call('c').name.attempt).toBe(2)
    t.unknown('c')
    t.answered('c', 'yes')
    expect(t.get('c')).toMatchObject({ status: 'Baked', run: null, description: '' })
  })

  test('4 cut too often, with a probe that says it never happened, the step has failed for that reason', () => {
    const t = table('reheat')
    t.unknown('c')
    t.answered('c', 'no')
    t.unknown('c')
    t.answered('c', 'no')
    expect(t.get('c').status).toBe('Burnt')
    expect(t.get('c').description).toContain('did not happen')
  })

  test('4 a probe that cannot tell is asked again, then the step has failed', () => {
    const t = table('reheat')
    t.unknown('c')
    t.failed('c', 'no thermometer')
    expect(t.call('c')).toMatchObject({ function: 'isHot', name: { attempt: 2 } })
    t.answered('c', 'unknown')
    expect(t.get('c').description).toContain('nobody can tell whether heatAgain happened')
  })

  test('4 past the deadline a late success is looked for, and adopted', () => {
    const t = table('reheat')
    t.advance(600_000)
    t.ok(t.deadline('c'))
    expect(t.owedBy('c')).toEqual(['isHot'])
    t.answered('c', 'yes')
    expect(t.get('c')).toMatchObject({ status: 'Baked', description: '' })
    const late = table('reheat')
    late.advance(600_000)
    late.ok(late.deadline('c'))
    late.answered('c', 'no')
    expect(late.get('c')).toMatchObject({
      status: 'Burnt',
      description: 'reheat failed: heatAgain was not done in time',
    })
    expect(late.lastEvent('c').detail).toMatchObject({
      step: 'heatAgain',
      code: 'deadline_exceeded',
      reason: 'heatAgain was not done in time',
      probe: 'no',
      failed: true,
    })
  })

  test('5 without a probe it parks when the attempts are spent, keeps its place and blocks', () => {
    const t = table('eat')
    t.unknown('c')
    t.unknown('c')
    expect(t.get('c')).toMatchObject({ status: 'Eating', run: { parked: { code: 'unknown_outcome' }, deadlineAt: 0 } })
    expect(t.get('c').description).toContain('Parked: chew was cut 2 times')
    expect(t.owed()).toEqual([])
    const reason = t.get('c').run!.parked!.reason
    expect(t.get('c').run!.parked).toEqual({ code: 'unknown_outcome', reason, at: t.now })
    expect(t.lastEvent('c')).toMatchObject({ kind: 'parked', detail: { code: 'unknown_outcome', reason } })
    expect(t.refused(t.asking('c', 'eat')).code).toBe('operation_in_progress')
    expect(t.refused(t.healing('c', 'overdue')).code).toBe('not_stuck')
    const { no, epoch } = t.get('c')
    expect(t.refused({ kind: 'progressReported', no, epoch, text: 'still', by: 'worker' }).code).toBe('fenced')
    t.advance(86_400_000)
    expect(t.refused(t.deadline('c')).code).toBe('timer_not_due')
  })

  test('5 a parked run is retried with a new family of keys, skipped, or cancelled', () => {
    const parked = () => {
      const t = table('eat')
      t.unknown('c')
      t.unknown('c')
      return t
    }
    const retried = parked()
    const { no } = retried.get('c')
    const before = retried.get('c')
    retried.claimant = 8
    retried.ok({ kind: 'retryRun', no, by: 'ann' })
    expect(retried.get('c')).toMatchObject({
      epoch: before.epoch + 1,
      description: '',
      run: { parked: null, family: 1, attempt: 1, probes: 0, owner: 8, uncertain: false, resumed: 0 },
    })
    expect(retried.lastEvent('c')).toMatchObject({ kind: 'retried', detail: { parked: before.run!.parked!.reason } })
    expect(retried.call('c').key.endsWith('/1')).toBe(true)
    const skipped = parked()
    skipped.ok({ kind: 'skipStep', no, by: 'ann', reason: 'I ate it' })
    expect(skipped.status('c')).toBe('Eaten')
    const cancelled = parked()
    cancelled.ok({ kind: 'cancelRun', no, by: 'ann', reason: 'not hungry' })
    expect(cancelled.get('c')).toMatchObject({
      status: 'Baked',
      description: 'eat failed: cancelled by ann: not hungry',
    })
    expect(cancelled.ended.at(-1)).toMatchObject({ outcome: 'cancelled' })
    expect(cancelled.lastEvent('c').detail).toMatchObject({ code: 'cancelled', reason: 'cancelled by ann: not hungry' })
  })

  test('5 what is already brought to its end is neither cancelled nor skipped, nor is a run that is over', () => {
    const t = table('bake', 'mix', 'taste')
    const { no, run } = t.get('c')
    t.failed('c', 'cold')
    expect(t.get('c').run!.phase).toBe('undo')
    const cancel = { kind: 'cancelRun', no, by: 'ann', reason: 'x' } as const
    const skip = { kind: 'skipStep', no, by: 'ann', reason: 'x' } as const
    expect([t.refused(cancel).code, t.refused(skip).code]).toEqual(['operation_not_allowed', 'operation_not_allowed'])
    expect(t.refused({ kind: 'retryRun', no, by: 'ann' }).code).toBe('run_not_parked')
    expect(t.refused({ ...cancel, begun: run!.begun + 1 }).code).toBe('run_not_found')
    expect(t.refused({ ...skip, reason: ' ' }).code).toBe('reason_required')
    t.done('c')
    t.done('c')
    expect(t.refused({ ...cancel, begun: run!.begun }).message).toBe('t.cake c has no such run under way: it is Burnt.')
    expect(t.refused({ ...cancel, no: 99 }).message).toBe('There is no resource number 99.')
    t.place('t.cake', 'other', 'Raw')
    const { resource, begun } = t.request('other', 'bake')
    expect(t.ok({ ...cancel, no: resource.no, begun }).resource.status).toBe('Clearing')
  })

  test('5 what nobody works on is steered all the same: whoever decides takes it', () => {
    const waiting = (operation: string) => {
      const t = new TableTop([cakes])
      t.place('t.cake', 'c', operation === 'bake' ? 'Raw' : 'Baked')
      t.claimant = 0
      t.request('c', operation)
      t.claimant = 3
      return t
    }
    const cancelled = waiting('bake')
    const { no } = cancelled.get('c')
    cancelled.ok({ kind: 'cancelRun', no, by: 'ann', reason: 'x' })
    expect(cancelled.get('c').run).toMatchObject({ phase: 'undo', owner: 3 })
    const skipped = waiting('bake')
    skipped.ok({ kind: 'skipStep', no, by: 'ann', reason: 'mixed by hand', result: 'dough' })
    expect(skipped.get('c').run).toMatchObject({ step: 1, owner: 3, results: { mix: 'dough' } })
    expect(skipped.lastEvent('c')).toMatchObject({
      kind: 'skipped',
      detail: { step: 'mix', reason: 'mixed by hand', skip: true, next: 'taste' },
    })
    const owned = table('bake')
    owned.claimant = 9
    owned.ok({ kind: 'skipStep', no: owned.get('c').no, by: 'ann', reason: 'x', result: null })
    expect(owned.get('c').run).toMatchObject({ step: 1, owner: 1, results: {} })
  })

  test('5 a step is skipped while its probe is asked, too, and while it waits; what it answered is kept', () => {
    const t = table('reheat')
    t.unknown('c')
    expect(t.get('c').run!.phase).toBe('probe')
    t.ok({ kind: 'skipStep', no: t.get('c').no, by: 'ann', reason: 'hot' })
    expect(t.get('c')).toMatchObject({ status: 'Baked', run: null })
    const waits = table('bake', 'mix')
    waits.again('c', 600_000)
    waits.ok({ kind: 'skipStep', no: waits.get('c').no, by: 'ann', reason: 'sweet', result: 3 })
    expect(waits.get('c').run).toMatchObject({ step: 2, dueAt: 0, results: { taste: 3 } })
  })

  test('5 a run that waits is retried at once, as it is', () => {
    const t = table('bake')
    t.failed('c', 'no flour', { terminal: false })
    const { no, run } = t.get('c')
    t.ok({ kind: 'retryRun', no, by: 'ann', begun: run!.begun })
    expect(t.get('c').run).toMatchObject({ dueAt: 0, attempt: 1, family: 0, deadlineAt: t.now + 3_600_000 })
    expect(t.lastEvent('c')).toMatchObject({ kind: 'retried', detail: null })
    expect(t.refused({ kind: 'retryRun', no, by: 'ann' }).code).toBe('run_not_parked')
  })
})

describe('5 trying again', () => {
  test('5 the run stays alive in its status with a description; the delay doubles to atMost and it never gives up', () => {
    const t = table('warm')
    const delays: number[] = []
    for (let round = 0; round < 6; round++) {
      t.failed('c', `cold ${round}`)
      delays.push(t.call('c').dueAt - t.now)
      expect(t.get('c')).toMatchObject({ status: 'Baking', description: `warm failed: cold ${round}` })
      t.now = t.call('c').dueAt
    }
    expect(delays).toEqual([60_000, 120_000, 180_000, 180_000, 180_000, 180_000])
    expect(reasonsOf(t)).toEqual([])
    t.done('c')
    expect(t.get('c')).toMatchObject({ status: 'Baked', description: '' })
  })

  test('5 each round has its retries, and no two calls have one name', () => {
    const t = table('warm')
    const names = new Set<number>()
    for (let call = 0; call < 6; call++) {
      names.add(t.call('c').name.attempt)
      const told = t.ending('c', { kind: 'failed', code: 'Cold', reason: 'cold', terminal: false })
      t.ok(told)
      expect(t.refused(told).code).toBe('fenced')
    }
    expect(names.size).toBe(6)
    expect(t.get('c').run!.rounds).toBe(3)
  })

  test('5 it can be retried at once, and not cancelled', () => {
    const t = table('warm')
    const { no } = t.get('c')
    expect(t.refused({ kind: 'retryRun', no, by: 'ann' }).code).toBe('run_not_parked')
    t.failed('c', 'cold')
    t.ok({ kind: 'retryRun', no, by: 'ann' })
    expect(t.call('c').dueAt).toBe(0)
    expect(t.refused({ kind: 'cancelRun', no, by: 'ann', reason: 'x' }).message).toContain('tried until it works')
  })

  test('5 { again } as the only case of a list is the same, where the compiler was not asked', () => {
    const operations = cakes.body.operations as Readonly<Record<string, any>>
    const warmUp = { ...operations['warm'].steps.warmUp, onFailure: [{ again: '1m', atMost: '3m' }] }
    const warm = { ...operations['warm'], steps: { warmUp } }
    const listed = { ...cakes, body: { ...cakes.body, operations: { ...operations, warm } } }
    expect(checkLifecycles([listed]).filter(({ path }) => path.includes('.warm'))).toEqual([])
    const t = new TableTop([listed])
    t.place('t.cake', 'c', 'Baked', { properties: {} })
    t.request('c', 'warm')
    t.failed('c', 'cold')
    expect(t.get('c')).toMatchObject({ status: 'Baking', run: { rounds: 1 } })
  })

  test('5 a call that is cut is no reason to stop what never gives up', () => {
    const t = table('warm')
    t.unknown('c')
    t.unknown('c')
    expect(t.get('c').run).toMatchObject({ parked: null, rounds: 1 })
  })
})

describe('again, as a driver says it', () => {
  test('4 it spends no attempt and counts as a sign of life, but the deadline stands', () => {
    const t = table('bake', 'mix', 'taste')
    const { deadlineAt } = t.get('c').run!
    t.again('c', 300_000)
    expect(t.get('c').run).toMatchObject({
      attempt: 1,
      dueAt: t.now + 300_000,
      progressAt: t.now + 900_000,
      deadlineAt,
    })
    t.advance(300_000)
    t.again('c', 300_000)
    expect(t.call('c').name.attempt).toBe(1)
  })

  test('4 a step that waits for a callback ends by its key', () => {
    const t = table('bake', 'mix', 'taste')
    const { key } = t.call('c')
    const { no } = t.get('c')
    t.again('c', 3_000_000)
    t.ok({ kind: 'completeStep', no, key, outcome: { kind: 'done', result: null }, by: 'oven' })
    expect(t.owedBy('c')).toEqual(['decorate'])
    expect(t.refused({ kind: 'completeStep', no, key, outcome: { kind: 'done', result: null }, by: 'oven' }).code).toBe(
      'step_not_waiting',
    )
  })

  test('4 the end of a step changes the cursor, its results and its watch, and nothing else', () => {
    const t = new TableTop([databases])
    const command = t.creating('shop.database', 'd', { properties: { sizeGb: 1 }, name: 'main', tenant: 'acme' })
    t.ok({ ...command, trace: '00-a-b-01', lane: 'background' })
    t.failed('d', 'full', { terminal: false })
    t.advance(10_000)
    const before = t.get('d')
    t.done('d', { path: '/x' })
    expect(t.get('d')).toEqual({
      ...before,
      revision: before.revision + 1,
      ledger: [{ ...before.ledger[0]!, state: 'there', ref: { path: '/x' }, since: t.now }],
      run: {
        ...before.run!,
        step: 1,
        steps: [0, 1],
        results: { makeDisk: { path: '/x' } },
        attempt: 1,
        dueAt: 0,
        deadlineAt: t.now + 300_000,
        progressAt: 0,
      },
    })
  })

  test('4 a step that shows another status begins its time there; the history tells what came of the one before', () => {
    const t = table('bake', 'mix')
    const before = t.get('c')
    t.advance(7)
    t.done('c', { sweet: true })
    expect(t.get('c')).toMatchObject({ status: 'Baking', since: t.now, revision: before.revision + 1 })
    expect(t.lastEvent('c').detail).toEqual({ step: 'taste', next: 'heat', result: { sweet: true } })
    t.done('c')
    expect(t.get('c').since).toBe(t.now)
    expect(t.lastEvent('c').detail).toEqual({ step: 'heat', next: 'decorate' })
    expect(t.get('c').run!.results).toEqual({ taste: { sweet: true } })
  })

  test('4 undoing and probing have a deadline of their own; what does not answer by then has not answered', () => {
    const undoing = table('bake', 'mix', 'taste')
    undoing.failed('c', 'cold')
    expect(undoing.get('c').run).toMatchObject({ phase: 'undo', deadlineAt: undoing.now + 3_600_000, progressAt: 0 })
    undoing.advance(3_600_000)
    undoing.ok(undoing.deadline('c'))
    expect(undoing.lastEvent('c')).toMatchObject({
      kind: 'undoFailed',
      detail: { code: 'deadline_exceeded', reason: 'undoing did not end in time', attempt: 1 },
    })
    const { dueAt, deadlineAt } = undoing.get('c').run!
    expect(deadlineAt).toBe(dueAt + 3_600_000)
    const probing = table('reheat')
    probing.unknown('c')
    expect(probing.get('c').run).toMatchObject({ phase: 'probe', uncertain: true, deadlineAt: probing.now + 60_000 })
    probing.advance(60_000)
    probing.ok(probing.deadline('c'))
    expect(probing.lastEvent('c')).toMatchObject({
      kind: 'attemptFailed',
      detail: { probe: 'isHot', reason: 'the probe did not answer in time' },
    })
    expect(probing.get('c').run!.deadlineAt).toBe(probing.get('c').run!.dueAt + 60_000)
  })

  test('4 a probe, and an undo, may say that it is too early, too', () => {
    const t = table('reheat')
    t.unknown('c')
    t.again('c', 5_000)
    expect(t.get('c').run).toMatchObject({ phase: 'probe', probes: 1, dueAt: t.now + 5_000, progressAt: 0 })
    expect(t.lastEvent('c').detail).toEqual({ call: 'probe', step: 'heatAgain', afterMs: 5_000 })
    const undoing = table('bake')
    undoing.failed('c', 'no oven')
    undoing.again('c', 5_000)
    expect(undoing.get('c').run).toMatchObject({ phase: 'undo', attempt: 1, dueAt: undoing.now + 5_000 })
  })
})
