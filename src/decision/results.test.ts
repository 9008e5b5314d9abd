// Point 19: what drivers answer is judged at the border; what declarations do wrong is told, never thrown.
import { resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'
import { checkAgainst } from './schema-check.ts'

function tool() {
  const t = new TableTop(workshop)
  t.create('w.site', 's')
  t.place('w.tool', 'a', 'Idle', { parent: { no: t.get('s').no } })
  t.request('a', 'start')
  return t
}

describe('19 results', () => {
  test('19 a result goes through its schema and is there for what follows', () => {
    const t = tool()
    t.done('a', { rpm: 7, extra: true })
    expect(t.get('a')).toMatchObject({ status: 'Busy', properties: { rpm: 7 } })
  })

  test.each([undefined, null, 'x', { rpm: 'fast' }, []])('19 garbage (%j) is a failed attempt', (result) => {
    const t = tool()
    t.done('a', result)
    expect(t.get('a').run).toMatchObject({ step: 0, attempt: 2, results: {} })
    expect(t.lastEvent('a')).toMatchObject({ kind: 'attemptFailed', detail: { code: 'invalid_result' } })
  })

  test('19 a step answered as if it were a probe is a failed attempt', () => {
    const t = tool()
    t.answered('a', 'yes')
    expect(t.get('a').run).toMatchObject({ attempt: 2 })
  })

  test('19 what a person says a skipped step answered goes through the schema, too', () => {
    const t = tool()
    const { no } = t.get('a')
    const skip = { kind: 'skipStep', no, by: 'ann', reason: 'looked' } as const
    expect(t.refused({ ...skip, result: { rpm: 'fast' } }).code).toBe('input_invalid')
    expect(t.refused({ ...skip, reason: '' }).code).toBe('reason_required')
    t.ok({ ...skip, result: { rpm: 4 } })
    expect(t.get('a')).toMatchObject({ status: 'Busy', properties: { rpm: 4 } })
    const without = tool()
    without.ok(skip)
    expect(without.get('a')).toMatchObject({ status: 'Busy', properties: { rpm: 1 } })
  })
})

const odd = resourceType('t.odd', {
  properties: z.object({ n: z.number().default(0) }),
  statuses: { stable: { Fine: 'Fine.' }, transitional: { Trying: 'Tried.' }, failed: { Bad: 'Bad.' } },
})
const odds = odd.lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Fine', onFailure: 'Bad' },
    throws: {
      from: ['Fine'],
      requires: [
        {
          says: 'never mind',
          test: () => {
            throw new Error('no idea')
          },
        },
      ],
      steps: {},
      to: 'Fine',
      onFailure: 'Bad',
    },
    throwsLater: {
      from: ['Fine'],
      steps: {
        one: { during: 'Trying' },
        two: {
          during: {
            status: 'Trying',
            set: {
              n: () => {
                // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error
                throw 'a word'
              },
            },
          },
        },
      },
      to: 'Fine',
      onFailure: 'Bad',
    },
  },
  heal: { Trying: { status: 'Bad' } },
})

const judged = (validate: (value: unknown) => unknown) =>
  ({ '~standard': { version: 1, vendor: 'test', validate, types: undefined } }) as never

describe('19 schemas of others', () => {
  test('19 faults are told with where they are; paths may be names or segments with a key', () => {
    const issues = [
      { message: 'bad', path: ['a', { key: 0 }, 'b'] },
      { message: 'worse', path: [] },
      { message: 'worst' },
    ]
    expect(
      checkAgainst(
        judged(() => ({ issues })),
        1,
      ),
    ).toEqual({
      value: null,
      faults: ['a.0.b: bad', 'worse', 'worst'],
    })
    expect(
      checkAgainst(
        judged((value) => ({ value })),
        1,
      ),
    ).toEqual({ value: 1, faults: null })
  })

  test('19 one that throws, or lets wait, refuses', () => {
    const throwing = judged(() => {
      throw new Error('no idea')
    })
    expect(checkAgainst(throwing, 1)).toEqual({ value: null, faults: ['the schema threw: no idea'] })
    expect(
      checkAgainst(
        judged(() => Promise.resolve({ value: 1 })),
        1,
      ),
    ).toEqual({
      value: null,
      faults: ['the schema validates asynchronously, which a lifecycle cannot wait for'],
    })
  })
})

describe('18 functions that throw', () => {
  test('18 a request is rejected with an incident that tells where', () => {
    const t = new TableTop([odds])
    t.create('t.odd', 'o')
    const { code, message } = t.refused(t.asking('o', 'throws'))
    expect([code, message]).toEqual(['declaration_defect', 'A function of the declaration threw (never mind): no idea'])
    const { no } = t.get('o')
    expect(t.incidents).toEqual([
      { no, kind: 'declaration_defect', at: t.now, status: 'Fine', text: message, evidence: {} },
    ])
  })

  test('18 a run is failed by its answer', () => {
    const t = new TableTop([odds])
    t.create('t.odd', 'o')
    t.request('o', 'throwsLater')
    t.done('o')
    expect(t.get('o')).toMatchObject({ status: 'Bad', run: null })
    expect(t.get('o').description).toBe('throwsLater failed: A function of the declaration threw (set n): a word')
    const reason = 'A function of the declaration threw (set n): a word'
    expect(t.incidents).toEqual([
      { no: t.get('o').no, kind: 'declaration_defect', at: t.now, status: 'Trying', text: reason, evidence: {} },
    ])
    expect(t.lastEvent('o')).toMatchObject({
      kind: 'landed',
      detail: { code: 'declaration_defect', reason, failed: true },
    })
  })
})
