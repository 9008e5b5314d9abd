// One signed call over HTTP to a driver elsewhere. It ends as one of few things, and it is never guessed what the driver did: what was
// not sent has not happened; what was sent and not answered in full, in time and in size, nobody knows.
import { Agent as HttpAgent, request as httpRequest, type ClientRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Clock } from '../base/clock.ts'
import type { AllowList } from '../server/allow-list.ts'
import { checkedUrl, guardedLookup } from '../server/outgoing.ts'
import { signatureHeader, signed, timestampHeader } from './signature.ts'
import { Slots } from './slots.ts'

export interface WireOptions {
  readonly url: string
  readonly secrets: readonly string[]
  readonly privateAddresses: boolean
  readonly allow?: AllowList | undefined
  /** Certificates of one's own authority, as PEM. */
  readonly ca?: string | undefined
  readonly timeoutMs: number
  readonly answerMaxBytes: number
  readonly atOnce: number
  readonly clock: Clock
}

export type WireEnd =
  /** The driver answered. */
  | { readonly kind: 'answered'; readonly text: string }
  /** It answered that it did nothing, or it was never reached. */
  | { readonly kind: 'notDone'; readonly code: 'remote_refused' | 'remote_unreachable'; readonly reason: string }
  /** It has no room now, and did nothing. */
  | { readonly kind: 'busy'; readonly afterMs: number }
  /** Sent, and no answer that can be used. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** The signal fired. */
  | { readonly kind: 'aborted'; readonly isSent: boolean }

export interface CallOptions {
  /** When less than usual is left. The time begins when it is this call's turn. */
  readonly timeoutMs?: number
  /** Goes along as the header of the same name; it is not signed, since it decides nothing. */
  readonly traceparent?: string | undefined
}

interface Sent {
  readonly body: string
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly headers: Readonly<Record<string, string>>
}

const keepMs = 4_000
const busyMs = 5_000
const busyMostMs = 600_000

export class WireCaller {
  readonly #options: WireOptions
  readonly #url: URL
  readonly #agent: HttpAgent
  readonly #slots: Slots

  /** Throws `address_refused`. */
  constructor(options: WireOptions) {
    this.#options = options
    this.#url = checkedUrl(options.url, options)
    const lookup = guardedLookup(this.#url, options)
    // Kept for less than servers usually keep them: a connection that the other side is just closing is rarely taken.
    const kept = { keepAlive: true, maxFreeSockets: options.atOnce, timeout: keepMs, lookup }
    const isSecure = this.#url.protocol === 'https:'
    this.#agent = isSecure
      ? new HttpsAgent({ ...kept, ...(options.ca === undefined ? {} : { ca: options.ca }) })
      : new HttpAgent(kept)
    this.#slots = new Slots(options.atOnce)
  }

  async call(content: object, signal: AbortSignal, given: CallOptions = {}): Promise<WireEnd> {
    const { timeoutMs = Infinity, traceparent } = given
    if (!(await this.#slots.take(signal))) return { kind: 'aborted', isSent: false }
    try {
      const sent: Sent = {
        body: JSON.stringify(content),
        signal,
        timeoutMs: Math.min(timeoutMs, this.#options.timeoutMs),
        headers: traceparent === undefined ? {} : { traceparent },
      }
      return await this.#once(sent, true)
    } finally {
      this.#slots.give()
    }
  }

  /**
   * A kept connection that the other side has closed meanwhile fails before anything is answered: the same call, with the same key, epoch
   * and attempt, is sent once more on a new one.
   */
  async #once(sent: Sent, mayRepeat: boolean): Promise<WireEnd> {
    const exchange = new Exchange(this.#options, sent.signal, sent.timeoutMs)
    const end = await exchange.run((listener) => this.#request(sent, listener, !mayRepeat))
    return mayRepeat && exchange.wasStale ? this.#once(sent, false) : end
  }

  #request({ body, headers }: Sent, listener: Parameters<typeof httpRequest>[2], isNew: boolean): ClientRequest {
    const { secrets, clock } = this.#options
    const path = `${this.#url.pathname}${this.#url.search}`
    const timestamp = String(Math.floor(clock.now() / 1_000))
    const request = this.#url.protocol === 'https:' ? httpsRequest : httpRequest
    const asked = request(
      this.#url,
      {
        method: 'POST',
        agent: this.#agent,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          accept: 'application/json',
          ...headers,
          [timestampHeader]: timestamp,
          [signatureHeader]: signed(secrets, { method: 'POST', path, timestamp, body }),
          ...(isNew ? { connection: 'close' } : {}),
        },
      },
      listener,
    )
    asked.end(body)
    return asked
  }
}

/** Follows one request to its end; whatever comes after the end counts for nothing. */
class Exchange {
  readonly #options: WireOptions
  readonly #signal: AbortSignal
  readonly #timeoutMs: number
  #isSent = false
  #isAnswering = false
  /** A kept connection broke before a byte of the answer. */
  wasStale = false

  constructor(options: WireOptions, signal: AbortSignal, timeoutMs: number) {
    this.#options = options
    this.#signal = signal
    this.#timeoutMs = timeoutMs
  }

  run(ask: (listener: Parameters<typeof httpRequest>[2]) => ClientRequest): Promise<WireEnd> {
    const { clock, answerMaxBytes } = this.#options
    return new Promise((resolve) => {
      let isOver = false
      const end = (how: WireEnd) => {
        if (isOver) return
        isOver = true
        cancel()
        this.#signal.removeEventListener('abort', abort)
        resolve(how)
        if (how.kind !== 'answered') asked.destroy()
      }
      const abort = () => end({ kind: 'aborted', isSent: this.#isSent })
      const asked = ask((response) => {
        this.#isAnswering = true
        const parts: Buffer[] = []
        let size = 0
        response.on('data', (part: Buffer) => {
          size += part.length
          if (size > answerMaxBytes) end(this.#lost(`it answered more than ${answerMaxBytes} bytes`))
          else parts.push(part)
        })
        response.on('end', () => {
          const status = response.statusCode ?? 0
          end(endOf(status, Buffer.concat(parts), response.headers['retry-after']))
        })
        response.on('error', (error) => end(this.#lost(error.message)))
        response.on('close', () => end(this.#lost('the connection was cut in the middle of the answer')))
      })
      const cancel = clock.after(this.#timeoutMs, () => end(this.#lost(`no answer within ${this.#timeoutMs} ms`)))
      this.#signal.addEventListener('abort', abort, { once: true })
      asked.on('socket', (socket) => {
        // A new connection sends nothing before it stands; with TLS, nothing before the other side is known.
        if (!socket.connecting) this.#isSent = true
        else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => (this.#isSent = true))
      })
      asked.on('upgrade', (_response, socket) => {
        socket.destroy()
        end(this.#lost('it wants to speak something else than HTTP (101)'))
      })
      asked.on('error', (error: NodeJS.ErrnoException) => {
        this.wasStale = asked.reusedSocket && !this.#isAnswering && !isOver
        end(this.#lost(error.message === '' ? (error.code ?? 'the connection failed') : error.message))
      })
      if (this.#signal.aborted) abort()
    })
  }

  #lost(reason: string): WireEnd {
    if (this.#isSent) return { kind: 'unknown', reason: `the driver was called, and then: ${reason}` }
    return { kind: 'notDone', code: 'remote_unreachable', reason: `the driver could not be reached: ${reason}` }
  }
}

/** Statuses by which a driver, or what stands before it, says that nothing was done. All others but 200 say nothing. */
const refusals: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 413, 415, 422])

function endOf(status: number, body: Buffer, retryAfter: string | undefined): WireEnd {
  if (status === 200) {
    try {
      return { kind: 'answered', text: new TextDecoder('utf-8', { fatal: true }).decode(body) }
    } catch {
      return { kind: 'unknown', reason: 'the driver was called, and its answer is no UTF-8' }
    }
  }
  if (status === 429) {
    const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : busyMs
    return { kind: 'busy', afterMs: Math.min(busyMostMs, seconds) }
  }
  if (refusals.has(status) || (status >= 300 && status < 400)) {
    const why = status < 400 ? 'redirects are not followed' : body.toString('utf8', 0, 200).trim()
    return { kind: 'notDone', code: 'remote_refused', reason: `the driver refused the call with ${status}: ${why}` }
  }
  return { kind: 'unknown', reason: `the driver was called and answered ${status}` }
}
