// Numbers as short text and back. As `toString(36)` and `parseInt`, but many times as fast for numbers beyond 31 bits: every id
// that is made from a number goes through here, several times for a resource.

const radix = 36
const digits = '0123456789abcdefghijklmnopqrstuvwxyz'
const pairs = Array.from({ length: radix ** 2 }, (_, n) => digits[Math.floor(n / radix)]! + digits[n % radix]!)
/** What an exact whole number has at most. */
const mostDigits = 11

/** Of a whole number that is not negative. */
export function toBase36(number: number): string {
  let left = number
  let text = ''
  while (left >= pairs.length) {
    const rest = Math.floor(left / pairs.length)
    text = pairs[left - rest * pairs.length]! + text
    left = rest
  }
  return (left < radix ? digits[left]! : pairs[left]!) + text
}

const nine = 0x39
const zero = 0x30
const a = 0x61

/** The number that the text is made of from `start` on; null when no number is written like that. */
export function fromBase36(text: string, start: number): number | null {
  const length = text.length - start
  if (length < 1 || length > mostDigits || (length > 1 && text.charCodeAt(start) === zero)) return null
  let number = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const digit = code <= nine ? code - zero : code - a + 10
    if (digit < 0 || digit >= radix || (code > nine && code < a)) return null
    number = number * radix + digit
  }
  return Number.isSafeInteger(number) ? number : null
}
