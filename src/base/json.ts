// What can be written to a store and read back unchanged.
import { toBase36 } from './base36.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** Text that is equal exactly when the values are equal: keys in order, no undefined. */
export function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const given = value as Readonly<Record<string, unknown>>
  let text = ''
  for (const key of sortedKeys(given)) {
    const inner = given[key]
    if (inner !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(inner)}`
  }
  return `{${text}}`
}

/**
 * A short text that is equal when the values are equal, whatever the order of their keys, and by accident hardly ever else:
 * 64 bits. It keeps nobody out who looks for two values with the same one.
 */
export function fingerprint(value: unknown): string {
  const mixer = new Mixer()
  mixer.add(value)
  return mixer.text()
}

/** Two streams of multiplications, each over the same characters. */
class Mixer {
  private a = 0x9e3779b9 | 0
  private b = 0x85ebca6b | 0

  add(value: unknown): void {
    if (typeof value === 'string') {
      this.mark(1)
      this.characters(value)
    } else if (typeof value === 'number') {
      this.mark(2)
      if (value === (value | 0)) this.mark(value)
      else this.characters(`${value}`)
    } else if (value === null || typeof value !== 'object') {
      this.mark(value === true ? 7 : value === false ? 8 : 9)
    } else if (Array.isArray(value)) {
      this.mark(3)
      this.mark(value.length)
      for (const one of value) this.add(one)
    } else {
      this.mark(4)
      for (const key of sortedKeys(value)) {
        const inner = (value as Record<string, unknown>)[key]
        if (inner === undefined) continue
        this.mark(5)
        this.characters(key)
        this.add(inner)
      }
      this.mark(6)
    }
  }

  text(): string {
    let a = Math.imul(this.a ^ (this.a >>> 16), 0x85ebca6b) ^ Math.imul(this.b ^ (this.b >>> 13), 0xc2b2ae35)
    let b = Math.imul(this.b ^ (this.b >>> 16), 0x85ebca6b) ^ Math.imul(this.a ^ (this.a >>> 13), 0xc2b2ae35)
    a = Math.imul(a ^ (a >>> 16), 0x9e3779b1)
    b = Math.imul(b ^ (b >>> 15), 0x85ebca77)
    return toBase36(a >>> 0) + '-' + toBase36(b >>> 0)
  }

  private characters(text: string): void {
    let { a, b } = this
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      a = Math.imul(a ^ code, 0x9e3779b1)
      b = Math.imul((b << 5) - b + code, 0x5f356495)
    }
    this.a = a
    this.b = b
    this.mark(text.length)
  }

  private mark(number: number): void {
    this.a = Math.imul(this.a ^ (number + 0x10000), 0x9e3779b1)
    this.b = Math.imul((this.b << 5) - this.b + number + 0x10000, 0x5f356495)
  }
}

/** Put in order by hand: there are few, and mostly they are in order. */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value)
  if (keys.length > 32) return keys.sort()
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!
    let at = i
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!
    keys[at] = key
  }
  return keys
}

/** A value as it stands in a line. */
export const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
