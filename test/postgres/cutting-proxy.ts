// A small proxy between a store and its server that can be told to lose a connection in the middle of an exchange: what the client has
// sent reaches the server or not, what the server answers never reaches the client.
import { createServer, connect, type Server, type Socket } from 'node:net'

export type Cut =
  /** Nothing of the next exchange that holds `marker` reaches the server. */
  | 'before'
  /** It reaches the server, and the connection is cut at once. */
  | 'sent'
  /** It reaches the server, and the connection is cut when the answer comes, which is lost. */
  | 'answered'

interface Order {
  readonly cut: Cut
  readonly marker: string
  readonly done: () => void
}

/** The message that ends an exchange. */
const sync = Buffer.from([0x53, 0, 0, 0, 4])

export class CuttingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #order: Order | null = null
  port = 0

  private constructor(target: number) {
    this.#server = createServer((client) => this.#accept(client, connect(target, '127.0.0.1')))
  }

  static async start(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    proxy.port = (proxy.#server.address() as { port: number }).port
    return proxy
  }

  /** Resolves when it has been cut. */
  cutNext(cut: Cut, marker: string): Promise<void> {
    return new Promise((done) => {
      this.#order = { cut, marker, done }
    })
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client: Socket, server: Socket): void {
    let order: Order | null = null
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
    }
    const lose = () => {
      client.destroy()
      order?.done()
    }
    client.on('data', (bytes) => {
      if (order === null && this.#order !== null && bytes.includes(this.#order.marker)) {
        order = this.#order
        this.#order = null
        if (order.cut === 'before') {
          server.destroy()
          return lose()
        }
      }
      // The server gets all of it, and goes on with it whatever becomes of the client.
      const isWhole = bytes.subarray(-sync.length).equals(sync)
      server.write(bytes, () => order?.cut === 'sent' && isWhole && lose())
    })
    server.on('data', (bytes) => {
      if (order === null) client.write(bytes)
      else lose()
    })
    client.on('close', () => {
      if (order === null) server.destroy()
    })
    server.on('close', () => client.destroy())
  }
}
