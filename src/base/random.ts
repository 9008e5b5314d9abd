// The only file that touches chance. A seeded stream makes a whole simulated run repeatable.
import { randomBytes, randomUUID } from 'node:crypto'

export interface Random {
  /** At least 0, below 1. */
  next(): number
  /** A whole number at least 0 and below `limit`. */
  below(limit: number): number
  /** A new identifier that nobody else has. */
  uuid(): string
}

export const systemRandom: Random = {
  next: () => Math.random(),
  below: (limit) => Math.floor(Math.random() * limit),
  uuid: () => randomUUID(),
}

/** The same seed gives the same numbers for ever (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  let uuids = 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    uuid: () =>
      `00000000-0000-4000-8000-${((seed >>> 0) % 0xffff).toString(16).padStart(4, '0')}${(++uuids).toString(16).padStart(8, '0')}`,
  }
}

/** 256 bits that nobody can guess, as text for addresses and headers. Never of a seed: it keeps people out. */
export const secretText = (): string => randomBytes(32).toString('base64url')

/** Salt for the hash of a password. */
export const saltBytes = (): Buffer => randomBytes(16)
