// Strict JSON takes what JSON.parse takes, but for duplicate and dangerous names and depth; and gives the same values.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseStrictJson } from './strict-json.ts'

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('every value comes back as it was', () => {
  const value = fc.jsonValue({ maxDepth: 6, noUnicodeString: false })
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (given, indent) => {
      const text = JSON.stringify(given, null, indent)
      if (/"(__proto__|constructor|prototype)"\s*:/.test(text)) return
      expect(parseStrictJson(text)).toEqual(JSON.parse(text))
    }),
    { numRuns: 2_000 },
  )
})

test('what JSON.parse refuses is refused, whatever was broken', () => {
  const broken = fc.tuple(
    fc.json({ maxDepth: 3 }),
    fc.nat(),
    fc.constantFrom('', ',', ':', '}', ']', '"', '0', '\\', 'e', ' ', '{'),
  )
  fc.assert(
    fc.property(broken, ([text, at, mark]) => {
      const place = at % (text.length + 1)
      const changed = text.slice(0, place) + mark + text.slice(place + 1)
      if (!parses(changed))
        expect(() => parseStrictJson(changed)).toThrow(expect.objectContaining({ code: 'request_invalid' }))
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['{"a":1,"a":2}', 'twice'],
  ['{"a":1,"\\u0061":2}', 'twice'],
  ['[{"__proto__":{}}]', 'not taken'],
  [`${'['.repeat(33)}${']'.repeat(33)}`, 'deeper'],
  ['1 2', 'follows'],
  ['{}\u00a0', 'follows'],
  ['{}\ufeff', 'follows'],
  ['', 'no JSON'],
  ['{"a":9007199254740993}', 'the number at 5 would be kept as 9007199254740992: send it as text'],
  ['[-12345678901234567890]', 'would be kept as'],
  ['1e400', 'too large'],
])('%s is refused', (text, why) => {
  expect(() => parseStrictJson(text)).toThrow(why)
})

test.each([
  '9007199254740992',
  '-9007199254740991',
  '12345678901234567000',
  '1e21',
  '0.1',
  '-0',
  '1.0',
  '100000000000000000000',
])('the number %s is kept as it is', (text) => expect(parseStrictJson(text)).toBe(Number(text)))

test('a long text is read in a breath', () => {
  const long = JSON.stringify({ text: 'x'.repeat(900_000), quotes: '\\"'.repeat(40_000) })
  expect(parseStrictJson(long)).toEqual(JSON.parse(long))
})
