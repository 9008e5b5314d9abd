// One request from its first byte to its answer: which row, who asks, may he, does it fit the contract, then the handler.
import { codes, HomeostatError, type ErrorCode } from '../base/errors.ts'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { nobodyYet, whyNot, type Principal } from './principal.ts'
import { routeOf, type RouteName } from '../protocol/routes.ts'
import { Call, Reply, Stream, type Asked, type Handler } from './call.ts'
import { handlers } from './handlers.ts'
import { networkOf } from './network-of.ts'
import { knownError, problemHeaders, problemOf, requestInvalid } from './problem.ts'
import { queryOf } from './query.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Match, Router } from './router.ts'
import type { Services } from './services.ts'
import { parseStrictJson } from './strict-json.ts'

export interface Incoming extends Asked {
  readonly method: string
  /** With its query. */
  readonly url: string
  readonly contentType: string
  readonly body: Buffer | null
  /** It is too long to be read of somebody who is nobody. */
  readonly isUnread: boolean
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface DispatchParts {
  readonly services: Services
  readonly router: Router
  readonly limiter: RateLimiter
  /** Before it is known who asks, and for those who are nobody. */
  readonly addressLimiter: RateLimiter
  /** Denied attempts that are written down, at most. */
  readonly denialLimiter: RateLimiter
  /** Hosts by which an open server may be called: a page elsewhere may know its address, but not by its name. */
  readonly openHosts: ReadonlySet<string> | null
}

/** Bodies are read before anything else: one that is larger is not, until it is known who sends it. */
const strangersMax = 64 * 1_024

/** Whether it is looked who sends this body before it is read. A length that is not told may be any. */
export const isForKnown = (headers: Incoming['headers']): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > strangersMax

/** These carry the key in the command: the engine itself finds them again. */
const withOwnKey: ReadonlySet<RouteName> = new Set(['createResource', 'operate', 'deleteResource', 'importResources'])
const tracer = trace.getTracer('homeostat')
const changing: ReadonlySet<string> = new Set(['POST', 'PUT', 'DELETE'])

export async function dispatch(parts: DispatchParts, incoming: Incoming): Promise<Reply | Stream> {
  const { metrics, clock, log } = parts.services
  const begun = clock.monotonic()
  let name: RouteName | 'none' = 'none'
  const seen = (status: number) => {
    metrics.requests.labels(name, String(status)).observe((clock.monotonic() - begun) / 1_000)
  }
  try {
    const match = parts.router.match(incoming.method, pathOf(incoming.url))
    name = match.name
    const reply = await traced(incoming, match, () => answer(parts, incoming, match))
    seen(reply instanceof Stream ? 200 : (reply.status ?? 200))
    return reply
  } catch (error) {
    const known = knownError(error)
    if (known === null) log('error', 'a request met a defect', { error, request: incoming.id, route: name })
    const told = known ?? new HomeostatError('internal', 'A defect of Homeostat.')
    const problem = problemOf(told, incoming.id)
    const headers = problemHeaders(told)
    // What may be asked of a path is an answer where that is the question.
    if (incoming.method === 'OPTIONS' && told.code === 'method_not_allowed') {
      seen(204)
      return new Reply(undefined, { status: 204, headers: { allow: headers['allow']! } })
    }
    seen(problem.status)
    return new Reply(problem, { status: problem.status, headers })
  }
}

/** A span when somebody listens; else nothing. */
async function traced<T>(incoming: Incoming, { name }: Match, work: () => Promise<T>): Promise<T> {
  const route = routeOf(name)
  const parent = propagation.extract(context.active(), incoming.headers)
  const attributes = { 'http.request.method': route.method, 'http.route': route.path, 'homeostat.route': name }
  return tracer.startActiveSpan(
    `${route.method} ${route.path}`,
    { kind: SpanKind.SERVER, attributes },
    parent,
    (span) =>
      work()
        .catch((error: unknown) => {
          span.setAttribute('error.type', knownError(error)?.code ?? '_OTHER')
          span.setStatus({ code: SpanStatusCode.ERROR })
          throw error
        })
        .finally(() => span.end()),
  )
}

async function answer(parts: DispatchParts, incoming: Incoming, match: Match): Promise<Reply | Stream> {
  const principal = await admitted(parts, incoming, match).catch(throwPlain)
  const answered = answerTo(principal, parts, incoming, match)
  return principal.via === 'nobody' ? answered.catch(throwPlain) : answered
}

/** Where the store is, and who it lets in, is in what it says when it fails: nobody is told that but who is known. */
function throwPlain(error: unknown): never {
  const isOurs = error instanceof HomeostatError && codes[error.code].http >= 500
  throw isOurs ? new HomeostatError(error.code, codes[error.code].summary) : error
}

async function answerTo(
  principal: Principal,
  parts: DispatchParts,
  incoming: Incoming,
  match: Match,
): Promise<Reply | Stream> {
  const { services } = parts
  const { name } = match
  const route = routeOf(name)
  const query = queryOf(name, incoming.url) as never
  const parameters = match.parameters as never
  const callWith = (body: unknown, key: string | null) =>
    new Call<RouteName>({ name, parameters, query, body: body as never, principal, asked: incoming, services, key })
  if (route.condition === 'ifMatchDemanded' && incoming.header('if-match') === undefined)
    throw new HomeostatError('precondition_required', 'Send the etag of the resource as If-Match.')
  const call = callWith(bodyOf(name, incoming), keyOf(name, incoming))
  if (!withOwnKey.has(name)) await call.findReplay()
  const made = await handled(parts, call)
  if (made instanceof Stream) return made
  const reply = made instanceof Reply ? made : new Reply(made)
  const status = reply.status ?? route.status
  const replayed = call.isReplay ? { 'idempotent-replayed': 'true' } : null
  return new Reply(reply.body, { status, headers: { ...replayed, ...reply.headers } })
}

/** Who asks, if he may. What is denied is written down: also a token that is not good, and a page that makes a browser ask. */
async function admitted(parts: DispatchParts, incoming: Incoming, { name, parameters }: Match): Promise<Principal> {
  let principal = nobodyYet
  try {
    principal = await enter(parts, incoming, name)
    refuseForgery(parts, incoming, principal)
    const denied = whyDenied(name, principal)
    if (denied !== null) throw denied
    return principal
  } catch (error) {
    const nothing = { query: {} as never, body: undefined as never, key: null }
    const asked = { name, parameters: parameters as never, principal, asked: incoming, services: parts.services }
    if (isOneOf(error, 'unauthenticated', 'forbidden'))
      await noteDenial(parts, new Call<RouteName>({ ...asked, ...nothing }))
    throw error
  }
}

const isOneOf = (error: unknown, ...some: readonly ErrorCode[]): boolean =>
  error instanceof HomeostatError && some.includes(error.code)

/** What a handler denies is written down like what is denied before it. */
async function handled(parts: DispatchParts, call: Call<RouteName>): Promise<unknown> {
  const handle = handlers[call.name] as unknown as Handler<RouteName>
  try {
    return await handle(call)
  } catch (error) {
    if (isOneOf(error, 'forbidden', 'sign_in_failed')) await noteDenial(parts, call)
    if (!isOneOf(error, 'record_conflict') || call.isReplay) throw error
    // The same request was under way, here or in another process, and came first: this one is answered as that one.
    await call.findReplay()
    if (!call.isReplay) throw error
    return handle(call)
  }
}

async function enter(
  { services, addressLimiter, limiter }: DispatchParts,
  incoming: Incoming,
  name: RouteName,
): Promise<Principal> {
  const entering = { authorization: incoming.header('authorization'), cookie: incoming.header('cookie') }
  // Whoever looks after the process comes from the address of a proxy or a node, with everybody else's requests: he has a rate of his own.
  const isProbe = name === 'livez' || name === 'readyz'
  const from = networkOf(incoming.address)
  const countAddress = () => addressLimiter.demand(isProbe ? `probe ${from}` : from)
  // People of one house come from one address: who has a session is counted for himself.
  const mayHaveSession = entering.authorization === undefined && entering.cookie !== undefined
  if (!mayHaveSession) countAddress()
  const { gate } = services
  const principal = await (name === 'metrics' ? gate.enterToMeasure(entering) : gate.enter(entering))
  // Anybody can send a cookie.
  if (mayHaveSession && principal.via === 'nobody') countAddress()
  if (principal.via !== 'nobody' && !isProbe) limiter.demand(`${principal.tenant} ${principal.name}`)
  return principal
}

/** A page of another origin can make a browser send its cookie, or reach an open server; it cannot send our header. */
function refuseForgery({ openHosts }: DispatchParts, incoming: Incoming, principal: Principal): void {
  if (principal.via === 'token') return
  const site = incoming.header('sec-fetch-site')
  const isForeign =
    site === undefined
      ? principal.via === 'open' && isOfPageElsewhere(incoming)
      : site !== 'same-origin' && site !== 'none'
  if (changing.has(incoming.method) && isForeign)
    throw new HomeostatError('forbidden', 'Pages of another origin may not do this.')
  if (changing.has(incoming.method) && principal.via === 'session' && incoming.header('x-homeostat') === undefined)
    throw new HomeostatError('forbidden', 'Requests of a session need the header X-Homeostat.')
  const host = (incoming.header('host') ?? '').replace(/:\d+$/, '').toLowerCase()
  if (principal.via === 'open' && openHosts !== null && !openHosts.has(host))
    throw new HomeostatError('forbidden', 'An open server is called by the name of this machine only.')
}

/** For browsers that do not say more: they name the page's origin with every change that it asks for. Programs do not. */
function isOfPageElsewhere(incoming: Incoming): boolean {
  const origin = incoming.header('origin')
  return origin !== undefined && URL.parse(origin)?.host !== incoming.header('host')?.toLowerCase()
}

/** Null: he may. */
function whyDenied(name: RouteName, principal: Principal): HomeostatError | null {
  const { permission, reach } = routeOf(name)
  if (permission === null) return null
  if (principal.via === 'nobody')
    return new HomeostatError('unauthenticated', 'Send a token as Authorization: Bearer, or sign in.')
  if (reach === 'installation' && principal.tenant !== null && principal.permissions.has(permission))
    return new HomeostatError('forbidden', `${principal.name} works in tenant ${principal.tenant} only.`)
  return whyNot(principal, permission)
}

async function noteDenial({ denialLimiter, services }: DispatchParts, call: Call<RouteName>): Promise<void> {
  const account =
    call.name === 'signIn' ? (call.body as unknown as { readonly account?: string } | undefined)?.account : undefined
  const target = account === undefined ? Object.values(call.parameters).join('/').slice(0, 300) : `account/${account}`
  // What strangers try is bounded for all of them together, and hides nothing of what somebody tries who is known.
  const { via, tenant, name } = call.principal
  const bucket = via === 'nobody' ? 'nobody' : `${tenant} ${name}`
  if (denialLimiter.take(bucket) === 0) await services.objects.write([], [call.auditEntry('denied', { target })])
}

const pathOf = (url: string): string => url.split('?', 1)[0]!

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function bodyOf(name: RouteName, incoming: Incoming): unknown {
  const route = routeOf(name)
  if (incoming.isUnread)
    throw new HomeostatError(
      'limit_exceeded',
      `Before somebody has signed in, bodies of at most ${strangersMax / 1_024} KB are read, with a Content-Length.`,
    )
  const text = textOf(incoming.body)
  if (route.body === null) {
    if (text.trim() !== '') throw new HomeostatError('request_invalid', 'This request takes no body.')
    return null
  }
  const expected = route.lines ? 'application/x-ndjson' : 'application/json'
  if (text !== '' && incoming.contentType !== expected)
    throw new HomeostatError('media_type_unsupported', `Send the body as ${expected}.`)
  if (route.lines) return text
  const checked = route.body.safeParse(text.trim() === '' ? undefined : parseStrictJson(text))
  if (checked.success) return checked.data
  throw requestInvalid('body', checked.error, route.body)
}

function textOf(body: Buffer | null): string {
  try {
    return body === null ? '' : utf8.decode(body)
  } catch {
    throw new HomeostatError('request_invalid', 'The body is no UTF-8.')
  }
}

function keyOf(name: RouteName, incoming: Incoming): string | null {
  const given = incoming.header('idempotency-key')
  if (given === undefined || !routeOf(name).idempotent) return null
  if (/^[\x21-\x7e]{1,200}$/.test(given)) return given
  throw new HomeostatError('request_invalid', 'An Idempotency-Key has 1 to 200 visible characters.')
}
