// Sign-in of people by an OIDC issuer that the configuration names: authorization code with PKCE. Nothing is kept here between the two
// requests: what belongs together is in a cookie of the browser that began, so any process of the installation can take the answer.
import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { secretText } from '../base/random.ts'
import type { Log } from '../engine/log.ts'
import type { Role } from '../protocol/permissions.ts'
import type { AllowList } from './allow-list.ts'
import { Reply, type AuditEntry } from './call.ts'
import type { Gate } from './gate.ts'
import { judgeIdToken, keyIdOf, type Jwk } from './id-token.ts'
import type { Objects } from './objects.ts'
import { networkOf } from './network-of.ts'
import { checkedUrl, exchange } from './outgoing.ts'
import { RateLimiter } from './rate-limiter.ts'
import { parseStrictJson } from './strict-json.ts'

export interface OidcOptions {
  /** Exactly as the issuer writes itself. */
  readonly issuer: string
  readonly clientId: string
  /** For clients that have one; PKCE is used either way. */
  readonly clientSecret?: string
  /** Where browsers reach this server: the issuer sends them back to `/sign-in/oidc/callback` there. */
  readonly publicUrl: string
  /** Default: openid, profile, email. */
  readonly scopes?: readonly string[]
  /** The claim that holds a person's groups. Default: groups. */
  readonly rolesClaim?: string
  /** Which group has which role; the highest counts. Who is in none of them is not let in. */
  readonly roles: Readonly<Record<string, Exclude<Role, 'worker'>>>
  /** The claim that holds a person's tenant; who has none is not let in. Left out: everybody works in all tenants. */
  readonly tenantClaim?: string
  /** The issuer may be on a private network. */
  readonly privateAddresses?: boolean
}

export interface OidcParts {
  readonly options: OidcOptions
  readonly gate: Gate
  readonly objects: Objects
  readonly clock: Clock
  readonly log: Log
  readonly secure: boolean
  readonly allow?: AllowList | undefined
}

export interface OidcAsked {
  readonly path: string
  readonly query: URLSearchParams
  readonly cookie: string | undefined
  readonly address: string
}

const discovery = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
})
const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())).max(100) })
const tokens = z.object({ id_token: z.string() })
const pending = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string(), until: z.number() })

const pendingMs = 600_000
const rememberMs = 600_000
/** A key that is not known is looked for at most this often: anybody can name one. */
const lookAgainMs = 30_000
const rank: readonly Role[] = ['viewer', 'operator', 'admin']

interface Known<T> {
  readonly value: T
  readonly at: number
}

export class OidcSignIn {
  readonly #parts: OidcParts
  readonly #limiter: RateLimiter
  /** Denied attempts that are written down, at most. */
  readonly #denials: RateLimiter
  readonly #redirect: string
  #issuer: Known<z.infer<typeof discovery>> | null = null
  #keys: Known<readonly Jwk[]> | null = null

  /** Throws `address_refused` when the issuer may not be called. */
  constructor(parts: OidcParts) {
    this.#parts = parts
    checkedUrl(parts.options.issuer, this.#reach)
    this.#limiter = new RateLimiter(parts.clock, { perSecond: 2, burst: 30 })
    this.#denials = new RateLimiter(parts.clock, { perSecond: 20, burst: 200 })
    this.#redirect = `${parts.options.publicUrl.replace(/\/$/, '')}/sign-in/oidc/callback`
  }

  get #reach() {
    return { privateAddresses: this.#parts.options.privateAddresses ?? false, allow: this.#parts.allow }
  }

  get #cookieName(): string {
    return this.#parts.secure ? '__Host-homeostat-oidc' : 'homeostat-oidc'
  }

  /** Null: the path is not of the sign-in. */
  async answer(asked: OidcAsked): Promise<Reply | null> {
    const isBegin = asked.path === '/sign-in/oidc'
    if (!isBegin && asked.path !== '/sign-in/oidc/callback') return null
    this.#limiter.demand(networkOf(asked.address))
    return isBegin ? this.#begin() : this.#end(asked)
  }

  async #begin(): Promise<Reply> {
    const { clientId, scopes = ['openid', 'profile', 'email'] } = this.#parts.options
    const { authorization_endpoint } = await this.#discover()
    const [state, nonce, verifier] = [secretText(), secretText(), secretText()]
    const location = new URL(authorization_endpoint)
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: this.#redirect,
      scope: scopes.join(' '),
      state,
      nonce,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }))
      location.searchParams.set(name, value)
    const until = this.#parts.clock.now() + pendingMs
    const kept = Buffer.from(JSON.stringify({ state, nonce, verifier, until })).toString('base64url')
    return new Reply(undefined, { status: 302, headers: { location: location.href, 'set-cookie': this.#cookie(kept) } })
  }

  /** Lax, not strict: it must come along when the issuer sends the browser back. */
  #cookie(value: string | null): string {
    const life = value === null ? 0 : pendingMs / 1_000
    const secure = this.#parts.secure ? '; Secure' : ''
    return `${this.#cookieName}=${value ?? ''}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${life}${secure}`
  }

  async #end({ query, cookie, address }: OidcAsked): Promise<Reply> {
    const { gate, clock, options } = this.#parts
    const denied = (why: string, who?: string) => this.#denied(why, address, who)
    const begun = this.#begunBy(cookie)
    if (begun === null || begun.until <= clock.now())
      throw await denied('it was not begun in this browser, or too long ago')
    if (!isEqual(query.get('state') ?? '', begun.state)) throw await denied('it is the answer to another question')
    if (query.has('iss') && query.get('iss') !== options.issuer) throw await denied('another issuer has answered')
    if (query.has('error')) throw await denied('the issuer has refused it')
    const code = query.get('code') ?? ''
    if (code === '' || code.length > 4_000) throw await denied('the issuer has sent no code')
    const token = await this.#redeem(code, begun.verifier)
    const keys = await this.#keysFor(keyIdOf(token))
    const { issuer, clientId } = options
    const judged = judgeIdToken(token, keys, { issuer, clientId, nonce: begun.nonce, now: clock.now() })
    if ('fault' in judged) throw await denied(`the token is refused: ${judged.fault}`)
    const person = this.#personOf(judged.claims)
    if ('fault' in person) throw await denied(person.fault, person.account)
    const { account, role, tenant } = person
    const detail = { issuer: options.issuer, role }
    const session = await gate.signInAs(person, () => [this.#entryOf(account, 'done', { tenant, address, detail })])
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'set-cookie': [session.cookie, this.#cookie(null)],
    }
    return new Reply(goOn, { headers })
  }

  #begunBy(cookie: string | undefined): z.infer<typeof pending> | null {
    for (const part of (cookie ?? '').slice(0, 8_000).split(';')) {
      const [name, value = ''] = part.trim().split('=', 2)
      if (name !== this.#cookieName) continue
      try {
        return pending.parse(parseStrictJson(Buffer.from(value, 'base64url').toString('utf8')))
      } catch {
        return null
      }
    }
    return null
  }

  async #redeem(code: string, verifier: string): Promise<string> {
    const { clientId, clientSecret } = this.#parts.options
    const { token_endpoint } = await this.#discover()
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.#redirect,
      code_verifier: verifier,
      client_id: clientId,
    })
    const basic = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret ?? '')}`
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(clientSecret === undefined ? {} : { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
    }
    const answer = await this.#ask(tokens, { url: token_endpoint, method: 'POST', headers, body: form.toString() })
    return answer.id_token
  }

  /** The highest role of the person's groups. */
  #personOf(
    claims: Readonly<Record<string, unknown>>,
  ): { account: string; role: Role; tenant: string | null } | { account: string; fault: string } {
    const { rolesClaim = 'groups', roles, tenantClaim } = this.#parts.options
    const account = `oidc ${claims['sub'] as string}`
    const given = claims[rolesClaim]
    const groups = (Array.isArray(given) ? given : [given]).filter((one) => typeof one === 'string')
    const found = groups.flatMap((group) => (Object.hasOwn(roles, group) ? [roles[group]!] : []))
    const role = rank.findLast((one) => (found as readonly Role[]).includes(one))
    if (role === undefined) return { account, fault: 'none of your groups has a role here' }
    if (tenantClaim === undefined) return { account, role, tenant: null }
    const tenant = claims[tenantClaim]
    if (typeof tenant === 'string' && tenant !== '' && tenant.length <= 200) return { account, role, tenant }
    return { account, fault: 'you have no tenant here' }
  }

  #entryOf(
    account: string,
    outcome: AuditEntry['outcome'],
    more: Pick<AuditEntry, 'tenant' | 'address' | 'detail'>,
  ): Json {
    const target = `account/${account}`
    const at = this.#parts.clock.now()
    const entry: AuditEntry = { at, principal: account, action: 'signIn', target, outcome, reason: '', ...more }
    return entry as Json
  }

  /** Somebody came back who is not let in: it is written down, as far as there are not too many. */
  async #denied(why: string, address: string, account = 'nobody'): Promise<HomeostatError> {
    const { objects, options } = this.#parts
    const entry = this.#entryOf(account, 'denied', { tenant: '', address, detail: { issuer: options.issuer, why } })
    if (this.#denials.take('all') === 0) await objects.write([], [entry])
    return this.#refused(why)
  }

  async #discover(): Promise<z.infer<typeof discovery>> {
    const { clock, options } = this.#parts
    if (this.#issuer !== null && this.#issuer.at + rememberMs > clock.now()) return this.#issuer.value
    const url = `${options.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const value = await this.#ask(discovery, { url })
    if (value.issuer !== options.issuer) throw this.#refused('the issuer calls itself otherwise')
    checkedUrl(value.authorization_endpoint, this.#reach)
    this.#issuer = { value, at: clock.now() }
    return value
  }

  async #keysFor(kid: string | null): Promise<readonly Jwk[]> {
    const { clock } = this.#parts
    const known = this.#keys
    const age = known === null ? Infinity : clock.now() - known.at
    const isKnown = known !== null && (kid === null || known.value.some((key) => key['kid'] === kid))
    if (known !== null && age < (isKnown ? rememberMs : lookAgainMs)) return known.value
    const { jwks_uri } = await this.#discover()
    const { keys } = await this.#ask(keySet, { url: jwks_uri })
    this.#keys = { value: keys, at: clock.now() }
    return keys
  }

  async #ask<Shape extends z.ZodType>(
    shape: Shape,
    given: { url: string; method?: 'GET' | 'POST'; headers?: Record<string, string>; body?: string },
  ): Promise<z.output<Shape>> {
    try {
      const { status, text } = await exchange({ method: 'GET', headers: {}, body: '', ...given }, this.#reach)
      if (status === 200) return shape.parse(parseStrictJson(text))
      this.#parts.log('warn', 'the OIDC issuer refused a request', { url: given.url, status })
    } catch (error) {
      this.#parts.log('warn', 'the OIDC issuer could not be asked', { url: given.url, error })
    }
    throw this.#refused('the issuer does not answer as it must')
  }

  #refused(why: string): HomeostatError {
    this.#parts.log('warn', 'a sign-in by OIDC was refused', { why })
    return new HomeostatError('sign_in_failed', `The sign-in did not succeed: ${why}. Begin again at /sign-in/oidc.`)
  }
}

/**
 * A page, no redirect: the session's cookie is strict, and browsers do not send it along with a redirect that began at the issuer. A page
 * of our own that goes on by itself is a new beginning.
 */
const goOn =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>Homeostat</title><p>You are signed in. <a href="/">Go on</a></p></html>\n'

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
