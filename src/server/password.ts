// Passwords of local accounts: argon2id, with the figures in the text, so that they can be raised later.
import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { saltBytes } from '../base/random.ts'

const derive = promisify(argon2)

interface Cost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/** OWASP's least for argon2id: 19 MiB, two passes. */
const cost: Cost = { memory: 19_456, passes: 2, parallelism: 1 }
const tagLength = 32

export async function hashPassword(password: string): Promise<string> {
  const nonce = saltBytes()
  const tag = await derive('argon2id', { message: password, nonce, tagLength, ...cost })
  return `argon2id$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${nonce.toString('base64url')}$${tag.toString('base64url')}`
}

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const found = /^argon2id\$m=(\d+),t=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/.exec(hash)
  if (found === null) return false
  const [memory, passes, parallelism] = found.slice(1, 4).map(Number) as [number, number, number]
  const expected = Buffer.from(found[5]!, 'base64url')
  const given = await derive('argon2id', {
    message: password,
    nonce: Buffer.from(found[4]!, 'base64url'),
    tagLength: expected.length,
    memory,
    passes,
    parallelism,
  })
  return timingSafeEqual(given, expected)
}
