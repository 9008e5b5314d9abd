// Connections of clients: how many there may be, and how they end when the server stops.
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Log } from '../engine/log.ts'

export interface ConnectionsOptions {
  readonly server: Server
  /** Beyond these a request is refused, and its connection closed. */
  readonly most: number
  readonly clock: Clock
  readonly log: Log
}

/** So many more are let in to be told that there are too many; those beyond are closed without a word. */
const refusedAtOnce = 1_000
/** One that is too many is closed by then, whatever it says. */
const overMs = 5_000

export class Connections {
  readonly #options: ConnectionsOptions
  readonly #over = new WeakSet<Socket>()
  #open = 0
  #underWay = 0
  #isClosing = false
  #whenNone: () => void = () => {}

  constructor(options: ConnectionsOptions) {
    this.#options = options
    const { server, most, log } = options
    server.maxConnections = most + refusedAtOnce
    server.on('connection', (socket) => this.#begun(socket))
    server.on('request', (_, response) => this.#asked(response))
    server.on('drop', () =>
      log('warn', 'connections of clients are closed without an answer: there are too many', { most }),
    )
  }

  get open(): number {
    return this.#open
  }

  /** True: answers say that the connection ends with them. */
  isEnding(socket: Socket): boolean {
    return this.#isClosing || this.#over.has(socket)
  }

  /** Throws `connections_exhausted`. */
  admit(socket: Socket): void {
    if (!this.#over.has(socket)) return
    const { most } = this.#options
    throw new HomeostatError('connections_exhausted', `More than ${most} connections are open. Come back later.`)
  }

  /** Requests under way are finished, within this time; then whatever is left is closed. */
  async close(patienceMs: number): Promise<void> {
    const { clock, server } = this.#options
    this.#isClosing = true
    let cancel = () => {}
    await new Promise<void>((resolve) => {
      this.#whenNone = resolve
      cancel = clock.after(patienceMs, resolve)
      if (this.#underWay === 0) resolve()
    })
    cancel()
    server.on('connection', (socket) => socket.destroy())
    server.closeAllConnections()
  }

  #begun(socket: Socket): void {
    this.#open++
    socket.once('close', () => this.#open--)
    const { most, clock, log } = this.#options
    if (this.#open <= most) return
    this.#over.add(socket)
    socket.once(
      'close',
      clock.after(overMs, () => socket.destroy()),
    )
    log('warn', 'requests on new connections are refused: there are too many', { most })
  }

  #asked(response: ServerResponse): void {
    this.#underWay++
    response.once('close', () => {
      if (--this.#underWay === 0) this.#whenNone()
    })
  }
}
