// Other ends of a connection that fall silent without hanging up: nobody is told, and nothing is closed.
import { connect, createServer, type Socket } from 'node:net'

export interface Silent {
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

const head = (type: string, more: string) => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${more}\r\n\r\n`
const json = (more: string) => head('application/json', more)
const dripMs = 10

/** What is sent to whoever has asked something, and goes on being sent. */
const behaviours = {
  'accepts and says nothing': () => {},
  'stops in the middle of the head': (to: Socket) => void to.write('HTTP/1.1 200 OK\r\ncontent-ty'),
  'stops in the middle of the body': (to: Socket) => void to.write(`${json('content-length: 1000')}{"kind":`),
  'drips, a byte at a time': (to: Socket) => {
    to.write(json('content-length: 1000000'))
    const drip = setInterval(() => to.write(' '), dripMs)
    to.once('close', () => clearInterval(drip))
  },
  'does not come to an end': (to: Socket) => {
    to.write(json('transfer-encoding: chunked'))
    // Only while it is taken: what nobody takes would pile up here.
    const part = `10000\r\n${' '.repeat(0x10000)}\r\n`
    const more = setInterval(() => to.writableLength === 0 && to.write(part), 1)
    to.once('close', () => clearInterval(more))
  },
} as const
export type Behaviour = keyof typeof behaviours
export const allBehaviours = Object.keys(behaviours) as Behaviour[]

/** A server that behaves so towards everybody; also one that is hung up on does not hang up. */
export function startSilent(behaviour: Behaviour | ((to: Socket) => void)): Promise<Silent> {
  const behave = typeof behaviour === 'string' ? behaviours[behaviour] : behaviour
  return listening((socket) => void socket.once('data', () => behave(socket)))
}

/** So many parts of what passes by, in both directions and over all connections, and then nothing more of the connection of the next. */
export function startDying(target: number, parts: () => number): Promise<Silent> {
  let passed = 0
  return listening((inner, all) => {
    const outer = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true })
    outer.on('error', () => {})
    all.add(outer)
    let isDead = false
    const pass = (to: Socket) => (bytes: Buffer) => {
      if (passed++ === parts()) isDead = true
      if (!isDead && !to.destroyed) to.write(bytes)
    }
    inner.on('data', pass(outer))
    outer.on('data', pass(inner))
  })
}

async function listening(accept: (socket: Socket, all: Set<Socket>) => void): Promise<Silent> {
  const all = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    all.add(socket)
    socket.on('error', () => {})
    accept(socket, all)
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of all) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
