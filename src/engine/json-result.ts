// What a driver returned, made safe to keep: JSON only, bounded, a copy that nobody outside can change.
import type { Json } from '../base/json.ts'

export type Checked = { readonly json: Json } | { readonly fault: string }

const depthMax = 64
const charactersMax = 1_000_000
/** Keys that would reach an object's prototype when copied carelessly later. */
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

class Fault {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Undefined becomes null; properties that are undefined are left out, as JSON does. */
export function toJson(value: unknown): Checked {
  if (value === undefined || value === null) return { json: null }
  try {
    return { json: copy(value, 0, { size: 0 }) }
  } catch (thrown) {
    return { fault: thrown instanceof Fault ? thrown.text : 'reading it threw' }
  }
}

function copy(value: unknown, depth: number, budget: { size: number }): Json {
  if (depth > depthMax) throw new Fault(`deeper than ${depthMax} levels, or cyclic`)
  count(budget, 2)
  if (typeof value === 'string') {
    count(budget, value.length)
    if (!value.isWellFormed()) throw new Fault('text with half a character (a lone surrogate)')
    return value
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Fault(`the number ${value}`)
    return value === 0 ? 0 : value
  }
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'object') throw new Fault(`a ${typeof value}`)
  return Array.isArray(value) ? copyArray(value, depth, budget) : copyObject(value, depth, budget)
}

function copyArray(value: readonly unknown[], depth: number, budget: { size: number }): Json {
  count(budget, value.length)
  const copied: Json[] = []
  for (const one of value) copied.push(one === undefined ? null : copy(one, depth + 1, budget))
  return copied
}

function copyObject(value: object, depth: number, budget: { size: number }): Json {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) {
    // Objects of another realm (a vm, a test runner) are plain too: their prototype has no prototype.
    if (Object.getPrototypeOf(prototype) !== null) throw new Fault(`an object of class ${className(value)}`)
  }
  const copied: Record<string, Json> = {}
  for (const key of Object.keys(value)) {
    const one = (value as Record<string, unknown>)[key]
    if (one === undefined) continue
    if (forbiddenKeys.has(key)) throw new Fault(`the key ${key}`)
    count(budget, key.length)
    if (!key.isWellFormed()) throw new Fault('a key with half a character')
    copied[key] = copy(one, depth + 1, budget)
  }
  return copied
}

function count(budget: { size: number }, size: number): void {
  budget.size += size
  if (budget.size > charactersMax) throw new Fault(`larger than ${charactersMax} characters`)
}

function className(value: object): string {
  const name = (value.constructor as { name?: unknown } | undefined)?.name
  return typeof name === 'string' ? name : 'unknown'
}

/** Text from outside, fit to be kept: whole characters, no zero character, not endless. */
export function keepText(text: string, limit = 2_000): string {
  const whole = text.slice(0, limit).toWellFormed().replaceAll('\u0000', '')
  return text.length > limit ? `${whole} …` : whole
}

/** Nobody who is shown a kept object can change it. What is frozen already is frozen deep. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const key in value) deepFreeze(value[key])
  return Object.freeze(value)
}
