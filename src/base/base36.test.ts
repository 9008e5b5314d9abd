// The texts are those of toString(36), and only those are read.
import { expect, test } from 'vitest'
import { fromBase36, toBase36 } from './base36.ts'
import { seededRandom } from './random.ts'

const random = seededRandom(36)
const numbers = [0, 1, 9, 10, 35, 36, 1295, 1296, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]
for (let bits = 1; bits <= 53; bits++) numbers.push(Math.floor(random.next() * 2 ** bits))

test('numbers are written as toString writes them, and read back', () => {
  for (const number of numbers) {
    expect(toBase36(number)).toBe(number.toString(36))
    expect(fromBase36(`~${toBase36(number)}`, 1)).toBe(number)
  }
})

test.each(['', '-1', '1.5', 'A', 'a b', '01', '00', 'é', ':', '`', '{', '/', 'zzzzzzzzzzz', '1'.repeat(12)])(
  "'%s' is no such number",
  (text) => expect(fromBase36(text, 0)).toBeNull(),
)
