// A request as fastify has read it, in the words of the dispatcher.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Incoming } from './dispatch.ts'

/** Hardly ever does anybody look at the signal: it is made when it is looked at. */
export class FastifyIncoming implements Incoming {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly isUnread: boolean
  #abort: AbortController | null = null

  constructor(request: FastifyRequest, reply: FastifyReply, isUnread: boolean) {
    this.#request = request
    this.#reply = reply
    this.isUnread = isUnread
  }

  get id(): string {
    return String(this.#request.id)
  }

  get method(): string {
    // Node leaves the body out.
    return this.#request.method === 'HEAD' ? 'GET' : this.#request.method
  }

  get url(): string {
    return this.#request.raw.url!
  }

  get address(): string {
    return this.#request.ip
  }

  get headers(): Incoming['headers'] {
    return this.#request.headers
  }

  header(name: string): string | undefined {
    const value = this.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /** The client has gone before it had its answer: nobody waits any more. */
  get signal(): AbortSignal {
    if (this.#abort !== null) return this.#abort.signal
    const abort = (this.#abort = new AbortController())
    const { raw } = this.#reply
    const look = () => void (raw.writableFinished || abort.abort())
    if (raw.destroyed) look()
    else raw.once('close', look)
    return abort.signal
  }

  get contentType(): string {
    return (this.#request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  }

  get body(): Buffer | null {
    return Buffer.isBuffer(this.#request.body) ? this.#request.body : null
  }
}
