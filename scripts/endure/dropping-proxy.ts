// A connection to a server that loses every n-th answer after the server has given it, or is cut at any moment: whoever asked does not
// know what became of it.
import { connect, createServer, type Socket } from 'node:net'

export interface DroppingProxy {
  readonly port: number
  readonly answers: number
  readonly dropped: number
  /** Whoever is connected is not any more. */
  cut(): void
  close(): Promise<void>
}

/** `everyNth` 0: nothing is lost but by `cut`. */
export async function startDroppingProxy(target: number, everyNth: number): Promise<DroppingProxy> {
  const sockets = new Set<Socket>()
  let answers = 0
  let dropped = 0
  const server = createServer((inner) => {
    const outer = connect(target, '127.0.0.1')
    for (const socket of [inner, outer]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        inner.destroy()
        outer.destroy()
      })
    }
    inner.pipe(outer)
    outer.on('data', (bytes: Buffer) => {
      answers++
      if (everyNth === 0 || answers % everyNth !== 0) return void inner.write(bytes)
      dropped++
      inner.destroy()
    })
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { readonly port: number }).port,
    get answers() {
      return answers
    },
    get dropped() {
      return dropped
    },
    cut,
    async close() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
