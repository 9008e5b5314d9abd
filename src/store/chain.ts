// How entries of the journal are chained: the same for every store, and for whoever verifies them.
import { createHash } from 'node:crypto'
import { canonical, type Json } from '../base/json.ts'

/** The hash before the first entry. */
export const chainStart = '0'.repeat(64)

/** SHA-256 over the hash before, the number and the value: whoever changes, removes or swaps an entry breaks all later ones. */
export const chainHash = (before: string, n: number, value: Json): string =>
  createHash('sha256')
    .update(`${before}\n${n}\n${canonical(value)}`)
    .digest('hex')
