// The HTTP server: fastify for connections, limits and headers; the contract's table decides everything else.
import { setMaxListeners } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { systemClock, type Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { systemRandom } from '../base/random.ts'
import type { Engine } from '../engine/engine.ts'
import { silent, type Log } from '../engine/log.ts'
import type { Role } from '../protocol/permissions.ts'
import { AllowList } from './allow-list.ts'
import { endBroken, statusError } from './broken-request.ts'
import { BulkRunner } from './bulk-runner.ts'
import { Reply, Stream } from './call.ts'
import { Connections } from './connections.ts'
import { consoleFiles } from './console-files.ts'
import type { DevSwitches } from './dev-switches.ts'
import { dispatch, isForKnown, type DispatchParts } from './dispatch.ts'
import { DrainWatch } from './drain-watch.ts'
import { EventStreams, type StreamLimits } from './event-streams.ts'
import { FastifyIncoming } from './fastify-incoming.ts'
import { Gate } from './gate.ts'
import { Housekeeper } from './housekeeper.ts'
import { Metrics } from './metrics.ts'
import { Objects } from './objects.ts'
import { OidcSignIn, type OidcOptions } from './oidc.ts'
import { knownError, problemHeaders, problemOf } from './problem.ts'
import { RateLimiter, type Rate } from './rate-limiter.ts'
import { Rehearsals, type OpenRehearser } from './rehearsals.ts'
import { Router } from './router.ts'
import { securityHeaders } from './security-headers.ts'
import { Sealer } from './sealer.ts'
import type { Services } from './services.ts'
import { Trends } from './trends.ts'
import { WebhookSender, type WebhookSettings } from './webhook-sender.ts'
import { Wire } from './wire.ts'

/** A page of the console, or a file of it. */
export interface Page {
  readonly type: string
  readonly body: Buffer | string
  /** Files with a name made from their content. */
  readonly isImmutable?: boolean
}

export interface ServerOptions {
  readonly engine: Engine
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 4600; 0 takes a free one. */
  readonly port?: number
  /** open: no authentication; only on loopback. Default: closed. */
  readonly access?: 'open' | 'closed'
  /** A token for automation beside those in the store. */
  readonly adminToken?: string | undefined
  /** It is reached over TLS: cookies are sent over TLS only, and browsers are told to insist. */
  readonly secure?: boolean
  /** Addresses of proxies whose word on the client's address counts. */
  readonly proxies?: readonly string[]
  /** People sign in by this issuer, at `/sign-in/oidc`, beside local accounts. */
  readonly oidc?: OidcOptions | undefined
  readonly version?: string
  readonly clock?: Clock
  readonly log?: Log
  readonly dev?: DevSwitches | undefined
  /** Opens the invented world in which operations are rehearsed; null: there is none. */
  readonly rehearser?: OpenRehearser | null
  /** The folder of the built console, served at `/`. */
  readonly console?: string | undefined
  /** What is served besides the contract, by path; null: nothing is there. */
  readonly pages?: (path: string) => Promise<Page | null>
  /** Per principal. */
  readonly rate?: Rate
  readonly streams?: Partial<StreamLimits>
  /** Connections that may be open at once; requests on further ones are refused. Default 12,000, more than the streams. */
  readonly connections?: number | undefined
  /** A connection over which nothing moves for so long is closed: its client is gone, or takes nothing. Default two minutes. */
  readonly idleMs?: number
  readonly webhooks?: WebhookSettings | undefined
  /** Only these hosts, addresses and networks are called, for webhooks and the issuer. Left out: whatever the other rules leave. */
  readonly allowCalls?: readonly string[] | undefined
  /** What secrets are sealed with in the store, of at least 32 characters each: the first seals, all open. Without one no webhook can be made. */
  readonly secretKeys?: readonly string[] | undefined
}

const bodyMax = 1024 * 1024
const linesMax = 16 * 1024 * 1024
/** Longer than any answer is waited for. */
const defaultIdleMs = 120_000
const defaultConnections = 12_000
const defaultStreams: StreamLimits = {
  perPrincipal: 1_000,
  total: 10_000,
  stallMs: 30_000,
  heartbeatMs: 15_000,
  bufferBytes: 256 * 1024,
}
const localHosts: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Serves an engine that has been started. */
export function createServer(options: ServerOptions): HomeostatServer {
  return new HomeostatServer(options)
}

export class HomeostatServer {
  readonly #options: ServerOptions
  readonly #host: string
  readonly #app: FastifyInstance
  readonly #connections: Connections
  readonly #stopping = new AbortController()
  readonly #services: Services
  readonly #housekeeper: Housekeeper
  readonly #pages: ServerOptions['pages']
  readonly #oidc: OidcSignIn | null
  #url = ''
  /** Of every answer. */
  #headers: OutgoingHttpHeaders = {}

  constructor(options: ServerOptions) {
    this.#options = options
    this.#host = options.host ?? '127.0.0.1'
    const access = options.access ?? 'closed'
    if (access === 'open' && !isLoopback(this.#host)) {
      throw new HomeostatError(
        'listen_refused',
        `It does not listen on ${this.#host} without authentication. Leave 'open' out, or listen on 127.0.0.1.`,
      )
    }
    this.#pages = options.pages ?? (options.console === undefined ? undefined : consoleFiles(options.console))
    // Everybody who waits for a run listens.
    setMaxListeners(0, this.#stopping.signal)
    this.#services = servicesOf(options, access, {
      stopping: this.#stopping.signal,
      openConnections: () => this.#connections.open,
    })
    const { clock, log, objects } = this.#services
    const { oidc, secure = false } = options
    this.#oidc =
      oidc === undefined
        ? null
        : new OidcSignIn({ ...this.#services, options: oidc, secure, allow: this.#services.outgoing.allow })
    this.#housekeeper = new Housekeeper({ clock, log, objects, sealer: this.#services.sealer })
    const rate = options.rate ?? { perSecond: 10_000, burst: 20_000 }
    const parts: DispatchParts = {
      services: this.#services,
      router: new Router({ dev: options.dev !== undefined }),
      limiter: new RateLimiter(clock, rate),
      addressLimiter: new RateLimiter(clock, rate),
      denialLimiter: new RateLimiter(clock, { perSecond: 20, burst: 200 }),
      openHosts: access === 'open' ? localHosts : null,
    }
    this.#app = this.#build(parts)
    const { connections: most = defaultConnections } = options
    this.#connections = new Connections({ server: this.#app.server, most, clock, log })
  }

  /** Where it is reached, once it listens. */
  get url(): string {
    return this.#url
  }

  async start(): Promise<string> {
    const { metrics, trends, drains, bulk, webhooks } = this.#services
    trends.start(await metrics.start())
    drains.start()
    bulk.start()
    await webhooks.start()
    this.#housekeeper.start()
    this.#headers = await securityHeaders(this.#options.secure ?? false)
    this.#url = await this.#app.listen({ host: this.#host, port: this.#options.port ?? 4600 })
    return this.#url
  }

  /** Nobody new is let in, open streams are ended, requests under way are finished. The engine is not stopped. */
  async stop(): Promise<void> {
    const { engine, metrics, trends, drains, bulk, webhooks, streams } = this.#services
    // Whoever waits for a run is told how far it is, and asks another server.
    this.#stopping.abort()
    const closed = this.#app.close()
    await streams.close()
    await this.#connections.close(engine.settings.stopPatienceMs)
    await closed
    await Promise.all([
      metrics.stop(),
      trends.stop(),
      drains.stop(),
      bulk.stop(),
      webhooks.stop(),
      this.#housekeeper.stop(),
    ])
  }

  /** A ticket that lets somebody in once: for the address that is printed at the start. */
  newTicket(role: Role = 'admin', account = 'local'): Promise<string> {
    return this.#services.gate.newTicket({ account, role, tenant: null })
  }

  #build(parts: DispatchParts): FastifyInstance {
    const { proxies = [], idleMs = defaultIdleMs, streams } = this.#options
    const { heartbeatMs } = { ...defaultStreams, ...streams }
    const app = fastify({
      bodyLimit: linesMax,
      // A stream moves with each of its signs of life.
      connectionTimeout: Math.max(idleMs, 2 * heartbeatMs),
      requestTimeout: 30_000,
      keepAliveTimeout: 5_000,
      http: { headersTimeout: 10_000, maxHeaderSize: 16_384 },
      trustProxy: proxies.length === 0 ? false : [...proxies],
      genReqId: () => systemRandom.uuid(),
      // Requests that still come are answered; connections are closed by us.
      return503OnClosing: false,
      forceCloseConnections: false,
      exposeHeadRoutes: false,
      clientErrorHandler: (error, socket) => endBroken(error, socket),
      frameworkErrors: (error, request, reply) => void this.#refuse(error, request, reply),
    })
    app.removeAllContentTypeParsers()
    const raw = (_request: unknown, body: Buffer, done: (error: null, body: Buffer) => void) => done(null, body)
    app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: bodyMax }, raw as never)
    app.addContentTypeParser('application/x-ndjson', { parseAs: 'buffer', bodyLimit: linesMax }, raw as never)
    const serve = (request: FastifyRequest, reply: FastifyReply) => this.#serve(parts, request, reply)
    app.addHook('onRequest', async (request, reply) => {
      if (isForKnown(request.headers) && !(await this.#isKnown(request))) await this.#serve(parts, request, reply, true)
    })
    app.route({ method: ['GET', 'POST', 'PUT', 'DELETE'], url: '/*', handler: serve })
    app.setNotFoundHandler(serve)
    app.setErrorHandler((error, request, reply) => this.#refuse(error, request, reply))
    return app
  }

  async #serve(parts: DispatchParts, request: FastifyRequest, reply: FastifyReply, isUnread = false): Promise<unknown> {
    if (!isProbe(request.raw.url!)) this.#connections.admit(request.raw.socket)
    const isPage = request.method === 'GET' && !request.raw.url!.startsWith('/v1/')
    const page = isPage ? ((await this.#oidcPage(request)) ?? (await this.#page(request))) : null
    const answer = page ?? (await dispatch(parts, new FastifyIncoming(request, reply, isUnread)))
    if (answer instanceof Reply) return this.#send(reply, answer)
    // Whoever asks only for the head of a stream has it.
    if (request.method === 'HEAD') return this.#send(reply, new Reply(undefined))
    reply.hijack()
    beginStream(answer, reply.raw, this.#headers)
    return reply
  }

  async #isKnown({ headers: { authorization, cookie } }: FastifyRequest): Promise<boolean> {
    const { gate } = this.#services
    return gate.enter({ authorization, cookie }).then(
      ({ via }) => via !== 'nobody',
      () => false,
    )
  }

  /** Where browsers go, not programs: it is no row of the contract. */
  async #oidcPage({ raw, headers, ip }: FastifyRequest): Promise<Reply | null> {
    if (this.#oidc === null) return null
    const [path, query = ''] = raw.url!.split('?', 2) as [string, string?]
    return this.#oidc.answer({ path, query: new URLSearchParams(query), cookie: headers.cookie, address: ip })
  }

  /** Files of the console come before the contract only where the contract has nothing. */
  async #page(request: FastifyRequest): Promise<Reply | null> {
    const path = request.raw.url!.split('?', 1)[0]!
    if (/^\/(livez|readyz|metrics|openapi\.json|docs)\b/.test(path)) return null
    const page = (await this.#pages?.(path)) ?? (path === '/' ? front : null)
    if (page === null) return null
    const cache = page.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'
    return new Reply(page.body, { headers: { 'content-type': page.type, 'cache-control': cache } })
  }

  #refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
    const known = knownError(error) ?? statusError(error)
    if (known === null) this.#services.log('error', 'a request met a defect', { error, request: request.id })
    const told = known ?? new HomeostatError('internal', 'A defect of Homeostat.')
    const problem = problemOf(told, String(request.id))
    return this.#send(reply, new Reply(problem, { status: problem.status, headers: problemHeaders(told) }))
  }

  /** Written by ourselves, in one piece: there are no hooks that would change it. */
  #send(reply: FastifyReply, { status, headers, body }: Reply): FastifyReply {
    const isText = typeof body === 'string' || Buffer.isBuffer(body)
    const content = body === undefined ? '' : isText ? body : JSON.stringify(body)
    const all: OutgoingHttpHeaders = { ...this.#headers, 'cache-control': 'no-store', ...headers }
    if (body !== undefined)
      all['content-type'] ??= isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8'
    if (status !== 204 && status !== 304) all['content-length'] = Buffer.byteLength(content)
    const { raw } = reply
    if (this.#connections.isEnding(raw.req.socket)) all['connection'] = 'close'
    // Headers that cannot be sent throw here, while it can still be refused.
    raw.writeHead(status ?? 200, all)
    void reply.hijack()
    raw.end(content)
    return reply
  }
}

const front: Page = {
  type: 'text/html; charset=utf-8',
  body: '<!doctype html><html lang="en"><meta charset="utf-8"><title>Homeostat</title><p>Homeostat is running. <a href="/docs">API</a></p></html>\n',
}

/** Whether the process is well is answered also when it is full. */
const isProbe = (url: string): boolean => /^\/(livez|readyz)\b/.test(url)

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

function servicesOf(
  options: ServerOptions,
  access: 'open' | 'closed',
  { stopping, openConnections }: { readonly stopping: AbortSignal; readonly openConnections: () => number },
): Services {
  const { engine, clock = systemClock, log = silent, version = '0.0.0', secure = false, dev, adminToken } = options
  const objects = new Objects(engine)
  const stepOfToken = (token: string) => engine.stepOfToken(token)
  const gate = new Gate({ objects, clock, mode: access, adminToken, secure, stepOfToken })
  const wire = new Wire(engine)
  const trends = new Trends({ engine, wire, clock, log })
  const limits = { ...defaultStreams, ...options.streams }
  const streams = new EventStreams({ engine, wire, gate, clock, log, limits })
  const { privateAddresses = false } = options.webhooks ?? {}
  const { allowCalls, secretKeys = [] } = options
  const outgoing = { privateAddresses, allow: allowCalls === undefined ? undefined : new AllowList(allowCalls) }
  const sealer = new Sealer(secretKeys)
  return {
    engine,
    clock,
    log,
    stopping,
    objects,
    gate,
    wire,
    streams,
    bulk: new BulkRunner({ engine, objects, clock, log }),
    webhooks: new WebhookSender({ engine, objects, wire, clock, log, outgoing, sealer, settings: options.webhooks }),
    metrics: new Metrics({
      engine,
      wire,
      clock,
      version,
      openStreams: () => streams.open,
      openConnections,
      told: (event, type) => trends.take(event, type),
    }),
    trends,
    drains: new DrainWatch({ engine, objects, clock, log }),
    issuer: options.oidc?.issuer ?? null,
    rehearsals: new Rehearsals(options.rehearser ?? null, engine.lifecycles, clock),
    dev: dev ?? null,
    version,
    outgoing,
    sealer,
  }
}

function beginStream({ begin }: Stream, response: ServerResponse, headers: OutgoingHttpHeaders): void {
  response.socket?.setNoDelay(true)
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  begin(response)
}
