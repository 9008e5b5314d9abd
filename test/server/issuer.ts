// A small real OIDC issuer on loopback: discovery, authorization, tokens with PKCE, keys that can be changed. It lies where it is told to.
import { createHash, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const clientId = 'homeostat'
export const clientSecret = 'client secret: with signs & a colon'

interface Grant {
  readonly challenge: string
  readonly nonce: string
  readonly redirect: string
}

export class Issuer {
  readonly #server: Server
  readonly #grants = new Map<string, Grant>()
  #key: KeyObject = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  #kid = 'k1'
  /** Who signs in, and as what. */
  claims: Record<string, unknown> = { sub: 'ada', groups: ['staff', 'operators'] }
  /** Changes the discovery document. */
  says: Record<string, unknown> = {}
  keysAsked = 0
  faults: string[] = []

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  changeKey(kid: string): void {
    this.#kid = kid
    this.#key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.url)
    const say = (status: number, content: object) => void response.writeHead(status).end(JSON.stringify(content))
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return say(200, {
          issuer: this.url,
          authorization_endpoint: `${this.url}/authorize`,
          token_endpoint: `${this.url}/token`,
          jwks_uri: `${this.url}/keys`,
          ...this.says,
        })
      case '/keys': {
        this.keysAsked++
        const { d: _, ...jwk } = this.#key.export({ format: 'jwk' })
        return say(200, { keys: [{ ...jwk, kid: this.#kid, use: 'sig', alg: 'ES256' }] })
      }
      case '/authorize':
        return this.#authorize(url.searchParams, response)
      case '/token':
        return this.#token(request, say)
      default:
        return say(404, {})
    }
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const get = (name: string) => query.get(name) ?? ''
    if (get('response_type') !== 'code' || get('client_id') !== clientId) this.faults.push('the request is wrong')
    if (get('code_challenge_method') !== 'S256' || !get('scope').split(' ').includes('openid'))
      this.faults.push('PKCE or scope are wrong')
    const code = randomUUID()
    this.#grants.set(code, {
      challenge: get('code_challenge'),
      nonce: get('nonce'),
      redirect: get('redirect_uri'),
    })
    const back = new URL(get('redirect_uri'))
    back.searchParams.set('code', code)
    back.searchParams.set('state', get('state'))
    back.searchParams.set('iss', this.url)
    response.writeHead(302, { location: back.href }).end()
  }

  async #token(request: IncomingMessage, say: (status: number, content: object) => void): Promise<void> {
    let body = ''
    for await (const part of request) body += String(part)
    const form = new URLSearchParams(body)
    const grant = this.#grants.get(form.get('code') ?? '')
    // A code is good once.
    this.#grants.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const basic = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`
    const isClient = request.headers.authorization === `Basic ${Buffer.from(basic).toString('base64')}`
    if (
      grant === undefined ||
      grant.challenge !== challenge ||
      grant.redirect !== form.get('redirect_uri') ||
      !isClient
    )
      return say(400, { error: 'invalid_grant' })
    say(200, { access_token: 'of no use here', token_type: 'Bearer', id_token: this.#idToken(grant.nonce) })
  }

  #idToken(nonce: string): string {
    const iat = Math.floor(Date.now() / 1_000)
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = { iss: this.url, aud: clientId, iat, exp: iat + 300, nonce, ...this.claims }
    const text = `${encode({ alg: 'ES256', kid: this.#kid })}.${encode(claims)}`
    const signature = sign('sha256', Buffer.from(text), { key: this.#key, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }
}
