// The network between the workers and the server that is the primary just now: a TCP proxy that can lose a connection at every message
// of a commit's exchange, hold everything up for a while, make everything slow, or let connections go dead without a word.
import { createServer, connect, type Server, type Socket } from 'node:net'
import { Frames, isCommit, typeOf } from './frames.ts'
import { pause } from '../waiting.ts'

/** Where a commit's exchange is cut: at the message that is this part of the way through the request or the reply. */
export interface Cut {
  readonly side: 'request' | 'reply'
  /** 0 up to 1. */
  readonly through: number
  /** Relative to that message. */
  readonly where: 'before' | 'middle' | 'after'
}

class Link {
  readonly client: Socket
  readonly server: Socket
  readonly #proxy: Proxy
  readonly #fromClient = new Frames('client')
  readonly #fromServer = new Frames('server')
  /** Messages of an exchange until its Sync. */
  #exchange: Buffer[] = []
  #isStarted = false
  /** A reply that is collected in order to be cut. */
  #reply: { readonly cut: Cut; readonly frames: Buffer[] } | null = null
  #isDead = false
  #up: Promise<void> = Promise.resolve()
  #down: Promise<void> = Promise.resolve()

  constructor(proxy: Proxy, client: Socket, server: Socket) {
    this.#proxy = proxy
    this.client = client
    this.server = server
    for (const socket of [client, server]) {
      socket.setNoDelay(true)
      socket.on('error', () => {})
    }
    client.on('data', (bytes) => this.#asked(bytes))
    server.on('data', (bytes) => this.#answered(bytes))
    client.on('close', () => this.#closed(server))
    server.on('close', () => this.#closed(client))
    // A server that is not there yet refuses: then so does this.
    proxy.links.add(this)
  }

  /** Nothing passes any more, and nobody is told. */
  goDead(): void {
    this.#isDead = true
  }

  cut(): void {
    this.client.destroy()
    this.server.destroy()
  }

  #closed(other: Socket): void {
    this.#proxy.links.delete(this)
    if (!this.#isDead || other === this.client) other.destroy()
  }

  #asked(bytes: Buffer): void {
    for (const frame of this.#fromClient.push(bytes)) {
      const isBare = !this.#isStarted
      this.#isStarted = true
      const type = isBare ? '' : typeOf(frame)
      // Parse, Bind, Describe, Execute, Close wait for their Sync; everything else goes through.
      if ('PBDEC'.includes(type) && type !== '') this.#exchange.push(frame)
      else if (type === 'S') this.#exchanged([...this.#exchange.splice(0), frame])
      else this.#send(this.server, [...this.#exchange.splice(0), frame])
    }
  }

  #exchanged(frames: Buffer[]): void {
    const cut = isCommit(frames) ? this.#proxy.takeCut() : null
    if (cut === null) return this.#send(this.server, frames)
    if (cut.side === 'reply') {
      this.#reply = { cut, frames: [] }
      return this.#send(this.server, frames)
    }
    const sent = cutOf(frames, cut)
    this.#isDead = true
    // The server has what it has, and may go on with it; the client knows nothing.
    this.server.removeAllListeners('data').resume()
    this.client.destroy()
    this.server.write(sent, () => void pause(sent.length % 50).then(() => this.server.destroy()))
  }

  #answered(bytes: Buffer): void {
    const frames = this.#fromServer.push(bytes)
    const reply = this.#reply
    if (reply === null) return this.#send(this.client, frames)
    reply.frames.push(...frames)
    // Whole when the server is ready for more: the commit has happened, or not, and the client is not told.
    if (!reply.frames.some((frame) => typeOf(frame) === 'Z')) return
    const sent = cutOf(reply.frames, reply.cut)
    this.#isDead = true
    this.client.write(sent, () => this.cut())
  }

  #send(to: Socket, frames: readonly Buffer[]): void {
    if (frames.length === 0) return
    const bytes = frames.length === 1 ? frames[0]! : Buffer.concat(frames)
    const isUp = to === this.server
    const next = (isUp ? this.#up : this.#down).then(async () => {
      await this.#proxy.passage()
      if (this.#proxy.isTheEnd()) this.goDead()
      if (!this.#isDead && !to.destroyed) to.write(bytes)
    })
    if (isUp) this.#up = next
    else this.#down = next
  }
}

/** What passes of the messages before the cut. */
function cutOf(frames: readonly Buffer[], { through, where }: Cut): Buffer {
  const at = Math.min(frames.length - 1, Math.floor(through * frames.length))
  const sent = frames.slice(0, at)
  const last = frames[at]!
  if (where === 'middle') sent.push(last.subarray(0, Math.ceil(last.length / 2)))
  if (where === 'after') sent.push(last)
  return Buffer.concat(sent)
}

export class Proxy {
  readonly links = new Set<Link>()
  /** Commits that were cut. */
  cuts = 0
  readonly #server: Server
  readonly #orders: Cut[] = []
  #target: number
  #stall: Promise<void> | null = null
  #delayMs = 0
  /** Packets that still pass before the connection of the next one goes dead. */
  #packetsLeft = Infinity
  #port = 0

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer({ noDelay: true }, (client) => {
      void new Link(this, client, connect(this.#target, '127.0.0.1'))
    })
  }

  static async start(target: number): Promise<Proxy> {
    const proxy = new Proxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    proxy.#port = (proxy.#server.address() as { port: number }).port
    return proxy
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/postgres`
  }

  /** New connections go there. Those that are, stay. */
  lead(target: number): void {
    this.#target = target
  }

  /** The next commit is cut like this. While none comes, orders do not pile up: else all would be cut afterwards. */
  cutNext(cut: Cut): void {
    if (this.#orders.length < 2) this.#orders.push(cut)
  }

  takeCut(): Cut | null {
    const cut = this.#orders.shift() ?? null
    if (cut !== null) this.cuts++
    return cut
  }

  /** Nothing passes for so long; then everything does. */
  async stall(ms: number): Promise<void> {
    this.#stall = pause(ms)
    await this.#stall
    this.#stall = null
  }

  async delay(each: number, ms: number): Promise<void> {
    this.#delayMs = each
    await pause(ms)
    this.#delayMs = 0
  }

  /** This part of the connections, chosen by the given number, ends at once. */
  cutLinks(isChosen: () => boolean): void {
    for (const link of this.links) if (isChosen()) link.cut()
  }

  goDead(isChosen: () => boolean): void {
    for (const link of this.links) if (isChosen()) link.goDead()
  }

  /** So many packets pass, of all connections together; the one of the next goes dead before it. */
  goDeadAfter(packets: number): void {
    this.#packetsLeft = packets
  }

  get hasDeadAhead(): boolean {
    return this.#packetsLeft >= 0
  }

  isTheEnd(): boolean {
    return this.#packetsLeft-- === 0
  }

  /** No fault is left: also what went dead is told. */
  heal(): void {
    this.#orders.length = 0
    this.#delayMs = 0
    this.#packetsLeft = Infinity
  }

  async passage(): Promise<void> {
    if (this.#stall !== null) await this.#stall
    if (this.#delayMs > 0) await pause(this.#delayMs)
  }

  async stop(): Promise<void> {
    for (const link of this.links) link.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
