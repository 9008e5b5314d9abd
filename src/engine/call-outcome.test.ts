// Whatever a driver returns or throws ends as an outcome that can be kept.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { again, TerminalError, UnknownOutcomeError } from '../lifecycle/driver.ts'
import { outcomeOfThrown, outcomeOfValue } from './call-outcome.ts'
import { deepFreeze, toJson } from './json-result.ts'

describe('what a driver returns', () => {
  test('anything at all becomes an outcome that can be kept', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withNullPrototype: true }),
        (value) => {
          for (const phase of ['step', 'undo', 'probe', 'healProbe'] as const) {
            const outcome = outcomeOfValue(phase, 'fn', value)
            expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome)
          }
          expect(outcomeOfThrown('fn', value)).toMatchObject({ reason: expect.any(String) })
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('JSON is kept as it is, and is a copy', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        const checked = toJson(value)
        const isRefused = /"(__proto__|constructor|prototype)":|\\ud/.test(text)
        expect('fault' in checked ? isRefused : JSON.stringify(checked.json) === text).toBe(true)
      }),
    )
    const mine = { list: [1, 2] }
    const checked = toJson(mine)
    mine.list.push(3)
    expect(checked).toEqual({ json: { list: [1, 2] } })
  })

  test('nothing, again, and answers of probes', () => {
    expect(outcomeOfValue('step', 'fn', undefined)).toEqual({ kind: 'done', result: null })
    expect(outcomeOfValue('step', 'fn', again('5s'))).toEqual({ kind: 'again', afterMs: 5_000 })
    expect(outcomeOfValue('step', 'fn', { again: 'soon' })).toMatchObject({ kind: 'failed', code: 'invalid_result' })
    expect(outcomeOfValue('step', 'fn', { again: '5s', more: 1 })).toMatchObject({ kind: 'done' })
    expect(outcomeOfValue('probe', 'fn', 'yes')).toEqual({ kind: 'answered', answer: 'yes', observed: null })
    expect(outcomeOfValue('healProbe', 'fn', { answer: 'yes', observed: { size: 2 } })).toEqual({
      kind: 'answered',
      answer: 'yes',
      observed: { size: 2 },
    })
    expect(outcomeOfValue('probe', 'fn', undefined)).toMatchObject({ kind: 'failed' })
    expect(outcomeOfValue('probe', 'fn', { says: 'yes' })).toMatchObject({ kind: 'failed' })
  })

  test('too deep, too large, or with keys that reach a prototype: refused', () => {
    let deep: unknown = 1
    for (let i = 0; i < 100; i++) deep = [deep]
    expect(toJson(deep)).toMatchObject({ fault: expect.stringContaining('deeper') })
    expect(toJson(Array.from({ length: 600_000 }, () => 1))).toMatchObject({ fault: expect.stringContaining('larger') })
    expect(toJson(JSON.parse('{"a": {"constructor": 1}}'))).toMatchObject({ fault: 'the key constructor' })
  })
})

test('errors are told apart by name and code', () => {
  expect(outcomeOfThrown('fn', new TerminalError('no_space', 'full'))).toEqual({
    kind: 'failed',
    code: 'no_space',
    reason: 'full',
    terminal: true,
  })
  expect(outcomeOfThrown('fn', new UnknownOutcomeError('cut'))).toEqual({ kind: 'unknown', reason: 'cut' })
  expect(outcomeOfThrown('fn', Object.assign(new Error('slow'), { code: 'ETIMEDOUT' }))).toMatchObject({
    code: 'ETIMEDOUT',
    terminal: false,
  })
  expect(outcomeOfThrown('fn', undefined)).toMatchObject({ kind: 'failed', reason: 'fn failed without saying why' })
  expect(outcomeOfThrown('fn', 'x'.repeat(10_000))).toMatchObject({ reason: expect.stringMatching(/^x{2000} …$/) })
})

test('what is thrown and is no error is named, whatever it is', () => {
  const ring: Record<string, unknown> = { status: 404 }
  ring['ring'] = ring
  const mute = Object.defineProperty(new Error(), 'message', {
    get() {
      throw new Error('hands off')
    },
  })
  const reasons = [null, Symbol('odd'), 12n, () => {}, ring, new Map([[1, 2]]), Object.create(null)].map(
    (thrown: unknown) => (outcomeOfThrown('fn', thrown) as { reason: string }).reason,
  )
  expect(reasons).toEqual([
    'fn threw null',
    'fn threw Symbol(odd)',
    'fn threw 12n',
    'fn threw [Function (anonymous)]',
    'fn threw <ref *1> { status: 404, ring: [Circular *1] }',
    'fn threw Map(1) { 1 => 2 }',
    'fn threw [Object: null prototype] {}',
  ])
  expect(outcomeOfThrown('fn', mute)).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^fn threw /) })
})

test('what is frozen is frozen to the bottom', () => {
  const value = deepFreeze({ a: [{ b: 1 }] })
  expect(() => ((value.a[0] as { b: number }).b = 2)).toThrow(TypeError)
})
