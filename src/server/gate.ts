// Lets in who may come in: API tokens, sessions of the console, one-time tickets. Only hashes are kept. Nothing is remembered between
// requests, so that a revoked token is refused at the next one; open streams are watched (`stillValid`). Only who reads figures is let
// in while the store is away (`enterToMeasure`).
import type { Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { secretText } from '../base/random.ts'
import type { Role } from '../protocol/permissions.ts'
import type { RecordChange } from '../store/store.ts'
import { AskedTogether } from './asked-together.ts'
import { isConflict, Objects, type Found, type SessionRecord } from './objects.ts'
import { networkOf } from './network-of.ts'
import { hashPassword, isPassword } from './password.ts'
import { everybody, grantedBy, nobodyYet, sha256, type Principal } from './principal.ts'
import { RateLimiter } from './rate-limiter.ts'
import { unlessAway } from './unless-away.ts'

export interface GateOptions {
  readonly objects: Objects
  readonly clock: Clock
  /** open: everybody who reaches the port may do everything; only on loopback. */
  readonly mode: 'open' | 'closed'
  /** A token for automation that is not in the store. */
  readonly adminToken?: string | undefined
  /** The cookie is sent over TLS only, and has the prefix that makes browsers insist on it. */
  readonly secure: boolean
  /** The step that a driver elsewhere may complete with this token; null: it is no such token. */
  readonly stepOfToken?: ((token: string) => Principal['step'] | null) | undefined
}

const sessionMs = 12 * 3_600_000
/** A session that is not used for so long is over. */
export const sessionIdleMs = 30 * 60_000
const ticketMs = 15 * 60_000
/** A session's last use is written down at most this often. */
const touchMs = 60_000
/** Of an address, whatever the account. */
const signInRate = { perSecond: 2, burst: 60 }
const failuresMax = 5
const forgetFailuresMs = 15 * 60_000
const measuringMax = 100
const isRefusal = (error: unknown) => error instanceof HomeostatError && error.code === 'unauthenticated'

export interface Entering {
  readonly authorization: string | undefined
  readonly cookie: string | undefined
}

export class Gate {
  readonly #options: GateOptions
  readonly #adminHash: string | null
  /** A client with many connections asks with the same token on all of them. */
  readonly #tokens: AskedTogether<Found<'token'> | null>
  /** A password is long work: whoever has many judged keeps everybody waiting. */
  readonly #signIns: RateLimiter
  /** Failed sign-ins by account and address: each further one waits longer. */
  readonly #failures = new Map<string, { count: number; until: number }>()
  /** Whose token was good when the figures were last read with it, by the hash of what was sent. */
  readonly #measuring = new Map<string, Principal>()
  /** Compared against when there is no such account, so that it takes as long. */
  #decoy: Promise<string> | null = null

  constructor(options: GateOptions) {
    this.#options = options
    const { adminToken, clock, objects } = options
    this.#signIns = new RateLimiter(clock, signInRate)
    this.#tokens = new AskedTogether(clock, (hash) => objects.get('token', hash))
    if (adminToken !== undefined && adminToken.length < 20)
      throw new HomeostatError('listen_refused', 'The admin token is too short: give it at least 20 characters.')
    this.#adminHash = adminToken === undefined ? null : sha256(adminToken)
  }

  get cookieName(): string {
    return this.#options.secure ? '__Host-homeostat' : 'homeostat'
  }

  /** A wrong credential is refused; no credential is nobody. */
  async enter({ authorization, cookie }: Entering): Promise<Principal> {
    if (authorization !== undefined) {
      const token = /^Bearer ([\w.~+/=-]{1,500})$/i.exec(authorization)?.[1]
      const principal =
        token === undefined ? null : (this.#byStep(token) ?? (await this.#byCredential(`token ${sha256(token)}`)))
      if (principal !== null) return principal
      throw new HomeostatError(
        'unauthenticated',
        'The token is not valid: it is unknown, expired or revoked. Use another.',
      )
    }
    const session = this.sessionOf(cookie)
    if (session !== null) {
      const principal = await this.#byCredential(`session ${sha256(session)}`)
      if (principal !== null) return principal
    }
    return this.#options.mode === 'open' ? everybody : nobodyYet
  }

  /**
   * As `enter`, for whoever reads the figures of the process: they are asked for most while the store is away, and then a token is good
   * that was when it was last looked up, for nothing but this.
   */
  async enterToMeasure(entering: Entering): Promise<Principal> {
    const { clock } = this.#options
    const { authorization = '' } = entering
    const key = sha256(authorization)
    const entered = this.enter(entering)
    // Also where the answer comes too late.
    entered.then(
      (principal) =>
        principal.via === 'token' && principal.permissions.has('metrics') && this.#remember(key, principal),
      (error: unknown) => isRefusal(error) && this.#measuring.delete(key),
    )
    const principal = await unlessAway(clock, entered)
    if (principal !== null) return principal
    const known = this.#measuring.get(key)
    // Nobody in time, and nobody known: as it is told everywhere else.
    if (known === undefined || (known.expiresAt ?? Infinity) <= clock.now()) return entered
    return { ...known, permissions: new Set(['metrics']) }
  }

  #remember(key: string, principal: Principal): void {
    if (this.#measuring.size >= measuringMax) this.#measuring.clear()
    this.#measuring.set(key, principal)
  }

  /** Nothing of it is kept: it is good for as long as its step is owed, also after a restart, and no longer. */
  #byStep(token: string): Principal | null {
    const step = this.#options.stepOfToken?.(token) ?? null
    if (step === null) return null
    const name = `driver of ${step.type}`
    const credential = `step ${step.key}`
    return {
      name,
      role: 'worker',
      permissions: grantedBy('worker'),
      tenant: null,
      via: 'token',
      credential,
      expiresAt: null,
      step,
    }
  }

  /** Whether what an open stream was begun with still holds. */
  async stillValid({ credential, via }: Principal): Promise<boolean> {
    return via === 'open' || (await this.#byCredential(credential)) !== null
  }

  async #byCredential(credential: string): Promise<Principal | null> {
    const { objects, clock } = this.#options
    const [via, hash] = credential.split(' ') as ['token' | 'session', string]
    // Hashes of secrets with 256 bits are compared: how long it takes tells nothing about the secret.
    if (via === 'token' && hash === this.#adminHash) {
      return { ...everybody, name: 'admin token', via, credential }
    }
    const now = clock.now()
    if (via === 'token') {
      const found = await this.#tokens.get(hash)
      if (found === null || found.value.expiresAt <= now) return null
      const { id, name, role, scopes, tenant, expiresAt } = found.value
      return {
        name: `token ${name} (${id})`,
        role,
        permissions: grantedBy(role, scopes),
        tenant,
        via,
        credential,
        expiresAt,
      }
    }
    const found = await objects.get('session', hash)
    if (found === null || found.value.expiresAt <= now || found.value.seenAt + sessionIdleMs <= now) return null
    await this.#touch(hash, found.value, found.version)
    const { account, role, tenant, expiresAt } = found.value
    return { name: account, role, permissions: grantedBy(role), tenant, via, credential, expiresAt }
  }

  async #touch(hash: string, session: SessionRecord, version: number): Promise<void> {
    const { objects, clock } = this.#options
    const now = clock.now()
    if (session.seenAt + touchMs > now) return
    const change = objects.change('session', hash, version, { ...session, seenAt: now })
    // Another request of the same session may have done it.
    await objects.write([change]).catch(() => {})
  }

  sessionOf(cookie: string | undefined): string | null {
    for (const part of (cookie ?? '').slice(0, 8_000).split(';')) {
      const [name, value] = part.trim().split('=', 2)
      if (name === this.cookieName && value !== undefined && /^[\w-]{20,100}$/.test(value)) return value
    }
    return null
  }

  cookie(secret: string | null): string {
    const life = secret === null ? 'Max-Age=0' : `Max-Age=${sessionMs / 1_000}`
    const secure = this.#options.secure ? '; Secure' : ''
    return `${this.cookieName}=${secret ?? ''}; Path=/; HttpOnly; SameSite=Strict; ${life}${secure}`
  }

  /** A wrong account, a wrong password and an account that waits give the same answer after the same work. */
  async signIn(
    given: { account: string; password: string },
    address: string,
    noted: NotedSession,
  ): Promise<NewSession> {
    const { objects, clock } = this.#options
    const from = networkOf(address)
    this.#signIns.demand(from, { what: 'sign-ins' })
    const name = `${given.account} ${from}`
    const failed = this.#failures.get(name)
    const isHeld = failed !== undefined && failed.count >= failuresMax && failed.until > clock.now()
    // It counts before it is judged: of many at once, too, no more are judged than of many one after the other.
    this.#countFailure(name)
    const account = await objects.get('account', given.account)
    const hash = account?.value.password ?? (await (this.#decoy ??= hashPassword(secretText())))
    const isRight = await isPassword(given.password, hash)
    const session = isRight && !isHeld && account !== null ? await this.#beginOf(account, noted) : null
    if (session === null)
      throw new HomeostatError('sign_in_failed', 'Account or password are not right, or too many attempts have failed.')
    this.#failures.delete(name)
    return session
  }

  /**
   * The account is written with its session: who changes the password or removes the account meanwhile meets that, and looks again for
   * sessions to end. Null: it is changed or gone already.
   */
  async #beginOf(account: Found<'account'>, noted: NotedSession): Promise<NewSession | null> {
    const { objects } = this.#options
    for (let now: Found<'account'> | null = account; now?.value.password === account.value.password;) {
      const { key, value, version }: Found<'account'> = now
      const { role, tenant } = value
      try {
        return await this.#begin({ account: key, role, tenant }, noted, [
          objects.change('account', key, version, value),
        ])
      } catch (error) {
        if (!isConflict(error)) throw error
      }
      now = await objects.get('account', key)
    }
    return null
  }

  #countFailure(name: string): void {
    const now = this.#options.clock.now()
    for (const [one, { until }] of this.#failures) if (until + forgetFailuresMs < now) this.#failures.delete(one)
    if (this.#failures.size > 10_000) this.#failures.clear()
    const count = (this.#failures.get(name)?.count ?? 0) + 1
    const waitMs = count < failuresMax ? 0 : Math.min(forgetFailuresMs, 1_000 * 2 ** Math.min(count - failuresMax, 20))
    this.#failures.set(name, { count, until: now + waitMs })
  }

  /** A ticket is good once, for a quarter of an hour. */
  async newTicket(given: { account: string; role: Role; tenant: string | null }): Promise<string> {
    const { objects, clock } = this.#options
    const ticket = secretText()
    const value = { ...given, expiresAt: clock.now() + ticketMs }
    await objects.write([objects.change('ticket', sha256(ticket), 0, value)])
    return ticket
  }

  async signInByTicket(ticket: string, noted: NotedSession): Promise<NewSession> {
    const { objects, clock } = this.#options
    const found = await objects.get('ticket', sha256(ticket))
    if (found === null || found.value.expiresAt <= clock.now())
      throw new HomeostatError('sign_in_failed', 'The ticket is not valid: it was used already, or it is too old.')
    const { account, role, tenant } = found.value
    return this.#begin({ account, role, tenant }, noted, [objects.change('ticket', found.key, found.version, null)])
  }

  /** Somebody else vouches for the person. */
  signInAs(given: Person, noted: NotedSession): Promise<NewSession> {
    return this.#begin(given, noted)
  }

  /** The session and its entry in the audit are one commit. */
  async #begin(given: Person, noted: NotedSession, more: readonly RecordChange[] = []): Promise<NewSession> {
    const { objects, clock } = this.#options
    const secret = secretText()
    const now = clock.now()
    const session = { ...given, createdAt: now, seenAt: now, expiresAt: now + sessionMs }
    const key = sha256(secret)
    const { account: name, role, tenant } = given
    const { expiresAt } = session
    const permissions = grantedBy(role)
    const principal = {
      name,
      role,
      permissions,
      tenant,
      via: 'session',
      credential: `session ${key}`,
      expiresAt,
    } as const
    await objects.write([objects.change('session', key, 0, session), ...more], noted(principal))
    return { principal, cookie: this.cookie(secret) }
  }

  async signOut(cookie: string | undefined, journal: readonly Json[]): Promise<void> {
    const { objects } = this.#options
    const secret = this.sessionOf(cookie)
    const found = secret === null ? null : await objects.get('session', sha256(secret))
    if (found !== null) await objects.write([objects.change('session', found.key, found.version, null)], journal)
  }
}

interface Person {
  readonly account: string
  readonly role: Role
  readonly tenant: string | null
}

/** What is written to the journal with the session. */
export type NotedSession = (principal: Principal) => readonly Json[]

export interface NewSession {
  readonly principal: Principal
  readonly cookie: string
}
