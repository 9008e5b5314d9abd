// Texts that were written as JSON. One that something has damaged is left out of a list: those beside it are still wanted.

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
