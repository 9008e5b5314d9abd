// How calls to a driver elsewhere are signed, and how the driver knows the signature. Two secrets may be good at a time, so that they
// can be changed one after the other.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Millis } from '../base/clock.ts'

/** What is signed: everything that says what is to be done, and when it was asked for. */
export interface Signed {
  readonly method: string
  /** With its query, as it stands in the request. */
  readonly path: string
  /** Seconds since 1970, as it stands in the header. */
  readonly timestamp: string
  readonly body: string
}

export const timestampHeader = 'homeostat-timestamp'
export const signatureHeader = 'homeostat-signature'
/** A call is good for so long before and after its time. */
const windowMs = 300_000

const macOf = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex')
const textOf = ({ method, path, timestamp, body }: Signed): string => `v1\n${method}\n${path}\n${timestamp}\n${body}`

/** One `v1=` for each secret: the driver needs to know only one of them. */
export const signed = (secrets: readonly string[], call: Signed): string =>
  secrets.map((secret) => `v1=${macOf(secret, textOf(call))}`).join(' ')

/** For drivers: null when the call is from who knows a secret and not old; else what is wrong with it. */
export function faultOfSignature(
  secrets: readonly string[],
  call: Signed & { readonly signature: string },
  now: Millis,
): string | null {
  if (!/^\d{1,12}$/.test(call.timestamp)) return 'the timestamp is missing'
  if (Math.abs(now - Number(call.timestamp) * 1_000) > windowMs) return 'the timestamp is too old or too new'
  const given = call.signature.split(' ').slice(0, 4)
  const expected = secrets.map((secret) => `v1=${macOf(secret, textOf(call))}`)
  const isRight = expected.some((one) => given.some((other) => isEqual(one, other)))
  return isRight ? null : 'the signature is wrong'
}

/** The token by which a step may be completed: made from its key, so that nothing has to be kept for it. */
export const stepToken = (secret: string, type: string, key: string): string =>
  `hsd_${Buffer.from(key).toString('base64url')}.${stepMac(secret, type, key)}`

/** The key that the token was made for; null when it is no token of this type and these secrets. */
export function keyOfToken(secrets: readonly string[], type: string, token: string): string | null {
  const found = /^hsd_([\w-]{1,1400})\.([0-9a-f]{64})$/.exec(token)
  if (found === null) return null
  const key = Buffer.from(found[1]!, 'base64url').toString('utf8')
  return secrets.some((secret) => isEqual(stepMac(secret, type, key), found[2]!)) ? key : null
}

const stepMac = (secret: string, type: string, key: string): string => macOf(secret, `complete\n${type}\n${key}`)

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
