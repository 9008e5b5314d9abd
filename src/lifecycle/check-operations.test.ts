// The faults of what a lifecycle does: operations, timers, healing, drift, rules. The others are in check-lifecycle.test.ts.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  create,
  del,
  end,
  faultsAfter,
  kid,
  onlyEnd,
  thing,
  type Data,
  type Table,
} from '../../test/lifecycle/planted-faults.ts'
import { resourceType } from './lifecycle.ts'

describe('operations', () => {
  const planted: Table = {
    'a step in a stable status': ['steps.end.during: Ready is stable, not transitional', end({ during: 'Ready' })],
    'a landing in a transitional status': [
      'operations.create.to: leads to the transitional status Ending without a run',
      create({ to: 'Ending' }),
    ],
    'a last case with `when`': [
      'operations.create.to: no case is left when none holds',
      create({ to: [{ when: { ok: true }, status: 'Ready' }] }),
    ],
    'a last case with `code`': [
      'operations.delete.onFailure: no case is left when none holds',
      del({ onFailure: [{ code: ['x'], status: 'Bad' }] }),
    ],
    'a word of the client': [
      "warning t.thing.operations.watch: 'watch' has its own meaning in the client",
      ({ body }) => (body.operations.watch = { from: ['Ready'], steps: {}, to: 'Ready', onFailure: 'Bad' }),
    ],
    'something destroyed that nothing creates': [
      "warning t.thing.operations.delete.steps.end.destroys: no step creates 'diks'. Did you mean 'disk'?",
      ({ body }) => {
        body.operations.create.steps.make.creates = 'disk'
        body.operations.delete.steps.end.destroys = 'diks'
      },
    ],
    'an empty list of cases': ['operations.create.to: the list of cases is empty', create({ to: [] })],
    'a case that is never looked at': [
      'operations.create.to[1]: is never looked at',
      create({ to: [{ status: 'Ready' }, { status: 'Bad' }] }),
    ],
    '`again` among cases': [
      'operations.delete.onFailure: `again` cannot be one case of several',
      del({ onFailure: [{ code: ['x'], status: 'Bad' }, { again: '1m' }] }),
    ],
    'both `ask` and `forEach`': [
      'steps.end: has both `ask` and `forEach`',
      onlyEnd({ during: 'Ending', ask: { kids: 'stop' }, forEach: { kids: {} } }),
    ],
    '`forEach` over several relations': [
      'steps.end.forEach: goes over 2 relations',
      ({ relations, body }) => {
        relations.small = { children: kid, where: { size: 1 } }
        body.operations.delete.steps.end = { during: 'Ending', forEach: { kids: {}, small: {} } }
      },
    ],
    '`ask` with words for a driver call': [
      'steps.end: `ask` makes no driver call, so probe cannot apply',
      end({ ask: { kids: 'stop' } }),
    ],
    'an ask from a status that does not fit': [
      'steps.end.ask.kids.in: stop of t.kid cannot start from off',
      onlyEnd({
        during: 'Ending',
        ask: { kids: { operation: 'stop', in: ['on', 'off'] } },
      }),
    ],
    'an ask without the input it needs': [
      'steps.end.ask.kids: stop of t.kid needs an input',
      (one, other) => {
        one.body.operations.delete.steps.end = { during: 'Ending', ask: { kids: 'stop' } }
        other.body.operations.stop.input = z.object({ why: z.string() })
      },
    ],
    'an ask for a creation': [
      'steps.end.ask.kids: make creates t.kid',
      (one, other) => {
        one.body.operations.delete.steps.end = { during: 'Ending', ask: { kids: 'make' } }
        other.body.operations.make = { from: [], steps: {}, to: 'on', onFailure: 'off' }
      },
    ],
    'a retry that is no number': ['retry.times: -1 is no number of attempts', end({ retry: { times: -1 } })],
    '`previous` of a creation': ['operations.create: `previous` is nowhere', create({ onFailure: { previous: true } })],
    '`previous` from a transitional status': [
      'operations.delete: `previous` may be nowhere: it can be asked in Making or Ending',
      ({ body }) => Object.assign(body.operations.delete, { from: ['*'], onFailure: { previous: true } }),
    ],
    '`undo: true` where nothing can be undone': [
      'warning t.thing.operations.delete.onFailure: `undo: true`, but no step before it can be undone',
      del({ onFailure: { undo: true, status: 'Bad' } }),
    ],
    'an undo that nothing uses': [
      'warning t.thing.operations.delete.steps.end.undo: no failure answer undoes it',
      end({ undo: 'revive' }),
    ],
    '`during` without undoing': [
      'warning t.thing.operations.delete.onFailure: `during` and `ifUndoFails` are for undoing',
      del({ onFailure: { status: 'Bad', during: 'Making' } }),
    ],
    'no failed status for an undo that fails': [
      'error t.kid.operations.stop.onFailure: there is no failed status for an undo that fails',
      (_, { body }) => {
        body.operations.stop.steps.halt.undo = 'go'
        body.operations.stop.onFailure = { undo: true, status: 'on' }
      },
    ],
    'several failed statuses for an undo that fails': [
      'error t.thing.operations.create.onFailure: several failed statuses',
      (one) => {
        one.type = resourceType('t.thing', {
          properties: thing.properties,
          statuses: { ...thing.statuses, failed: { Bad: '', Worse: '' } },
        })
      },
    ],
    '`grace` without pre-empting': [
      'warning t.thing.operations.delete.grace: it interrupts nothing',
      del({ grace: '5s' }),
    ],
    '`force` without pre-empting': [
      'warning t.thing.operations.delete.force: a forced one is refused while anything is under way',
      del({ force: '5s' }),
    ],
    '`whileForced` without `force`': [
      'error t.thing.operations.delete.whileForced: the operation cannot be forced',
      del({ whileForced: 'Ending' }),
    ],
    '`whileForced` in a stable status': [
      'error t.thing.operations.delete.whileForced: Ready is stable, not transitional',
      del({ ifBusy: 'preempt', force: '5s', whileForced: 'Ready' }),
    ],
    '`whileForced` in no status': [
      't.thing.operations.delete.whileForced: ',
      del({ ifBusy: 'preempt', force: '5s', whileForced: 'Nowhere' }),
    ],
    '`force` of a creation': [
      'warning t.thing.operations.create.force: it creates the resource',
      create({ force: '5s' }),
    ],
    '`queueBehind` that is no number of requests': [
      'error t.thing.operations.delete.queueBehind: 0.5 is no number of requests',
      del({ queueBehind: 0.5 }),
    ],
    '`ifTerminal` of a creation': [
      'warning t.thing.operations.create.ifTerminal: it creates the resource',
      create({ ifTerminal: 'succeed' }),
    ],
    '`ifForced` without `force`': [
      'warning t.thing.operations.delete.steps.end.ifForced: the operation cannot be forced',
      end({ ifForced: 'skip' }),
    ],
  }
  test.each(Object.entries(planted))('%s', (_, [line, plant]) => {
    expect(faultsAfter(plant)).toContainEqual(expect.stringContaining(line))
  })
})

describe('timers', () => {
  const timers: Record<string, [string, object]> = {
    'neither at nor after': ['timers.late: has neither `at` nor `after`', { in: ['Ready'], ask: 'delete' }],
    'both at and after': [
      'timers.late: has both `at` and `after`',
      { in: ['Ready'], at: 'time', after: '1h', ask: 'delete' },
    ],
    'never armed': ['timers.late.in: is never armed', { in: [], after: '1h', ask: 'delete' }],
    'asks what cannot start': [
      'timers.late.in: delete cannot start from Gone',
      { in: ['Gone'], after: '1h', ask: 'delete' },
    ],
  }
  test.each(Object.entries(timers))('%s', (_, [line, timer]) => {
    expect(faultsAfter(({ body }) => (body.timers = { late: timer }))).toContainEqual(expect.stringContaining(line))
  })
  const planted: Table = {
    'asks what needs an input': [
      'timers.late.ask: delete needs an input, and a timer has none',
      ({ body }) => {
        body.operations.delete.input = z.object({ why: z.string() })
        body.timers = { late: { in: ['Ready'], after: '1h', ask: 'delete' } }
      },
    ],
  }
  test.each(Object.entries(planted))('%s', (_, [line, plant]) => {
    expect(faultsAfter(plant)).toContainEqual(expect.stringContaining(line))
  })
})

describe('healing', () => {
  const row = (status: string, heal: Data) => (one: Data) => (one.body.heal[status] = heal)
  const planted: Table = {
    'transitional without recovery': [
      't.thing.heal.Ending: transitional without recovery',
      ({ body }) => delete body.heal.Ending,
    ],
    'a row that says nothing': ['t.thing.heal.Ending: transitional without recovery', row('Ending', {})],
    'a recovery to a transitional status': [
      'heal.Ending: leads to the transitional status Making without a run',
      row('Ending', { status: 'Making' }),
    ],
    'resume without unowned': ['heal.Making: `resume` needs a run', row('Making', { resume: true })],
    'previous without unowned': ['heal.Ending: `previous` needs a run', row('Ending', { status: { previous: true } })],
    'previous as the answer of a probe, without unowned': [
      'heal.Ending: `previous` needs a run',
      (thing) => {
        thing.body.probes = { look: ['there'] }
        thing.body.heal.Ending = { probe: { look: { there: { previous: true }, unknown: 'Bad' } } }
      },
    ],
    'previous in a list of cases': [
      'heal.Ending: `previous` needs a run',
      row('Ending', [{ status: { previous: true } }]),
    ],
    'previous where no run is': [
      'heal.Ending.unowned: `previous` needs a run',
      row('Ending', { resume: true, unowned: { status: { previous: true } } }),
    ],
    'previous that is nowhere': [
      'heal.Making: `previous` is nowhere',
      row('Making', { status: { previous: true }, unowned: { status: 'Bad' } }),
    ],
    'unowned alone': [
      'heal.Ending: nothing is said for a resource whose run is recorded',
      row('Ending', { unowned: { status: 'Bad' } }),
    ],
    'withOwner alone': [
      't.kid.heal.moving: nothing is said when the owner stands elsewhere',
      (_, { body }) => (body.heal.moving = { withOwner: { thing: ['Making'] } }),
    ],
    'an owner that is not healed': [
      't.kid.heal.moving.withOwner.thing: a t.thing in Ready is not healed',
      (_, { body }) => (body.heal.moving = { withOwner: { thing: ['Ready'] }, otherwise: { status: 'off' } }),
    ],
    'two that wait for each other': [
      't.kid.heal.moving.withOwner.thing: waits for t.thing in Making, which waits for t.kid in moving',
      (one, other) => {
        one.body.heal.Making = { withOwner: { kids: ['moving'] }, otherwise: { status: 'Bad' } }
        other.body.heal.moving = { withOwner: { thing: ['Making'] }, otherwise: { status: 'off' } }
      },
    ],
    'rows alike in a ring': [
      'heal.Making.like: is like itself, in a ring',
      (one) => {
        one.body.heal.Making = { like: 'Ending' }
        one.body.heal.Ending = { like: 'Making' }
      },
    ],
    'a last case with `when`': [
      'heal.Ending: no case is left when none holds',
      row('Ending', [{ when: { ok: true }, status: 'Bad' }]),
    ],
    'several probes': [
      'heal.Ending.probe: asks several probes',
      (one) => {
        one.body.probes.other = ['a']
        one.body.heal.Ending = {
          probe: { seen: { yes: 'Bad', no: 'Bad', unknown: 'Bad' }, other: { a: 'Bad', unknown: 'Bad' } },
        }
      },
    ],
    'changes without a landing': [
      'heal.Ending: changes something without landing',
      row('Ending', { set: { ok: false }, otherwise: { status: 'Bad' } }),
    ],
    'an answer that does nothing': [
      'heal.Ending.otherwise: neither lands nor attempts anything',
      row('Ending', { otherwise: { set: { ok: false } } }),
    ],
    'an otherwise behind a landing': [
      'warning t.thing.heal.Ending.otherwise: is never looked at',
      row('Ending', { status: 'Bad', otherwise: { status: 'Gone' } }),
    ],
    'an attempt from where it cannot start': [
      'heal.Ending.attempt: delete cannot start from Gone. It starts from Ready or Bad.',
      row('Ending', { status: 'Gone', attempt: 'delete' }),
    ],
    'an attempt in place that cannot start': [
      'heal.Ending.attempt: delete cannot start from Ending',
      row('Ending', { attempt: 'delete' }),
    ],
    'an attempt in place that may be refused': [
      'warning t.thing.heal.Ending.attempt: delete may be refused (it requires that it is ok)',
      (one) => {
        Object.assign(one.body.operations.delete, { from: ['*'], requires: [{ ok: true }] })
        one.body.heal.Ending = { attempt: 'delete' }
      },
    ],
    'an attempt in place that goes back': [
      'heal.Ending.attempt: delete may land in `previous`, and there is none',
      (one) => {
        Object.assign(one.body.operations.delete, { from: ['*'], onFailure: { previous: true } })
        one.body.heal.Ending = { attempt: 'delete' }
      },
    ],
    'heal for a stable status': ['heal.Ready: Ready is not transitional', row('Ready', { status: 'Bad' })],
  }
  test.each(Object.entries(planted))('%s', (_, [line, plant]) => {
    expect(faultsAfter(plant)).toContainEqual(expect.stringContaining(line))
  })
})

describe('drift', () => {
  const answers = (yes: Data, no: Data) => ({ every: '1h', probe: { seen: { yes, no, unknown: { again: '1h' } } } })
  test('a good one', () => {
    expect(faultsAfter(({ body }) => (body.drift = { Ready: answers('Ready', 'Bad') }))).toEqual([])
  })
  const planted: Table = {
    'of a transitional status': [
      'drift.Making: Making is transitional',
      ({ body }) => (body.drift = { Making: answers('Ready', 'Bad') }),
    ],
    'of a terminal status': [
      't.thing.drift: leaves the terminal status Gone',
      ({ body }) => (body.drift = { Gone: answers('Ready', 'Bad') }),
    ],
    'to a transitional status': [
      'drift.Ready.probe.seen.no: leads to the transitional status Ending',
      ({ body }) => (body.drift = { Ready: answers('Ready', 'Ending') }),
    ],
    'back to where it came from': [
      'drift.Ready.probe.seen.no: `previous` needs a run',
      ({ body }) => (body.drift = { Ready: answers('Ready', { status: { previous: true } }) }),
    ],
    'that asks nothing, or too rarely to be read (1)': [
      'drift.Ready.probe: asks nothing',
      ({ body }) => (body.drift = { Ready: { every: '1h', probe: {} } }),
    ],
    'that asks nothing, or too rarely to be read (2)': [
      'drift.Ready.every: "often" is no duration',
      ({ body }) => (body.drift = { Ready: { ...answers('Ready', 'Bad'), every: 'often' } }),
    ],
    'that swings for ever': [
      'drift.Bad: swings between Bad and Ready if seen answers no',
      ({ body }) => {
        body.drift = { Ready: answers('Ready', 'Bad'), Bad: answers('Bad', 'Ready') }
      },
    ],
  }
  test.each(Object.entries(planted))('%s', (_, [line, plant]) => {
    expect(faultsAfter(plant)).toContainEqual(expect.stringContaining(line))
  })
})

describe('rules', () => {
  const rule = (one: Data, holds: Data) => (one.body.rules = { kids: { says: 'the kids fit', holds } })
  test('that the own moves keep', () => {
    const lines = faultsAfter((one, other) => {
      other.body.moves.push({ from: ['on'], to: 'off', by: 'thing' })
      one.body.operations.delete.steps.end.during = { status: 'Ending', move: { kids: { from: ['on'], to: 'off' } } }
      rule(one, { Ready: { kids: { every: ['on'] } }, Ending: { kids: { every: ['off'] } } })
    })
    expect(lines).toEqual([])
  })
  const planted: Table = {
    'that a move breaks': [
      'steps.end.during: breaks the rule kids from Bad: Ending needs that every one of its kids is on',
      (one, other) => {
        other.body.moves.push({ from: ['on'], to: 'off', by: 'thing' })
        one.body.operations.delete.from = ['Bad']
        one.body.operations.delete.steps.end.during = { status: 'Ending', move: { kids: { from: ['on'], to: 'off' } } }
        rule(one, { Ending: { kids: { every: ['on'] } } })
      },
    ],
    'that an addition breaks': [
      'steps.make.during: breaks the rule kids: Making needs that every one of its kids is off',
      (one) => {
        rule(one, { Making: { kids: { every: ['off'] } } })
      },
    ],
    'that is broken because nothing moves': [
      'steps.end.during: breaks the rule kids from Ready: Ending needs that every one of its kids is off',
      (one) => {
        rule(one, { Ready: { kids: { every: ['on'] } }, Ending: { kids: { every: ['off'] } } })
      },
    ],
    'that a case contradicts': [
      'operations.create.to[0]: breaks the rule kids from Making: Ready needs that none of its kids is',
      (one, other) => {
        other.body.moves.push({ from: ['on'], to: 'off', by: 'thing' })
        one.body.operations.create.to = [
          { when: { ok: true }, status: 'Ready', move: { kids: 'off' } },
          { status: 'Bad' },
        ]
        rule(one, { Ready: { kids: { none: ['off', 'moving'] } } })
      },
    ],
    'that a set value breaks': [
      'operations.create.to: breaks the rule kids from Making: Ready needs that it is ok',
      (one) => {
        one.body.operations.create.to = { status: 'Ready', set: { ok: false } }
        rule(one, { Ready: { ok: true } })
      },
    ],
    'of the other side, broken by where this one lands': [
      't.kid.operations.stop.to.move.thing: breaks the rule kids of t.thing: Bad needs that every one of its kids is on, and this one is off',
      (one, other) => {
        one.body.moves = [{ from: ['Ready'], to: 'Bad', by: 'kids' }]
        one.relations.kids = { children: kid }
        other.body.operations.stop.to = { status: 'off', move: { thing: { from: ['Ready'], to: 'Bad' } } }
        rule(one, { Bad: { kids: { every: ['on'] } } })
      },
    ],
  }
  test.each(Object.entries(planted))('%s', (_, [line, plant]) => {
    expect(faultsAfter(plant)).toContainEqual(expect.stringContaining(line))
  })
})
