// Sessions, tokens, accounts and the audit over HTTP.
import { isoTime, nextTurn } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { secretText } from '../base/random.ts'
import { permissionsOf, type Permission } from '../protocol/permissions.ts'
import { z } from 'zod'
import type * as shape from '../protocol/shapes.ts'
import { chainHash, chainStart } from '../store/chain.ts'
import { Reply, type AuditEntry, type Call, type Handlers } from './call.ts'
import { isConflict, type AccountRecord, type Found, type TokenRecord } from './objects.ts'
import { hashPassword } from './password.ts'
import { grantedBy, sees, sha256, type Principal } from './principal.ts'
import { tokenNumber } from './reach.ts'
import { readAudit } from './read-audit.ts'
import type { Services } from './services.ts'

type Names =
  | 'signIn'
  | 'getSession'
  | 'signOut'
  | 'createToken'
  | 'listTokens'
  | 'revokeToken'
  | 'createAccount'
  | 'listAccounts'
  | 'setPassword'
  | 'deleteAccount'
  | 'listAudit'
  | 'verifyAudit'

const dayMs = 86_400_000

export const accessHandlers: Handlers<Names> = {
  async signIn(call) {
    const { gate } = call.services
    const { body } = call
    const noted = ({ name }: Principal) => [call.auditEntry('done', { target: `account/${name}` })]
    const { principal, cookie } =
      'ticket' in body
        ? await gate.signInByTicket(body.ticket, noted)
        : await gate.signIn(body, call.asked.address, noted)
    return new Reply(sessionOf(principal, call.services), { headers: { 'set-cookie': cookie } })
  },
  getSession({ principal, services }) {
    if (principal.via === 'nobody') throw new HomeostatError('unauthenticated', 'Nobody is signed in.')
    return sessionOf(principal, services)
  },
  async signOut(call) {
    const { gate, streams } = call.services
    const entry = call.auditEntry('done', { target: `account/${call.principal.name}` })
    await gate.signOut(call.asked.header('cookie'), [entry])
    await streams.recheck()
    return new Reply(undefined, { headers: { 'set-cookie': gate.cookie(null) } })
  },

  async createToken(call) {
    const { objects, clock, sealer } = call.services
    if (call.replayed !== null) return tokenAgain(call)
    const { name, role, scopes, days } = call.body
    const tenant = tenantOfNew(call.principal, call.body.tenant)
    const beyond = scopes.filter((scope) => !permissionsOf[role].includes(scope))
    if (beyond.length > 0)
      throw new HomeostatError(
        'request_invalid',
        `${role} does not have ${beyond.join(', ')}: scopes only narrow what the role may do. It has ${permissionsOf[role].join(', ')}.`,
      )
    refuseMore(call.principal, grantedBy(role, scopes))
    const now = clock.now()
    const id = sha256(`${call.asked.id} token`).slice(0, 12)
    const secret = `hs_${id}_${secretText()}`
    const token: TokenRecord = {
      id,
      name,
      role,
      scopes,
      tenant,
      createdAt: now,
      createdBy: call.principal.name,
      expiresAt: now + days * dayMs,
    }
    const noted = { target: `token/${id}`, detail: { name, role, tenant, days } }
    // Whoever asks again with the same key, because the answer was lost, has the same answer: for that it is sealed beside the key.
    const sealed = call.key === null || !sealer.hasKey ? null : sealer.seal(secret, ['token', id, tenant])
    await call.write([objects.change('token', sha256(secret), 0, token)], noted, { id, tenant, sealed })
    return { token: wireToken(token), secret }
  },
  async listTokens(call) {
    const own = await call.services.objects.all('token', call.principal.tenant)
    return { items: own.map(({ value }) => wireToken(value)) }
  },
  async revokeToken(call) {
    const { objects, streams } = call.services
    if (call.replayed !== null) return new Reply(undefined)
    const id = call.parameters.token
    const found = (await objects.all('token', call.principal.tenant)).find(({ value }) => value.id === id)
    if (found === undefined) throw new HomeostatError('token_not_found', `There is no token ${id}.`)
    await call.write([objects.change('token', found.key, found.version, null)], { target: `token/${id}` })
    await streams.recheck()
    return new Reply(undefined)
  },

  async createAccount(call) {
    const { objects, clock } = call.services
    const { name, password, role } = call.body
    const tenant = tenantOfNew(call.principal, call.body.tenant)
    refuseMore(call.principal, grantedBy(role))
    if ((await objects.get('account', name)) !== null)
      throw new HomeostatError('already_exists', `The account ${name} exists already.`)
    const account = { name, role, tenant, password: await hashPassword(password), createdAt: clock.now() }
    await call.write([objects.change('account', name, 0, account)], {
      target: `account/${name}`,
      detail: { role, tenant },
    })
    return wireAccount(account)
  },
  async listAccounts(call) {
    const own = await call.services.objects.all('account', call.principal.tenant)
    return { items: own.map(({ value }) => wireAccount(value)) }
  },
  async setPassword(call) {
    const { value } = await accountOf(call)
    // Whoever knows the password can do what the account may.
    refuseMore(call.principal, grantedBy(value.role))
    const password = await hashPassword(call.body.password)
    await endSessions(call, (account) => ({ ...account, password }))
    return new Reply(undefined)
  },
  async deleteAccount(call) {
    if (call.replayed !== null) return new Reply(undefined)
    await endSessions(call, () => null)
    return new Reply(undefined)
  },

  async listAudit(call) {
    const { pageSize, pageToken, order, q } = call.query
    const from = pageToken === undefined ? null : tokenNumber(pageToken)
    const { entries, next } = await readAudit(call.services, { order, limit: pageSize, from, text: q ?? '' })
    return {
      items: entries.map(({ n, value, hash }) => {
        const entry = value as unknown as AuditEntry
        return { ...entry, n, hash, at: isoTime(entry.at) }
      }),
      nextPageToken: next === null ? null : String(next),
    }
  },
  async verifyAudit({ services }) {
    let head = chainStart
    let entries = 0
    for (;;) {
      const page = await services.engine.journal(entries)
      for (const { n, value, hash } of page) {
        if (n !== entries + 1 || hash !== chainHash(head, n, value))
          return { entries, isSound: false, brokenAt: entries + 1, head }
        entries = n
        head = hash
      }
      if (page.length === 0) return { entries, isSound: true, brokenAt: null, head }
      await nextTurn(services.clock)
    }
  },
}

function sessionOf(
  { name, role, permissions, tenant, expiresAt }: Principal,
  { dev, version }: Services,
): z.infer<typeof shape.session> {
  return {
    principal: name,
    role,
    permissions: [...permissions],
    tenant,
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    isDev: dev !== null,
    version,
  }
}

async function tokenAgain(call: Call<'createToken'>) {
  const { objects, sealer } = call.services
  const { id, tenant, sealed } = call.replayed as { id: string; tenant: string | null; sealed: string | null }
  const secret = sealed === null ? null : sealer.open(sealed, ['token', id, tenant])
  if (secret === null)
    throw new HomeostatError(
      'secret_key_missing',
      `The token ${id} was made, and its secret is shown once. Revoke it and make another, with a new key.`,
    )
  const found = await objects.get('token', sha256(secret))
  if (found !== null) return { token: wireToken(found.value), secret }
  throw new HomeostatError('token_not_found', `The token ${id} was made, and is not there any more. Use a new key.`)
}

/** A principal of one tenant lets nobody in elsewhere. */
function tenantOfNew(principal: Principal, asked: string | null): string | null {
  if (principal.tenant === null || principal.tenant === asked) return asked
  if (asked === null) return principal.tenant
  throw new HomeostatError('forbidden', `${principal.name} works in tenant ${principal.tenant} only.`)
}

/** Nobody gives what he does not have. Steps are completed by drivers, which people let in. */
function refuseMore({ name, permissions }: Principal, given: ReadonlySet<Permission>): void {
  const more = [...given].filter((one) => one !== 'work' && !permissions.has(one))
  if (more.length > 0)
    throw new HomeostatError('forbidden', `${name} may not give what it does not have: ${more.join(', ')}.`)
}

function wireToken(token: TokenRecord): z.infer<typeof shape.token> {
  const { id, name, role, scopes, tenant, createdAt, createdBy, expiresAt } = token
  return {
    id,
    name,
    role,
    scopes: [...scopes],
    tenant,
    createdAt: isoTime(createdAt),
    createdBy,
    expiresAt: isoTime(expiresAt),
  }
}

const wireAccount = ({ name, role, tenant, createdAt }: AccountRecord): z.infer<typeof shape.account> => ({
  name,
  role,
  tenant,
  createdAt: isoTime(createdAt),
})

async function accountOf(call: Call<'setPassword' | 'deleteAccount'>): Promise<Found<'account'>> {
  const { account: name } = call.parameters
  const found = await call.services.objects.get('account', name)
  if (found !== null && sees(call.principal, found.value.tenant)) return found
  throw new HomeostatError('account_not_found', `There is no account ${name}.`)
}

/** Whoever was let in by the account is out from the same commit on. Who signs in meanwhile writes to the account: he is met, and ended too. */
async function endSessions(
  call: Call<'setPassword' | 'deleteAccount'>,
  change: (account: AccountRecord) => AccountRecord | null,
): Promise<void> {
  const { objects, streams } = call.services
  for (let tries = 1; ; tries++) {
    const { value: account, version } = await accountOf(call)
    // Whoever came by a ticket, or from an issuer, may be called the same in another tenant.
    const isOwn = ({ value }: Found<'session'>) => value.account === account.name && value.tenant === account.tenant
    const own = (await objects.all('session', account.tenant)).filter(isOwn)
    const ended = own.map((session) => objects.change('session', session.key, session.version, null))
    const changed = objects.change('account', account.name, version, change(account))
    try {
      await call.write([changed, ...ended], { target: `account/${account.name}` })
      break
    } catch (error) {
      if (!isConflict(error) || tries === endTries) throw error
    }
  }
  await streams.recheck()
}

const endTries = 20
