// A small proxy between a store and its server that can be told to lose a connection in the middle of an exchange: what the client has
// sent reaches the server or not, what the server answers never reaches the client.
import { createServer, connect, type Server, type Socket } from 'node:net'

export type Cut =
  /** Nothing of the next exchange that holds `marker` reaches the server. */
  | 'before'
  /** It reaches the server, and the connection is cut before the answer comes back. */
  | 'after'

export class CuttingProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #order: { readonly cut: Cut; readonly marker: string; readonly done: () => void } | null = null
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
    let isCut = false
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
    }
    client.on('data', (bytes) => {
      const order = this.#order
      if (isCut) return
      if (order === null || !bytes.includes(order.marker)) return void server.write(bytes)
      this.#order = null
      isCut = true
      if (order.cut === 'before') {
        server.destroy()
        client.destroy()
        return order.done()
      }
      // The server goes on with what it has got; nobody listens to what it says.
      server.removeAllListeners('data')
      server.write(bytes, () => {
        client.destroy()
        order.done()
      })
    })
    server.on('data', (bytes) => void client.write(bytes))
    client.on('close', () => {
      if (!isCut) server.destroy()
    })
    server.on('close', () => client.destroy())
  }
}
