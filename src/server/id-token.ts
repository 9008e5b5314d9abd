// Judges an ID token of an OIDC issuer. Everything is refused that is not exactly as it must be: the algorithm comes from our list and
// must fit the key, the key only from the issuer's own set, whatever the token itself offers.
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import type { Millis } from '../base/clock.ts'
import { parseStrictJson } from './strict-json.ts'

/** A key of the issuer's set, as it stands there. */
export type Jwk = Readonly<Record<string, unknown>>

export interface Expected {
  readonly issuer: string
  readonly clientId: string
  readonly nonce: string
  readonly now: Millis
}

export type Judged = { readonly claims: Readonly<Record<string, unknown>> } | { readonly fault: string }

/** Clocks may differ by so much. */
const skewSeconds = 60
const tokenMax = 16_384
const rsaBitsMin = 2048

interface Algorithm {
  readonly hash: string | null
  readonly fits: (jwk: Jwk) => boolean
  readonly options?: { readonly dsaEncoding: 'ieee-p1363' }
}

/** Nothing symmetric, and not `none`: a key of the issuer is never used as a shared secret. */
const algorithms: Readonly<Record<string, Algorithm>> = {
  RS256: { hash: 'sha256', fits: (jwk) => jwk['kty'] === 'RSA' },
  ES256: {
    hash: 'sha256',
    fits: (jwk) => jwk['kty'] === 'EC' && jwk['crv'] === 'P-256',
    options: { dsaEncoding: 'ieee-p1363' },
  },
  EdDSA: { hash: null, fits: (jwk) => jwk['kty'] === 'OKP' && jwk['crv'] === 'Ed25519' },
}

/** The key's id that the token names; null: none, or no token at all. */
export function keyIdOf(token: string): string | null {
  const header = objectOf(token.slice(0, tokenMax).split('.', 1)[0]!)
  const kid = header?.['kid']
  return typeof kid === 'string' && kid.length > 0 && kid.length <= 500 ? kid : null
}

export function judgeIdToken(token: string, keys: readonly Jwk[], expected: Expected): Judged {
  if (token.length > tokenMax) return fault('it is too large')
  const parts = token.split('.')
  if (parts.length !== 3 || parts.some((part) => !/^[\w-]+$/.test(part))) return fault('it has not three parts')
  const [head, body, signature] = parts as [string, string, string]
  const header = objectOf(head)
  const claims = objectOf(body)
  if (header === null || claims === null) return fault('it cannot be read')
  const signed = signatureFault(header, { text: `${head}.${body}`, signature }, keys)
  if (signed !== null) return fault(signed)
  const wrong = claimsFault(claims, expected)
  return wrong === null ? { claims } : fault(wrong)
}

const fault = (text: string): Judged => ({ fault: text })

function objectOf(part: string): Readonly<Record<string, unknown>> | null {
  try {
    const bytes = Buffer.from(part, 'base64url')
    // One text for one value: a part that is decoded and encoded again is the same.
    if (bytes.toString('base64url') !== part) return null
    const value = parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

function signatureFault(
  header: Readonly<Record<string, unknown>>,
  { text, signature }: { readonly text: string; readonly signature: string },
  keys: readonly Jwk[],
): string | null {
  const name = header['alg']
  const algorithm = typeof name === 'string' && Object.hasOwn(algorithms, name) ? algorithms[name]! : null
  if (algorithm === null) return 'its algorithm is not taken'
  if (header['crit'] !== undefined) return 'it demands an extension'
  if (header['b64'] !== undefined) return 'it demands an extension'
  const { typ } = header
  if (typ !== undefined && (typeof typ !== 'string' || typ.toUpperCase() !== 'JWT')) return 'it is of another type'
  const key = keyFor(header['kid'], name as string, algorithm, keys)
  if (key === null) return 'no key of the issuer fits'
  const bytes = Buffer.from(signature, 'base64url')
  if (bytes.toString('base64url') !== signature) return 'its signature cannot be read'
  const isRight = verify(algorithm.hash, Buffer.from(text), { key, ...algorithm.options }, bytes)
  return isRight ? null : 'its signature is wrong'
}

/** The key that the token names; without a name, the only one that there is. */
function keyFor(kid: unknown, name: string, algorithm: Algorithm, keys: readonly Jwk[]): KeyObject | null {
  if (kid !== undefined && typeof kid !== 'string') return null
  const named = kid === undefined ? keys : keys.filter((one) => one['kid'] === kid)
  if (named.length !== 1) return null
  const [jwk] = named as [Jwk]
  const isForSigning = (jwk['use'] ?? 'sig') === 'sig' && (jwk['alg'] ?? name) === name
  if (!isForSigning || !algorithm.fits(jwk)) return null
  try {
    const key = createPublicKey({ key: jwk as never, format: 'jwk' })
    const { modulusLength } = key.asymmetricKeyDetails ?? {}
    return modulusLength !== undefined && modulusLength < rsaBitsMin ? null : key
  } catch {
    return null
  }
}

function claimsFault(
  claims: Readonly<Record<string, unknown>>,
  { issuer, clientId, nonce, now }: Expected,
): string | null {
  const { iss, aud, azp, exp, iat, nbf, sub } = claims
  const seconds = now / 1_000
  if (iss !== issuer) return 'it is of another issuer'
  const audience = typeof aud === 'string' ? [aud] : aud
  if (!Array.isArray(audience) || audience.length === 0 || audience.some((one) => typeof one !== 'string'))
    return 'it is for nobody'
  if (!audience.includes(clientId)) return 'it is for somebody else'
  if (azp !== undefined && azp !== clientId) return 'it was made for somebody else'
  if (audience.length > 1 && azp === undefined) return 'it is for several, and does not say who asked'
  if (!isTime(exp) || exp + skewSeconds <= seconds) return 'it has expired'
  if (!isTime(iat) || iat - skewSeconds > seconds) return 'it is of the future'
  if (nbf !== undefined && (!isTime(nbf) || nbf - skewSeconds > seconds)) return 'it is not good yet'
  if (nonce === '' || claims['nonce'] !== nonce) return 'it is the answer to another question'
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) return 'it does not say who it is'
  return null
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
