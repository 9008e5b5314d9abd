// Every kind of fault that check knows, planted one at a time into a pair of good declarations: words, names, relations, flow.
// Operations and healing are in check-operations.test.ts.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  del,
  end,
  faultsAfter,
  kid,
  onlyEnd,
  thing,
  type Data,
  type Table,
} from '../../test/lifecycle/planted-faults.ts'
import { checkLifecycles } from './check-lifecycle.ts'
import { resourceType } from './lifecycle.ts'

describe('good declarations', () => {
  test('have no faults', () => {
    expect(faultsAfter(() => {})).toEqual([])
  })
  test('all faults are found at once, errors first', () => {
    const lines = faultsAfter(({ body }) => {
      body.operations.create.to = 'Redy'
      body.operations.delete.from = ['*', 'Bad']
      body.heal.Ending = { attempt: 'delte' }
    })
    expect(lines.map((line) => line.split('.')[0]!.split(' ')[0])).toEqual(
      lines.map((line) => (line.startsWith('error') ? 'error' : 'warning')).toSorted(),
    )
    expect(lines).toContainEqual(expect.stringContaining("'Redy' is no status of t.thing. Did you mean 'Ready'?"))
    expect(lines).toContainEqual(expect.stringContaining("'delte' is no operation of t.thing. Did you mean 'delete'?"))
    expect(lines).toContainEqual(expect.stringContaining("warning t.thing.operations.delete.from: '*' says it all"))
  })
})

describe('words', () => {
  test('a missing word leaves the others readable', () => {
    const lines = faultsAfter((one, other) => {
      delete one.body.operations.create.onFailure
      other.body.operations.stop.to = 'offf'
    })
    expect(lines).toContain("error t.thing.operations.create: 'onFailure' is missing. Add `onFailure`.")
    expect(lines).toHaveLength(2)
    expect(lines).toContain("error t.kid.operations.stop.to: 'offf' is no status of t.kid. Did you mean 'off'?")
  })
  const planted: Table = {
    'a misspelt word': [
      "error t.thing.operations.create.ifBuzy: 'ifBuzy' is no word here. Did you mean 'ifBusy'?",
      ({ body }) => {
        body.operations.create.ifBuzy = 'refuse'
      },
    ],
    'something that is no object': [
      'error t.thing.operations.delete: is not an object.',
      ({ body }) => (body.operations.delete = 'Gone'),
    ],
  }
  test.each(Object.entries(planted))('%s', (_, [line, plant]) => {
    expect(faultsAfter(plant)).toContainEqual(expect.stringContaining(line))
  })
})

describe('names that refer to nothing', () => {
  const planted: Table = {
    'a status to start from': [
      "t.thing.operations.delete.from: 'Redy' is no status",
      ({ body }) => body.operations.delete.from.push('Redy'),
    ],
    'a status of a step': [
      "t.thing.operations.delete.steps.end.during: 'Endng' is no status",
      end({ during: 'Endng' }),
    ],
    'a relation in a move': [
      "t.thing.operations.delete.to.move.kidz: 'kidz' is no relation of t.thing. Did you mean 'kids'?",
      ({ body }) => (body.operations.delete.to.move = { kidz: 'lost' }),
    ],
    'a related status in a move': [
      "t.thing.operations.delete.to.move.kids: 'lst' is no status of t.kid. Did you mean 'lost'?",
      ({ body }) => (body.operations.delete.to.move = { kids: 'lst' }),
    ],
    'a related status in add': [
      "during.add.kids: 'onn' is no status of t.kid",
      ({ body }) => (body.operations.create.steps.make.during.add.kids.status = 'onn'),
    ],
    'a link': [
      "to.link: 'kids' is no link of t.thing",
      ({ body }) => (body.operations.delete.to.link = { kids: null }),
    ],
    'a property to set': [
      "to.set: 'okk' is no property of t.thing. Did you mean 'ok'?",
      ({ body }) => (body.operations.delete.to.set = { okk: true }),
    ],
    'a value to set': [
      'to.set.ok: ok is of type "boolean", never "yes"',
      del({ to: { status: 'Gone', set: { ok: 'yes' } } }),
    ],
    'a property that can hold no time': [
      'timers.late.at: mood is never a number, so no time is ever read from it',
      ({ body }) => (body.timers = { late: { in: ['Ready'], at: 'mood', ask: 'delete' } }),
    ],
    'a property in a condition': [
      "requires[0]: 'okey' is no property of t.thing. Did you mean 'ok'?",
      del({ requires: [{ okey: true }] }),
    ],
    'a value of a property': [
      'requires[0].mood: mood never has the value "sad". It may be good, bad.',
      del({ requires: [{ mood: 'sad' }] }),
    ],
    'a type of a value': ['requires[0].ok: ok is of type "boolean", never "yes"', del({ requires: [{ ok: 'yes' }] })],
    'a related status in a condition': [
      "requires[0].kids: 'onn' is no status of t.kid",
      del({ requires: [{ kids: { some: ['onn'] } }] }),
    ],
    'a list for a relation to many': [
      'requires[0].kids: kids is a relation to many',
      del({ requires: [{ kids: ['on'] }] }),
    ],
    'a probe of a step': [
      "steps.end.probe: 'sene' is no probe of t.thing. Did you mean 'seen'?",
      end({ probe: 'sene' }),
    ],
    'a probe of heal': [
      "heal.Ending.probe: 'sene' is no probe of t.thing",
      ({ body }) => (body.heal.Ending = { probe: { sene: {} } }),
    ],
    'an answer of a probe': [
      "heal.Ending.probe.seen: 'maybe' is no answer of the probe seen",
      ({ body }) => (body.heal.Ending = { probe: { seen: { yes: 'Bad', no: 'Bad', maybe: 'Bad', unknown: 'Bad' } } }),
    ],
    'an answer left out': [
      'heal.Ending.probe.seen: nothing is said for the answer no',
      ({ body }) => (body.heal.Ending = { probe: { seen: { yes: 'Bad', unknown: 'Bad' } } }),
    ],
    'an operation to attempt': [
      "heal.Ending.attempt: 'delet' is no operation",
      ({ body }) => (body.heal.Ending.attempt = 'delet'),
    ],
    'a row to be like': [
      "heal.Ending.like: 'Makng' is no row of heal. Did you mean 'Making'?",
      ({ body }) => (body.heal.Ending = { like: 'Makng' }),
    ],
    'an operation of another to ask': [
      "steps.end.ask.kids: 'stopp' is no operation of t.kid. Did you mean 'stop'?",
      onlyEnd({ during: 'Ending', ask: { kids: 'stopp' } }),
    ],
    'an operation for a timer': [
      "timers.late.ask: 'dlete' is no operation of t.thing",
      ({ body }) => (body.timers = { late: { in: ['Ready'], after: '1h', ask: 'dlete' } }),
    ],
    "a related one's operation for a timer": [
      "timers.late.ask.thing: 'dlete' is no operation of t.thing",
      (_, { body }) => (body.timers = { late: { in: ['on'], after: '1h', ask: { thing: 'dlete' } } }),
    ],
    'a property that holds a time': [
      "timers.late.at: 'tme' is no property of t.thing",
      ({ body }) => (body.timers = { late: { in: ['Ready'], at: 'tme', ask: 'delete' } }),
    ],
    'a relation that moves': [
      "t.kid.moves[0].by: 'thng' is no relation of t.kid",
      (_, { body }) => (body.moves[0].by = 'thng'),
    ],
    'a status of a rule': [
      "rules.r.holds: 'Redy' is no status of t.thing",
      ({ body }) => (body.rules = { r: { says: '', holds: { Redy: {} } } }),
    ],
    'a property in where': [
      "relations.kids.where: 'sise' is no property of t.kid. Did you mean 'size'?",
      ({ relations }) => (relations.kids.where = { sise: 1 }),
    ],
    'a value in where': [
      'relations.kids.where.size: size of t.kid is of type "number", never "big"',
      ({ relations }) => (relations.kids.where = { size: 'big' }),
    ],
    'the link of linkedBy': [
      "relations.users.as: 'thing' is no link from t.kid to t.thing",
      ({ relations }) => (relations.users = { linkedBy: kid, as: 'thing' }),
    ],
    'a property and a relation of one name': [
      't.thing.relations.mood: mood is also a property',
      ({ relations }) => (relations.mood = { children: kid }),
    ],
    'a test without words': ['requires[0]: a test without words', del({ requires: [{ test: () => true }] })],
    'a duration that cannot be read (1)': [
      'steps.end.deadline: "5 minutes" is no duration',
      end({ deadline: '5 minutes' }),
    ],
    'a duration that cannot be read (2)': [
      'operations.delete.grace: "-1s" is no duration',
      ({ body }) => Object.assign(body.operations.delete, { ifBusy: 'preempt', grace: '-1s' }),
    ],
    'a duration that cannot be read (3)': [
      'onFailure.again: "soon" is no duration',
      del({ onFailure: { again: 'soon' } }),
    ],
    'a step that starts with a digit': [
      'operations.delete.steps.2nd: a step name may not start with a digit',
      ({ body }) => {
        body.operations.delete.steps['2nd'] = { during: 'Ending' }
      },
    ],
    'names that mean something else (1)': [
      "operations.get: 'get' has its own meaning in the API",
      ({ body }) => (body.operations.get = { ...body.operations.delete }),
    ],
    'names that mean something else (2)': [
      'the name cannot stand in an address',
      ({ body }) => (body.operations['tidy up'] = { ...body.operations.delete }),
    ],
    'names that mean something else (3)': [
      "steps.sweeper: 'sweeper' is a word of the driver",
      ({ body }) => (body.operations.delete.steps.sweeper = { during: 'Ending' }),
    ],
    'names that mean something else (4)': [
      "steps.seen: 'seen' is also a probe",
      ({ body }) => (body.operations.delete.steps.seen = { during: 'Ending' }),
    ],
  }
  test.each(Object.entries(planted))('%s', (_, [line, plant]) => {
    expect(faultsAfter(plant)).toContainEqual(expect.stringContaining(line))
  })

  test('a terminal status in a condition over many', () => {
    const condition = (is: object) => (one: Data) => (one.body.operations.delete.requires = [{ kids: is }])
    expect(faultsAfter(condition({ some: ['lost'] }))).toContainEqual(
      expect.stringMatching(/^error .*kids: lost is terminal/),
    )
    expect(faultsAfter(condition({ none: ['lost', 'on'] }))).toContainEqual(
      expect.stringMatching(/^warning .*kids: lost is terminal/),
    )
  })
})

describe('types and relations', () => {
  test('a type declared twice', () => {
    const twice = resourceType('x.twice', { properties: z.object({}), statuses: { stable: { A: '' } } }).lifecycle({
      heal: {},
    })
    expect(checkLifecycles([twice, twice]).map(({ fault }) => fault)).toContain('is declared twice')
  })

  const statuses = { stable: { In: '' }, transitional: { Going: '' }, terminal: { Out: '' } }
  const operations = {
    create: { from: [], steps: {}, to: 'In', onFailure: 'Out' },
    leave: { from: ['In'], steps: { go: { during: 'Going' } }, to: 'Out', onFailure: 'In' },
  }
  const heal = { Going: { status: 'In' } }
  const pairOf = (other: object, both: boolean) => {
    const left: Data = resourceType('p.left', { properties: z.object({}), statuses })
    const right: Data = resourceType('p.right', { properties: z.object({}), statuses: { ...statuses, ...other } })
    return checkLifecycles([
      left.relations({ right: { pair: right } }).lifecycle({ operations, heal }),
      right.relations({ left: { pair: left } }).lifecycle({ ...(both ? { operations } : {}), heal }),
    ]).map(({ fault }) => fault)
  }
  test('a good pair: the follower reaches what its leader reaches', () => {
    expect(pairOf({}, false)).toEqual([])
  })
  test('a pair with different statuses', () => {
    expect(pairOf({ terminal: { Away: '' } }, false)).toContain('the two sides of the pair differ in Out and Away')
  })
  test('a pair led by both', () => {
    expect(pairOf({}, true)).toContain('both sides of the pair have operations')
  })
  const planted: Table = {
    'a type that is not loaded': [
      'relations.others: names the type x.other, which is not loaded',
      ({ relations }) => {
        relations.others = {
          link: resourceType('x.other', { properties: z.object({}), statuses: { stable: { A: '' } } }),
        }
      },
    ],
    'children that never are (1)': [
      't.kid.relations.things: a t.thing is never a child of t.kid',
      (_, { relations }) => (relations.things = { children: thing }),
    ],
    'children that never are (2)': [
      'warning t.kid.relations.things: a t.thing is never below a t.kid',
      (_, { relations }) => (relations.things = { descendants: thing }),
    ],
    'a move that the other does not declare (1)': [
      'steps.end.during.move.kids: t.kid does not let t.thing move it from on to off',
      ({ body }) => {
        body.operations.delete.steps.end.during = { status: 'Ending', move: { kids: { from: ['on'], to: 'off' } } }
      },
    ],
    'a move that the other does not declare (2)': [
      'steps.end.during.move.kids: t.kid does not let t.thing move it from anything to off',
      ({ body }) => {
        body.operations.delete.steps.end.during = { status: 'Ending', move: { kids: 'off' } }
      },
    ],
    'an outcome of forEach that the other does not declare': [
      'steps.end.forEach.kids.done: t.kid does not let t.thing move it from on to off',
      ({ body }) => {
        body.operations.delete.steps.end = { during: 'Ending', forEach: { kids: { in: ['on'], done: 'off' } } }
      },
    ],
    'an addition that the other does not declare': [
      'during.add.kids: t.kid does not let others add it as on',
      (_, { body }) => delete body.begins,
    ],
    'moves and begins that nobody uses (1)': [
      'warning t.kid.moves[1]: nobody moves it from on to off',
      (_, { body }) => body.moves.push({ from: ['on'], to: 'off', by: 'thing' }),
    ],
    'moves and begins that nobody uses (2)': [
      'warning t.kid.begins: nobody adds it as off',
      (_, { body }) => body.begins.push('off'),
    ],
    'a probe that nobody asks': [
      'warning t.thing.probes.health: nobody asks it',
      ({ body }) => (body.probes.health = ['well', 'ill']),
    ],
  }
  test.each(Object.entries(planted))('%s', (_, [line, plant]) => {
    expect(faultsAfter(plant)).toContainEqual(expect.stringContaining(line))
  })
})

describe('flow', () => {
  /** The thing with one more status. */
  const withStatus = (kind: string, status: string) => (one: Data) => {
    one.type = resourceType('t.thing', {
      properties: thing.properties,
      statuses: { ...thing.statuses, [kind]: { ...(thing.statuses as Data)[kind], [status]: '' } },
    })
  }
  test('a delete that ends only when somebody asks for more', () => {
    const bin = (one: Data) => {
      one.body.operations.delete.to = 'Bad'
      one.body.operations.purge = { from: ['Bad'], steps: {}, to: 'Gone', onFailure: 'Bad' }
    }
    expect(faultsAfter(bin)).toContainEqual(expect.stringContaining('ends in no terminal status by itself'))
    const lines = faultsAfter((one) => {
      bin(one)
      one.body.timers = { purge: { in: ['Bad'], after: '7d', ask: 'purge' } }
    })
    expect(lines.filter((line) => line.includes('terminal status'))).toEqual([])
  })
  const planted: Table = {
    'a status that cannot be reached': ['error t.thing.statuses.Lost: cannot be reached', withStatus('stable', 'Lost')],
    '`previous` reaches nothing new': [
      'error t.thing.statuses.Lost: cannot be reached',
      (one) => {
        withStatus('stable', 'Lost')(one)
        Object.assign(one.body.operations.delete, {
          from: ['Ready', 'Bad', 'Lost'],
          onFailure: { status: { previous: true } },
        })
      },
    ],
    'a dead end': [
      'error t.thing.statuses.Lost: nothing leads out of it',
      (one) => {
        withStatus('stable', 'Lost')(one)
        one.body.operations.create.to = [{ when: { ok: true }, status: 'Ready' }, { status: 'Lost' }]
      },
    ],
    'no way to an end': [
      'warning t.thing.statuses.Lost: no way leads from it to a terminal status',
      (one) => {
        one.body.operations.lose = { from: ['Ready'], steps: {}, to: 'Lost', onFailure: 'Ready' }
        one.body.operations.keep = {
          from: ['Lost'],
          steps: { keep: { during: 'Keeping' } },
          to: 'Lost',
          onFailure: 'Lost',
        }
        one.type = resourceType('t.thing', {
          properties: thing.properties,
          statuses: {
            ...thing.statuses,
            stable: { Ready: '', Lost: '' },
            transitional: { Making: '', Ending: '', Keeping: '' },
          },
        })
        one.body.heal.Keeping = { status: 'Lost' }
      },
    ],
    'one status under two kinds': ['t.thing.statuses.Bad: stands under stable and failed', withStatus('stable', 'Bad')],
    'leaving a terminal status (1)': [
      'operations.delete.from: leaves the terminal status Gone',
      ({ body }) => body.operations.delete.from.push('Gone'),
    ],
    'leaving a terminal status (2)': [
      't.kid.moves[0].from: leaves the terminal status lost',
      (_, { body }) => (body.moves[0].from = ['on', 'lost']),
    ],
    'nothing creates it': [
      'warning t.thing: nothing creates it: only an import can',
      ({ body }) => delete body.operations.create,
    ],
    'a delete that cannot end': [
      'error t.thing.operations.delete: cannot reach a terminal status',
      ({ body }) => {
        body.operations.delete.to = 'Bad'
        body.operations.delete.from = ['Ready']
        body.operations.repair = { from: ['Bad'], steps: {}, to: 'Ready', onFailure: 'Bad' }
        body.heal.Ending = { status: 'Bad' }
      },
    ],
  }
  test.each(Object.entries(planted))('%s', (_, [line, plant]) => {
    expect(faultsAfter(plant)).toContainEqual(expect.stringContaining(line))
  })
})
