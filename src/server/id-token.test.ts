// Forged, changed, stale and odd ID tokens: one row for each way that was ever used, and every one is refused.
import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { expect, test } from 'vitest'
import { judgeIdToken, keyIdOf, type Jwk } from './id-token.ts'

const now = 1_789_000_000_000
const seconds = now / 1_000
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1024 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const otherEc = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const ed = generateKeyPairSync('ed25519')

const jwkOf = (key: KeyObject, more: object): Jwk => ({ ...(key.export({ format: 'jwk' }) as object), ...more })
const keys: readonly Jwk[] = [
  jwkOf(rsa.publicKey, { kid: 'rsa', use: 'sig', alg: 'RS256' }),
  jwkOf(ec.publicKey, { kid: 'ec' }),
  jwkOf(ed.publicKey, { kid: 'ed' }),
  jwkOf(rsa.publicKey, { kid: 'any' }),
  jwkOf(otherEc.publicKey, { kid: 'p384' }),
  jwkOf(weakRsa.publicKey, { kid: 'weak' }),
  jwkOf(otherRsa.publicKey, { kid: 'encrypting', use: 'enc' }),
  jwkOf(otherRsa.publicKey, { kid: 'of PS512', alg: 'PS512' }),
  jwkOf(otherRsa.publicKey, { kid: 'twice' }),
  jwkOf(rsa.publicKey, { kid: 'twice' }),
  { kid: 'broken', kty: 'RSA', n: 'AQAB', e: '' },
  { kid: 'shared', kty: 'oct', k: 'c2VjcmV0' },
]
const expected = { issuer: 'https://issuer.example', clientId: 'homeostat', nonce: 'n-1', now }
const claims = {
  iss: 'https://issuer.example',
  aud: 'homeostat',
  sub: 'ada',
  nonce: 'n-1',
  iat: seconds,
  exp: seconds + 300,
}

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

interface Making {
  readonly header?: object | string
  readonly claims?: object | string
  readonly key?: KeyObject
  readonly sign?: (text: string) => Buffer
}

function tokenOf({ header = {}, claims: given = {}, key = rsa.privateKey, sign: by }: Making = {}): string {
  const head = typeof header === 'string' ? header : { alg: 'RS256', kid: 'rsa', typ: 'JWT', ...header }
  const body = typeof given === 'string' ? given : { ...claims, ...given }
  const text = `${encode(head)}.${encode(body)}`
  const signature = by === undefined ? sign('sha256', Buffer.from(text), key) : by(text)
  return `${text}.${signature.toString('base64url')}`
}

const byEc = (encoding: 'ieee-p1363' | 'der') => (text: string) =>
  sign('sha256', Buffer.from(text), { key: ec.privateKey, dsaEncoding: encoding })
const bySecret = (secret: string | Buffer) => (text: string) => createHmac('sha256', secret).update(text).digest()
const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' })
const changed = (part: 0 | 1 | 2, change: (text: string) => string, token = tokenOf()): string =>
  token
    .split('.')
    .map((text, n) => (n === part ? change(text) : text))
    .join('.')

test.each<[string, string]>([
  ['RS256', tokenOf()],
  ['ES256', tokenOf({ header: { alg: 'ES256', kid: 'ec' }, sign: byEc('ieee-p1363') })],
  [
    'EdDSA',
    tokenOf({ header: { alg: 'EdDSA', kid: 'ed' }, sign: (text) => sign(null, Buffer.from(text), ed.privateKey) }),
  ],
  ['without a type', tokenOf({ header: { typ: undefined } })],
  ['for several, asked by us', tokenOf({ claims: { aud: ['homeostat', 'other'], azp: 'homeostat' } })],
  ['with a clock a little ahead', tokenOf({ claims: { iat: seconds + 30, nbf: seconds + 30 } })],
  ['just expired, within the skew', tokenOf({ claims: { exp: seconds - 30 } })],
])('%s is taken', (_, token) => {
  expect(judgeIdToken(token, keys, expected)).toMatchObject({ claims: { sub: 'ada' } })
})

test.each<[string, string]>([
  ['alg none', tokenOf({ header: { alg: 'none' }, sign: () => Buffer.from('x') })],
  ['alg none without signature', tokenOf({ header: { alg: 'none' } }).replace(/[^.]*$/, '')],
  ['alg None', tokenOf({ header: { alg: 'None' } })],
  ['alg nOnE', tokenOf({ header: { alg: 'nOnE' } })],
  ['no alg', tokenOf({ header: { alg: undefined } })],
  ['alg null', tokenOf({ header: { alg: null } })],
  ['alg as a list', tokenOf({ header: { alg: ['RS256'] } })],
  ['alg rs256', tokenOf({ header: { alg: 'rs256' } })],
  ['alg __proto__', tokenOf({ header: { alg: '__proto__' } })],
  ['alg toString', tokenOf({ header: { alg: 'toString' } })],
  ['HS256 with the public key as its secret', tokenOf({ header: { alg: 'HS256' }, sign: bySecret(pem) })],
  ['HS256 with a key of the set', tokenOf({ header: { alg: 'HS256', kid: 'shared' }, sign: bySecret('secret') })],
  ['HS256 with an empty secret', tokenOf({ header: { alg: 'HS256' }, sign: bySecret('') })],
  ['HS384', tokenOf({ header: { alg: 'HS384' }, sign: bySecret(pem) })],
  ['RS384', tokenOf({ header: { alg: 'RS384' } })],
  ['RS1', tokenOf({ header: { alg: 'RS1' } })],
  ['a MAC called RS256', tokenOf({ sign: bySecret(pem) })],
  ['ES256 with a key of RSA', tokenOf({ header: { alg: 'ES256' }, sign: byEc('ieee-p1363') })],
  ['RS256 with a key of EC', tokenOf({ header: { kid: 'ec' } })],
  ['ES256 with a signature in DER', tokenOf({ header: { alg: 'ES256', kid: 'ec' }, sign: byEc('der') })],
  ['ES256 with a signature of zeros', tokenOf({ header: { alg: 'ES256', kid: 'ec' }, sign: () => Buffer.alloc(64) })],
  ['EdDSA with a signature of zeros', tokenOf({ header: { alg: 'EdDSA', kid: 'ed' }, sign: () => Buffer.alloc(64) })],
  [
    'EdDSA with a key of RSA',
    tokenOf({
      header: { alg: 'EdDSA', kid: 'any' },
      sign: (text) => sign('sha256', Buffer.from(text), rsa.privateKey),
    }),
  ],
  [
    'ES256 with a key of another curve',
    tokenOf({
      header: { alg: 'ES256', kid: 'p384' },
      sign: (text) => sign('sha256', Buffer.from(text), { key: otherEc.privateKey, dsaEncoding: 'ieee-p1363' }),
    }),
  ],
  ['a key that is too short', tokenOf({ header: { kid: 'weak' }, key: weakRsa.privateKey })],
  ['a key for encryption', tokenOf({ header: { kid: 'encrypting' }, key: otherRsa.privateKey })],
  ['a key for another algorithm', tokenOf({ header: { kid: 'of PS512' }, key: otherRsa.privateKey })],
  ['a key whose name is there twice', tokenOf({ header: { kid: 'twice' } })],
  ['a key that is broken', tokenOf({ header: { kid: 'broken' } })],
  ['a key that is not there', tokenOf({ header: { kid: 'unknown' } })],
  ['a key by a path', tokenOf({ header: { kid: '../../dev/null' }, sign: bySecret('') })],
  ['a key by a number', tokenOf({ header: { kid: 0 } })],
  ['no key named, of several', tokenOf({ header: { kid: undefined } })],
  ['a key of another issuer under a good name', tokenOf({ key: otherRsa.privateKey })],
  [
    'a key that the token brings itself',
    tokenOf({ header: { kid: 'mine', jwk: jwkOf(otherRsa.publicKey, { kid: 'mine' }) }, key: otherRsa.privateKey }),
  ],
  [
    'a key that the token says where to find',
    tokenOf({ header: { kid: 'mine', jku: 'https://evil.example/keys' }, key: otherRsa.privateKey }),
  ],
  [
    'a certificate that it says where to find',
    tokenOf({ header: { x5u: 'https://evil.example' }, key: otherRsa.privateKey }),
  ],
  ['a certificate that it brings itself', tokenOf({ header: { x5c: ['MIIB'] }, key: otherRsa.privateKey })],
  ['an extension that it demands', tokenOf({ header: { crit: ['exp'], exp: 1 } })],
  ['an empty demand', tokenOf({ header: { crit: [] } })],
  ['a body that is not encoded', tokenOf({ header: { b64: false } })],
  ['an access token', tokenOf({ header: { typ: 'at+jwt' } })],
  ['a logout token', tokenOf({ header: { typ: 'logout+jwt' } })],
  ['a header with a name twice', tokenOf({ header: '{"alg":"none","alg":"RS256","kid":"rsa"}' })],
  ['claims with a name twice', tokenOf({ claims: '{"sub":"eve","sub":"ada"}' })],
  ['claims with __proto__', tokenOf({ claims: '{"__proto__":{"sub":"ada"}}' })],
  ['a header that is a list', tokenOf({ header: '["RS256"]' })],
  ['claims that are a text', tokenOf({ claims: '"ada"' })],
  ['claims that are null', tokenOf({ claims: 'null' })],
  ['changed claims', changed(1, () => encode({ ...claims, sub: 'eve' }))],
  ['a changed header', changed(0, () => encode({ alg: 'RS256', kid: 'rsa', typ: 'jwt' }))],
  ['a changed signature', changed(2, (text) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`)],
  ['a signature with padding', `${tokenOf()}=`],
  ['a signature that is cut', tokenOf().slice(0, -4)],
  ['an empty signature', changed(2, () => '')],
  ['two parts', tokenOf().split('.').slice(0, 2).join('.')],
  ['five parts, as an encrypted one has', `${tokenOf()}.a.b`],
  ['blanks around it', ` ${tokenOf()} `],
  ['a line end', `${tokenOf()}\n`],
  ['nothing', ''],
  ['too much', `${tokenOf({ claims: { more: 'x'.repeat(20_000) } })}`],
  ['another issuer', tokenOf({ claims: { iss: 'https://evil.example' } })],
  ['the issuer with a slash', tokenOf({ claims: { iss: 'https://issuer.example/' } })],
  ['no issuer', tokenOf({ claims: { iss: undefined } })],
  ['the issuer in a list', tokenOf({ claims: { iss: ['https://issuer.example'] } })],
  ['another audience', tokenOf({ claims: { aud: 'other' } })],
  ['no audience', tokenOf({ claims: { aud: undefined } })],
  ['an empty audience', tokenOf({ claims: { aud: [] } })],
  ['a part of the name as audience', tokenOf({ claims: { aud: 'homeostat-staging' } })],
  ['an audience of numbers', tokenOf({ claims: { aud: ['homeostat', 1], azp: 'homeostat' } })],
  ['several audiences, not saying who asked', tokenOf({ claims: { aud: ['homeostat', 'other'] } })],
  ['asked by somebody else', tokenOf({ claims: { azp: 'other' } })],
  ['expired', tokenOf({ claims: { exp: seconds - 61 } })],
  ['no expiry', tokenOf({ claims: { exp: undefined } })],
  ['an expiry in words', tokenOf({ claims: { exp: String(seconds + 300) } })],
  ['an expiry before time', tokenOf({ claims: { exp: -1 } })],
  ['of the future', tokenOf({ claims: { iat: seconds + 120 } })],
  ['not saying when it was made', tokenOf({ claims: { iat: undefined } })],
  ['not good yet', tokenOf({ claims: { nbf: seconds + 120 } })],
  ['not good yet, in words', tokenOf({ claims: { nbf: 'later' } })],
  ['another nonce', tokenOf({ claims: { nonce: 'n-2' } })],
  ['no nonce', tokenOf({ claims: { nonce: undefined } })],
  ['nobody', tokenOf({ claims: { sub: '' } })],
  ['nobody at all', tokenOf({ claims: { sub: undefined } })],
  ['somebody by a number', tokenOf({ claims: { sub: 7 } })],
  ['a very long somebody', tokenOf({ claims: { sub: 'x'.repeat(256) } })],
])('%s is refused', (_, token) => {
  expect(judgeIdToken(token, keys, expected)).toEqual({ fault: expect.any(String) })
})

test('a token without a nonce is not taken where none was asked for', () => {
  expect(judgeIdToken(tokenOf({ claims: { nonce: '' } }), keys, { ...expected, nonce: '' })).toHaveProperty('fault')
})

test('the only key of a set need not be named', () => {
  const [only] = keys
  expect(judgeIdToken(tokenOf({ header: { kid: undefined } }), [only!], expected)).toHaveProperty('claims')
  expect(keyIdOf(tokenOf())).toBe('rsa')
  expect(keyIdOf('nonsense')).toBe(null)
})
