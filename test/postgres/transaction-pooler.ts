// A pooler as pgbouncer is in transaction mode: clients are welcomed by itself, and each transaction goes to whichever of a few connections
// to the server is free. Of pgbouncer itself, npm has only a wrapper for one that is installed.
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { Frames, typeOf } from '../../scripts/faults/frames.ts'

/** A connection to the server, and whose transaction is on it. */
interface Backend {
  readonly socket: Socket
  client: Client | null
}

interface Client {
  readonly socket: Socket
  /** What waits for a free connection. */
  readonly waiting: Buffer[]
  backend: Backend | null
}

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const idle = message('Z', Buffer.from('I'))
const startup = Buffer.concat([number(196_608), Buffer.from('user\0postgres\0database\0postgres\0\0')])

export class TransactionPooler {
  /** Transactions that did not come to the connection of the one before. */
  handedOn = 0
  readonly #server: Server
  readonly #backends: Backend[] = []
  readonly #clients = new Set<Client>()
  readonly #before = new Map<Client, Backend>()

  private constructor() {
    this.#server = createServer((socket) => this.#welcome(socket))
  }

  static async start(port: number, size: number): Promise<TransactionPooler> {
    const pooler = new TransactionPooler()
    for (let n = 0; n < size; n++) pooler.#backends.push(await pooler.#open(port))
    await new Promise<void>((resolve) => pooler.#server.listen(0, '127.0.0.1', resolve))
    return pooler
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${(this.#server.address() as AddressInfo).port}/postgres`
  }

  stop(): void {
    this.#server.close()
    for (const { socket } of [...this.#backends, ...this.#clients]) socket.destroy()
  }

  async #open(port: number): Promise<Backend> {
    const socket = connect(port, '127.0.0.1')
    const backend: Backend = { socket, client: null }
    const frames = new Frames('server')
    socket.write(Buffer.concat([number(startup.length + 4), startup]))
    await new Promise<void>((ready) => {
      socket.on('data', (bytes: Buffer) => {
        for (const frame of frames.push(bytes)) {
          backend.client?.socket.write(frame)
          if (typeOf(frame) !== 'Z') continue
          ready()
          // No transaction is open: the connection is anybody's.
          if (frame.equals(idle)) this.#free(backend)
        }
      })
    })
    return backend
  }

  #welcome(socket: Socket): void {
    const client: Client = { socket, waiting: [], backend: null }
    this.#clients.add(client)
    const frames = new Frames('client')
    let isWelcome = false
    socket.on('error', () => {})
    socket.on('close', () => this.#clients.delete(client))
    socket.on('data', (bytes: Buffer) => {
      for (const frame of frames.push(bytes)) {
        if (isWelcome && typeOf(frame) === 'X') socket.end()
        else if (isWelcome) client.waiting.push(frame)
        else {
          isWelcome = true
          const key = Buffer.concat([number(this.#clients.size), number(7)])
          socket.write(Buffer.concat([message('R', number(0)), message('K', key), idle]))
        }
      }
      this.#send(client)
    })
  }

  #free(backend: Backend): void {
    if (backend.client !== null) backend.client.backend = null
    backend.client = null
    for (const client of this.#clients) this.#send(client)
  }

  #send(client: Client): void {
    if (client.waiting.length === 0) return
    if (client.backend === null) {
      // The one that has been free for longest.
      const free = this.#backends.findIndex((backend) => backend.client === null)
      if (free < 0) return
      const [backend] = this.#backends.splice(free, 1)
      this.#backends.push(backend!)
      const before = this.#before.get(client)
      const isAnothers = [...this.#before].some(([other, of]) => other !== client && of === backend)
      if ((before !== undefined && before !== backend) || isAnothers) this.handedOn++
      this.#before.set(client, backend!)
      client.backend = backend!
      backend!.client = client
    }
    for (const frame of client.waiting.splice(0)) client.backend.socket.write(frame)
  }
}
