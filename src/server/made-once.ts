// Documents that are the same as long as the server runs (declarations, pictures, the contract) are made when they are first asked for.
import type { Services } from './services.ts'

const made = new WeakMap<Services, Map<string, unknown>>()

export function madeOnce<T>(services: Services, name: string, make: () => T): T {
  const known = made.get(services) ?? new Map<string, unknown>()
  made.set(services, known)
  if (!known.has(name)) known.set(name, make())
  return known.get(name) as T
}
