// Texts that were written as JSON. One that something has damaged does not stop whoever reads those beside it.
import type { Json } from '../base/json.ts'

/** Those that can be read. */
export function readable<T extends object>(texts: readonly (string | null | undefined)[]): T[] {
  const found: T[] = []
  for (const text of texts) {
    try {
      const value: unknown = JSON.parse(text ?? '')
      if (typeof value === 'object' && value !== null) found.push(value as T)
    } catch {
      // Left out.
    }
  }
  return found
}

/** The value of a record, which is never null; null: it is damaged. */
export function recordValue(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}
