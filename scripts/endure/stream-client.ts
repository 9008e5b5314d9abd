// Event streams as plain sockets, so that a thousand of them fit into the process that measures: readers, which look at the number of
// every event and come back when they are cut, and stalled ones, which ask for everything and take nothing.
import { connect, type Socket } from 'node:net'

export interface StreamPlace {
  readonly port: number
  readonly token: string
}

const againMs = 50

abstract class StreamClient {
  protected readonly place: StreamPlace
  protected socket: Socket | null = null
  #isOver = false
  /** How often it was connected. */
  connections = 0

  constructor(place: StreamPlace) {
    this.place = place
  }

  /** After which event it asks. */
  protected abstract get after(): number
  protected abstract begun(socket: Socket): void

  open(): void {
    const socket = connect(this.place.port, '127.0.0.1')
    this.socket = socket
    socket.on('error', () => {})
    socket.once('connect', () => {
      this.connections++
      // HTTP/1.0: the answer is the stream itself, without chunks.
      const head = `GET /v1/events HTTP/1.0\r\nhost: x\r\naccept: text/event-stream\r\nlast-event-id: ${this.after}`
      socket.write(`${head}\r\nauthorization: Bearer ${this.place.token}\r\n\r\n`)
      this.begun(socket)
    })
    socket.once('close', () => {
      if (!this.#isOver) setTimeout(() => this.#isOver || this.open(), againMs)
    })
  }

  close(): void {
    this.#isOver = true
    this.socket?.destroy()
  }
}

/** Must be told every event exactly once and in order. */
export class Reader extends StreamClient {
  /** The number of the last event; at first that after which it begins. */
  last: number
  events = 0
  bytes = 0
  readonly faults: string[] = []
  #rest = ''

  constructor(place: StreamPlace, after: number) {
    super(place)
    this.last = after
  }

  protected override get after(): number {
    return this.last
  }

  protected override begun(socket: Socket): void {
    this.#rest = ''
    socket.setEncoding('latin1')
    socket.on('data', (text) => this.#read(String(text)))
  }

  #read(text: string): void {
    this.bytes += text.length
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop()!
    for (const block of blocks) {
      // A sign of life has a number, but is no event.
      const found = /^id: (\d+)\nevent: /.exec(block)
      if (found === null) continue
      const n = Number(found[1])
      if (n !== this.last + 1) this.faults.push(`event ${n} came after ${this.last}`)
      this.last = n
      this.events++
    }
  }
}

/** Takes nothing at all. */
export class Stalled extends StreamClient {
  protected override get after(): number {
    return 0
  }

  protected override begun(socket: Socket): void {
    socket.pause()
  }
}
